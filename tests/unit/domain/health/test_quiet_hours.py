"""Quiet hours."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.health.alerts import QuietHours, due_at
from nasadvisor.domain.statements import Level

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
