"""What a curve decides of a cache where the counters cannot tell, and what it leaves open."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.curve_verdict import COUNTERS_END, SHORTFALL, least_at, with_curve
from nasadvisor.domain.evidence.thresholds import GHOSTS_HELP, GHOSTS_LITTLE, HISTORY, SPOT
from nasadvisor.domain.evidence.verdict import Answer, Device, Verdict
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import DAY_S, GIB, MINUTE_S
from tests.unit.domain.evidence.test_curve import CLIFF, flat

MEMORY_FIRST = Statement("memory-first", "As much memory would do the same.")


def left_open(rule: str = "some-ghosts", seconds: float = 2 * DAY_S) -> Verdict:
    return Verdict(
        Device.CACHE, Answer.CANNOT_TELL, Statement(rule, "Cannot tell."), (), seconds, before=(MEMORY_FIRST,)
    )


def high(least: float) -> CacheCurve:
    """A cliff that is so high at the least."""
    points = (replace(each, served=least, low=least, high=least) for each in CLIFF.points[2:])
    return replace(CLIFF, points=(*CLIFF.points[:2], *points))


def test_a_cliff_so_high_that_no_error_seen_so_far_takes_it_away_says_that_a_cache_helps() -> None:
    found = with_curve(left_open(), high(0.7), 32 * GIB, HISTORY)
    assert found.answer is Answer.HELPS
    assert "a cache of 200 GiB would serve at least 44 %" in str(found.rule)
    assert "70 % from the curve, minus 26 points" in str(found.rule)
    assert found.before == (MEMORY_FIRST,)


def test_a_lower_one_leaves_it_open() -> None:
    assert with_curve(left_open(), CLIFF, 32 * GIB, HISTORY) == left_open()


def test_where_no_size_brings_anything_a_cache_gains_little() -> None:
    found = with_curve(left_open("no-ghosts"), flat(0.03), 32 * GIB, HISTORY)
    assert found.answer is Answer.LITTLE
    assert "no cache up to 1000 GiB would serve more than 3.0 %" in str(found.rule)
    assert found.before == ()


@pytest.mark.parametrize(
    "rule", ["arc-fills", "too-early", "cache-serves", "kept-out", "arc-is-enough", "metadata-only"]
)
def test_what_the_counters_have_decided_it_does_not_touch(rule: str) -> None:
    assert with_curve(left_open(rule), high(0.9), 32 * GIB, HISTORY) == left_open(rule)


def test_a_short_trace_decides_nothing() -> None:
    minute = replace(high(0.9), traced=replace(CLIFF.traced, seconds=60))
    assert with_curve(left_open(), minute, 32 * GIB, HISTORY) == left_open()
    assert least_at(minute, minute.points[2]) == 0
    assert with_curve(left_open(), None, 32 * GIB, HISTORY) == left_open()
    unknown = replace(flat(0.03), first_share=0.6)
    assert with_curve(left_open(), unknown, 32 * GIB, HISTORY) == left_open()


def test_it_needs_as_long_a_watch_as_any_other_answer() -> None:
    early = with_curve(left_open(seconds=3 * MINUTE_S), high(0.7), 32 * GIB, HISTORY)
    assert (early.answer, early.rule.code) == (Answer.CANNOT_TELL, "too-early")
    hour = with_curve(left_open(seconds=3600), flat(0.03), 32 * GIB, HISTORY)
    assert (hour.answer, hour.rule.code) == (Answer.CANNOT_TELL, "too-early")


@given(st.sampled_from(sorted(COUNTERS_END)), st.floats(0, 1), st.floats(0, 0.5))
def test_it_never_says_more_than_the_curve_at_its_worst(rule: str, least: float, first: float) -> None:
    curve = replace(high(least), first_share=first)
    found = with_curve(left_open(rule), curve, 32 * GIB, SPOT)
    match found.answer:
        case Answer.HELPS:
            assert least - SHORTFALL >= GHOSTS_HELP
        case Answer.LITTLE:
            assert max(map(curve.at_most, curve.points)) < GHOSTS_LITTLE
        case _:
            assert found == left_open(rule)
