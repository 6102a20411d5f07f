"""How long a trial lasts and when it is over."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nasadvisor.domain.change import refusals
from nasadvisor.domain.change.runs import (
    Continued,
    Ended,
    Goal,
    Kept,
    Record,
    Run,
    RunState,
    Started,
    TrialEnded,
    TrialMoved,
    fold,
)
from nasadvisor.domain.change.trial import (
    LONGEST_S,
    NEAR_S,
    Moment,
    TrialClock,
    begin_clock,
    count_on,
    is_over,
    moved_end,
    parse_length,
)
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.units import DAY_S, HOUR_S, MINUTE_S
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for

PLAN = plan_for(MIRROR_AND_CACHES, home_server())
BEGIN = datetime(2026, 8, 25, 20, tzinfo=UTC)


def at(hours: float) -> str:
    return (BEGIN + timedelta(hours=hours)).isoformat(timespec="milliseconds")


def run_of(*records: Record, trial_s: int = DAY_S) -> Run:
    return fold([Started(at(0), Goal.APPLY, PLAN, "anna", trial_s), *records], "nas")


WORD = Finding("word", "A word.")
MOVED = Finding("trial-moved", "It ends later.", {})
APPLIED = Ended(at(1), RunState.APPLIED)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1m", 60), ("90 m", 5400), ("24h", DAY_S), ("24H", DAY_S), ("3d", 3 * DAY_S), ("1w", 7 * DAY_S)],
)
def test_a_length_is_read_as_people_write_it(text: str, seconds: int) -> None:
    assert parse_length(text) == seconds


@pytest.mark.parametrize("text", ["", "24", "0h", "-1h", "1.5h", "1y", "91d", "99999999999h", "h", "1h1m", "\u0661h"])
def test_what_is_no_length_is_refused_with_a_sentence_that_says_what_is(text: str) -> None:
    with pytest.raises(ValueError, match="for example 90m, 24h, 3d or 1w"):
        parse_length(text)


def test_the_time_runs_from_when_everything_is_done() -> None:
    assert run_of().trial is not None
    assert not run_of().is_on_trial
    run = run_of(APPLIED)
    assert run.trial
    assert run.trial.until == at(25)
    assert run.is_on_trial


def test_after_an_interruption_it_runs_from_the_finish() -> None:
    run = run_of(Continued(at(100), Goal.FINISH, "ben"), Ended(at(101), RunState.APPLIED))
    assert run.trial
    assert run.trial.until == at(125)


def test_an_undo_that_was_refused_does_not_make_it_longer() -> None:
    refused = Ended(at(20), RunState.APPLIED, (refusals.NothingToDo("tank"),))
    run = run_of(APPLIED, refused)
    assert run.trial
    assert run.trial.until == at(25)
    assert run.is_on_trial


def spent(hours: float) -> TrialClock:
    return TrialClock(hours * HOUR_S, "boot", 0.0)


@pytest.mark.parametrize(("hours", "is_due"), [(0, False), (23.999, False), (24, True), (10_000, True)])
def test_it_is_over_once_its_time_was_spent(hours: float, is_due: bool) -> None:
    assert is_over(run_of(APPLIED), spent(hours)) == is_due


LONG_SPENT = TrialClock(365 * DAY_S, "boot", 0.0)


@pytest.mark.parametrize(
    "records",
    [
        (),
        (Ended(at(1), RunState.REFUSED),),
        (Ended(at(1), RunState.PUT_BACK),),
        (Ended(at(1), RunState.ATTENTION),),
        (APPLIED, Kept(at(2), "ben")),
        (APPLIED, TrialEnded(at(25))),
        (APPLIED, TrialEnded(at(25)), Ended(at(25), RunState.APPLIED, (refusals.NothingToDo("tank"),))),
        (APPLIED, Continued(at(2), Goal.UNDO, "ben")),
        (APPLIED, Continued(at(2), Goal.UNDO, "ben"), Ended(at(3), RunState.UNDONE)),
        (APPLIED, Continued(at(2), Goal.UNDO, "ben"), Ended(at(3), RunState.ATTENTION)),
        (APPLIED, Continued(at(2), Goal.UNDO, "ben"), Ended(at(3), RunState.INTERRUPTED)),
    ],
)
def test_nothing_else_is_ever_due(records: tuple[Record, ...]) -> None:
    assert not is_over(run_of(*records), LONG_SPENT)


def test_a_run_for_good_is_never_due() -> None:
    run = run_of(APPLIED, trial_s=0)
    assert run.trial is None
    assert not run.can_keep
    assert not is_over(run, LONG_SPENT)


def test_what_was_kept_tells_by_whom_and_what_could_not_be_taken_back_can_still_be_kept() -> None:
    kept = run_of(APPLIED, Kept(at(2), "ben"))
    assert kept.trial
    assert (kept.trial.kept_by, kept.trial.kept_at, kept.can_keep) == ("ben", at(2), False)
    assert run_of(APPLIED, TrialEnded(at(25))).can_keep
    assert not run_of(APPLIED, TrialEnded(at(25))).is_on_trial


def test_the_bounds_are_in_order() -> None:
    assert MINUTE_S < HOUR_S < DAY_S < LONGEST_S


@dataclass
class World:
    """A machine with its clocks, and the time that really passed since a run was applied on it."""

    true_s: float = 0.0
    on_s: float = 0.0  # of that, while the machine ran
    boot: int = 0
    up_s: float = 1000.0
    wrong_s: float = 0.0  # by so much the wall clock is ahead of the truth
    is_synchronised: bool = False

    def moment(self) -> Moment:
        at = BEGIN + timedelta(seconds=self.true_s + self.wrong_s)
        return Moment(str(self.boot), self.up_s, at, self.is_synchronised)

    def run_for(self, seconds: float) -> None:
        """Also asleep: the clock that counts since the start goes on."""
        self.true_s += seconds
        self.on_s += seconds
        self.up_s += seconds

    def set_clock(self, wrong_s: float) -> None:
        self.wrong_s, self.is_synchronised = wrong_s, False

    def synchronise(self) -> None:
        self.wrong_s, self.is_synchronised = 0.0, True

    def restart(self, off_s: float, wrong_s: float) -> None:
        self.true_s += off_s
        self.boot += 1
        self.up_s = 0.0
        self.set_clock(wrong_s)


YEARS_S = 20 * 365 * DAY_S
SECONDS = st.floats(0, 40 * DAY_S)
WRONG = st.floats(-YEARS_S, YEARS_S)
ACTS = st.one_of(
    st.tuples(st.just("run_for"), SECONDS),
    st.tuples(st.just("set_clock"), WRONG),
    st.tuples(st.just("synchronise")),
    st.tuples(st.just("restart"), SECONDS, WRONG),
    st.tuples(st.just("look")),
)


@pytest.mark.slow
@settings(max_examples=1000)
@given(st.lists(ACTS, max_size=25), st.booleans())
def test_never_more_is_counted_than_was_spent_whatever_happens_to_clocks(
    acts: list[tuple[Any, ...]], is_synchronised: bool
) -> None:
    world = World(is_synchronised=is_synchronised)
    clock = begin_clock(world.moment())
    for act, *values in acts:
        if act != "look":
            getattr(world, act)(*values)
        after = count_on(clock, world.moment()) if act == "look" else clock
        assert clock.spent_s <= after.spent_s <= world.true_s + 1
        clock = after


@given(st.lists(st.one_of(st.tuples(st.just("run_for"), SECONDS), st.tuples(st.just("set_clock"), WRONG)), max_size=10))
def test_while_the_machine_runs_all_that_is_spent_is_counted(acts: list[tuple[Any, ...]]) -> None:
    world = World()
    clock = begin_clock(world.moment())
    for act, *values in acts:
        getattr(world, act)(*values)
        clock = count_on(clock, world.moment())
    assert clock.spent_s == pytest.approx(world.true_s, abs=1)


@given(st.lists(st.tuples(SECONDS, SECONDS, WRONG), max_size=5))
def test_over_restarts_at_least_the_time_that_the_machine_ran_is_counted(stretches: list[tuple[float, ...]]) -> None:
    world = World()
    clock = begin_clock(world.moment())
    for seconds, off_s, wrong_s in stretches:
        world.run_for(seconds)
        clock = count_on(clock, world.moment())
        world.restart(off_s, wrong_s)
    assert count_on(clock, world.moment()).spent_s >= world.on_s - 1


@given(st.lists(st.tuples(SECONDS, SECONDS, WRONG), min_size=1, max_size=5))
def test_over_restarts_all_that_is_spent_is_counted_once_a_time_source_is_reached(
    stretches: list[tuple[float, ...]],
) -> None:
    world = World(is_synchronised=True)
    clock = begin_clock(world.moment())
    for seconds, off_s, wrong_s in stretches:
        world.run_for(seconds)
        world.restart(off_s, wrong_s)
        clock = count_on(clock, world.moment())
    world.synchronise()
    assert count_on(clock, world.moment()).spent_s == pytest.approx(world.true_s, abs=1)


def test_a_clock_that_was_years_wrong_ends_no_trial_when_a_time_source_is_reached() -> None:
    world = World(wrong_s=-16 * 365 * DAY_S)
    run = run_of(APPLIED)
    clock = begin_clock(world.moment())
    world.run_for(30)
    world.synchronise()
    clock = count_on(clock, world.moment())
    assert not is_over(run, clock)
    assert clock.spent_s == 30


def test_an_end_that_a_set_clock_made_untrue_is_said_anew() -> None:
    run = run_of(APPLIED)  # at 1 o'clock, for a day
    world = World(true_s=HOUR_S)
    clock = begin_clock(world.moment())
    assert moved_end(run, clock, world.moment()) == ""
    world.set_clock(10 * HOUR_S)
    assert moved_end(run, clock, world.moment()) == at(35)
    assert moved_end(run_of(APPLIED, TrialMoved(at(11), at(35), MOVED)), clock, world.moment()) == ""


@pytest.mark.parametrize("wrong_s", [-NEAR_S, -1, 1, NEAR_S])
def test_a_small_step_of_the_clock_is_not_worth_a_word(wrong_s: int) -> None:
    world = World(true_s=HOUR_S, wrong_s=wrong_s)
    assert moved_end(run_of(APPLIED), begin_clock(world.moment()), world.moment()) == ""


def test_what_is_over_or_kept_has_no_other_end() -> None:
    far = World(wrong_s=YEARS_S).moment()
    assert moved_end(run_of(APPLIED), LONG_SPENT, far) == ""
    assert moved_end(run_of(APPLIED, Kept(at(2), "ben")), begin_clock(far), far) == ""


def test_the_last_word_about_the_end_replaces_the_one_before() -> None:
    run = run_of(APPLIED, TrialMoved(at(2), at(99), MOVED), TrialMoved(at(3), at(77), MOVED))
    assert run.trial
    assert (run.trial.until, run.findings) == (at(77), (MOVED,))
    assert run.is_on_trial


def test_what_a_run_ended_with_stands_before_the_word_about_its_end() -> None:
    ended = Ended(at(1), RunState.APPLIED, findings=(WORD,))
    assert run_of(ended, TrialMoved(at(2), at(99), MOVED)).findings == (WORD, MOVED)
