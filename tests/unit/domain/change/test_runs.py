"""What state a run is in, told from its journal alone, wherever the journal ends."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.change import refusals
from nasadvisor.domain.change.actions import Outcome, UndoAction
from nasadvisor.domain.change.runs import (
    ACTIVE,
    CommandRan,
    Continued,
    Done,
    Ended,
    Failed,
    Goal,
    Intent,
    Kept,
    Record,
    Run,
    RunState,
    Skipped,
    Started,
    StepState,
    TableLeft,
    TrialEnded,
    as_interrupted,
    fold,
    steps_of,
)
from nasadvisor.domain.change.undo import GONE_WITH_DISK, stays_after_undo
from nasadvisor.domain.statements import Finding, Statement
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for

PLAN = plan_for(MIRROR_AND_CACHES, home_server())
UNDO: tuple[UndoAction, ...] = tuple(
    step for action in reversed(PLAN.actions) for step in action.undo(action.planned_outcome())
)
RAN = (CommandRan(("zpool", "status"), 0, "out", "err", 0.5),)
REFUSAL = refusals.NothingToDo("tank")
FINDINGS: tuple[Finding, ...] = stays_after_undo(PLAN, UNDO)
BROKE = Statement("broke", "It broke.")
CHANGED = Statement("changed", "Somebody changed it.")
AT = "2026-08-25T20:00:00+00:00"
LATER = "2026-08-25T21:00:00+00:00"


@dataclass
class Story:
    """A journal as it grows, and what the run is after each record: its state, and those of its steps."""

    records: list[Record] = field(default_factory=list)
    states: list[tuple[RunState, tuple[StepState, ...], tuple[StepState, ...]]] = field(default_factory=list)
    state: RunState = RunState.APPLYING
    steps: list[StepState] = field(default_factory=lambda: [StepState.PENDING] * len(PLAN.actions))
    undo_steps: list[StepState] = field(default_factory=list)

    def write(self, record: Record) -> None:
        self.records.append(record)
        self.states.append((self.state, tuple(self.steps), tuple(self.undo_steps)))

    def start(self) -> None:
        self.write(Started(AT, Goal.APPLY, PLAN, "root"))

    def go_on(self, goal: Goal, state: RunState) -> None:
        self.state = state
        if goal is not Goal.FINISH:
            self.undo_steps = [StepState.PENDING] * len(UNDO)
        self.write(Continued(AT, goal, "anna", () if goal is Goal.FINISH else UNDO))

    def end(self, state: RunState) -> None:
        self.state = state
        self.write(Ended(LATER, state))

    def walk(self, goal: Goal, until: int, last: str) -> None:
        """Do the steps of a stretch before `until`; what becomes of that one is `last`."""
        steps = self.undo_steps if goal in (Goal.UNDO, Goal.PUT_BACK) else self.steps
        for number, known in enumerate(steps):
            if known is StepState.DONE:
                continue
            if number == until and last == "nothing":
                return
            steps[number] = StepState.STARTED
            self.write(Intent(AT, goal, number))
            if number == until and last == "started":
                return
            steps[number] = StepState.FAILED if number == until else StepState.DONE
            done = Done(AT, goal, number, Outcome(), RAN)
            self.write(Failed(AT, goal, number, BROKE, RAN) if number == until else done)
            if number == until:
                return


ENDS = st.sampled_from(("nothing", "started", "failed"))


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """A run with any course: refused, failed and put back, cut off, finished, undone, undone again."""
    story = Story()
    story.start()
    if draw(st.integers(0, 9)) == 0:
        story.end(RunState.REFUSED)
        return story
    until, last = draw(st.integers(0, len(PLAN.actions))), draw(ENDS)
    story.walk(Goal.APPLY, until, last)
    if until < len(PLAN.actions) and last != "failed" and draw(st.booleans()):
        story.go_on(Goal.FINISH, RunState.APPLYING)
        until, last = draw(st.integers(until, len(PLAN.actions))), draw(ENDS)
        story.walk(Goal.FINISH, until, last)
    goal, state, end = Goal.UNDO, RunState.UNDOING, RunState.UNDONE
    if until == len(PLAN.actions):
        story.end(RunState.APPLIED)
    elif last == "failed":
        goal, state, end = Goal.PUT_BACK, RunState.PUTTING_BACK, RunState.PUT_BACK
    for _ in range(draw(st.integers(1, 3))):
        story.go_on(goal, state)
        until, last = draw(st.integers(0, len(UNDO))), draw(ENDS)
        story.walk(goal, until, last)
        if until == len(UNDO):
            story.end(end)
            break
        if last == "failed":
            story.end(RunState.ATTENTION)
        goal, state, end = Goal.UNDO, RunState.UNDOING, RunState.UNDONE
    return story


@given(stories())
def test_every_prefix_of_a_journal_tells_the_state_of_then(story: Story) -> None:
    for length, (state, steps, undo_steps) in enumerate(story.states, 1):
        run = fold(story.records[:length], "nas")
        assert run.state is state
        assert tuple(step.state for step in run.steps) == steps
        assert tuple(step.state for step in run.undo_steps) == undo_steps
        assert run.seq == length
        assert (run.id, run.node, run.plan, run.by, run.started_at) == (PLAN.id, "nas", PLAN, "root", AT)


@given(stories())
def test_a_run_is_offered_what_it_can_still_do(story: Story) -> None:
    for length in range(1, len(story.records) + 1):
        run = fold(story.records[:length], "nas")
        left = as_interrupted(run)
        undoing = any(isinstance(record, Continued) and record.undo for record in story.records[:length])
        assert run.is_active == (run.state in ACTIVE)
        assert not (run.is_active and (run.can_undo or run.can_finish))
        assert left.can_undo == (left.state in (RunState.APPLIED, RunState.INTERRUPTED, RunState.ATTENTION))
        assert left.can_finish == (run.is_active and not undoing)
        assert not left.is_active
        assert left.state is (RunState.INTERRUPTED if run.is_active else run.state)


@given(stories())
def test_an_end_is_dated_and_a_new_stretch_opens_it_again(story: Story) -> None:
    for length in range(1, len(story.records) + 1):
        run = fold(story.records[:length], "nas")
        assert run.ended_at == (LATER if isinstance(story.records[length - 1], Ended) else "")


@pytest.mark.parametrize("state", RunState)
def test_what_is_final_can_neither_be_undone_nor_finished(state: RunState) -> None:
    run = fold([started(), Ended(AT, state)], "nas")
    final = {RunState.REFUSED, RunState.PUT_BACK, RunState.UNDONE}
    assert (run.can_undo or run.can_finish or run.is_active) == (state not in final)


def started() -> Started:
    return Started(AT, Goal.APPLY, PLAN, "root")


def folded(*records: Record) -> Run:
    return fold([started(), *records], "nas")


def test_a_step_tells_when_it_began_and_ended_and_what_ran() -> None:
    done = folded(Intent(AT, Goal.APPLY, 1), Done(LATER, Goal.APPLY, 1, Outcome(), RAN)).steps[1]
    assert (done.started_at, done.ended_at, done.ran, done.note) == (AT, LATER, RAN, None)
    failed = folded(Intent(AT, Goal.APPLY, 1), Failed(LATER, Goal.APPLY, 1, BROKE, RAN)).steps[1]
    assert (failed.started_at, failed.ended_at, failed.ran, failed.note) == (AT, LATER, RAN, BROKE)


def test_what_was_begun_is_every_step_of_which_there_is_an_intent() -> None:
    assert folded().begun.actions == ()
    intents = [Intent(AT, Goal.APPLY, number) for number in range(len(PLAN.actions))]
    assert folded(*intents[:1]).begun == replace(PLAN, actions=PLAN.actions[:1])
    broken = Failed(LATER, Goal.APPLY, 1, BROKE, RAN)
    assert (
        folded(intents[0], Done(LATER, Goal.APPLY, 0, Outcome(), RAN), intents[1], broken).begun.actions
        == (PLAN.actions[:2])
    )
    assert folded(*intents).begun == PLAN


def test_a_run_with_other_steps_than_its_plan_has_does_not_say_what_was_begun() -> None:
    run = folded(Intent(AT, Goal.APPLY, 0))
    with pytest.raises(ValueError, match="longer than"):
        _ = replace(run, steps=run.steps[:1]).begun


def test_a_run_that_is_not_on_trial_is_not_put_on_trial_by_being_kept() -> None:
    run = folded(Ended(AT, RunState.APPLIED), Kept(LATER, "anna"), TrialEnded(LATER))
    assert run.trial is None


def test_a_number_that_cannot_be_and_a_time_without_a_zone_are_refused_with_a_sentence() -> None:
    trial = replace(started(), trial_s=10**30)
    with pytest.raises(ValueError, match="a number that cannot be"):
        fold([trial, Ended(AT, RunState.APPLIED)], "nas")
    with pytest.raises(ValueError, match="which time zone"):
        fold([replace(trial, trial_s=60), Ended("2026-08-25T20:00:00", RunState.APPLIED)], "nas")


def test_a_skipped_step_is_not_called_done_and_says_why() -> None:
    run = folded(Continued(AT, Goal.UNDO, "anna", UNDO), Skipped(LATER, Goal.UNDO, 0, CHANGED))
    assert (run.undo_steps[0].state, run.undo_steps[0].note) == (StepState.SKIPPED, CHANGED)
    assert run.undo_steps[0].ended_at == LATER
    assert run.undo_steps[1].state is StepState.PENDING
    assert run.steps[0].state is StepState.PENDING


def test_the_steps_say_what_they_do_and_with_which_commands() -> None:
    run = folded()
    assert [step.number for step in run.steps] == list(range(len(PLAN.actions)))
    assert [step.what for step in run.steps] == [action.describe() for action in PLAN.actions]
    assert run.steps[-1].commands[0][:2] == ("zpool", "add")
    assert len({str(step.what) for step in steps_of(UNDO)}) == len(UNDO)


def test_why_a_run_ended_is_forgotten_when_it_goes_on() -> None:
    refused = Ended(AT, RunState.APPLIED, (REFUSAL,), FINDINGS)
    run = folded(refused)
    assert (run.refusals, run.findings) == ((REFUSAL,), FINDINGS)
    run = folded(refused, Continued(LATER, Goal.UNDO, "anna", UNDO))
    assert (run.refusals, run.findings, run.ended_at) == ((), (), "")


def test_finishing_keeps_the_undo_steps_that_are_there() -> None:
    run = folded(Continued(AT, Goal.UNDO, "anna", UNDO), Continued(AT, Goal.FINISH, "anna"))
    assert len(run.undo_steps) == len(UNDO)


def test_a_journal_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        fold([], "nas")
    with pytest.raises(ValueError, match="does not begin with the start"):
        fold([Intent(AT, Goal.APPLY, 0), started()], "nas")
    with pytest.raises(ValueError, match="second run"):
        fold([started(), started()], "nas")


def ended(state: RunState, *codes: str) -> Run:
    """A run that came to this end, with findings of these codes."""
    findings = tuple(Finding(code, "") for code in codes)
    return fold((Started(AT, Goal.APPLY, PLAN, "root"), Ended(LATER, state, (), findings)), "nas")


def test_an_undone_run_can_be_undone_further_only_if_a_disk_was_away() -> None:
    for state in (RunState.UNDONE, RunState.PUT_BACK):
        assert not ended(state).can_undo
        assert not ended(state, "hole-stays").can_undo
        assert ended(state, "hole-stays", GONE_WITH_DISK).can_undo


def test_a_run_is_in_place_unless_it_was_refused_or_all_is_taken_back() -> None:
    gone = {RunState.REFUSED, RunState.PUT_BACK, RunState.UNDONE}
    assert {state for state in RunState if not ended(state).is_in_place} == gone


def test_applying_and_finishing_go_forwards_and_taking_back_does_not() -> None:
    assert {goal for goal in Goal if goal.is_forwards} == {Goal.APPLY, Goal.FINISH}


def test_a_table_that_a_step_left_counts_as_a_record_and_changes_nothing_else() -> None:
    begun: tuple[Record, ...] = (Started(AT, Goal.APPLY, PLAN, "root"), Intent(AT, Goal.APPLY, 0))
    before = fold(begun, "nas")
    left = TableLeft(LATER, Goal.APPLY, 0, "disk", "packed")
    assert fold((*begun, left), "nas") == replace(before, seq=3)
    assert fold((*begun, left, Intent(AT, Goal.APPLY, 1)), "nas").seq == 4
