"""What a run writes down while it applies or finishes a plan, and what it says when it cannot."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import AddLog, ClearSlice, CreateSlice, CreateTable, RewindTable
from nasadvisor.domain.change.device_scan import Signature
from nasadvisor.domain.change.plan import Plan, PlanRequest
from nasadvisor.domain.change.runs import CommandRan, Done, Ended, Goal, Intent, RunState, StepState
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory
from nasadvisor.domain.units import GIB
from nasadvisor.host.change.apply import against
from nasadvisor.host.change.runs import apply_plan, finish_run
from tests.unit.host.change.conftest import Bench, Killed, killer
from tests.unit.host.change.eventful import GONE, LOG, Host, cut_to, host_of, records, told, vetoes
from tests.unit.machines import NVME1, NVME2, SHARED_SSD, TANK, home_server, with_disk, with_pool


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return Bench(tmp_path, Host(home_server()))


def test_each_step_is_written_down_before_and_after_it_with_what_was_answered(made: Bench) -> None:
    plan = made.plan(LOG)
    run = apply_plan(made.host, plan, "root", made.watch)
    assert run.state is RunState.APPLIED
    assert told(made) == [(name, Goal.APPLY, number) for number in range(3) for name in ("Intent", "Done")]
    assert [step.ran for step in run.steps] == [
        tuple(CommandRan(argv, 0, "(simulated)", "", 0.0) for argv in action.commands()) for action in plan.actions
    ]
    assert all(step.started_at < step.ended_at for step in run.steps)


@pytest.mark.parametrize(
    ("wish", "copied"),
    [
        (PlanRequest(TANK, (NVME1, NVME2), 4 * GIB), [NVME1, "", NVME2, "", ""]),
        (PlanRequest(TANK, (SHARED_SSD,), 4 * GIB, use_free_extents=True), [SHARED_SSD, "", ""]),
    ],
)
def test_only_the_first_step_on_a_disk_is_preceded_by_a_copy_of_its_table(
    made: Bench, wish: PlanRequest, copied: list[str]
) -> None:
    apply_plan(made.host, made.plan(wish), "root", made.watch)
    images = [record.image for record in records(made) if isinstance(record, Intent)]
    assert [image.disk_key if image else "" for image in images] == copied


def test_a_step_that_a_rule_forbids_by_now_fails_with_the_reason_and_is_put_back(made: Bench) -> None:
    theirs = (Hold(HoldKind.MOUNT, "/mnt"),)
    host_of(made).after = {CreateTable: lambda now: with_disk(now, NVME1, holds=theirs)}
    run = apply_plan(made.host, made.plan(LOG), "root", made.watch)
    failed = run.steps[1]
    assert (failed.state, failed.started_at) == (StepState.FAILED, "")
    assert failed.note
    assert failed.note.code == "disk-mount"
    assert failed.ended_at
    assert told(made)[:3] == [("Intent", Goal.APPLY, 0), ("Done", Goal.APPLY, 0), ("Failed", Goal.APPLY, 1)]
    assert not isinstance(failed.note, Refused)


def test_a_step_whose_command_fails_says_why_and_is_put_back(made: Bench) -> None:
    host_of(made).fails = {CreateSlice}
    run = apply_plan(made.host, made.plan(LOG), "root", made.watch)
    assert run.state is RunState.PUT_BACK
    failed = run.steps[1]
    assert (failed.state, failed.note) == (StepState.FAILED, GONE.statement)
    assert failed.started_at < failed.ended_at
    assert told(made)[2:4] == [("Intent", Goal.APPLY, 1), ("Failed", Goal.APPLY, 1)]


def test_a_step_whose_effect_does_not_show_keeps_what_its_commands_answered(made: Bench) -> None:
    host_of(made).after = {AddLog: lambda now: with_pool(now, logs=())}
    run = apply_plan(made.host, made.plan(LOG), "root", made.watch)
    assert run.state is not RunState.APPLIED
    assert run.steps[2].note
    assert run.steps[2].note.code == "not-seen"
    assert [each.stdout for each in run.steps[2].ran] == ["(simulated)"]


def test_a_step_whose_effect_is_gone_when_all_are_done_is_named(made: Bench) -> None:
    """Somebody took out the log while the cache was added: done is not said of what the host does not show."""
    plan = made.plan(PlanRequest(TANK, (NVME1,), 4 * GIB, (NVME2,), 4 * GIB))
    last = type(plan.actions[-1])
    host_of(made).after = {last: lambda now: with_pool(now, logs=())}
    run = apply_plan(made.host, plan, "root", made.watch)
    assert run.state is RunState.ATTENTION
    log = next(action for action in plan.actions if isinstance(action, AddLog))
    assert run.refusals == (no.StepNotThere(log.describe()),)
    assert {step.state for step in run.steps} == {StepState.DONE}


def test_a_host_that_cannot_be_read_refuses_a_plan_and_says_why(made: Bench) -> None:
    plan = made.plan(LOG)
    host_of(made).unreadable = host_of(made).readings
    run = apply_plan(made.host, plan, "root", made.watch)
    assert run.state is RunState.REFUSED
    assert run.refusals == (no.HostUnreadable(GONE.statement),)


@pytest.mark.parametrize(("readings", "refused"), [(0, no.HostUnreadable), (1, no.StateUnknown)])
def test_a_host_that_cannot_be_read_leaves_a_run_interrupted_and_says_why(
    made: Bench, readings: int, refused: Callable[[Statement], Refused]
) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(LOG), "root", killer(2))
    host_of(made).unreadable = host_of(made).readings + readings
    run = finish_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.INTERRUPTED
    assert run.refusals == (refused(GONE.statement),)
    assert run.can_finish


def test_a_plan_for_a_pool_that_is_not_there_names_the_pool(made: Bench) -> None:
    plan = made.plan(LOG)
    host_of(made).state = replace(home_server(), pools=())
    run = apply_plan(made.host, plan, "root", made.watch)
    assert (run.state, run.refusals) == (RunState.REFUSED, (no.NoPool(TANK),))


def test_what_a_disk_holds_is_looked_up_before_the_first_write(made: Bench) -> None:
    host_of(made).found = {CreateTable: Signature("ext4")}
    run = apply_plan(made.host, made.plan(LOG), "root", made.watch)
    assert (run.state, [refusal.code for refusal in run.refusals]) == (RunState.REFUSED, ["disk-not-empty"])
    assert told(made) == []


def test_every_look_before_the_first_write_is_at_the_host_as_it_was_read(made: Bench) -> None:
    plan = made.plan(LOG)
    before = host_of(made).state
    apply_plan(made.host, plan, "root", made.watch)
    assert host_of(made).looked[:2] == [(plan.actions[0], before, None), (plan.actions[1], before, None)]


def test_what_speaks_against_a_plan_is_said_of_the_pool_as_it_is_now(made: Bench) -> None:
    plan, now = made.plan(LOG), home_server()
    assert against(plan, now) == ()
    assert against(plan, replace(now, pools=())) == (no.NoPool(TANK),)
    renamed = with_pool(now, name="other")
    pool = renamed.pool(TANK)
    assert pool
    assert against(plan, renamed) == (no.PoolRenamed(pool, "tank"),)
    sick = with_pool(now, checkpoint="1G")
    pool = sick.pool(TANK)
    assert pool
    assert against(plan, sick) == (no.PoolHasCheckpoint(pool),)
    grown = with_pool(now, caches=(replace(pool.data[0], guid="77"),))
    assert against(plan, grown) == (no.PlanOutdated("tank"),)
    assert against(replace(plan, actions=plan.actions[:-1]), now) == (no.PlanForeign(),)


FORBIDDEN = no.NoPool("platform")


def test_what_a_platform_forbids_to_begin_is_not_begun(made: Bench) -> None:
    asked: list[Inventory] = []
    host = replace(made.host, vetoes=vetoes(FORBIDDEN, Goal.APPLY, asked))
    run = apply_plan(host, made.plan(LOG), "root", made.watch)
    assert (run.state, run.refusals) == (RunState.REFUSED, (FORBIDDEN,))
    assert asked == [host_of(made).state]


def test_what_a_platform_forbids_only_to_finish_is_begun(made: Bench) -> None:
    host = replace(made.host, vetoes=vetoes(FORBIDDEN, Goal.FINISH, []))
    assert apply_plan(host, made.plan(LOG), "root", made.watch).state is RunState.APPLIED


def test_what_a_platform_forbids_to_finish_stays_interrupted(made: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(LOG), "root", killer(2))
    asked: list[Inventory] = []
    host = replace(made.host, vetoes=vetoes(FORBIDDEN, Goal.FINISH, asked))
    run = finish_run(host, "run-1", "anna", made.watch)
    assert (run.state, run.refusals) == (RunState.INTERRUPTED, (FORBIDDEN,))
    assert asked == [host_of(made).state]
    host = replace(made.host, vetoes=vetoes(FORBIDDEN, Goal.APPLY, []))
    assert finish_run(host, "run-1", "anna", made.watch).state is RunState.APPLIED


def test_every_step_that_the_host_shows_is_recorded_as_found_however_many_records_were_lost(made: Bench) -> None:
    apply_plan(made.host, made.plan(LOG), "root", made.watch)
    cut_to(made, 2)
    host_of(made).did.clear()
    run = finish_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.APPLIED
    found = [record for record in records(made) if isinstance(record, Done)]
    assert [(record.goal, record.step, record.found) for record in found] == [
        (Goal.FINISH, number, True) for number in range(3)
    ]
    assert host_of(made).did == []


def test_a_step_that_is_finished_is_recorded_as_done_and_not_as_found(made: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(LOG), "root", killer(1))
    assert finish_run(made.host, "run-1", "anna", made.watch).state is RunState.APPLIED
    found = [record for record in records(made) if isinstance(record, Done)]
    assert [(record.goal, record.step, record.found) for record in found] == [
        (Goal.FINISH, number, False) for number in range(3)
    ]


def killed_after(bench: Bench, count: int) -> Plan:
    """The machine died when so many records were durable; what happened on the host so far is forgotten."""
    plan = bench.plan(LOG)
    with pytest.raises(Killed):
        apply_plan(bench.host, plan, "root", killer(count))
    host_of(bench).did.clear()
    host_of(bench).looked.clear()
    return plan


def test_a_slice_that_was_only_begun_is_made_again_after_its_table_is_rewound(made: Bench) -> None:
    plan = killed_after(made, 5)
    before = host_of(made).state
    assert finish_run(made.host, "run-1", "anna", made.watch).state is RunState.APPLIED
    rewind = RewindTable(NVME1, plan.slices[0].disk_path)
    assert host_of(made).did == [rewind, *plan.actions[1:]]
    step, inventory, own = host_of(made).looked[0]
    assert (step, inventory) == (rewind, before)
    assert own


def test_a_log_that_was_only_begun_is_added_after_its_slice_is_cleared(made: Bench) -> None:
    plan = killed_after(made, 8)
    assert finish_run(made.host, "run-1", "anna", made.watch).state is RunState.APPLIED
    assert host_of(made).did == [ClearSlice(plan.slices[0], "tank", TANK), plan.actions[2]]


def test_a_step_that_was_not_begun_is_not_cleaned_up_after(made: Bench) -> None:
    plan = killed_after(made, 4)
    assert finish_run(made.host, "run-1", "anna", made.watch).state is RunState.APPLIED
    assert host_of(made).did == list(plan.actions[1:])


def test_a_cleaning_that_is_forbidden_leaves_the_run_interrupted_and_says_why(made: Bench) -> None:
    plan = killed_after(made, 8)
    host_of(made).found = {ClearSlice: Signature("ext4")}
    run = finish_run(made.host, "run-1", "anna", made.watch)
    held = no.SliceHeld(plan.slices[0], Hold(HoldKind.SIGNATURE, "ext4"))
    assert (run.state, run.refusals, host_of(made).did) == (RunState.INTERRUPTED, (held,), [])


def test_the_last_record_of_a_run_is_its_end(made: Bench) -> None:
    apply_plan(made.host, made.plan(LOG), "root", made.watch)
    last = records(made)[-1]
    assert isinstance(last, Ended)
    assert (last.state, last.refusals, last.findings) == (RunState.APPLIED, (), ())


def test_the_steps_of_a_plan_are_done_in_its_order(made: Bench) -> None:
    plan = made.plan()
    apply_plan(made.host, plan, "root", made.watch)
    assert host_of(made).did == list(plan.actions)
