"""Obstacles that need OpenZFS, the device mapper or md: the planner and the host refuse, and no byte changes.

Each obstacle is put up after a good plan was made. Applying that plan must be refused by the host, which looks for
itself; a new plan must be refused as well. The other obstacles are put on loop devices, in tests/devices.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from nasadvisor.domain.change.plan import Plan, PlanRequest
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.units import GIB
from tests.integration.agent import Agent
from tests.integration.wishes import keys_of, mirror_and_caches, pool_of, without_cache

pytestmark = pytest.mark.lab


@dataclass(frozen=True)
class Obstacle:
    """Shell commands that put something in the way of an SSD ($D) or the pool, and the code of the refusal.

    `applying` is the code when the older plan is applied, where it differs from the new plan's. `back` are the commands
    that take it away from a pool again.
    """

    name: str
    commands: str
    planning: str
    applying: str = ""
    back: str = ""


MD = "mdadm -q --create /dev/md{n} --run -e1.2 -l1 -n2 $D missing"
READ_ONLY = "zpool export other && zpool import -o readonly=on other"
"""ZFS goes on writing uberblocks for seconds after a pool was made; a byte that changes here must be our fault."""
FIRST_LEAF = "$(zpool list -vHP tank | awk '/by-id/{print $1; exit}')"

ON_DISKS = (
    (
        Obstacle("a disk in a pool", f"zpool create other $D && {READ_ONLY}", "disk-pool"),
        Obstacle("a disk of an exported pool", "zpool create away $D && zpool export away", "disk-exported-pool"),
        Obstacle("a side of an md array", MD.format(n=8), "disk-holder"),
    ),
    (
        Obstacle("a disk of a stopped md array", f"{MD.format(n=9)} && mdadm -q --stop /dev/md9", "disk-raid"),
        Obstacle("an LVM volume in use", "vgcreate -q v $D && lvcreate -q -L64M -n l v", "disk-holder"),
        Obstacle("an LVM disk without volumes", "pvcreate -q $D", "disk-lvm"),
    ),
)
"""Each on an SSD of its own; the other side of the planned log is free."""

ON_THE_POOL = (
    Obstacle(
        "a checkpoint",
        "zpool checkpoint tank",
        "pool-checkpoint",
        back="zpool checkpoint -d tank; zpool wait -t discard tank",
    ),
    Obstacle(
        "a degraded pool",
        f"zpool offline tank {FIRST_LEAF}",
        "pool-not-online",
        back=f"zpool online tank {FIRST_LEAF}; zpool wait -t resilver tank",
    ),
    Obstacle(
        "a pool that was renamed",
        "zpool export tank && zpool import tank other",
        "",
        "pool-renamed",
        back="zpool export other && zpool import other tank",
    ),
    Obstacle("a pool that is gone", "zpool export tank", "pool-gone", back="zpool import tank"),
    Obstacle(
        "a pool that is read-only",
        "zpool export tank && zpool import -o readonly=on tank",
        "pool-read-only",
        back="zpool export tank && zpool import tank",
    ),
    Obstacle("a pool that got a cache meanwhile", "zpool add tank cache $D", "", "plan-outdated"),
)
FREE = "sas0"
SSDS = ("nvme0", "nvme1", "sata0", FREE)


def refused(agent: Agent, obstacle: Obstacle, plan: Plan, wish: PlanRequest, disks: Sequence[str]) -> None:
    """The older plan and a new one: each refusal is a sentence, and no byte of these disks changes."""
    before = agent.guest.digests(*disks)
    run = agent.apply(plan)
    refusals = {refusal.code: str(refusal) for refusal in run.refusals}
    assert run.state is RunState.REFUSED, (obstacle.name, [step.note for step in run.steps])
    assert (obstacle.applying or obstacle.planning) in refusals, obstacle.name
    planned = agent.refusals(wish)
    assert (obstacle.planning in planned) if obstacle.planning else not planned, obstacle.name
    for sentence in (*refusals.values(), *planned.values()):
        assert sentence.endswith(".")
        assert "{" not in sentence
    assert agent.guest.digests(*disks) == before, obstacle.name


@pytest.mark.parametrize("obstacles", ON_DISKS, ids=("pools and md", "md and LVM"))
def test_it_refuses_what_is_on_a_side_and_changes_neither(agent: Agent, obstacles: tuple[Obstacle, ...]) -> None:
    """Proves: whatever came onto one SSD since the plan was made, neither side of the mirrored log is touched."""
    guest = agent.guest
    wishes = [PlanRequest(pool_of(agent).guid, keys_of(agent, ssd, FREE), GIB) for ssd in SSDS[:-1]]
    plans = [agent.plan(wish) for wish in wishes]
    disks = guest.disks()
    for ssd, obstacle in zip(SSDS, obstacles, strict=False):
        guest.run(f"set -e; D={disks[ssd].by_id}; {obstacle.commands}; udevadm settle")
    for obstacle, plan, wish in zip(obstacles, plans, wishes, strict=True):
        refused(agent, obstacle, plan, wish, SSDS)


def test_it_refuses_what_became_of_the_pool_and_changes_no_ssd(agent: Agent) -> None:
    """Proves: each state of the pool is refused while it lasts, and the same wish is planned again once it is over."""
    guest = agent.guest
    other = guest.disks()["sata0"].by_id
    wish = without_cache(mirror_and_caches(agent, "nvme0", "nvme1"))
    for obstacle in ON_THE_POOL:
        plan = agent.plan(wish)
        guest.run(f"set -e; D={other}; {obstacle.commands}; udevadm settle")
        refused(agent, obstacle, plan, wish, ("nvme0", "nvme1"))
        guest.run(f"set -e; {obstacle.back}; udevadm settle" if obstacle.back else "true")


def test_the_boot_disk_is_refused(agent: Agent) -> None:
    inventory = agent.inventory()
    boot = next(disk for disk in inventory.disks if disk.identity.serial == agent.guest.scenario.boot.serial)
    wish = PlanRequest(pool_of(agent).guid, (boot.key,), GIB, use_free_extents=True)
    assert "disk-boot" in agent.refusals(wish)


def test_a_pool_without_the_feature_is_refused(agent: Agent) -> None:
    guest = agent.guest
    disk = guest.disks()["sata0"].by_id
    guest.run(f"zpool create -d -o feature@async_destroy=enabled old {disk}")
    wish = PlanRequest(pool_of(agent, "old").guid, keys_of(agent, "nvme0"), GIB)
    assert "feature-missing" in agent.refusals(wish)


def test_a_disk_swapped_between_plan_and_apply_is_refused(agent: Agent) -> None:
    """Proves: another SSD in the same slot, under the same kernel name, is not taken for the planned one."""
    guest = agent.guest
    plan = agent.plan(PlanRequest(pool_of(agent).guid, keys_of(agent, "sas0"), GIB))
    guest.swap("sas0", "0QV1OTHER")
    before = guest.digests("sas0")
    run = agent.apply(plan)
    assert run.state is RunState.REFUSED
    # QEMU keeps the slot's WWN: the serial alone tells that the planned disk is gone.
    assert [refusal.code for refusal in run.refusals] == ["disk-gone"]
    assert guest.digests("sas0") == before
