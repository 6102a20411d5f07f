"""Before and after: real differences are told from chance, and only like is compared with like."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.comparison import Comparison, Difference, compare, rank_test
from nasadvisor.domain.evidence.histogram import EMPTY, Histogram
from nasadvisor.domain.evidence.samples import DiskActivity, Sample, VdevActivity
from nasadvisor.domain.units import DAY_S
from tests.unit.domain.evidence.pools import LEAVES, LOG_LEAF, async_writers, facts, sync_writers

BLOCK = 600
POOL = facts(*LEAVES, LOG_LEAF)
chance = random.Random(7)


def block(number: int, bucket: int, guid: str = "1", commits_per_s: float = 60) -> Sample:
    """Ten minutes in which commits took about as long as the bucket says, with some luck."""
    spread = [0] * 37
    for offset, share in ((-1, 0.2), (0, 0.5 + chance.random() / 5), (1, 0.2)):
        spread[bucket + offset] = int(1000 * share)
    vdev = VdevActivity(guid, EMPTY, Histogram.of(spread), 0, 1000)
    sample = sync_writers(commits_per_s, BLOCK)
    return replace(sample, at=(number + 1) * BLOCK, vdevs=(vdev,), disks=())


def day(bucket: int, start: int, guid: str = "1", hours: int = 24) -> list[Sample]:
    return [block(start + number, bucket, guid) for number in range(6 * hours)]


def compared(before: list[Sample], after: list[Sample]) -> Comparison:
    return compare(before, after, POOL, BLOCK, lambda at: at // 3600 % 24)


def test_a_log_that_takes_over_is_faster() -> None:
    found = compared(day(23, 0), day(16, 144, "3"))
    assert found.outcome is Difference.FASTER
    assert found.before
    assert found.after
    assert found.before.write_p50_ns > 20 * found.after.write_p50_ns
    assert found.probability < 1e-6


def test_waiting_is_told_for_a_day_like_the_hours_that_are_compared() -> None:
    """Half of the time nothing is committed; of 24 ms each, 60 a second are 62,000 s a day while they last."""
    quiet = [replace(async_writers(seconds=BLOCK), at=each.at + 144 * BLOCK) for each in day(23, 0)]
    found = compared([*day(23, 0), *quiet], day(16, 288, "3"))
    assert found.before
    assert found.after
    one_s = found.before.commit_ns / 1e9
    assert found.before.waited_s_per_day == pytest.approx(60 * one_s * DAY_S / 2, rel=0.01)
    assert found.after.waited_s_per_day == pytest.approx(60 * found.after.commit_ns / 1e9 * DAY_S, rel=0.01)


def test_flushes_that_only_one_side_counted_are_on_neither() -> None:
    """24 ms with flush against 0.05 ms of an SSD whose flushes nobody counted is no gain of 480 times."""
    slow = [replace(each, disks=(DiskActivity("sda", 1000, 12_000),)) for each in day(23, 0)]
    found = compared(slow, day(16, 144, "3"))
    assert found.before
    assert found.after
    assert not found.before.counts_flush
    assert found.before.commit_ns == pytest.approx(found.before.write_p50_ns)
    through = facts(*LEAVES, replace(LOG_LEAF, write_cache="write through"))
    like = compare(slow, day(16, 144, "3"), through, BLOCK, lambda at: at // 3600 % 24)
    assert like.before
    assert like.before.counts_flush
    assert like.before.commit_ns == pytest.approx(like.before.write_p50_ns + 12e6)


def test_a_log_that_was_taken_back_since_is_still_found_in_the_samples() -> None:
    without = compare(day(23, 0), day(16, 144, "3"), facts(*LEAVES), BLOCK, lambda at: at // 3600 % 24)
    assert without.outcome is Difference.FASTER


def test_the_same_twice_is_no_difference() -> None:
    assert compared(day(23, 0), day(23, 144)).outcome is Difference.NO_DIFFERENCE


def test_slower_is_said_too() -> None:
    assert compared(day(16, 0), day(23, 144)).outcome is Difference.SLOWER


def test_other_hours_of_the_day_are_not_compared() -> None:
    found = compared(day(23, 0, hours=6), day(16, 12 * 6, "3", hours=6))
    assert found.outcome is Difference.OTHER_HOURS
    assert found.probability == 1


def test_a_slow_night_does_not_make_the_day_look_faster() -> None:
    """Before: a day with slow nights. After: only daytime was seen so far, as fast as daytime before."""
    before = [block(number, 25 if number // 6 % 24 < 8 else 22) for number in range(144)]
    after = [block(144 + number, 22) for number in range(144) if 8 <= number // 6 < 20]
    found = compared(before, after)
    assert found.outcome is Difference.NO_DIFFERENCE
    assert found.hours == tuple(range(8, 20))


def test_half_an_hour_is_too_early() -> None:
    assert compared(day(23, 0), day(16, 144, "3")[:3]).outcome is Difference.TOO_EARLY


def test_times_without_synchronous_writes_do_not_count() -> None:
    quiet = [replace(async_writers(BLOCK), at=(number + 1) * BLOCK) for number in range(144)]
    found = compared(quiet, quiet)
    assert (found.outcome, found.before) == (Difference.TOO_EARLY, None)


def test_chance_alone_is_seldom_taken_for_a_difference() -> None:
    luck = random.Random(1)
    wrong = 0
    for _ in range(400):
        values = [(hour, luck.random()) for hour in range(24) for _ in range(4)]
        other = [(hour, luck.random()) for hour in range(24) for _ in range(4)]
        wrong += abs(rank_test(values, other)) > 2.576
    assert wrong <= 12  # 1 % of 400 is 4


Values = list[tuple[int, float]]
values = st.lists(st.tuples(st.integers(0, 3), st.floats(0, 100)), max_size=20)


@given(values, values)
def test_the_other_way_round_it_says_the_opposite(
    before: list[tuple[int, float]], after: list[tuple[int, float]]
) -> None:
    assert rank_test(before, after) == pytest.approx(-rank_test(after, before), abs=1e-9)
