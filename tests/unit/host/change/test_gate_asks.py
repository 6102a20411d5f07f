"""The rules are asked again right before each step, by whatever way it is come to: what changed meanwhile counts."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    ClearSlice,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    Slice,
    UndoAction,
)
from nasadvisor.domain.change.device_scan import DeviceScan, Signature, Step
from nasadvisor.domain.change.runs import CommandRan, RunState
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory
from nasadvisor.host.change.gate import Gate, Permit, PermitMisused
from nasadvisor.host.change.runs import apply_plan, finish_run, undo_run
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.unit.host.change.conftest import Bench, Killed
from tests.unit.machines import home_server, partition, with_disk, with_pool

Change = Callable[[Inventory], Inventory]

THEIRS = DeviceScan(signatures=(Signature("ext4", 0),))
"""What is read where somebody made a filesystem meanwhile."""

MOUNTED = Hold(HoldKind.MOUNT, "/mnt")


def unchanged(inventory: Inventory) -> Inventory:
    return inventory


@dataclass
class Meanwhile(SimulatedExecutor):
    """A simulated host that somebody else changes right after so many steps; it keeps the steps it did."""

    after_steps: int = -1
    change: Change = unchanged
    die_at: Step | None = None
    found: DeviceScan = field(default_factory=DeviceScan)
    did: list[Step] = field(default_factory=list)

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        seen = super().look(step, inventory, own)
        return replace(seen, signatures=self.found.signatures) if 0 <= self.after_steps <= len(self.did) else seen

    def do(self, permit: Permit) -> tuple[CommandRan, ...]:
        if permit.step == self.die_at:
            raise Killed
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


def formatted(inventory: Inventory, key: str) -> Inventory:
    """Somebody made a filesystem on this disk."""
    return with_disk(inventory, key, holds=(Hold(HoldKind.FILESYSTEM, "ext4"),))


def against(step: Step) -> Change:
    """What somebody may have done meanwhile that forbids this step, and this step only as far as can be."""
    match step:
        case CreateTable(disk_key=key):
            return lambda now: formatted(now, key)
        case CreateSlice(slice=piece):
            return lambda now: taken(now, piece)
        case AddLog() | AddCache():
            return lambda now: held(now, step.pieces[-1].partuuid)
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


def killed_at(bench: Bench, executor: Meanwhile, step: Step) -> None:
    """The run is killed when the step is about to act; its intent is in the journal."""
    executor.die_at = step
    with pytest.raises(Killed):
        apply_plan(bench.host, bench.plan(), "root", bench.watch)
    executor.die_at = None
    assert step not in executor.did


@pytest.mark.parametrize("number", range(1, len(planned_steps())))
def test_the_gate_asks_every_rule_before_each_step_that_is_finished(tmp_path: Path, number: int) -> None:
    """Killed when the step was only begun; by the time somebody finishes the run, the host has changed."""
    step = planned_steps()[number]
    bench, executor = bench_of(tmp_path)
    killed_at(bench, executor, step)
    executor.state = against(step)(executor.state)
    executor.did.clear()
    run = finish_run(bench.host, "run-1", "anna", bench.watch)
    assert step not in executor.did
    assert run.state is not RunState.APPLIED


@pytest.mark.parametrize("number", range(len(planned_steps())))
def test_the_gate_asks_every_rule_before_each_cleaning(tmp_path: Path, number: int) -> None:
    """What was left half done is cleaned on the way to finish a run; by then it may be somebody else's."""
    step = planned_steps()[number]
    bench, executor = bench_of(tmp_path)
    killed_at(bench, executor, step)
    executor.did.clear()
    if isinstance(step, CreateSlice):
        executor.state = formatted(executor.state, step.slice.disk_key)
    else:
        executor.state = against(step)(executor.state)
    run = finish_run(bench.host, "run-1", "anna", bench.watch)
    assert run.state is RunState.INTERRUPTED
    assert run.refusals
    theirs = step.pieces[-1:]
    assert not [each for each in executor.did if isinstance(each, RewindTable)]
    assert not [each for each in executor.did if isinstance(each, ClearSlice) and each.slice in theirs]


def test_a_permit_is_made_by_the_gate_alone_and_good_for_one_step_once() -> None:
    inventory = home_server()
    step = planned_steps()[0]
    executor = SimulatedExecutor(inventory)
    with pytest.raises(PermitMisused):
        Permit(step, inventory, DeviceScan(), None, object())
    gate = Gate(executor)
    permit = gate.ask(step, inventory)
    assert isinstance(permit, Permit)
    gate.do(permit)
    after = executor.state
    with pytest.raises(PermitMisused):
        gate.do(permit)
    assert executor.state == after


def test_what_a_step_left_half_done_is_cleaned_before_it_runs_again(tmp_path: Path) -> None:
    for number, step in enumerate(planned_steps()):
        bench, executor = bench_of(tmp_path / str(number))
        killed_at(bench, executor, step)
        executor.did.clear()
        assert finish_run(bench.host, "run-1", "anna", bench.watch).state is RunState.APPLIED
        before = executor.did[: executor.did.index(step)]
        match step:
            case CreateTable(disk_key=key):
                assert [type(each) for each in before] == [RewindTable]
                assert [each.disk_key for each in before if isinstance(each, RewindTable)] == [key]
            case CreateSlice(slice=piece):
                assert [type(each) for each in before] == [RewindTable]
                assert [each.disk_key for each in before if isinstance(each, RewindTable)] == [piece.disk_key]
            case _:
                assert tuple(each.slice for each in before if isinstance(each, ClearSlice)) == step.pieces


@pytest.mark.parametrize("number", [number for number, step in enumerate(planned_steps()) if step.pieces])
def test_the_gate_asks_the_bytes_before_each_step_and_each_cleaning(tmp_path: Path, number: int) -> None:
    """Somebody wrote a filesystem where the step writes, and udev does not know."""
    step = planned_steps()[number]
    bench, executor = bench_of(tmp_path, number)
    executor.found = THEIRS
    run = apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert step not in executor.did
    assert run.state is not RunState.APPLIED
    bench, executor = bench_of(tmp_path / "finished")
    killed_at(bench, executor, step)
    executor.did.clear()
    executor.after_steps, executor.found = 0, THEIRS
    assert finish_run(bench.host, "run-1", "anna", bench.watch).state is not RunState.APPLIED
    assert not [each for each in executor.did if isinstance(each, ClearSlice) or each == step]


def test_the_gate_asks_the_bytes_before_a_slice_is_deleted(tmp_path: Path) -> None:
    bench, executor = bench_of(tmp_path)
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    executor.did.clear()
    executor.after_steps, executor.found = 0, THEIRS
    assert undo_run(bench.host, "run-1", "root", bench.watch).state is not RunState.UNDONE
    assert not [each for each in executor.did if isinstance(each, DeleteSlice)]


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
    partuuid = steps[-1].pieces[-1].partuuid
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
