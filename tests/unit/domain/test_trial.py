"""How long a trial lasts and when it is over."""

from datetime import UTC, datetime, timedelta

import pytest

from nasadvisor.domain import refusals
from nasadvisor.domain.lifecycle import Continued, Ended, Goal, Kept, Record, Run, RunState, Started, TrialEnded, fold
from nasadvisor.domain.trial import DAY_S, HOUR_S, LONGEST_S, MINUTE_S, parse_length, trials_due
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for

PLAN = plan_for(MIRROR_AND_CACHES, home_server())
BEGIN = datetime(2026, 8, 25, 20, tzinfo=UTC)


def at(hours: float) -> str:
    return (BEGIN + timedelta(hours=hours)).isoformat(timespec="milliseconds")


def run_of(*records: Record, trial_s: int = DAY_S) -> Run:
    return fold([Started(at(0), Goal.APPLY, PLAN, "anna", trial_s), *records], "nas")


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


@pytest.mark.parametrize(("hours", "is_due"), [(1, False), (24.999, False), (25, True), (10_000, True)])
def test_it_is_due_from_its_deadline_on(hours: float, is_due: bool) -> None:
    run = run_of(APPLIED)
    assert trials_due((run,), BEGIN + timedelta(hours=hours)) == ((run,) if is_due else ())


LONG_AFTER = BEGIN + timedelta(days=365)


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
    assert trials_due((run_of(*records),), LONG_AFTER) == ()


def test_a_run_for_good_is_never_due() -> None:
    run = run_of(APPLIED, trial_s=0)
    assert run.trial is None
    assert not run.can_keep
    assert trials_due((run,), LONG_AFTER) == ()


def test_what_was_kept_tells_by_whom_and_what_could_not_be_taken_back_can_still_be_kept() -> None:
    kept = run_of(APPLIED, Kept(at(2), "ben"))
    assert kept.trial
    assert (kept.trial.kept_by, kept.trial.kept_at, kept.can_keep) == ("ben", at(2), False)
    assert run_of(APPLIED, TrialEnded(at(25))).can_keep
    assert not run_of(APPLIED, TrialEnded(at(25))).is_on_trial


def test_the_bounds_are_in_order() -> None:
    assert MINUTE_S < HOUR_S < DAY_S < LONGEST_S
