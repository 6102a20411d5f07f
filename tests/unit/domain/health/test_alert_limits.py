"""Where exactly an alert moves: each limit of time and growth just below, at and just above, in plain figures;
and quiet hours.
"""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.health.alerts import (
    Alert,
    AlertKey,
    AlertState,
    EventKind,
    Observation,
    QuietHours,
    absent,
    due_at,
    escalate,
    present,
)
from nasadvisor.domain.statements import RANK, Level

START = datetime(2026, 8, 25, 12, 0, tzinfo=UTC)
KEY = AlertKey("disks/nas", "media-errors", "1")


def told(level: Level = Level.WARNING, measure: int = 10, key: AlertKey = KEY) -> Alert:
    alert = present(None, Observation(key, level, measure), START).alert
    assert (alert.state, alert.told_level, alert.told_measure) == (AlertState.NEW, level, measure)
    return alert


def test_levels_rank_in_this_order() -> None:
    assert sorted(Level, key=RANK.__getitem__) == [Level.INFO, Level.WARNING, Level.CRITICAL]


@pytest.mark.parametrize(("seconds", "is_over"), [(179, False), (180, True), (181, True)])
def test_a_finding_is_over_after_three_minutes(seconds: int, is_over: bool) -> None:
    missed = absent(told(), START)
    assert missed.event is None
    step = absent(missed.alert, START + timedelta(seconds=seconds))
    assert step.event == (EventKind.RECOVERED if is_over else None)
    assert step.alert.is_open is not is_over


@pytest.mark.parametrize(
    ("measure", "event"), [(9, None), (10, None), (19, None), (20, EventKind.WORSE), (21, EventKind.WORSE)]
)
def test_twice_as_much_is_told_at_once(measure: int, event: EventKind | None) -> None:
    assert present(told(), Observation(KEY, Level.WARNING, measure), START).event == event


@pytest.mark.parametrize(("seconds", "event"), [(86_399, None), (86_400, EventKind.WORSE), (86_401, EventKind.WORSE)])
def test_any_growth_is_told_after_a_day(seconds: int, event: EventKind | None) -> None:
    later = START + timedelta(seconds=seconds)
    assert present(told(), Observation(KEY, Level.WARNING, 11), later).event == event
    assert present(told(), Observation(KEY, Level.WARNING, 10), later).event is None


@pytest.mark.parametrize(
    ("before", "now", "event"),
    [
        (Level.INFO, Level.WARNING, EventKind.WORSE),
        (Level.WARNING, Level.CRITICAL, EventKind.WORSE),
        (Level.WARNING, Level.WARNING, None),
        (Level.CRITICAL, Level.WARNING, None),
        (Level.WARNING, Level.INFO, None),
    ],
)
def test_only_a_higher_level_is_told(before: Level, now: Level, event: EventKind | None) -> None:
    step = present(told(before), Observation(KEY, now, 10), START)
    assert step.event == event
    assert step.alert.level is now


@pytest.mark.parametrize(
    ("level", "seconds", "event"),
    [
        (Level.CRITICAL, 14_399, None),
        (Level.CRITICAL, 14_400, EventKind.ESCALATED),
        (Level.CRITICAL, 14_401, EventKind.ESCALATED),
        (Level.WARNING, 999_999, None),
        (Level.INFO, 999_999, None),
    ],
)
def test_what_is_critical_and_not_taken_up_goes_to_those_on_call(
    level: Level, seconds: int, event: EventKind | None
) -> None:
    alert, now = told(level), START + timedelta(seconds=seconds)
    assert escalate(alert, timedelta(hours=4), now).event == event
    assert escalate(replace(alert, state=AlertState.ACKNOWLEDGED), timedelta(hours=4), now).event is None
    assert escalate(replace(alert, is_escalated=True), timedelta(hours=4), now).event is None


@pytest.mark.parametrize(("code", "event"), [("trial-ended", None), ("trial-late", EventKind.RECOVERED)])
def test_only_of_what_was_news_nobody_is_told_that_it_is_over(code: str, event: EventKind | None) -> None:
    alert = replace(told(key=replace(KEY, code=code)), away_since=START)
    assert absent(alert, START + timedelta(minutes=3)).event == event


@pytest.mark.parametrize(("level", "waits"), [(Level.INFO, True), (Level.WARNING, True), (Level.CRITICAL, False)])
def test_quiet_hours_keep_back_what_is_not_critical(level: Level, waits: bool) -> None:
    at_night = datetime(2026, 8, 25, 2, 0, tzinfo=UTC)
    assert (due_at(level, QuietHours(time(22), time(7)), at_night) > at_night) is waits


NIGHT = QuietHours(time(22), time(7))


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 8, 25, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hour", "waits_until"), [(21, at(21)), (22, at(7) + timedelta(days=1)), (3, at(7)), (7, at(7)), (12, at(12))]
)
def test_a_warning_waits_for_the_morning(hour: int, waits_until: datetime) -> None:
    assert due_at(Level.WARNING, NIGHT, at(hour)) == waits_until


def test_what_is_critical_never_waits() -> None:
    assert due_at(Level.CRITICAL, NIGHT, at(3)) == at(3)


def test_without_quiet_hours_nothing_waits() -> None:
    assert due_at(Level.WARNING, None, at(3)) == at(3)
    assert due_at(Level.WARNING, QuietHours(time(5), time(5)), at(5)) == at(5)


@given(st.times(), st.times(), st.integers(0, 10**9))
def test_what_waits_goes_out_within_a_day_and_not_in_quiet_hours(begin: time, end: time, seconds: int) -> None:
    quiet = QuietHours(begin.replace(microsecond=0), end.replace(microsecond=0))
    now = datetime.fromtimestamp(seconds, UTC)
    due = due_at(Level.WARNING, quiet, now)
    assert now <= due <= now + timedelta(days=1)
    assert not quiet.holds(due)
