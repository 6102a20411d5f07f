"""Histograms add up, and no tail gets lost."""

from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.histogram import BUCKETS, EMPTY, Histogram

histograms = st.lists(st.integers(0, 10**9), max_size=BUCKETS).map(Histogram.of)


@given(histograms, histograms, histograms)
def test_the_order_in_which_they_are_added_does_not_matter(a: Histogram, b: Histogram, c: Histogram) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + EMPTY == a


@given(histograms, histograms)
def test_what_was_added_can_be_told_again(before: Histogram, news: Histogram) -> None:
    assert (before + news).since(before) == news


@given(histograms, histograms)
def test_a_sum_reaches_as_far_as_its_longest_part(a: Histogram, b: Histogram) -> None:
    assert (a + b).quantile_ns(1.0) == max(a.quantile_ns(1.0), b.quantile_ns(1.0))


@given(st.integers(1, 2**36))
def test_a_quantile_is_right_within_a_factor_of_two(length_ns: int) -> None:
    found = Histogram.single(length_ns).quantile_ns(0.5)
    assert length_ns / 2 <= found <= length_ns * 2


def test_a_counter_that_went_down_was_reset() -> None:
    assert Histogram((0, 3)).since(Histogram((0, 5))) is None


def test_rare_and_long_events_are_seen() -> None:
    mostly_fast = Histogram.of([0] * 15 + [100_000] + [0] * 14 + [1])
    assert mostly_fast.quantile_ns(0.99) < 100_000
    assert mostly_fast.quantile_ns(1.0) > 10**9


def test_the_quantile_of_nothing_is_zero() -> None:
    assert EMPTY.quantile_ns(0.5) == 0
    assert EMPTY.mean_ns == 0
