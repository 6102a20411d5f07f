"""What is put on an SSD after a good plan was made: the planner and the host refuse it, and no byte changes.

The obstacles that need OpenZFS, the device mapper or md stand in the lab's test_refusals.py.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import pytest

from nasadvisor.domain.change.plan import Plan, PlanIds, make_plan
from nasadvisor.domain.change.runs import RunState
from tests.devices.bench import Bench, codes, log_and_cache, told
from tests.devices.loops import LoopDisk, tool
from tests.devices.machine import LoopMachine

Put = Callable[[LoopMachine, LoopDisk], AbstractContextManager[object]]


def mounted_whole(machine: LoopMachine, ssd: LoopDisk) -> AbstractContextManager[object]:
    machine.mkfs(ssd.node)
    return machine.mounted(ssd.node)


def swap(machine: LoopMachine, ssd: LoopDisk) -> AbstractContextManager[object]:
    tool("mkswap", "--quiet", str(ssd.node))
    machine.udev.examine()
    return nullcontext()


@contextmanager
def swap_in_use(machine: LoopMachine, ssd: LoopDisk) -> Iterator[None]:
    swap(machine, ssd)
    tool("swapon", str(ssd.node))
    try:
        yield
    finally:
        tool("swapoff", str(ssd.node))


def xfs(machine: LoopMachine, ssd: LoopDisk) -> AbstractContextManager[object]:
    tool("mkfs.xfs", "-q", str(ssd.node))
    machine.udev.examine()
    return nullcontext()


def ext4_on_a_partition(machine: LoopMachine, ssd: LoopDisk) -> None:
    machine.sgdisk(ssd, "--new=1:1M:+100M")
    machine.mkfs(ssd.part_node(1))


def mounted_partition(machine: LoopMachine, ssd: LoopDisk) -> AbstractContextManager[object]:
    ext4_on_a_partition(machine, ssd)
    return machine.mounted(ssd.part_node(1))


def deleted_partition(machine: LoopMachine, ssd: LoopDisk) -> AbstractContextManager[object]:
    ext4_on_a_partition(machine, ssd)
    machine.sgdisk(ssd, "--zap-all")
    return nullcontext()


def dos_table(machine: LoopMachine, ssd: LoopDisk) -> AbstractContextManager[object]:
    tool("sfdisk", "--quiet", "--label", "dos", str(ssd.node), answer="2048,100M\n")
    machine.udev.examine()
    return nullcontext()


@pytest.mark.parametrize(
    ("put", "planning", "applying"),
    [
        (mounted_whole, "disk-mount", "disk-mount"),
        (swap_in_use, "disk-swap", "disk-swap"),
        (swap, "disk-swap", "disk-swap"),
        (xfs, "disk-filesystem", "disk-filesystem"),
        (mounted_partition, "disk-mount", "disk-mount"),
        (deleted_partition, "", "plan-outdated"),
        (dos_table, "disk-has-partitions", "disk-has-partitions"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_it_refuses_and_changes_nothing(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], put: Put, planning: str, applying: str
) -> None:
    wish = log_and_cache(*ssds)
    plan = bench.plan(wish)
    with put(machine, ssds[0]):
        before = [ssd.digest() for ssd in ssds]
        run = bench.apply(plan)
        assert run.state is RunState.REFUSED, told(run)
        refusals = {refusal.code: str(refusal) for refusal in run.refusals}
        assert applying in refusals
        uuids = tuple(f"0000000{number}-0000-4000-8000-000000000000" for number in range(PlanIds.uuids_needed(wish)))
        again = make_plan(wish, bench.inventory(), PlanIds("run-2", "2026-08-25T20:00:00+00:00", uuids))
        planned = {} if isinstance(again, Plan) else {refusal.code: str(refusal) for refusal in again.refusals}
        assert planning in planned if planning else not planned
        for sentence in (*refusals.values(), *planned.values()):
            assert sentence.endswith(".")
            assert "{" not in sentence
        assert [ssd.digest() for ssd in ssds] == before
    assert not machine.tank.leaves


def test_who_agreed_to_erase_what_nobody_recognises_did_not_agree_to_a_deleted_partition(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk]
) -> None:
    """The inventory reads a few places and recognises nothing; the gate asks libblkid where the slices are to go."""
    deleted_partition(machine, ssds[0])
    plan = bench.plan(log_and_cache(*ssds))
    assert [step.disk_key for step in plan.erasures] == [ssds[0].key]
    before = [ssd.digest() for ssd in ssds]
    run = bench.apply(plan)
    assert (run.state, codes(run)) == (RunState.REFUSED, {"hidden-content"}), told(run)
    assert [ssd.digest() for ssd in ssds] == before
