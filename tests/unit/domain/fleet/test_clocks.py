"""The clock of a host beside that of its console."""

from datetime import UTC, datetime, timedelta

import pytest

from nasadvisor.domain.fleet.clocks import APART, ahead, clock_findings
from nasadvisor.domain.statements import Level

NOW = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_the_console_answers_in_the_middle_of_asking() -> None:
    told = (int(NOW.timestamp()), 500_000)
    assert ahead(told, NOW, NOW + SECOND) == timedelta()
    assert ahead(told, NOW + timedelta(hours=2), NOW + timedelta(hours=2) + SECOND) == timedelta(hours=2)
    assert ahead(told, NOW - timedelta(hours=2), NOW - timedelta(hours=2) + SECOND) == -timedelta(hours=2)


@pytest.mark.parametrize(
    ("difference", "code"),
    [
        (timedelta(), ""),
        (APART - SECOND, ""),
        (SECOND - APART, ""),
        (APART, "clock-ahead"),
        (-APART, "clock-behind"),
    ],
)
def test_clocks_that_are_a_minute_apart_are_a_warning(difference: timedelta, code: str) -> None:
    found = tuple(clock_findings("nas2", difference))
    assert [each.code for each in found] == ([code] if code else [])
    assert {(each.level, each.values["node"], each.values["difference"]) for each in found} <= {
        (Level.WARNING, "nas2", "60 s")
    }
