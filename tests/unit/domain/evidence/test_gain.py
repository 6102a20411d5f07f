"""How many times as fast, and how much that varies."""

import pytest

from nasadvisor.domain.evidence.comparison import gain_between


def test_the_middle_is_the_median_of_all_pairs_of_the_same_hour() -> None:
    gain = gain_between([(9, 20.0), (9, 24.0), (9, 30.0)], [(9, 2.0)])
    assert gain
    assert (gain.low, gain.middle, gain.high) == (10.0, 12.0, 15.0)


def test_hours_that_only_one_side_has_count_nothing() -> None:
    gain = gain_between([(9, 20.0), (3, 1000.0)], [(9, 10.0), (17, 0.1)])
    assert gain
    assert (gain.low, gain.middle, gain.high) == (2.0, 2.0, 2.0)
    assert gain_between([(9, 20.0)], [(10, 20.0)]) is None


def test_one_outlier_in_forty_moves_neither_the_middle_nor_the_range() -> None:
    steady = [(9, 10.0)] * 39
    gain = gain_between([*steady, (9, 9000.0)], [(9, 1.0)])
    assert gain
    assert gain.low == gain.middle == gain.high == pytest.approx(10.0)


def test_a_block_without_a_time_is_left_out() -> None:
    assert gain_between([(9, 0.0)], [(9, 1.0)]) is None
