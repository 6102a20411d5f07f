"""Finish asks the rules as a first run does: what somebody else wrote after the run was interrupted is not touched."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import RunState
from tests.devices.bench import Bench, codes, kill_after, killer, log_alone, log_and_cache, told
from tests.devices.loops import LoopDisk
from tests.devices.machine import LoopMachine
from tests.devices.runner import Killed

INTENT_OF_THE_FIRST_STEP = 2
"""The first record is the start of the run."""


@pytest.fixture
def begun(bench: Bench, ssds: tuple[LoopDisk, LoopDisk]) -> Plan:
    """A run of which only the intent to write the first table is known."""
    plan = bench.plan(log_and_cache(*ssds))
    with pytest.raises(Killed):
        bench.apply(plan, killer(INTENT_OF_THE_FIRST_STEP))
    return plan


@contextmanager
def untouched(*disks: LoopDisk) -> Iterator[None]:
    """Not one byte of these disks changes."""
    before = [disk.digest() for disk in disks]
    yield
    assert [disk.changed(was) for disk, was in zip(disks, before, strict=True)] == [[] for _ in disks]


def test_an_ext4_made_on_the_ssd_meanwhile_is_kept(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], begun: Plan
) -> None:
    before = ssds[0].digest()
    machine.mkfs(ssds[0].node)
    with untouched(*ssds):
        run = bench.finish(begun)
    assert run.state is not RunState.APPLIED, told(run)
    assert "ssds-as-before" not in codes(run)
    assert ssds[0].serial in told(run) or ssds[0].wwn in told(run)
    assert ssds[0].changed(before)


def test_a_mounted_ext4_on_an_ssd_that_was_partitioned_meanwhile_is_kept(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], begun: Plan
) -> None:
    machine.sgdisk(ssds[0], "--new=1:2048:+100M")
    machine.mkfs(ssds[0].part_node(1))
    with machine.mounted(ssds[0].part_node(1)):
        with untouched(*ssds):
            run = bench.finish(begun)
        assert run.state is not RunState.APPLIED, told(run)
        assert "ssds-as-before" not in codes(run)


@pytest.mark.parametrize("way", ["finish", "undo"])
def test_once_the_ssd_is_blank_again_the_run_can_be_ended(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], begun: Plan, way: str
) -> None:
    """What is refused for somebody else's sake has a way out once they are gone."""
    before = [ssd.digest() for ssd in ssds]
    run = bench.finish(begun) if way == "finish" else bench.undo(begun)
    assert run.state is (RunState.APPLIED if way == "finish" else RunState.UNDONE), told(run)
    if way == "finish":
        run = bench.undo(begun)
    assert run.state is RunState.UNDONE, told(run)
    assert [ssd.changed(was) for ssd, was in zip(ssds, before, strict=True)] == [[], []]


@pytest.fixture
def added(machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk]) -> Plan:
    """A run that was killed when OpenZFS had just added the log, and nothing says so."""
    plan = bench.plan(log_alone(*ssds))
    machine.runner.hooks.after = kill_after("zpool add -o")
    with pytest.raises(Killed):
        bench.apply(plan)
    machine.runner.hooks.after = kill_after("never")
    assert machine.tank.logs
    return plan


def test_log_slices_of_an_exported_pool_are_not_blanked(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], added: Plan
) -> None:
    """They may hold synchronous writes that are nowhere else."""
    machine.pools.export(machine.tank)
    machine.udev.examine()
    with untouched(*ssds):
        run = bench.finish(added)
    assert run.state not in (RunState.APPLIED, RunState.PUT_BACK), told(run)
    assert "ssds-as-before" not in codes(run)
    machine.pools.bring_in(machine.tank)
    machine.udev.examine()
    assert all(leaf.claim >= 0 for leaf in machine.tank.leaves)
    assert bench.finish(added).state is RunState.APPLIED


def test_an_undo_leaves_the_log_slices_of_an_exported_pool_alone(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], added: Plan
) -> None:
    machine.pools.export(machine.tank)
    machine.udev.examine()
    with untouched(*ssds):
        run = bench.undo(added)
    assert run.state not in (RunState.UNDONE, RunState.PUT_BACK), told(run)
    machine.pools.bring_in(machine.tank)
    machine.udev.examine()
    run = bench.undo(added)
    assert run.state is RunState.UNDONE, told(run)
    assert not machine.tank.logs


def test_log_slices_of_a_pool_that_was_destroyed_are_not_blanked_by_finish(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], added: Plan
) -> None:
    """`zpool import -D` could still bring it back."""
    machine.pools.destroy(machine.tank)
    machine.udev.examine()
    with untouched(*ssds):
        run = bench.finish(added)
    assert run.state is not RunState.APPLIED, told(run)
    assert "ssds-as-before" not in codes(run)
