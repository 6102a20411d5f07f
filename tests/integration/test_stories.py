"""The four accounts, repeated on real OpenZFS: what each did by hand, done and undone by the product."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import Naming
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.storage.logs import broken_log_sides
from tests.integration.agent import Agent
from tests.integration.wishes import CACHE_BYTES, SSDS, keys_of, mirror_and_caches, pool_of, single_log, without_cache
from tests.lab.guest import Guest

pytestmark = pytest.mark.lab

PHOTOS = """
zfs create -o recordsize=128K tank/photos
mkdir /tank/photos/many
for number in $(seq 1 40); do head -c 30000 /dev/urandom > /tank/photos/many/$number; done
head -c 4000000 /dev/urandom > /tank/photos/big
cd /tank/photos && find . -type f -print0 | sort -z | xargs -0 sha256sum > /root/photos.sha256
"""
CHECK = "cd /tank/photos && sha256sum --quiet --check /root/photos.sha256"
WRITER = """
zfs create -o sync=always tank/busy
nohup sh -c 'n=0; while [ ! -e /root/stop-writing ]; do n=$((n+1));
dd if=/dev/urandom of=/tank/busy/$((n % 20)) bs=16k count=4 oflag=sync status=none || echo failed >> /root/writer.log
sleep 0.3
done; echo $n > /root/written' >/dev/null 2>&1 </dev/null &
"""

REPLACED = ("nvme0", "nvme1", "sata0")


@contextmanager
def writing(guest: Guest) -> Iterator[None]:
    """Synchronous writers at work on the pool the whole time; none of their writes may fail."""
    guest.run("rm -f /root/stop-writing /root/writer.log /root/written")
    guest.run(WRITER)
    yield
    guest.run("touch /root/stop-writing; until [ -e /root/written ]; do sleep 0.2; done")
    assert int(guest.run("cat /root/written").stdout) > 0
    assert guest.run("cat /root/writer.log 2>/dev/null || true").stdout == ""


def states(pool: Pool) -> set[str]:
    return {vdev.state for vdev in pool.vdevs()} | {pool.state}


def leaf_paths(tops: tuple[Vdev, ...]) -> list[str]:
    return [leaf.path for top in tops for leaf in top.leaves()]


def test_a_mirrored_log_and_two_caches_come_and_go_under_writers_and_every_byte_is_kept(agent: Agent) -> None:
    """Stories 2 and 3. Proves: one plan adds both, data stay the same throughout, undo leaves blank SSDs."""
    guest = agent.guest
    guest.run(PHOTOS)
    blank = guest.digests(*SSDS)
    before = pool_of(agent)
    with writing(guest):
        plan = agent.plan(mirror_and_caches(agent, "nvme0", "nvme1"))
        run = agent.apply(plan)
        assert run.state is RunState.APPLIED, [step.note for step in run.steps]
        guest.run(CHECK)
        pool = pool_of(agent)
        assert [top.kind for top in pool.logs] == ["mirror"]
        assert leaf_paths(pool.logs) == [side.path for side in plan.slices if side.role == "log"]
        assert len(pool.caches) == 2
        assert states(pool) == {"ONLINE"}
        guest.run("zpool scrub -w tank")
        undone = agent.undo(run.id)
    assert undone.state is RunState.UNDONE, [step.note for step in undone.undo_steps]
    guest.run(CHECK)
    after = pool_of(agent)
    assert (after.data, after.logs, after.caches) == (before.data, (), ())
    assert guest.digests(*SSDS) == blank
    assert {finding.code for finding in undone.findings} == {"ssds-as-before", "hole-stays"}
    assert "hole" in guest.run("zdb -C tank").stdout
    guest.run("zpool scrub -w tank")
    assert "errors: No known data errors" in guest.run("zpool status tank").stdout
    left = guest.run("ls /dev/disk/by-partuuid").stdout
    assert not [piece.partuuid for piece in plan.slices if piece.partuuid in left]


@pytest.mark.parametrize("naming", [Naming.PARTUUID, pytest.param(Naming.DISK_ID, marks=pytest.mark.long)])
def test_a_single_log_becomes_a_mirror_when_the_second_ssd_arrives(agent: Agent, naming: Naming) -> None:
    """Story 2. Proves: log and cache on one SSD; later the log is mirrored and a second cache added; both undone."""
    blank = agent.guest.digests(*SSDS)
    first = agent.apply(agent.plan(replace(single_log(agent, "nvme0"), naming=naming)))
    assert first.state is RunState.APPLIED, [step.note for step in first.steps]
    side = next(pool_of(agent).logs[0].leaves())
    key = keys_of(agent, "nvme1")
    wish = PlanRequest(
        pool_of(agent).guid, key, cache_disks=key, cache_size_bytes=CACHE_BYTES, naming=naming, attach_to=side.guid
    )
    second = agent.apply(agent.plan(wish))
    assert second.state is RunState.APPLIED, [step.note for step in second.steps]
    pool = pool_of(agent)
    assert [top.kind for top in pool.logs] == ["mirror"]
    assert len(pool.caches) == 2
    assert states(pool) == {"ONLINE"}
    agent.guest.run("zpool export tank && zpool import tank")
    imported = pool_of(agent)
    assert states(imported) == {"ONLINE"}
    assert all(path.startswith("/dev/disk/by-") for path in leaf_paths(imported.logs + imported.caches))
    assert agent.undo(second.id).state is RunState.UNDONE
    assert [top.kind for top in pool_of(agent).logs] == ["disk"]
    assert agent.undo(first.id).state is RunState.UNDONE
    assert agent.guest.digests(*SSDS) == blank


@pytest.mark.long
def test_the_broken_side_of_a_log_is_replaced_in_one_run(agent: Agent) -> None:
    """Proves: an SSD of a mirrored log is pulled; one run takes it out of the pool and mirrors the log on another SSD,
    under writers; the pool is well without a command by hand, and after both undos every SSD is blank."""
    guest = agent.guest
    guest.run(PHOTOS)
    blank = guest.digests(*REPLACED)
    first = agent.apply(agent.plan(without_cache(mirror_and_caches(agent, "nvme0", "nvme1"))))
    assert first.state is RunState.APPLIED, [step.note for step in first.steps]
    guest.vanish("nvme1")
    with writing(guest):
        guest.run("until zpool list -H -o health tank | grep -q DEGRADED; do sleep 1; done", timeout=300)
        (broken,) = broken_log_sides(pool_of(agent))
        key = keys_of(agent, "sata0")
        wish = PlanRequest(pool_of(agent).guid, key, attach_to=broken.partner.guid, replaces=broken.side.guid)
        assert "pool-not-online" in agent.refusals(replace(wish, replaces=""))
        second = agent.apply(agent.plan(wish))
        assert second.state is RunState.APPLIED, [step.note for step in second.steps]
    pool = pool_of(agent)
    assert [(top.kind, len(top.children)) for top in pool.logs] == [("mirror", 2)]
    assert states(pool) == {"ONLINE"}
    guest.run(CHECK)
    guest.bring_back("nvme1")
    assert states(pool_of(agent)) == {"ONLINE"}
    assert agent.undo(second.id).state is RunState.UNDONE
    assert [top.kind for top in pool_of(agent).logs] == ["disk"]
    undone = agent.undo(first.id)
    assert undone.state is RunState.UNDONE, [step.note for step in undone.undo_steps]
    guest.run(CHECK)
    assert guest.digests(*REPLACED) == blank


@pytest.mark.long
def test_an_ssd_that_holds_other_partitions_gets_them_back_untouched(agent: Agent) -> None:
    """Proves: with `use_free_extents`, slices go into free space, and undo restores the table byte for byte."""
    guest = agent.guest
    device = guest.disks()["sata0"].by_id
    guest.run(f"sgdisk --new=1:1M:+2G --typecode=1:8300 --change-name=1:keep {device} && udevadm settle")
    guest.run(f"udevadm settle; mkfs.ext4 -q {device}-part1 && mkdir -p /mnt/keep && mount {device}-part1 /mnt/keep")
    guest.run("cp /etc/services /mnt/keep/ && sync")
    before = guest.run(f"head -c 17408 {device} | sha256sum; tail -c 17408 {device} | sha256sum").stdout
    wish = replace(single_log(agent, "sata0"), use_free_extents=True)
    assert "disk-has-partitions" in agent.refusals(replace(wish, use_free_extents=False))
    run = agent.apply(agent.plan(wish))
    assert run.state is RunState.APPLIED, [step.note for step in run.steps]
    undone = agent.undo(run.id)
    assert undone.state is RunState.UNDONE, [step.note for step in undone.undo_steps]
    assert guest.run(f"head -c 17408 {device} | sha256sum; tail -c 17408 {device} | sha256sum").stdout == before
    guest.run("cmp /etc/services /mnt/keep/services")


@pytest.mark.long
def test_everything_is_online_under_persistent_names_after_a_reboot(agent: Agent) -> None:
    """Proves: a pool with a mirrored log and caches comes back whole from a restart, and can still be undone."""
    guest = agent.guest
    guest.run(PHOTOS)
    blank = guest.digests(*SSDS)
    plan = agent.plan(mirror_and_caches(agent, "nvme0", "nvme1"))
    agent_state = agent.ask("state")
    run = agent.apply(plan)
    assert run.state is RunState.APPLIED
    agent.close()
    guest.reboot()
    with Agent(guest, f"NASADVISOR_AGENT_STATE={agent_state}") as again:
        pool = pool_of(again)
        assert states(pool) == {"ONLINE"}
        assert len(leaf_paths(pool.logs)) == 2
        assert all(path.startswith("/dev/disk/by-") for path in leaf_paths(pool.logs + pool.caches))
        guest.run(CHECK)
        assert again.undo(run.id).state is RunState.UNDONE
    assert guest.digests(*SSDS) == blank
