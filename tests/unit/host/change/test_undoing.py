"""Taking back what a run did: what is asked before, what is written down, and what is said of a host afterwards."""

from dataclasses import replace
from pathlib import Path

import pytest

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import (
    AddLog,
    CreateTable,
    DeleteSlice,
    DetachLog,
    Outcome,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    UndoAction,
)
from nasadvisor.domain.change.device_scan import EXPORTED, SliceLabel
from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.change.runs import Continued, Done, Goal, Intent, Run, RunState, Skipped, StepState
from nasadvisor.domain.change.table_area import Area, image_of
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory
from nasadvisor.domain.units import GIB
from nasadvisor.host.change.runs import apply_plan, undo_run
from tests.unit.host.change.conftest import Bench, Killed, killer
from tests.unit.host.change.eventful import GONE, LOG, Change, Host, cut_to, host_of, records, told, vetoes
from tests.unit.machines import NVME1, NVME2, SHARED_SSD, TANK, home_server, with_disk, with_pool

LOG_AND_CACHE = PlanRequest(TANK, (NVME1,), 4 * GIB, (NVME2,), 4 * GIB)
MIRROR = PlanRequest(TANK, (NVME1, NVME2), 4 * GIB)
IN_FREE_SPACE = PlanRequest(TANK, (SHARED_SSD,), 4 * GIB, use_free_extents=True)
UNREADABLE = Hold(HoldKind.UNREADABLE, "torn")
CHECKPOINT = "1.2M"


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return Bench(tmp_path, Host(home_server()))


def applied(bench: Bench, wish: PlanRequest = LOG) -> Plan:
    """A run that got through; what happened on the host so far is forgotten."""
    plan = bench.plan(wish)
    assert apply_plan(bench.host, plan, "root", bench.watch).state is RunState.APPLIED
    host_of(bench).did.clear()
    host_of(bench).looked.clear()
    return plan


def attached(bench: Bench) -> Run:
    """A further run that made the log of the first one a mirror."""
    applied(bench)
    pool = host_of(bench).state.pool(TANK)
    assert pool
    wish = PlanRequest(TANK, (NVME2,), attach_to=pool.logs[0].guid)
    fresh = tuple(f"20000000-0000-4000-8000-{number:012d}" for number in range(20))
    plan = make_plan(wish, bench.executor.inventory(), PlanIds("run-2", "2026-08-25T20:00:00+00:00", fresh))
    assert isinstance(plan, Plan)
    run = apply_plan(bench.host, plan, "root", bench.watch)
    host_of(bench).did.clear()
    return run


def continued(bench: Bench) -> Continued:
    """The record with which the last stretch began."""
    return [record for record in records(bench) if isinstance(record, Continued)][-1]


def steps_back(bench: Bench) -> list[str]:
    """The sorts of steps that the last stretch was to take."""
    return [step.action for step in continued(bench).undo]


def without_disk(inventory: Inventory, *keys: str) -> Inventory:
    return replace(inventory, disks=tuple(disk for disk in inventory.disks if disk.key not in keys))


def without_pool(inventory: Inventory) -> Inventory:
    """Tank is not there, and its slices are let go."""
    disks = tuple(
        replace(disk, partitions=tuple(replace(part, holds=()) for part in disk.partitions))
        if disk.key in (NVME1, NVME2)
        else disk
        for disk in inventory.disks
    )
    return replace(inventory, disks=disks, pools=tuple(pool for pool in inventory.pools if pool.guid != TANK))


def with_mounted_slice(inventory: Inventory) -> Inventory:
    """Somebody has mounted what the run made on the first SSD."""
    disk, theirs = inventory.disk(NVME1), Hold(HoldKind.MOUNT, "/mnt")
    assert disk
    return with_disk(inventory, NVME1, partitions=tuple(replace(part, holds=(theirs,)) for part in disk.partitions))


def label(state: int) -> SliceLabel:
    return SliceLabel(state, 15, "tank", TANK, "9000000000000000001")


# What is asked before anything is changed


def test_an_undo_says_who_asked_and_what_it_will_do(made: Bench) -> None:
    plan = applied(made)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.UNDONE
    begun = continued(made)
    assert (begun.goal, begun.by) == (Goal.UNDO, "anna")
    assert steps_back(made) == ["remove-vdev", "delete-slice", "restore-table"]
    assert begun.undo[1:] == tuple(step for action in plan.actions[1::-1] for step in action.undo(Outcome()))
    assert told(made)[6:] == [(name, Goal.UNDO, number) for number in range(3) for name in ("Intent", "Done")]
    assert [step.ran for step in run.undo_steps] != [(), (), ()]
    assert [[each.argv for each in step.ran] for step in run.undo_steps] == [
        list(step.commands()) for step in begun.undo
    ]


@pytest.mark.parametrize("state", [RunState.APPLIED, RunState.INTERRUPTED])
def test_a_host_that_cannot_be_read_leaves_a_run_as_it_was_and_says_why(made: Bench, state: RunState) -> None:
    if state is RunState.APPLIED:
        applied(made)
    else:
        with pytest.raises(Killed):
            apply_plan(made.host, made.plan(LOG), "root", killer(4))
    host_of(made).unreadable = host_of(made).readings
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert (run.state, run.refusals) == (state, (no.HostUnreadable(GONE.statement),))


def test_what_a_platform_forbids_to_undo_is_left_as_it_was(made: Bench) -> None:
    applied(made)
    reason, asked = no.PlatformUntested("PVE", "9", "8", "9"), list[Inventory]()
    host = replace(made.host, vetoes=vetoes(reason, Goal.UNDO, asked))
    run = undo_run(host, "run-1", "anna", made.watch)
    assert (run.state, run.refusals) == (RunState.APPLIED, (reason,))
    assert asked == [host_of(made).state]


def test_what_a_platform_forbids_only_to_begin_is_undone_with_a_warning(made: Bench) -> None:
    applied(made)
    reason = no.PlatformUntested("PVE", "9", "8", "9")
    host = replace(made.host, vetoes=vetoes(reason, Goal.APPLY, []))
    run = undo_run(host, "run-1", "anna", made.watch)
    assert run.state is RunState.UNDONE
    assert "undo-on-untested-platform" in [finding.code for finding in run.findings]


def test_what_speaks_against_a_later_step_is_found_though_an_earlier_one_is_gone_already(made: Bench) -> None:
    applied(made, LOG_AND_CACHE)
    host_of(made).state = with_pool(host_of(made).state, caches=(), checkpoint=CHECKPOINT)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert (run.state, {refusal.code for refusal in run.refusals}) == (RunState.APPLIED, {"pool-checkpoint"})
    assert host_of(made).did == []


def test_a_pool_that_is_away_and_may_need_its_log_keeps_a_run_as_it_is(made: Bench) -> None:
    plan = applied(made)
    host_of(made).labels = ((plan.slices[0].partuuid, label(EXPORTED)),)
    host_of(made).state = without_pool(host_of(made).state)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.APPLIED
    assert [refusal.code for refusal in run.refusals] == ["pool-away", "slice-needed"]
    assert host_of(made).did == []


def test_a_vdev_of_a_pool_that_was_destroyed_is_skipped_and_its_slices_are_deleted(made: Bench) -> None:
    applied(made, LOG_AND_CACHE)
    host_of(made).state = without_pool(host_of(made).state)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.UNDONE, run.refusals
    assert [type(step) for step in host_of(made).did] == [DeleteSlice, RestoreTable] * 2
    assert {disk.table_uuid for disk in host_of(made).state.disks if disk.key in (NVME1, NVME2)} == {""}


def test_a_slice_that_is_there_twice_keeps_a_run_as_it_is(made: Bench) -> None:
    """A copy of the SSD is plugged in; which of the two is ours nobody can tell."""
    applied(made)
    state = host_of(made).state
    ours, other = state.disk(NVME1), state.disk(NVME2)
    assert ours
    assert other
    host_of(made).state = with_disk(state, NVME2, partitions=ours.partitions, table=ours.table)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert (run.state, host_of(made).did) == (RunState.APPLIED, [])
    assert "slice-twice" in {refusal.code for refusal in run.refusals}


def test_a_slice_that_is_held_keeps_nobody_from_taking_back_the_rest(made: Bench) -> None:
    """It may be let go of on the way; only what can never be told is asked before the first change."""
    applied(made, LOG_AND_CACHE)
    state = without_pool(host_of(made).state)
    disk = state.disk(NVME1)
    assert disk
    mounted = tuple(replace(part, holds=(Hold(HoldKind.MOUNT, "/mnt"),)) for part in disk.partitions)
    host_of(made).state = with_disk(state, NVME1, partitions=mounted)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.ATTENTION
    assert [refusal.code for refusal in run.refusals] == ["slice-held"]
    assert [type(step) for step in host_of(made).did] == [DeleteSlice, RestoreTable]


def test_a_slice_that_another_pool_took_keeps_nobody_from_taking_back_the_rest(made: Bench) -> None:
    """Our pool does without it; that other pool is away, and the slice is left to it."""
    plan = applied(made, LOG_AND_CACHE)
    piece = next(piece for piece in plan.slices if piece.disk_key == NVME1)
    theirs = replace(label(EXPORTED), pool_name="backup", pool_guid="99")
    host_of(made).labels = ((piece.partuuid, theirs),)
    state = with_pool(host_of(made).state, logs=())
    disk = state.disk(NVME1)
    assert disk
    freed = tuple(replace(part, holds=()) for part in disk.partitions)
    host_of(made).state = with_disk(state, NVME1, partitions=freed)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert (run.state, [refusal.code for refusal in run.refusals]) == (RunState.ATTENTION, ["slice-needed"])
    assert [type(step) for step in host_of(made).did] == [RemoveVdev, DeleteSlice, RestoreTable]


def test_a_slice_is_looked_at_once_before_it_is_deleted(made: Bench) -> None:
    applied(made)
    undo_run(made.host, "run-1", "anna", made.watch)
    looks = [type(step) for step, _, _ in host_of(made).looked]
    assert looks.count(DeleteSlice) == 1


def test_each_look_at_a_vdev_is_at_the_host_as_it_was_read(made: Bench) -> None:
    applied(made)
    state = without_pool(host_of(made).state)
    host_of(made).state = state
    undo_run(made.host, "run-1", "anna", made.watch)
    looks = [(step, inventory) for step, inventory, _ in host_of(made).looked if isinstance(step, RemoveVdev)]
    removal = continued(made).undo[0]
    assert looks == [(removal, state)] * 2


# What is taken back, and how it is told


def test_steps_that_were_never_begun_are_not_taken_back(made: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(IN_FREE_SPACE), "root", killer(1))
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.UNDONE
    assert (steps_back(made), host_of(made).did) == ([], [])


def test_a_table_that_was_never_begun_is_not_taken_back(made: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(LOG), "root", killer(1))
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert (run.state, steps_back(made)) == (RunState.UNDONE, [])


def test_a_slice_that_somebody_changed_is_not_passed_over_though_the_journal_does_not_know_it(made: Bench) -> None:
    applied(made)
    cut_to(made, 1)
    state = without_pool(host_of(made).state)
    disk = state.disk(NVME1)
    assert disk
    grown = tuple(replace(part, size_bytes=part.size_bytes + GIB) for part in disk.partitions)
    host_of(made).state = with_disk(state, NVME1, partitions=grown)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert steps_back(made) == ["delete-slice", "restore-table"]
    assert (run.state, [refusal.code for refusal in run.refusals]) == (RunState.ATTENTION, ["slice-gone"])


def test_what_the_host_shows_is_taken_back_though_the_journal_lost_its_records(made: Bench) -> None:
    applied(made)
    cut_to(made, 1)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert steps_back(made) == ["remove-vdev", "delete-slice", "restore-table"]
    assert run.state is RunState.UNDONE
    assert [finding.code for finding in run.findings] == ["no-slice-left", "hole-stays"]


def test_a_slice_alone_is_taken_back_though_the_journal_does_not_know_it(made: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(LOG), "root", killer(7))
    cut_to(made, 1)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert (run.state, steps_back(made)) == (RunState.UNDONE, ["delete-slice", "restore-table"])
    assert not host_of(made).state.disks[-2].partitions


def test_a_table_that_is_only_begun_is_always_taken_back(made: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(LOG), "root", killer(2))
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert (run.state, steps_back(made)) == (RunState.UNDONE, ["restore-table"])


def test_a_pool_that_was_renamed_is_undone_under_its_new_name(made: Bench) -> None:
    applied(made)
    host_of(made).state = with_pool(host_of(made).state, name="other")
    assert undo_run(made.host, "run-1", "anna", made.watch).state is RunState.UNDONE
    removal = continued(made).undo[0]
    assert isinstance(removal, RemoveVdev)
    assert removal.pool_name == "other"


def test_a_mirror_that_lost_a_side_is_removed_by_the_guid_that_it_has_now(made: Bench) -> None:
    """OpenZFS then gives the log the guid of the side that is left, or a new one."""
    applied(made, MIRROR)
    pool = host_of(made).state.pool(TANK)
    assert pool
    alone = replace(pool.logs[0].children[0], guid="555")
    host_of(made).state = with_pool(host_of(made).state, logs=(alone,))
    undo_run(made.host, "run-1", "anna", made.watch)
    removal = continued(made).undo[0]
    assert isinstance(removal, RemoveVdev)
    assert removal.vdev_guid == "555"
    assert host_of(made).did[0] == removal


def test_a_side_is_detached_by_the_guid_that_it_has_now(made: Bench) -> None:
    run = attached(made)
    pool = host_of(made).state.pool(TANK)
    assert pool
    first, second = pool.logs[0].children
    mirror = replace(pool.logs[0], children=(first, replace(second, guid="555")))
    host_of(made).state = with_pool(host_of(made).state, logs=(mirror,))
    assert undo_run(made.host, run.id, "anna", made.watch).state is RunState.UNDONE
    detach = host_of(made).did[0]
    assert isinstance(detach, DetachLog)
    assert detach.vdev_guid == "555"


def test_a_log_that_was_begun_and_never_got_through_has_nothing_to_remove(made: Bench) -> None:
    host_of(made).fails = {AddLog}
    run = apply_plan(made.host, made.plan(LOG), "root", made.watch)
    assert (run.state, steps_back(made)) == (RunState.PUT_BACK, ["delete-slice", "restore-table"])
    assert (continued(made).goal, continued(made).by) == (Goal.PUT_BACK, "")


def test_what_is_gone_already_is_recorded_as_found(made: Bench) -> None:
    applied(made, LOG_AND_CACHE)
    state = host_of(made).state
    disks = {disk.key: disk for disk in state.disks}
    freed = tuple(replace(part, holds=()) for part in disks[NVME2].partitions)
    host_of(made).state = with_disk(with_pool(state, caches=()), NVME2, partitions=freed)
    assert undo_run(made.host, "run-1", "anna", made.watch).state is RunState.UNDONE
    found = {
        record.step: record.found for record in records(made) if isinstance(record, Done) and record.goal is Goal.UNDO
    }
    assert found == {0: True, 1: False, 2: False, 3: False, 4: False, 5: False}
    assert all(not step.ran for step in made.seen[-1].undo_steps[:1])


def test_a_step_that_changed_nothing_failed_and_keeps_what_was_answered(made: Bench) -> None:
    applied(made)
    state = host_of(made).state
    host_of(made).after = {RemoveVdev: lambda now: state}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.ATTENTION
    failed = run.undo_steps[0]
    assert failed.note
    assert (failed.state, failed.note.code) == (StepState.FAILED, "still-there")
    assert [each.stdout for each in failed.ran] == ["(simulated)"]
    assert failed.ended_at


def test_a_pool_that_does_not_let_go_of_a_vdev_ends_the_undo(made: Bench) -> None:
    applied(made, LOG_AND_CACHE)
    host_of(made).fails = {RemoveVdev}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.ATTENTION
    states = [step.state for step in run.undo_steps]
    assert states == [StepState.FAILED, *[StepState.PENDING] * 5]
    assert run.undo_steps[0].note == GONE.statement


def test_an_ssd_that_cannot_be_written_to_keeps_nobody_from_freeing_the_other(made: Bench) -> None:
    applied(made, MIRROR)
    host_of(made).fails = {DeleteSlice}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.ATTENTION
    failed = [step.state is StepState.FAILED for step in run.undo_steps]
    kinds = [type(step) for step in continued(made).undo]
    assert failed[:2] == [False, True]
    assert [kind for kind, is_failed in zip(kinds, failed, strict=True) if is_failed] == [DeleteSlice, DeleteSlice]
    assert [refusal.code for refusal in run.refusals] == ["run-still-shows"]


def test_a_table_that_could_not_be_written_back_needs_attention_though_nothing_shows_any_more(made: Bench) -> None:
    applied(made)
    host_of(made).fails = {RestoreTable}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert (run.state, run.refusals) == (RunState.ATTENTION, (no.UndoUncertain(),))
    assert run.undo_steps[2].note == GONE.statement


def test_a_step_of_an_undo_that_a_rule_forbids_fails_with_the_reason(made: Bench) -> None:
    applied(made)
    host_of(made).after = {RemoveVdev: with_mounted_slice}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.ATTENTION
    assert [refusal.code for refusal in run.refusals] == ["slice-held"]
    failed = run.undo_steps[1]
    assert (failed.state, failed.note) == (StepState.FAILED, run.refusals[0].plain)
    assert failed.started_at == ""


# What is said at the end


def test_a_table_that_somebody_changed_is_left_and_named(made: Bench) -> None:
    plan = applied(made)
    host_of(made).after = {DeleteSlice: lambda now: with_disk(now, NVME1, table_uuid="theirs")}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.UNDONE
    [left] = [finding for finding in run.findings if finding.code == "no-slice-left"]
    assert left.values == {"disk": plan.slices[0].disk_path}
    [skipped] = [record for record in records(made) if isinstance(record, Skipped)]
    assert (skipped.goal, skipped.step, skipped.sentence.code) == (Goal.UNDO, 2, "table-changed")
    assert run.undo_steps[2].state is StepState.SKIPPED
    assert run.undo_steps[2].ended_at


def test_a_disk_that_is_away_is_named_once_and_its_steps_are_skipped(made: Bench) -> None:
    plan = applied(made, MIRROR)
    host_of(made).after = {RemoveVdev: lambda now: without_disk(now, NVME1)}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.UNDONE
    away = [finding.values["disk"] for finding in run.findings if finding.code == "gone-with-disk"]
    path = next(piece.disk_path for piece in plan.slices if piece.disk_key == NVME1)
    assert away == [path]
    assert [finding.code for finding in run.findings] == ["gone-with-disk", "hole-stays"]
    skipped = [record for record in records(made) if isinstance(record, Skipped)]
    numbers = [number for number, step in enumerate(continued(made).undo) if _is_on(step, NVME1)]
    assert [(record.goal, record.step, record.sentence.code) for record in skipped] == [
        (Goal.UNDO, number, "gone-with-disk") for number in numbers
    ]
    assert all(run.undo_steps[number].ended_at for number in numbers)


def _is_on(step: UndoAction, key: str) -> bool:
    match step:
        case DeleteSlice(slice=piece):
            return piece.disk_key == key
        case RestoreTable():
            return step.disk_key == key
        case _:
            return False


def test_two_disks_that_are_away_are_both_named(made: Bench) -> None:
    applied(made, MIRROR)
    host_of(made).after = {RemoveVdev: lambda now: without_disk(now, NVME1, NVME2)}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert [finding.code for finding in run.findings] == ["gone-with-disk", "gone-with-disk", "hole-stays"]


def test_what_the_host_still_shows_is_named_and_nothing_is_called_undone(made: Bench) -> None:
    """Somebody added the slice again to the pool, as the last step was done."""
    applied(made)
    state = host_of(made).state
    host_of(made).after = {RestoreTable: lambda now: state}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.ATTENTION
    [still] = run.refusals
    assert still.code == "run-still-shows"
    assert "partition 1 on" in str(still)
    assert "in pool tank" in str(still)


def test_a_vdev_with_a_guid_of_the_run_still_shows_whatever_it_stands_on(made: Bench) -> None:
    applied(made)
    pool = host_of(made).state.pool(TANK)
    assert pool
    moved = replace(pool.logs[0], path="/dev/elsewhere")
    host_of(made).after = {RestoreTable: lambda now: with_pool(now, logs=(moved,))}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert [refusal.code for refusal in run.refusals] == ["run-still-shows"]
    assert "/dev/elsewhere in pool tank" in str(run.refusals[0])


def test_a_vdev_that_only_the_steps_of_the_undo_know_still_shows(made: Bench) -> None:
    """The journal lost what the run made; the host told its guid when the undo began."""
    applied(made)
    cut_to(made, 1)
    pool = host_of(made).state.pool(TANK)
    assert pool
    moved = replace(pool.logs[0], path="/dev/elsewhere")
    host_of(made).after = {DeleteSlice: lambda now: with_pool(now, logs=(moved,))}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert [refusal.code for refusal in run.refusals] == ["run-still-shows"]


def test_a_host_that_cannot_be_read_at_the_end_keeps_what_was_refused_before(made: Bench) -> None:
    applied(made)
    readings = host_of(made).readings
    undo_run(made.host, "run-1", "anna", made.watch)
    needed = host_of(made).readings - readings
    other = Bench(made.root / "again", Host(home_server()))
    applied(other)
    host_of(other).unreadable = host_of(other).readings + needed - 1
    run = undo_run(other.host, "run-1", "anna", other.watch)
    assert (run.state, run.refusals) == (RunState.ATTENTION, (no.StateUnknown(GONE.statement),))


def test_a_host_that_cannot_be_read_after_a_failed_step_needs_attention(made: Bench) -> None:
    plan = made.plan(LOG)
    host_of(made).fails = {AddLog}
    host_of(made).unreadable = host_of(made).readings + 3
    run = apply_plan(made.host, plan, "root", made.watch)
    assert (run.state, run.refusals) == (RunState.ATTENTION, (no.StateUnknown(GONE.statement),))


def area(*marks: bytes) -> Area:
    """Two sectors, each filled with its mark."""
    return Area(b"".join(mark * 512 for mark in marks), b"")


BLANK, TABLE, TORN, THEIRS = area(b"a", b"b"), area(b"A", b"B"), area(b"a", b"B"), area(b"x", b"y")


def with_areas(bench: Bench) -> Host:
    """The host shows sectors of the first SSD: blank ones, and others once it has a table."""
    host = host_of(bench)
    host.areas = {NVME1: BLANK}

    def write(now: Inventory) -> Inventory:
        host.areas[NVME1] = TABLE
        return now

    host.after = {CreateTable: write}
    return host


def test_a_table_that_somebody_changed_is_kept_before_a_slice_is_deleted_from_it(made: Bench) -> None:
    applied(made)
    disk = made.executor.inventory().disk(NVME1)
    theirs = Area(b"theirs", b"")
    host_of(made).areas = {NVME1: theirs}
    undo_run(made.host, "run-1", "anna", made.watch)
    begun = [record for record in records(made) if isinstance(record, Intent) and record.goal is Goal.UNDO]
    assert disk
    assert [record.image for record in begun] == [None, image_of(disk, theirs)]


def test_a_torn_table_is_brought_back_before_anything_else_for_it_hides_the_slices(made: Bench) -> None:
    host = with_areas(made)
    applied(made)
    disk = host.state.disk(NVME1)
    assert disk
    parts = disk.partitions
    host.state = with_disk(host.state, NVME1, holds=(UNREADABLE,), partitions=())
    host.areas[NVME1] = TORN
    host.after = {RewindTable: lambda now: with_disk(now, NVME1, holds=(), partitions=parts)}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert [type(step) for step in host.did] == [RewindTable, RemoveVdev, DeleteSlice, RestoreTable]
    assert host.did[0] == RewindTable(NVME1, disk.path)
    assert run.state is RunState.UNDONE


@pytest.mark.parametrize("now", [TABLE, THEIRS])
def test_a_table_that_is_whole_or_somebodys_is_not_rewound(made: Bench, now: Area) -> None:
    host = with_areas(made)
    applied(made)
    host.state = with_disk(host.state, NVME1, holds=(UNREADABLE,))
    host.areas[NVME1] = now
    undo_run(made.host, "run-1", "anna", made.watch)
    assert RewindTable not in {type(step) for step in host.did}


def test_a_table_that_can_be_read_is_not_rewound(made: Bench) -> None:
    host = with_areas(made)
    applied(made)
    host.areas[NVME1] = TORN
    undo_run(made.host, "run-1", "anna", made.watch)
    assert RewindTable not in {type(step) for step in host.did}


def test_each_torn_table_is_brought_back_though_another_disk_is_away(made: Bench) -> None:
    host = with_areas(made)
    applied(made, MIRROR)
    order = [step.disk_key for step in _tables(made)]
    assert order == [NVME2, NVME1]
    state = without_disk(host.state, NVME2)
    host.state = with_disk(state, NVME1, holds=(UNREADABLE,))
    host.areas[NVME1] = TORN
    undo_run(made.host, "run-1", "anna", made.watch)
    assert type(host.did[0]) is RewindTable


def _tables(bench: Bench) -> list[CreateTable]:
    return [action for action in reversed(bench.seen[-1].plan.actions) if isinstance(action, CreateTable)]


def test_a_table_that_fails_to_be_brought_back_is_left_to_its_steps(made: Bench) -> None:
    host = with_areas(made)
    applied(made)
    host.state = with_disk(host.state, NVME1, holds=(UNREADABLE,))
    host.areas[NVME1] = TORN
    host.fails = {RewindTable}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert type(host.did[0]) is RemoveVdev
    assert run.undo_steps[0].state is StepState.DONE


def test_a_table_that_is_as_before_is_not_named_and_another_one_is(made: Bench) -> None:
    host = with_areas(made)
    applied(made)

    def restored(now: Inventory) -> Inventory:
        host.areas[NVME1] = BLANK
        return now

    host.after = {RestoreTable: restored}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert [finding.code for finding in run.findings] == ["ssds-as-before", "hole-stays"]


def test_a_table_that_was_written_and_is_not_as_before_is_named(made: Bench) -> None:
    host = with_areas(made)
    plan = applied(made)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    left = [finding.values["disk"] for finding in run.findings if finding.code == "no-slice-left"]
    assert left == [plan.slices[0].disk_path]
    assert [type(step) for step in host.did] == [RemoveVdev, DeleteSlice, RestoreTable]


def test_several_tables_that_are_not_as_before_are_named_in_the_order_of_the_steps(made: Bench) -> None:
    host = host_of(made)
    host.areas, written = {NVME1: BLANK, NVME2: BLANK}, iter(MIRROR.log_disks)

    def write(now: Inventory) -> Inventory:
        host.areas[next(written)] = TABLE
        return now

    host.after = {CreateTable: write}
    plan = applied(made, MIRROR)
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert [type(step) for step in host.did].count(RestoreTable) == 2
    left = [finding.values["disk"] for finding in run.findings if finding.code == "no-slice-left"]
    assert left == [piece.disk_path for piece in reversed(plan.slices)]


def test_the_last_look_is_at_each_table_on_the_host_as_it_is_then(made: Bench) -> None:
    applied(made)
    undo_run(made.host, "run-1", "anna", made.watch)
    step, inventory, own = host_of(made).looked[-1]
    assert (step, inventory) == (continued(made).undo[-1], host_of(made).state)
    assert own
    assert own.before == Area(b"", b"")


def test_a_side_that_was_attached_is_detached_and_its_slice_deleted(made: Bench) -> None:
    run = attached(made)
    host_of(made).fails = {DetachLog}
    failed = undo_run(made.host, run.id, "anna", made.watch)
    assert failed.state is RunState.ATTENTION
    assert [step.state for step in failed.undo_steps] == [StepState.FAILED, StepState.PENDING, StepState.PENDING]
    host_of(made).fails = set()
    assert undo_run(made.host, run.id, "anna", made.watch).state is RunState.UNDONE
    assert [type(step) for step in host_of(made).did] == [DetachLog, DeleteSlice, RestoreTable]


# What is said after a run that failed was put back


def failing_add(bench: Bench, wish: PlanRequest, after: dict[type, Change]) -> tuple[Plan, Run]:
    """A run of which OpenZFS does not take the log; what happens to the host after each sort of step."""
    plan = bench.plan(wish)
    host_of(bench).fails, host_of(bench).after = {AddLog}, after
    return plan, apply_plan(bench.host, plan, "root", bench.watch)


def test_what_is_as_before_is_put_back(made: Bench) -> None:
    _plan, run = failing_add(made, LOG, {})
    assert (run.state, run.refusals, [finding.code for finding in run.findings]) == (
        RunState.PUT_BACK,
        (),
        ["ssds-as-before"],
    )


def test_a_table_that_is_not_as_before_needs_attention_and_is_not_called_put_back(made: Bench) -> None:
    plan, run = failing_add(made, LOG, {DeleteSlice: lambda now: with_disk(now, NVME1, table_uuid="theirs")})
    assert (run.state, run.refusals) == (RunState.ATTENTION, ())
    assert [(each.code, each.values) for each in run.findings] == [
        ("no-slice-left", {"disk": plan.slices[0].disk_path})
    ]


def test_a_disk_that_went_away_needs_attention_and_what_is_there_is_taken_back(made: Bench) -> None:
    plan, run = failing_add(made, MIRROR, {DeleteSlice: lambda now: without_disk(now, NVME1)})
    away = next(piece.disk_path for piece in plan.slices if piece.disk_key == NVME1)
    assert (run.state, run.refusals) == (RunState.ATTENTION, ())
    assert [(each.code, each.values["disk"]) for each in run.findings] == [("gone-with-disk", away)]


def test_what_was_forbidden_is_said_before_that_the_host_cannot_be_read(made: Bench) -> None:
    applied(made)
    host = host_of(made)

    def mounted_and_then_unreadable(now: Inventory) -> Inventory:
        host.unreadable = host.readings + 1
        return with_mounted_slice(now)

    host.after = {RemoveVdev: mounted_and_then_unreadable}
    run = undo_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.ATTENTION
    assert [refusal.code for refusal in run.refusals] == ["slice-held", "state-unknown"]


@pytest.mark.parametrize(
    "after",
    [
        {DeleteSlice: lambda now: with_disk(with_disk(now, NVME1, table_uuid="x"), NVME2, table_uuid="y")},
        {RemoveVdev: lambda now: without_disk(now, NVME1, NVME2)},
    ],
    ids=["changed", "away"],
)
def test_several_disks_are_named_in_the_order_of_the_steps(made: Bench, after: dict[type, Change]) -> None:
    plan = applied(made, MIRROR)
    host_of(made).after = after
    run = undo_run(made.host, "run-1", "anna", made.watch)
    named = [each.values["disk"] for each in run.findings if "disk" in each.values]
    assert named == [piece.disk_path for piece in reversed(plan.slices)]
