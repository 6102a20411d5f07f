"""What is said of a reserve: how much is worth it, how much is enough, and that too short a test says too much."""

from dataclasses import replace

import pytest

from nasadvisor.domain.evidence.measuring.reserve import ReserveFigures, ReserveOrder, ReserveResult
from nasadvisor.domain.units import GIB, MIB

ORDER = ReserveOrder("0a1b2c3d", "7", "wwn", quarter_s=450)


def with_free(percent: int, rate_mib: float) -> ReserveFigures:
    area = 10 * (100 - percent) * GIB
    return ReserveFigures(percent, area, area, 2 * area, rate_mib * MIB, rate_mib * MIB)


def result(*figures: ReserveFigures) -> ReserveResult:
    return ReserveResult(ORDER, "SSD (N1)", "2026-11-25T20:00:00+00:00", figures)


@pytest.mark.parametrize(
    ("rates", "code", "said"),
    [
        ((400, 390, 380), "reserve-little", "more than 10 % free gains little"),
        ((400, 380, 150), "reserve-gains", "leave 30 % free: `--reserve 30%`"),
        ((400, 200, 100), "reserve-gains", "50 % 400 MiB/s, 4.0 times as much"),
        ((400, 300, 0), "reserve-gains", "∞ times"),
        ((380, 390, 400), "reserve-little", "With 10 % free the SSD keeps 400 MiB/s, with 50 % 380 MiB/s"),
    ],
)
def test_the_least_reserve_that_is_about_as_fast_as_the_best_is_named(
    rates: tuple[float, ...], code: str, said: str
) -> None:
    finding = result(*map(with_free, (50, 30, 10), rates)).finding
    assert finding.code == code
    assert said in str(finding)


@pytest.mark.parametrize(
    "change",
    [{"filled_bytes": GIB}, {"written_bytes": GIB}, {"later_bytes_per_s": 10.0}],
    ids=["not filled", "not written over", "still getting slower"],
)
def test_too_short_a_test_says_so_and_how_long_is_enough(change: dict[str, float]) -> None:
    small = replace(with_free(10, 100), **change)  # type: ignore[arg-type]
    assert not small.is_settled
    finding = result(with_free(50, 400), with_free(30, 400), small).finding
    assert finding.code == "reserve-not-settled"
    assert str(finding).startswith("With 10 % free, the SSD was not written over once")


def test_what_was_furthest_from_its_end_tells_how_long_is_enough() -> None:
    half_done = replace(with_free(10, 100), written_bytes=with_free(10, 100).area_bytes // 2)
    finding = result(with_free(50, 400), half_done).finding
    assert ORDER.most_s == 3 * 3600
    assert "About 6 h would be enough: `--hours 6`" in str(finding)
    never = replace(half_done, written_bytes=0)
    assert "`--hours 6`" in str(result(never).finding)
    hardly = replace(half_done, written_bytes=half_done.area_bytes // 100)
    assert "It would take about 12 d, longer than a test may" in str(result(hardly).finding)
