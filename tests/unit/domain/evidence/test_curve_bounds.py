"""The bounds of a share that was read off a sample of blocks, on samples whose answer is known."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.curve_bounds import PARTS, ServedMisses, bounds_of


def test_all_blocks_leave_no_doubt() -> None:
    assert bounds_of(ServedMisses(30, 100), [ServedMisses(n, 12) for n in range(PARTS)], 1.0, [1] * 100) == (0.3, 0.3)


def test_of_nothing_served_it_says_no_more_than_the_blocks_can_tell() -> None:
    parts = [ServedMisses(0, 100)] * PARTS
    low, high = bounds_of(ServedMisses(0, 800), parts, 0.01, [1] * 800)
    assert (low, round(high, 3)) == (0.0, 0.003)
    assert bounds_of(ServedMisses(0, 800), parts, 0.01, [100] * 8)[1] > 0.2
    assert bounds_of(ServedMisses(0, 0), [ServedMisses(0, 0)] * PARTS, 0.01, [])[1] == pytest.approx(0.726, abs=0.01)


def test_parts_that_are_apart_or_together_off_the_whole_widen_it() -> None:
    whole = ServedMisses(400, 800)
    close = bounds_of(whole, [ServedMisses(50, 100)] * PARTS, 0.01, [1] * 800)
    apart = bounds_of(whole, [ServedMisses(20, 100), ServedMisses(80, 100)] * (PARTS // 2), 0.01, [1] * 800)
    off = bounds_of(whole, [ServedMisses(30, 100)] * PARTS, 0.01, [1] * 800)
    assert apart[1] - apart[0] > 3 * (close[1] - close[0])
    assert off[0] < 0.32


@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
def test_nine_samples_in_ten_hold_the_truth(share: float) -> None:
    """Blocks that miss very differently often, of which a quarter is followed."""
    chosen = random.Random(7)
    blocks = [(min(int(chosen.paretovariate(1.5)), 200), chosen.random() < share) for _ in range(4000)]
    truth = _served(blocks).share
    held = 0
    for _ in range(300):
        followed = chosen.sample(blocks, 1000)
        parts = [_served(followed[each::PARTS]) for each in range(PARTS)]
        low, high = bounds_of(_served(followed), parts, 0.25, [each for each, _ in followed])
        held += low <= truth <= high
    assert held / 300 >= 0.88


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1e6)), min_size=PARTS, max_size=PARTS),
    st.floats(0, 1),
    st.lists(st.integers(0, 1000), max_size=20),
)
def test_bounds_lie_around_the_share(pairs: list[tuple[float, float]], followed: float, misses: list[int]) -> None:
    parts = [ServedMisses(share * missed, missed) for share, missed in pairs]
    whole = ServedMisses(sum(each.served for each in parts), sum(each.missed for each in parts))
    low, high = bounds_of(whole, parts, followed, misses)
    assert 0 <= low <= whole.share + 1e-9
    assert whole.share - 1e-9 <= high <= 1


def _served(blocks: Sequence[tuple[int, bool]]) -> ServedMisses:
    return ServedMisses(sum(missed for missed, is_served in blocks if is_served), sum(missed for missed, _ in blocks))
