"""The lab's own judge: a verdict that contradicts its measurement is found."""

from dataclasses import replace
from pathlib import Path

import pytest

from nasadvisor.domain.evidence.measuring.prediction import Range
from tests.evidence.judging import Outcome, Predicted, Share, median_error, tables, with_tables
from tests.evidence.workloads import CACHE_WORKLOADS, ELSEWHERE, LOG_WORKLOADS

PAGE = Path(__file__).parents[4] / "docs/explanation/evidence.md"


def outcome(verdict: str, after: float) -> Outcome:
    return Outcome("log", "writers", "helps", verdict, "a-rule", 100, after)


@pytest.mark.parametrize(
    ("verdict", "after", "agrees"),
    [
        ("helps", 300, True),
        ("helps", 110, False),
        ("no", 110, True),
        ("no", 300, False),
        ("little", 150, True),
        ("little", 300, False),
        ("cannot-tell", 300, True),
    ],
)
def test_a_verdict_is_held_against_the_gain(verdict: str, after: float, agrees: bool) -> None:
    assert outcome(verdict, after).agrees is agrees


@pytest.mark.parametrize(
    ("most", "measured", "agrees"),
    [(0.9, 0.85, True), (0.9, 0.99, True), (0.9, 0.65, False), (0.85, 0.99, False), (None, 0.99, True)],
)
def test_what_the_table_says_is_held_against_what_was_measured(
    most: float | None, measured: float, agrees: bool
) -> None:
    share = Share(0.8, most, measured, 0.1)
    assert share.agrees is agrees
    told = replace(outcome("helps", 300), table=share)
    assert told.contradicts is not agrees
    assert replace(outcome("helps", 300), curve=share).contradicts is not agrees
    assert f"{measured:.0%}" in tables([told], [])


def test_promises_are_printed_in_seconds_of_a_day_and_counted() -> None:
    held = replace(outcome("helps", 300), table=Share(0.8, 0.9, 0.85, 0.1), waited_s=36_000)
    wrong = replace(outcome("cannot-tell", 300), curve=Share(0.5, None, 0.2, 0.05))
    text = tables([held, wrong], [])
    assert "| 10 h | 8 h to 9 h (80% to 90%) | 8 h (85%) |" in text
    assert "of 1 the verdict is that it cannot tell" in text
    assert "1 of 2 ranges held; half of them are at most 50% of it wide." in text
    assert "Nothing was promised of any." in tables([outcome("helps", 300)], [])


def test_a_prediction_is_held_against_the_measurement() -> None:
    told = [Predicted("4 KiB", 60, Range(100, 200, 300), measured) for measured in (160, 250, 1000)]
    assert [each.covered for each in told] == [True, True, False]
    assert median_error(told) == pytest.approx(0.25)


def test_the_tables_go_into_the_page() -> None:
    text = tables([outcome("helps", 110)], [Predicted("4 KiB", 60, Range(100, 200, 300), 160)])
    page = with_tables(PAGE.read_text(encoding="utf-8"), text)
    assert "1 workloads, 1 contradict their measurement" in page
    assert "1 of 1 in the printed range" in page
    assert with_tables(page, text) == page


def test_every_workload_has_a_place_of_its_own() -> None:
    workloads = (*LOG_WORKLOADS, *ELSEWHERE, *CACHE_WORKLOADS)
    assert len(workloads) == 30
    assert len({workload.stored or workload.place for workload in workloads}) == len(workloads)
    assert all(f"--directory={workload.place}" in workload.command(5) for workload in workloads)
