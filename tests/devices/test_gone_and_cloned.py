"""What is gone with its SSD or pool is skipped and said, the rest is taken back; *undone* is said only if it is so."""

import pytest

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.units import MIB
from tests.devices.bench import Bench, codes, log_alone, log_and_cache, told
from tests.devices.loops import LoopDisk
from tests.devices.machine import LoopMachine


@pytest.fixture
def blank(ssds: tuple[LoopDisk, LoopDisk]) -> list[dict[int, str]]:
    """What the SSDs were before anything was done."""
    return [ssd.digest() for ssd in ssds]


@pytest.fixture
def applied(bench: Bench, ssds: tuple[LoopDisk, LoopDisk], blank: list[dict[int, str]]) -> Plan:
    """A mirrored log and two caches."""
    assert blank == [{}, {}]
    plan = bench.plan(log_and_cache(*ssds))
    run = bench.apply(plan)
    assert run.state is RunState.APPLIED, told(run)
    return plan


@pytest.mark.parametrize("dead", [0, 1])
def test_the_ssd_that_lives_is_freed_and_the_dead_one_is_said(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], applied: Plan, dead: int
) -> None:
    living = ssds[1 - dead]
    machine.pull(ssds[dead])
    run = bench.undo(applied)
    assert not machine.tank.leaves
    assert living.changed({}) == []
    assert run.state in (RunState.UNDONE, RunState.ATTENTION), told(run)
    assert "ssds-as-before" not in codes(run)
    assert ssds[dead].serial in told(run) or ssds[dead].wwn in told(run)


def test_the_dead_ssd_that_comes_back_can_be_freed_as_well(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], applied: Plan
) -> None:
    """Whatever was said of the run before, its slices are on the host again, so there is a way to take them back."""
    machine.pull(ssds[0])
    bench.undo(applied)
    machine.plug_in(ssds[0])
    assert bench.show(applied).can_undo
    run = bench.undo(applied)
    assert run.state is RunState.UNDONE, told(run)
    assert [ssd.changed({}) for ssd in ssds] == [[], []]


def test_with_both_ssds_gone_nothing_is_said_to_be_as_before(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], applied: Plan
) -> None:
    for ssd in ssds:
        machine.pull(ssd)
    run = bench.undo(applied)
    assert "ssds-as-before" not in codes(run), told(run)


def test_a_pool_that_was_imported_under_another_name_is_known_by_its_guid(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], applied: Plan
) -> None:
    machine.pools.export(machine.tank)
    machine.pools.bring_in(machine.tank, "barrel")
    machine.udev.examine()
    run = bench.undo(applied)
    assert run.state is RunState.UNDONE, told(run)
    assert not machine.tank.leaves
    assert [ssd.changed({}) for ssd in ssds] == [[], []]


def test_what_to_do_about_a_destroyed_pool_is_said(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], applied: Plan
) -> None:
    """The slices carry labels of a pool that `zpool import -D` can bring back; a new plan would not help."""
    machine.pools.destroy(machine.tank)
    machine.udev.examine()
    run = bench.undo(applied)
    inventory = bench.inventory()
    left = [piece for piece in applied.slices if inventory.partition(piece.partuuid)]
    assert run.state is RunState.UNDONE or left, told(run)
    assert "new plan" not in told(run)
    assert "zpool" in told(run) or not left, told(run)


def test_slices_of_an_exported_pool_stay_and_nothing_is_written(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], applied: Plan
) -> None:
    machine.pools.export(machine.tank)
    machine.udev.examine()
    before = [ssd.digest() for ssd in ssds]
    run = bench.undo(applied)
    assert run.state is not RunState.UNDONE, told(run)
    assert [ssd.changed(was) for ssd, was in zip(ssds, before, strict=True)] == [[], []]
    machine.pools.bring_in(machine.tank)
    machine.udev.examine()
    run = bench.undo(applied)
    assert run.state is RunState.UNDONE, told(run)
    assert [ssd.changed({}) for ssd in ssds] == [[], []]


def cloned(machine: LoopMachine, source: LoopDisk) -> LoopDisk:
    """`dd` of an SSD onto another one of its size."""
    clone = machine.add_disk()
    for at in range(0, source.size_bytes, MIB):
        data = source.read(at, MIB)
        if data.strip(b"\0"):
            clone.write(at, data)
    machine.udev.examine()
    return clone


@pytest.mark.parametrize("released", [False, True], ids=["in-the-pool", "taken-out-by-hand"])
def test_undone_is_not_said_while_a_clone_has_the_same_slices(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], applied: Plan, released: bool
) -> None:
    """Which of two equal ones is ours nobody can tell; the clone is not written to, and the way out is to unplug it."""
    if released:
        for vdev in [*(log.vdev.guid for log in machine.tank.logs), *(str(leaf.guid) for leaf in machine.tank.caches)]:
            machine.pools.run(("remove", "tank", vdev))
    ssds[0].flush()
    clone = cloned(machine, ssds[0])
    theirs = clone.digest()
    run = bench.undo(applied)
    assert run.state not in (RunState.UNDONE, RunState.PUT_BACK), told(run)
    assert "ssds-as-before" not in codes(run), told(run)
    assert clone.changed(theirs) == []
    machine.pull(clone)
    run = bench.undo(applied)
    assert run.state is RunState.UNDONE, told(run)
    assert [ssd.changed({}) for ssd in ssds] == [[], []]


def test_a_clone_of_a_slice_alone_is_no_slice_of_ours(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk]
) -> None:
    """Somebody copies the contents of our log slice into a partition of their own, labels and all."""
    plan = bench.plan(log_alone(ssds[0]))
    assert bench.apply(plan).state is RunState.APPLIED
    machine.sgdisk(ssds[1], "--new=5:2048:+64M")
    ssds[0].flush()
    for at in range(0, 64 * MIB, MIB):
        ssds[1].write(MIB + at, ssds[0].read(MIB + at, MIB))
    machine.udev.examine()
    theirs = ssds[1].digest()
    run = bench.undo(plan)
    assert ssds[1].changed(theirs) == []
    assert run.state is RunState.UNDONE, told(run)
    assert ssds[0].changed({}) == []
