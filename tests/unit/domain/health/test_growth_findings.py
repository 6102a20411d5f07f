"""Counts of a disk that grow: a few more are nothing, from a threshold on somebody should look."""

import pytest

from nasadvisor.domain.health.disk_findings import Growth, Subject, growth_findings
from nasadvisor.domain.statements import Level, NextStep

DISK = Subject("WDC WD40 (W1)", "ata-W1", "7", "data")


@pytest.mark.parametrize(("more", "is_told"), [(-2, False), (0, False), (3, False), (4, True), (5, True), (270, True)])
def test_sectors_that_go_on_being_replaced_are_a_warning_with_figures(more: int, is_told: bool) -> None:
    found = growth_findings(DISK, Growth(now=300, more=more, days=30), None)
    assert [(each.code, each.level, each.measure) for each in found] == (
        [("reallocated-growing", Level.WARNING, 300)] if is_told else []
    )
    for each in found:
        assert each.values == {"disk": DISK.label, "more": str(more), "days": "30", "count": "300"}
        assert (each.subject, each.place, each.step) == ("7", "ata-W1", NextStep.LOOK_AT_DISK)


@pytest.mark.parametrize(("more", "is_told"), [(0, False), (3, False), (4, True), (5, True)])
def test_so_are_damaged_transfers_that_go_on(more: int, is_told: bool) -> None:
    found = growth_findings(DISK, None, Growth(now=90, more=more, days=12))
    assert [(each.code, each.level, each.measure) for each in found] == (
        [("crc-growing", Level.WARNING, 90)] if is_told else []
    )


def test_what_nobody_watched_has_not_grown() -> None:
    assert growth_findings(DISK, None, None) == ()


def test_both_are_told_with_what_they_mean_the_sectors_first() -> None:
    found = growth_findings(DISK, Growth(300, 4, 30), Growth(90, 4, 30))
    assert [each.code for each in found] == ["reallocated-growing", "crc-growing"]
    assert all(each.explanation for each in found)
