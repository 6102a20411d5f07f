"""What a curve decides of a cache where the counters cannot tell, and what it leaves open."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.cache_verdict import judge_cache
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.reads import SHORTFALL, demand_of_reads, least_at, relief_by_cache
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.thresholds import HISTORY, SPOT, Span
from nasadvisor.domain.evidence.verdict import HELPS_SHARE, LEAST_SHARE, Answer, Verdict, read_off
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.units import GIB, MINUTE_S
from tests.unit.domain.evidence.pools import CACHE_LEAF, FLASH, LEAVES, facts, readers
from tests.unit.domain.evidence.test_curve import CLIFF, flat

FEW_GHOSTS = readers(ghost_share=0.1)
NO_GHOSTS = readers(ghost_share=0.01)
STREAMS = readers(misses_per_s=500, prefetch_share=0.9, ghost_share=0.01)
HALF_SERVED = replace(readers(), arc=replace(readers().arc, l2_hits=1, l2_misses=1))
LEFT_OPEN = {"some-ghosts": FEW_GHOSTS, "no-ghosts": NO_GHOSTS, "streams-again": STREAMS}


def judged(
    sample: Sample, curve: CacheCurve | None = None, span: Span = HISTORY, pool: PoolFacts | None = None
) -> Verdict:
    sample = replace(sample, levels=replace(sample.levels, arc_most_bytes=32 * GIB))
    return judge_cache(workload_of(sample, pool or facts()), pool or facts(), span, curve)


def high(least: float) -> CacheCurve:
    """A cliff that is so high at the least."""
    points = (replace(each, served=least, low=least, high=least) for each in CLIFF.points[2:])
    return replace(CLIFF, points=(*CLIFF.points[:2], *points))


def test_a_cliff_so_high_that_no_error_seen_so_far_takes_it_away_says_that_a_cache_helps() -> None:
    found = judged(FEW_GHOSTS, high(0.7))
    assert found.answer is Answer.HELPS
    assert "a cache of 200 GiB would serve at least 44 %" in str(found.rule)
    assert "70 % from the curve, minus 26 points" in str(found.rule)
    assert [each.code for each in found.before] == ["memory-first"]


@pytest.mark.parametrize("rule", LEFT_OPEN)
def test_a_lower_one_leaves_it_open(rule: str) -> None:
    found = judged(LEFT_OPEN[rule], CLIFF)
    assert found == judged(LEFT_OPEN[rule])
    assert (found.answer, found.rule.code) == (Answer.CANNOT_TELL, rule)


def test_where_no_size_brings_anything_a_cache_gains_little() -> None:
    found = judged(NO_GHOSTS, flat(0.03))
    assert found.answer is Answer.LITTLE
    assert "no cache up to 1000 GiB would serve more than 3.0 %" in str(found.rule)
    assert found.before == ()


@pytest.mark.parametrize(
    ("sample", "pool", "rule"),
    [
        (readers(arc_bytes=4 * GIB), facts(), "arc-fills"),
        (readers(misses_per_s=1), facts(), "arc-is-enough"),
        (readers(), facts(*FLASH), "flash-pool"),
        (readers(), facts(), "ghosts"),
        (
            replace(readers(), arc=replace(readers().arc, l2_hits=1, l2_misses=1)),
            facts(*LEAVES, CACHE_LEAF),
            "cache-serves",
        ),
        (replace(readers(), arc=replace(readers().arc, evicted_eligible_bytes=0)), facts(), "nothing-eligible"),
    ],
)
def test_what_the_counters_have_decided_it_does_not_touch(sample: Sample, pool: PoolFacts, rule: str) -> None:
    without = judged(sample, pool=pool)
    assert without.rule.code == rule
    assert judged(sample, high(0.7 if rule != "ghosts" else 0.5), pool=pool) == without


def test_a_short_trace_decides_nothing() -> None:
    minute = replace(high(0.9), traced=replace(CLIFF.traced, seconds=60))
    assert judged(FEW_GHOSTS, minute) == judged(FEW_GHOSTS)
    assert least_at(minute, minute.points[2]) == 0
    assert judged(NO_GHOSTS, replace(flat(0.03), first_share=0.6)) == judged(NO_GHOSTS)


def test_it_needs_as_long_a_watch_as_any_other_answer() -> None:
    early = judged(readers(ghost_share=0.1, seconds=3 * MINUTE_S), high(0.7))
    assert (early.answer, early.rule.code) == (Answer.CANNOT_TELL, "too-early")
    hour = judged(readers(ghost_share=0.01, seconds=3600), flat(0.03))
    assert (hour.answer, hour.rule.code) == (Answer.CANNOT_TELL, "too-early")


@given(st.sampled_from(sorted(LEFT_OPEN)), st.floats(0, 1), st.floats(0, 0.5))
def test_it_never_says_more_than_the_curve_at_its_worst(rule: str, least: float, first: float) -> None:
    curve = replace(high(least), first_share=first)
    found, most = judged(LEFT_OPEN[rule], curve, SPOT), max(map(curve.at_most, curve.points))
    match found.answer:
        case Answer.HELPS:
            assert least - SHORTFALL >= HELPS_SHARE
        case Answer.LITTLE:
            assert most < LEAST_SHARE
        case _:
            assert (found.answer, found.rule.code) == (Answer.CANNOT_TELL, rule)


@given(st.floats(0, 500), st.floats(0, 1), st.floats(0, 0.65), st.sampled_from((None, CLIFF, high(0.9), flat(0.03))))
def test_the_verdict_on_a_cache_is_what_the_table_says(
    misses_per_s: float, ghosts: float, ahead: float, curve: CacheCurve | None
) -> None:
    workload = workload_of(readers(misses_per_s, ghosts, ahead), facts())
    answer = judge_cache(workload, facts(), HISTORY, curve).answer
    assert answer is read_off(demand_of_reads(workload), relief_by_cache(workload, facts(), curve))
