"""Killed at any point, an apply and an undo can be ended, both ways where there are two, and every byte comes back."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.units import MIB
from tests.devices.bench import Bench, log_and_cache, told
from tests.devices.cuts import counted
from tests.devices.loops import LoopDisk
from tests.devices.machine import LoopMachine
from tests.devices.runner import Killed


@contextmanager
def blank(machine: LoopMachine) -> Iterator[LoopDisk]:
    """A blank SSD, gone again afterwards."""
    ssd = machine.add_disk()
    yield ssd
    machine.pull(ssd)
    machine.disks.remove(ssd)


@contextmanager
def in_use(machine: LoopMachine) -> Iterator[LoopDisk]:
    """An SSD with a mounted partition at its end."""
    with blank(machine) as ssd:
        machine.sgdisk(ssd, f"--new=3:{460 * MIB // 512}:+20M")
        machine.mkfs(ssd.part_node(3))
        with machine.mounted(ssd.part_node(3)):
            yield ssd


Scene = Callable[[LoopMachine], AbstractContextManager[LoopDisk]]
BLANK = pytest.param(blank, id="blank")
IN_USE = pytest.param(in_use, id="in-use")
IN_USE_UNDO = pytest.param(in_use, id="in-use")


def plan_on(bench: Bench, ssd: LoopDisk, number: int) -> Plan:
    return bench.plan(log_and_cache(ssd, use_free_extents=True), f"run-{number}")


def whole(bench: Bench, scene: Scene) -> tuple[int, int]:
    """How much happens in an apply and in its undo before the last record of each."""
    with scene(bench.machine) as ssd:
        plan = plan_on(bench, ssd, 0)
        with counted(bench.machine) as applying:
            run = bench.apply(plan, applying.record)
            assert run.state is RunState.APPLIED, told(run)
        with counted(bench.machine) as undoing:
            run = bench.undo(plan, undoing.record)
            assert run.state is RunState.UNDONE, told(run)
        return len(applying.seen) - 1, len(undoing.seen) - 1


def is_as_before(bench: Bench, ssd: LoopDisk, before: dict[int, str], where: str) -> None:
    assert not bench.machine.tank.leaves, where
    assert ssd.changed(before) == [], where
    assert ssd.shown() == ssd.written(), where


@pytest.mark.parametrize("scene", [BLANK, IN_USE])
@pytest.mark.parametrize("way", ["finish", "undo"])
def test_an_apply_killed_anywhere_can_be_ended(
    machine: LoopMachine, bench: Bench, scene: Scene, way: str, every: int
) -> None:
    points, _ = whole(bench, scene)
    for point in range(1, points + 1)[::every]:
        with scene(machine) as ssd:
            before = ssd.digest()
            plan = plan_on(bench, ssd, point)
            with counted(machine, point) as events, pytest.raises(Killed):
                bench.apply(plan, events.record)
            where = f"killed after: {events.seen[-1]}"
            assert bench.show(plan).state is RunState.INTERRUPTED, where
            if way == "finish":
                run = bench.finish(plan)
                assert run.state is RunState.APPLIED, (where, told(run))
            run = bench.undo(plan)
            assert run.state is RunState.UNDONE, (where, told(run))
            is_as_before(bench, ssd, before, where)
    print(f"{points} points")


@pytest.mark.parametrize("scene", [BLANK, IN_USE_UNDO])
def test_an_undo_killed_anywhere_can_be_asked_for_again(
    machine: LoopMachine, bench: Bench, scene: Scene, every: int
) -> None:
    _, points = whole(bench, scene)
    for point in range(1, points + 1)[::every]:
        with scene(machine) as ssd:
            before = ssd.digest()
            plan = plan_on(bench, ssd, point)
            assert bench.apply(plan).state is RunState.APPLIED
            with counted(machine, point) as events, pytest.raises(Killed):
                bench.undo(plan, events.record)
            where = f"killed after: {events.seen[-1]}"
            assert bench.show(plan).state is RunState.INTERRUPTED, where
            run = bench.undo(plan)
            assert run.state is RunState.UNDONE, (where, told(run))
            is_as_before(bench, ssd, before, where)
    print(f"{points} points")
