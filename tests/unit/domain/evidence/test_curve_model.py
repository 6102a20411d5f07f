"""The model of an ARC and of caches behind it, on workloads whose answer is known."""

import random
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nasadvisor.domain.evidence.curve_cache import ArcModel, FeedReach, Passes, RingModel
from nasadvisor.domain.evidence.curve_distances import SPACE, BlockRead
from nasadvisor.domain.evidence.curve_model import CacheRules, CurveModel, round_sizes, scattered
from nasadvisor.domain.units import DAY_S, GIB, MIB, TIB
from tests.unit.domain.evidence.curve_reads import (
    BLOCK,
    NEAR,
    curve_of,
    mixed,
    needs_trace,
    scan,
    served_at,
    trace,
    uniform,
)

ARC_BLOCKS = 128
"""An ARC of 16 MiB."""


def test_of_a_set_three_times_the_arc_a_cache_of_three_serves_all() -> None:
    """A smaller one holds 152 of 384 blocks, of which 32 to 128 lie in the ARC as well."""
    curve = curve_of(uniform(3 * ARC_BLOCKS, 10_000))
    assert served_at(curve, 3) == pytest.approx(1.0, abs=0.03)
    assert (152 - 32) / 384 < served_at(curve, 1) < 152 / (384 - 128)
    assert curve.knee
    assert 2 <= curve.knee.size_bytes / curve.arc_bytes <= 3.2


def test_a_file_read_from_end_to_end_again_and_again_is_served_once_it_fits() -> None:
    """A ring that is smaller than what comes round is written over just before it would be read."""
    curve = curve_of(scan(6 * ARC_BLOCKS, 12))
    assert served_at(curve, 3) <= 0.05
    assert served_at(curve, 6) >= 0.95
    assert curve.knee
    assert 5 <= curve.knee.size_bytes / curve.arc_bytes <= 7.9


def test_what_is_read_only_once_is_served_by_no_cache() -> None:
    curve = curve_of(scan(8_000, 1))
    assert max(each.served for each in curve.points) == 0
    assert curve.first_share == 1
    assert curve.knee is None


def test_a_set_that_fits_into_the_arc_leaves_nothing_to_count() -> None:
    curve = curve_of(uniform(ARC_BLOCKS // 2, 5_000))
    assert (curve.missed, curve.knee, curve.is_enough) == (0, None, False)


def test_some_blocks_much_more_often_than_others_gain_less_with_every_doubling() -> None:
    chosen = random.Random(5)
    weights = [1 / (rank + 1) for rank in range(20 * ARC_BLOCKS)]
    blocks = chosen.choices(range(1, len(weights) + 1), weights, k=16_000)
    curve = curve_of(BlockRead(n / 1000, mixed(block), BLOCK) for n, block in enumerate(blocks))
    one, two, four = (served_at(curve, arcs) for arcs in (1, 2, 4))
    assert 0.05 < one < two < four < 1
    assert four - two < 2 * (two - one)


def test_an_eighth_of_the_blocks_says_the_same_within_its_error() -> None:
    reads = list(uniform(24 * ARC_BLOCKS, 16_000))
    arc = 64 * MIB
    whole = curve_of(reads, arc)
    part = curve_of(reads, arc, share=partial(CurveModel, threshold=SPACE // 8))
    fewer = curve_of(reads, arc, share=partial(CurveModel, most_blocks=500))
    for each in (part, fewer):
        assert each.followed_share <= 1 / 8
        apart = [abs(a.served - b.served) for a, b in zip(each.points, whole.points, strict=False)]
        assert sum(apart) / len(apart) <= 0.03
    assert part.missed == pytest.approx(whole.missed, rel=0.1)


def test_a_feed_that_reaches_less_than_one_block_of_a_sample_feeds_all_the_same() -> None:
    """Of 16 blocks within reach a quarter of one is followed: no cache was said to serve anything."""
    reads = list(uniform(24 * ARC_BLOCKS, 16_000))
    arc = 64 * MIB
    whole = curve_of(reads, arc)
    sample = curve_of(reads, arc, share=partial(CurveModel, threshold=SPACE // 64))
    assert served_at(whole, 3) > 0.4
    assert served_at(sample, 6) == pytest.approx(served_at(whole, 6), abs=0.1)


def test_what_is_read_too_seldom_for_any_size_is_forgotten_before_fewer_blocks_are_followed() -> None:
    """As on a pool that is read for weeks, from one end to the other."""
    arc = 2 * BLOCK
    model = CurveModel(CacheRules(arc, NEAR), most_blocks=500)
    for read in scan(5_000, 1):
        model.read(read)
    assert model.threshold == SPACE
    fewer = CurveModel(CacheRules(8 * arc, NEAR), most_blocks=500)
    for read in scan(5_000, 1):
        fewer.read(read)
    assert fewer.threshold < SPACE


def test_of_weeks_the_last_days_count() -> None:
    reads = (read._replace(at_s=read.at_s * 10**6) for read in uniform(3 * ARC_BLOCKS, 800))
    curve = curve_of(reads, arc_bytes=2 * BLOCK, passes=replace(NEAR, busy_s=3600.0, idle_s=3600.0))
    assert DAY_S <= curve.counted_s <= 2 * DAY_S + 1000


def test_a_limited_feed_keeps_a_cache_from_filling() -> None:
    reads = list(uniform(3 * ARC_BLOCKS, 10_000))
    slow = curve_of(reads, passes=Passes(BLOCK, busy_s=1.0))
    assert served_at(slow, 3) < 0.1
    assert all(each.written_bytes_per_s <= BLOCK * 1.1 for each in slow.points)


def test_a_cache_smaller_than_what_it_is_fed_from_only_holds_what_the_arc_holds_too() -> None:
    """Where all of the ARC is within reach of the feed, as on small machines."""
    reads = list(uniform(3 * ARC_BLOCKS, 10_000))
    far, near = curve_of(reads, passes=replace(NEAR, reach_bytes=float("inf"))), curve_of(reads)
    assert served_at(far, 0.5) < 0.06 < 0.12 < served_at(near, 0.5)
    half = [next(each for each in curve.points if each.size_bytes >= curve.arc_bytes / 2) for curve in (far, near)]
    assert half[0].written_bytes_per_s > 1.5 * half[1].written_bytes_per_s
    assert served_at(far, 3) > 0.95
    assert far.knee
    assert far.knee.size_bytes > 2 * far.arc_bytes


def test_of_a_cache_that_no_trace_so_short_could_fill_it_says_no_most() -> None:
    """A file six times the ARC, read ten times: 44 to 52 % were said, and 91 % served once the cache was full."""
    reads = list(scan(6 * ARC_BLOCKS, 12))
    slow = curve_of(reads, passes=Passes(BLOCK / 8, busy_s=0.2, idle_s=0.2))
    for each in slow.points:
        assert each.served < 0.6
        assert each.high > 0.9 or not slow.is_least_at(each)
    assert slow.is_least_at(slow.points[-1])
    assert slow.at_most(slow.points[-1]) == pytest.approx(1, abs=0.02)
    full = curve_of(reads)
    assert not any(full.is_least_at(each) for each in full.points)


def test_what_a_cache_may_not_hold_does_not_widen_its_bounds() -> None:
    slow = Passes(BLOCK / 8)
    reads = list(scan(6 * ARC_BLOCKS, 12))
    barred = curve_of((read._replace(is_eligible=False) for read in reads), passes=slow)
    ahead = curve_of((read._replace(is_prefetch=True) for read in reads), passes=slow)
    once = curve_of(scan(8_000, 1), passes=slow)
    for curve in (barred, ahead, once):
        assert curve.missed
        assert max(each.high for each in curve.points) == 0


def test_each_pass_looks_at_one_part_of_the_lists() -> None:
    """With as much time between as a block lies within reach, most are dropped before their part is looked at."""
    reads = list(uniform(6 * ARC_BLOCKS, 10_000))
    seldom = curve_of(reads, passes=replace(NEAR, sublists=64))
    assert served_at(seldom, 6) < 0.8 * served_at(curve_of(reads), 6)


def test_what_does_not_fit_is_written_over_and_over_and_what_fits_is_not() -> None:
    curve = curve_of(uniform(6 * ARC_BLOCKS, 10_000))
    small, large = curve.points[0], curve.points[-1]
    assert small.written_bytes_per_s > 20 * large.written_bytes_per_s


def test_what_no_dataset_lets_in_and_what_is_of_another_pool_is_not_served() -> None:
    reads = list(uniform(3 * ARC_BLOCKS, 5_000))
    barred = curve_of(read._replace(is_eligible=False) for read in reads)
    assert max(each.served for each in barred.points) == 0
    assert barred.missed
    other = curve_of(read._replace(is_own=False) for read in reads)
    assert (other.missed, other.seen_bytes) == (0, 0)
    assert other.missed_by_all_pools == barred.missed_by_all_pools


def test_what_is_only_read_ahead_is_fed_and_served_as_the_release_does() -> None:
    reads = [read._replace(is_prefetch=True) for read in scan(3 * ARC_BLOCKS, 12)]
    assert served_at(curve_of(reads, feeds_ahead=True), 3) > 0.9
    assert served_at(curve_of(reads, feeds_ahead=False), 3) == 0
    assert served_at(curve_of(reads, feeds_ahead=True, serves_ahead=False), 3) == 0


def test_metadata_is_counted_apart() -> None:
    files = list(scan(6 * ARC_BLOCKS, 12))
    names = [read._replace(block=mixed(10**6 + n % 200), is_metadata=True) for n, read in enumerate(files)]
    curve = curve_of(read for pair in zip(files, names, strict=True) for read in pair)
    assert 0 < curve.metadata_share < 0.6
    assert max(each.served_metadata for each in curve.points) <= 1


def test_memory_instead_serves_what_it_would_hold() -> None:
    curve = curve_of(uniform(3 * ARC_BLOCKS, 10_000))
    found = {each.more_bytes / curve.arc_bytes: each.served for each in curve.memory}
    assert found[max(found)] == pytest.approx(1.0, abs=0.05)
    assert curve.memory_for(0.4)
    assert curve.memory_for(1.01) is None


@needs_trace
@pytest.mark.slow
def test_a_tenth_of_a_real_disk_draws_the_curve_of_all_of_it() -> None:
    """Proves: ARC and rings in small serve what they serve with every block, and the cliff stays where it is.

    A week of reads is played in two minutes.
    """
    reads = [read._replace(at_s=number / 1000) for number, read in enumerate(trace())]
    arc = sum({read.block: read.size_bytes for read in reads}.values()) // 10
    passes = Passes(32 * MIB)
    whole = curve_of(reads, arc, passes, feeds_ahead=True)
    part = curve_of(reads, arc, passes, partial(CurveModel, threshold=SPACE // 10), feeds_ahead=True)
    apart = [abs(a.served - b.served) for a, b in zip(part.points, whole.points, strict=True)]
    print("mean error", sum(apart) / len(apart), "largest", max(apart))
    assert sum(apart) / len(apart) <= 0.02
    assert part.knee
    assert whole.knee
    assert part.knee.size_bytes == whole.knee.size_bytes


def ends(arc: ArcModel, reach_bytes: float) -> list[tuple[int, int]]:
    return [each for end in arc.ends(reach_bytes) for each in end.blocks]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9), st.booleans()), max_size=200), st.integers(10, 90))
def test_a_memory_never_holds_more_than_it_has(pairs: list[tuple[int, int, bool]], capacity: int) -> None:
    arc = ArcModel(capacity)
    for block, size, ahead in pairs:
        held = dict(ends(arc, capacity))
        assert arc.read(block, held.get(block, size), is_prefetch=ahead) == (block in held)
        assert sum(dict(ends(arc, capacity)).values()) <= capacity


def test_what_is_dropped_next_is_within_reach_first_of_what_was_read_often() -> None:
    arc = ArcModel(10 * BLOCK)
    for block in (1, 2, 3, 4, 2, 1):
        arc.read(block, BLOCK)
    assert [block for block, _ in ends(arc, 10 * BLOCK)] == [2, 1, 3, 4]
    assert [block for block, _ in ends(arc, 1.5 * BLOCK)] == [2, 3]


def test_a_block_stays_within_reach_as_long_as_the_rest_of_it_takes_to_be_dropped() -> None:
    """One block is dropped between two looks and half of one lies within reach: each for every other look."""
    arc = ArcModel(4 * BLOCK)
    reach, named = FeedReach(arc, feeds_ahead=False), 0
    for block in range(1, 1005):
        arc.read(block, BLOCK)
        named += len(reach.look(0.5 * BLOCK, (block % 2) * 0.9))
    assert named == pytest.approx(500, abs=10)
    arc.read(2000, BLOCK, is_prefetch=True)
    for block in range(2001, 2005):
        arc.read(block, BLOCK)
        assert 2000 not in [each for each, _ in reach.look(0.99 * BLOCK, 0.0)]


def test_what_was_dropped_from_the_larger_list_is_soon_forgotten_and_counts_as_read_once_again() -> None:
    arc = ArcModel(4 * BLOCK)
    for block in (1, 1, 2, 2, 3, 3, 4, 4, 5):
        arc.read(block, BLOCK)
    assert not arc.read(1, BLOCK)
    assert [block for block, _ in ends(arc, 4 * BLOCK)] == [3, 4, 5, 1]


def test_parts_of_a_list_are_chosen_by_chance_so_that_one_in_four_comes_twice_in_succession() -> None:
    chosen = [scattered(number) % 4 for number in range(4000)]
    assert sum(one == two for one, two in pairwise(chosen)) == pytest.approx(1000, abs=100)
    assert all(chosen.count(part) == pytest.approx(1000, abs=100) for part in range(4))


def test_a_ring_is_written_over_from_its_beginning() -> None:
    """The place for one more pass is given up before it is written."""
    passes, ring = Passes(BLOCK), RingModel(4 * BLOCK, BLOCK)
    assert [ring.feed([(block, BLOCK)], passes) for block in (1, 2, 3)] == [BLOCK] * 3
    assert ring.feed([(1, BLOCK)], passes) == 0
    assert ring.feed([(1, BLOCK), (4, BLOCK), (5, BLOCK)], passes) == BLOCK
    assert [ring.holds(block) for block in (1, 2, 3, 4, 5)] == [False, True, True, True, False]


def test_a_pass_that_wrote_much_is_followed_sooner_and_one_that_wrote_too_much_is_made_up_for() -> None:
    passes, ring = Passes(BLOCK, busy_s=0.2, idle_s=1.0), RingModel(100 * BLOCK, BLOCK)
    assert ring.feed([(1, 3 * BLOCK), (2, BLOCK)], passes) == 3 * BLOCK
    assert ring.due_s == 0.2
    assert ring.feed([(2, BLOCK)], passes) == 0
    ring.feed([(2, BLOCK)], passes)
    assert ring.feed([(2, BLOCK)], passes) == BLOCK
    due = ring.due_s
    assert ring.feed([], passes) == 0
    assert ring.due_s == due + 1.0


def test_sizes_are_round() -> None:
    assert round_sizes(90 * MIB, 210 * MIB) == tuple(each * MIB for each in (100, 150, 200))
    assert round_sizes(600 * GIB, 2 * TIB) == (700 * GIB, TIB, int(1.5 * TIB), 2 * TIB)
