"""What is read off a curve: the knee, the size to recommend, and the sentence."""

from dataclasses import replace

import pytest

from nasadvisor.domain.evidence.curve import (
    CacheCurve,
    CurvePoint,
    MemoryPoint,
    Traced,
    curve_in_words,
    size_from_curve,
)
from nasadvisor.domain.units import GIB, KIB

TRACED = Traced("1", "tank", "2026-11-22T12:00:00+00:00", 3600)


def point(size_gib: int, served: float) -> CurvePoint:
    return CurvePoint(size_gib * GIB, served, served - 0.02, served + 0.02, 0.5, 1e6)


CLIFF = CacheCurve(
    traced=TRACED,
    arc_bytes=32 * GIB,
    followed_reads=100_000,
    followed_share=0.01,
    counted_s=3000.0,
    missed=2_000_000,
    missed_by_all_pools=2_500_000,
    metadata_share=0.2,
    first_share=0.3,
    block_bytes=64 * KIB,
    seen_bytes=900 * GIB,
    points=(point(50, 0.02), point(100, 0.06), point(200, 0.41), point(500, 0.44), point(1000, 0.45)),
    memory=(MemoryPoint(10 * GIB, 0.05, 0.04, 0.06), MemoryPoint(100 * GIB, 0.4, 0.38, 0.42)),
)


def flat(share: float) -> CacheCurve:
    return replace(CLIFF, points=tuple(replace(each, served=share, high=share) for each in CLIFF.points))


def test_the_knee_is_where_the_cliff_ends() -> None:
    assert CLIFF.knee == CLIFF.points[2]
    words = str(curve_in_words(CLIFF))
    assert words.startswith(
        "A cache of 200 GiB would serve about 41 % (39 % to 43 %) of the reads that now go to the disks"
    )
    assert "(39 % to 43 %)" in words


def test_of_a_trace_that_saw_much_for_the_first_time_it_says_at_least_and_no_most() -> None:
    """One minute of random reads said "about 29 %, and a larger one gains less" of a set that then fitted whole."""
    assert not CLIFF.is_least
    short = replace(CLIFF, first_share=0.68)
    words = str(curve_in_words(short))
    assert words.startswith("A cache of 200 GiB would serve at least about 41 % of the reads that now go to the disks")
    assert "68 % of them were first reads of a block within" in words
    assert "gains less" not in words
    assert CLIFF.at_most(CLIFF.points[2]) == pytest.approx(0.43)
    assert short.at_most(CLIFF.points[2]) == 1


def widened(curve: CacheCurve, above_gib: int, high: float) -> CacheCurve:
    points = (replace(each, high=high) if each.size_bytes > above_gib * GIB else each for each in curve.points)
    return replace(curve, points=tuple(points))


def test_of_sizes_that_could_not_be_filled_it_says_at_least_and_that_nothing_larger_is_known() -> None:
    short = widened(CLIFF, 300, 0.9)
    words = str(curve_in_words(short))
    assert words.startswith("A cache of 200 GiB would serve at least about 41 % of the reads that now go to the disks")
    assert "no cache of 500 GiB or more could fill up" in words
    assert "gains less" not in words
    assert not short.is_least_at(short.points[2])
    assert short.at_most(short.points[2]) == pytest.approx(0.43)
    assert short.at_most(short.points[3]) == 1
    assert curve_in_words(widened(CLIFF, 300, 0.5)).code == "curve-knee"


def test_of_caches_that_could_not_be_filled_at_all_it_does_not_say_that_none_is_worth_it() -> None:
    short = widened(flat(0.04), 99, 0.8)
    assert short.knee is None
    assert str(curve_in_words(short)).startswith("In 60 min, no cache of 100 GiB could fill up")
    assert curve_in_words(widened(flat(0.04), 99, 0.2)).code == "curve-nothing"


def test_nothing_is_read_off_a_curve_that_is_flat_or_of_too_little() -> None:
    assert flat(0.04).knee is None
    assert "up to 1000 GiB" in str(curve_in_words(flat(0.04)))
    few = replace(CLIFF, missed=40_000)
    assert (few.is_enough, few.knee) == (False, None)
    assert curve_in_words(few).code == "curve-too-little"
    empty = replace(CLIFF, points=(), missed=0)
    assert (empty.knee, empty.most, empty.still_rises) == (None, None, False)
    assert size_from_curve(flat(0.04), GIB) is None


def test_the_size_is_the_knee_as_far_as_its_headers_fit_into_a_tenth_of_the_arc() -> None:
    """200 GiB at 64 KiB a block have headers of 300 MiB."""
    assert size_from_curve(CLIFF, 32 * GIB) == CLIFF.points[2]
    assert size_from_curve(CLIFF, 2 * GIB) == CLIFF.points[1]
    assert size_from_curve(CLIFF, GIB // 4) is None
    assert size_from_curve(CLIFF, 0) == CLIFF.points[2]
    assert CLIFF.header_bytes(200 * GIB) == 300 * 1024 * KIB


def test_no_size_to_buy_is_read_off_a_few_minutes_or_off_sizes_of_which_little_is_known() -> None:
    assert size_from_curve(replace(CLIFF, traced=replace(TRACED, seconds=60)), 32 * GIB) is None
    assert size_from_curve(replace(CLIFF, first_share=0.5), 32 * GIB) is None
    assert size_from_curve(widened(CLIFF, 300, 0.9), 32 * GIB) is None


def test_a_curve_that_ends_while_it_rises_says_so() -> None:
    rising = replace(CLIFF, points=(*CLIFF.points[:4], point(1000, 0.6)))
    assert not rising.still_rises
    assert replace(rising, seen_bytes=5000 * GIB).still_rises
    assert not replace(CLIFF, seen_bytes=5000 * GIB).still_rises


def test_as_much_memory_instead() -> None:
    found = CLIFF.memory_for(0.39)
    assert found
    assert found.more_bytes == 100 * GIB
    assert CLIFF.memory_for(0.45) is None


def test_a_year_of_writing() -> None:
    assert CLIFF.points[0].written_bytes_per_year == pytest.approx(31.5576e12)


@pytest.mark.parametrize(("at", "seconds"), [("soon", 1), ("2026-11-22T12:00:00", 1), (TRACED.at, -1)])
def test_a_trace_without_a_real_time_is_none(at: str, seconds: int) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Traced("1", "tank", at, seconds)
