"""The rules are asked again right before each step, by whatever way it is come to: what changed meanwhile counts."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from nasadvisor.domain.actions import (
    Action,
    AddCache,
    AddLog,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    RemoveVdev,
    RestoreTable,
    Slice,
    UndoAction,
    slices_of,
)
from nasadvisor.domain.inventory import Hold, HoldKind, Inventory
from nasadvisor.domain.lifecycle import Run, RunState, StepState
from nasadvisor.domain.looks import Step
from nasadvisor.host.gate import Permit, Ran
from nasadvisor.host.runs import apply_plan, finish_run, undo_run
from nasadvisor.host.simulated import SimulatedExecutor
from tests.unit.machines import home_server, partition, with_disk, with_pool
from tests.unit.runs.conftest import Bench, Killed

Change = Callable[[Inventory], Inventory]

MOUNTED = Hold(HoldKind.MOUNT, "/mnt")


def unchanged(inventory: Inventory) -> Inventory:
    return inventory


@dataclass
class Meanwhile(SimulatedExecutor):
    """A simulated host that somebody else changes right after so many steps; it keeps the steps it did."""

    after_steps: int = -1
    change: Change = unchanged
    did: list[Step] = field(default_factory=list)

    def do(self, permit: Permit) -> Ran:
        ran = super().do(permit)
        self.did.append(permit.step)
        if len(self.did) == self.after_steps:
            self.state = self.change(self.state)
        return ran


def held(inventory: Inventory, partuuid: str) -> Inventory:
    """Somebody mounted this slice."""
    disks = tuple(
        replace(
            disk,
            partitions=tuple(
                replace(part, holds=(*part.holds, MOUNTED)) if part.partuuid == partuuid else part
                for part in disk.partitions
            ),
        )
        for disk in inventory.disks
    )
    return replace(inventory, disks=disks)


def taken(inventory: Inventory, piece: Slice) -> Inventory:
    """Somebody made a partition where this slice is to be."""
    disk = inventory.disk(piece.disk_key)
    assert disk
    theirs = replace(partition(disk, piece.number, piece.start_bytes, piece.size_bytes), partuuid="theirs")
    return with_disk(inventory, piece.disk_key, partitions=(*disk.partitions, theirs))


def against(step: Action | UndoAction) -> Change:
    """What somebody may have done meanwhile that forbids this step, and this step only as far as can be."""
    match step:
        case CreateTable(disk_key=key):
            return lambda now: with_disk(now, key, holds=(Hold(HoldKind.FILESYSTEM, "ext4"),))
        case CreateSlice(slice=piece):
            return lambda now: taken(now, piece)
        case AddLog() | AddCache():
            return lambda now: held(now, slices_of(step)[-1].partuuid)
        case RemoveVdev():
            return lambda now: with_pool(now, checkpoint="1G")
        case DeleteSlice(slice=piece):
            return lambda now: held(now, piece.partuuid)
        case RestoreTable(disk_key=key):
            return lambda now: with_disk(now, key, table_uuid="somebody-elses")
        case _:
            raise AssertionError(step)


def bench_of(root: Path, after_steps: int = -1, change: Change = unchanged) -> tuple[Bench, Meanwhile]:
    executor = Meanwhile(home_server(), after_steps=after_steps, change=change)
    return Bench(root, executor), executor


def planned_steps() -> tuple[Action, ...]:
    return Bench(Path(), SimulatedExecutor(home_server())).plan().actions


def undo_steps(root: Path) -> tuple[UndoAction, ...]:
    bench, executor = bench_of(root / "dry")
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    executor.did.clear()
    undo_run(bench.host, "run-1", "root", bench.watch)
    return tuple(step for step in executor.did if isinstance(step, RemoveVdev | DeleteSlice | RestoreTable))


@pytest.mark.parametrize("number", range(1, len(planned_steps())))
def test_the_gate_asks_every_rule_before_each_step_of_a_run(tmp_path: Path, number: int) -> None:
    step = planned_steps()[number]
    bench, executor = bench_of(tmp_path, number, against(step))
    run = apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert step not in executor.did
    assert run.state in (RunState.PUT_BACK, RunState.ATTENTION)
    assert run.steps[number].note is not None


def killer_at_intent(number: int) -> Callable[[Run], None]:
    """An observer that ends everything when a step is about to run."""

    def observe(run: Run) -> None:
        if run.steps[number].state is StepState.STARTED:
            raise Killed

    return observe


@pytest.mark.parametrize("number", range(1, len(planned_steps())))
def test_the_gate_asks_every_rule_before_each_step_that_is_finished(tmp_path: Path, number: int) -> None:
    """Killed when the step was only begun; by the time somebody finishes the run, the host has changed."""
    step = planned_steps()[number]
    bench, executor = bench_of(tmp_path)
    with pytest.raises(Killed):
        apply_plan(bench.host, bench.plan(), "root", killer_at_intent(number))
    assert step not in executor.did
    executor.state = against(step)(executor.state)
    run = finish_run(bench.host, "run-1", "anna", bench.watch)
    assert step not in executor.did
    assert run.state is not RunState.APPLIED


def test_the_gate_asks_every_undo_rule_before_each_step_that_is_taken_back(tmp_path: Path) -> None:
    steps = undo_steps(tmp_path)
    assert {type(step) for step in steps} == {RemoveVdev, DeleteSlice, RestoreTable}
    for number in range(1, len(steps)):
        bench, executor = bench_of(tmp_path / str(number))
        apply_plan(bench.host, bench.plan(), "root", bench.watch)
        executor.did.clear()
        executor.after_steps, executor.change = number, against(steps[number])
        run = undo_run(bench.host, "run-1", "root", bench.watch)
        assert steps[number] not in executor.did, steps[number]
        if not isinstance(steps[number], RestoreTable):  # a table of somebody else's is left, and said
            assert run.state is not RunState.UNDONE, steps[number]


def test_the_gate_asks_every_undo_rule_before_each_step_that_is_put_back(tmp_path: Path) -> None:
    """The last step fails because of what somebody did, and so do those that would take the others back."""
    steps = planned_steps()
    partuuid = slices_of(steps[-1])[-1].partuuid
    bench, executor = bench_of(tmp_path, len(steps) - 1, lambda now: with_pool(held(now, partuuid), checkpoint="1G"))
    run = apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert run.state is RunState.ATTENTION
    assert not any(isinstance(step, RemoveVdev) for step in executor.did)


def test_a_partition_that_somebody_made_meanwhile_is_not_deleted_with_ours(tmp_path: Path) -> None:
    bench, executor = bench_of(tmp_path)
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    disk = executor.state.disks[-1]
    theirs = replace(partition(disk, 9, 400 * 2**30, 2**30), partuuid="theirs", holds=(MOUNTED,))
    executor.state = with_disk(executor.state, disk.key, partitions=(*disk.partitions, theirs))
    undo_run(bench.host, "run-1", "root", bench.watch)
    assert theirs in executor.state.disks[-1].partitions
    tables = [step for step in executor.did if isinstance(step, RestoreTable)]
    assert disk.key not in [step.disk_key for step in tables]
