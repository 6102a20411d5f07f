"""With which figures a disk is told of: alerts go by their growth, and a proposal by what is worth a warning."""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.change.proposal import SsdHealth
from nasadvisor.domain.health.disk_findings import (
    OTHER_WARNINGS,
    Growth,
    Subject,
    disk_findings,
    growth_findings,
    ssd_health,
    unanswered,
)
from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.statements import Finding, Level, NextStep
from tests.unit.domain.health.test_levels import WELL

DISK = Subject("Disk (S1)", "key", "1", "data")
ALL_WRONG: dict[str, Any] = {
    "passed": False,
    "media_errors": 7,
    "pending": 8,
    "reallocated": 9,
    "percent_used": 95.5,
    "temperature_celsius": 99,
    "warnings": frozenset({"volatile-memory-backup-failed", "spare-below-threshold"}),
}


def found(**changes: Any) -> tuple[Finding, ...]:
    return disk_findings(DISK, replace(WELL, **changes))


COUNTS = {"media_errors": "media-errors", "pending": "pending-sectors", "reallocated": "reallocated-sectors"}


@pytest.mark.parametrize(("count", "code"), COUNTS.items())
def test_a_count_is_told_and_is_what_may_grow(count: str, code: str) -> None:
    (finding,) = found(**{count: 7})
    assert (finding.code, finding.measure) == (code, 7)
    assert finding.values == {"disk": DISK.label, "count": "7"}


def test_wear_is_told_in_percent_and_may_grow_by_one() -> None:
    (finding,) = found(percent_used=95.7)
    assert (finding.code, finding.measure, finding.values["percent"]) == ("worn", 95, "96")


def test_at_ninety_nine_percent_the_rating_is_not_used_up() -> None:
    (finding,) = found(percent_used=99.0)
    assert "has used 99 %" in str(finding)


def test_hints_of_failure_say_what_they_mean_and_failed_self_tests_may_grow() -> None:
    (hint,) = found(exit_bits=("prefail-below-threshold",))
    (failed,) = found(self_tests=replace(WELL.self_tests, failed=3))
    assert hint.explanation
    assert (failed.code, failed.measure) == ("self-test-failed", 3)
    assert failed.explanation


def test_the_temperature_and_its_limit_are_told_and_what_the_disk_says_without_one() -> None:
    (above,) = found(temperature_celsius=99)
    assert above.values["celsius"] == "99"
    assert str(above.values["limit"]).isdigit()
    assert str(above.values["limit"]) in str(above)
    (said,) = found(temperature_celsius=None, warnings=frozenset({"temperature-out-of-range"}))
    assert (said.code, said.values["celsius"]) == ("too-hot", "?")
    assert str(said.values["limit"]) not in str(said)


def test_every_finding_of_a_disk_says_what_it_means_and_the_gravest_come_first() -> None:
    findings = found(**ALL_WRONG)
    assert [each.code for each in findings] == [
        "disk-failing",
        "disk-spare-below-threshold",
        "power-loss-protection-failed",
        "media-errors",
        "pending-sectors",
        "reallocated-sectors",
        "worn",
        "too-hot",
    ]
    assert all(each.explanation for each in findings)
    hinted = found(passed=True, warnings=("spare-below-threshold",), exit_bits=("prefail-below-threshold",))
    assert [each.code for each in hinted] == ["disk-spare-below-threshold", "disk-prefail"]


@pytest.mark.parametrize(
    ("spare", "threshold", "is_told"),
    [
        (5, 10, True),
        (0, 10, True),
        (10, 10, False),
        (100, 10, False),
        (0, 0, False),
        (99, 100, True),
        (99, 101, False),
        (64, 255, False),
    ],
)
def test_spare_blocks_below_the_disks_own_threshold_are_told_though_it_does_not_warn(
    spare: int, threshold: int, *, is_told: bool
) -> None:
    figures: dict[str, Any] = {"spare_percent": spare, "spare_threshold_percent": threshold}
    findings = found(**figures)
    codes = [(each.code, each.level) for each in findings]
    assert codes == ([("disk-spare-below-threshold", Level.WARNING)] if is_told else [])
    for each in findings:
        assert each.values == {"disk": DISK.label, "spare": str(spare), "threshold": str(threshold)}
        assert each.explanation
    warned = found(**figures, warnings=("spare-below-threshold",))
    assert [each.level for each in warned] == [Level.CRITICAL]


def test_what_a_sas_disk_warns_of_beside_itself_is_told_in_words() -> None:
    (finding,) = found(warnings=("enclosure-degraded",))
    assert (finding.code, finding.level) == ("disk-warns", Level.WARNING)
    assert "its enclosure is degraded" in str(finding)
    assert finding.explanation


@pytest.mark.parametrize("figures", [(5, None), (None, 10), (None, None)])
def test_of_spare_blocks_of_which_one_figure_is_missing_nothing_is_told(figures: tuple[int | None, int | None]) -> None:
    spare, threshold = figures
    assert found(spare_percent=spare, spare_threshold_percent=threshold) == ()


def test_what_a_disk_says_of_itself_comes_before_what_it_says_of_its_surroundings_and_its_attributes() -> None:
    both = frozenset({"enclosure-degraded", "vendor-warning", "power-loss-expected"})
    findings = found(
        spare_percent=5,
        spare_threshold_percent=10,
        warnings=both,
        exit_bits=("prefail-below-threshold",),
        self_tests=replace(WELL.self_tests, failed=1),
    )
    assert [each.code for each in findings] == [
        "disk-spare-below-threshold",
        *["disk-warns"] * 3,
        "disk-prefail",
        "self-test-failed",
    ]
    told = [each.values["what"] for each in findings if each.code == "disk-warns"]
    assert told == [what for what in OTHER_WARNINGS if what.code in both]


def test_what_reading_it_found_is_told_under_the_name_of_the_disk_at_the_end() -> None:
    odd = Finding("odd-figures", "The disk {disk} counts {count}.", {"disk": "", "count": "3"})
    first, last = found(findings=(odd,), temperature_celsius=99)
    assert (first.code, last.code) == ("too-hot", "odd-figures")
    assert last.values == {"disk": DISK.label, "count": "3"}


def test_a_disk_that_does_not_answer_has_a_code_of_its_own() -> None:
    assert unanswered(DISK, None).code == "disk-unanswered"


WATCHED = Subject("WDC WD40 (W1)", "ata-W1", "7", "data")


@pytest.mark.parametrize(("more", "is_told"), [(-2, False), (0, False), (3, False), (4, True), (5, True), (270, True)])
def test_sectors_that_go_on_being_replaced_are_a_warning_with_figures(more: int, is_told: bool) -> None:
    found = growth_findings(WATCHED, Growth(now=300, more=more, days=30), None)
    assert [(each.code, each.level, each.measure) for each in found] == (
        [("reallocated-growing", Level.WARNING, 300)] if is_told else []
    )
    for each in found:
        assert each.values == {"disk": WATCHED.label, "more": str(more), "days": "30", "count": "300"}
        assert (each.subject, each.place, each.step) == ("7", "ata-W1", NextStep.LOOK_AT_DISK)


@pytest.mark.parametrize(("more", "is_told"), [(0, False), (3, False), (4, True), (5, True)])
def test_so_are_damaged_transfers_that_go_on(more: int, is_told: bool) -> None:
    found = growth_findings(WATCHED, None, Growth(now=90, more=more, days=12))
    assert [(each.code, each.level, each.measure) for each in found] == (
        [("crc-growing", Level.WARNING, 90)] if is_told else []
    )


def test_what_nobody_watched_has_not_grown() -> None:
    assert growth_findings(WATCHED, None, None) == ()


def test_both_are_told_with_what_they_mean_the_sectors_first() -> None:
    found = growth_findings(WATCHED, Growth(300, 4, 30), Growth(90, 4, 30))
    assert [each.code for each in found] == ["reallocated-growing", "crc-growing"]
    assert all(each.explanation for each in found)


SSD = Subject("Samsung (S1)", "key", "key", "")
UNTOLD = decode({})


def problem(**changes: Any) -> str:
    health = ssd_health(disk_findings(SSD, replace(UNTOLD, **changes)), None, "")
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
    conflict = Finding("indicator-conflict", "Two figures.", {}, Level.WARNING)
    assert ssd_health((conflict,), 3.0, "likely") == SsdHealth(None, 3.0, "likely")
