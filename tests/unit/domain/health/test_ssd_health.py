"""What a proposal is told of the health of an SSD."""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.health.disk_findings import Subject, disk_findings, ssd_health
from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.statements import Finding, Level

SSD = Subject("Samsung (S1)", "key", "key", "")
WELL = decode({})


def problem(**changes: Any) -> str:
    health = ssd_health(disk_findings(SSD, replace(WELL, **changes)), None, "")
    return health.problem.code if health.problem else ""


def test_nothing_speaks_against_an_ssd_that_tells_of_no_trouble() -> None:
    assert problem() == ""


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"passed": False, "media_errors": 7}, "disk-failing"),
        ({"warnings": ("reliability-degraded",)}, "disk-reliability-degraded"),
        ({"media_errors": 7, "percent_used": 92.0}, "media-errors"),
        ({"temperature_celsius": 85}, "too-hot"),
        ({"reallocated": 3}, ""),
    ],
)
def test_what_is_worth_a_warning_speaks_against_it(changes: dict[str, Any], code: str) -> None:
    assert problem(**changes) == code


def test_what_is_critical_is_said_first() -> None:
    hot = Finding("too-hot", "Hot.", {}, Level.WARNING)
    failing = Finding("disk-failing", "Failing.", {}, Level.CRITICAL)
    assert ssd_health((hot, failing), None, "").problem == failing.plain


def test_figures_that_contradict_each_other_are_no_fault() -> None:
    assert (
        ssd_health((Finding("indicator-conflict", "Two figures.", {}, Level.WARNING),), 3.0, "likely").problem is None
    )
