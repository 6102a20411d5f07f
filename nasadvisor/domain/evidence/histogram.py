"""Latency histograms as OpenZFS keeps them: log2 buckets of nanoseconds. They merge by addition, so no tail is lost."""

from dataclasses import dataclass
from itertools import zip_longest
from operator import add
from typing import Final

BUCKETS: Final = 37
"""VDEV_L_HISTO_BUCKETS, include/sys/fs/zfs.h: from 1 ns to over a minute."""


@dataclass(frozen=True)
class Histogram:
    """How often something took how long. `counts[j]` is for 2**j to 2**(j+1)-1 ns; zeros at the end are left out."""

    counts: tuple[int, ...] = ()

    @staticmethod
    def of(counts: "list[int] | tuple[int, ...]") -> "Histogram":
        """A histogram with these counts, first bucket first."""
        end = len(counts)
        while end and not counts[end - 1]:
            end -= 1
        return Histogram(tuple(counts[:end]))

    @staticmethod
    def single(value_ns: int) -> "Histogram":
        """One event of this length."""
        return Histogram((*(0,) * bucket_of(value_ns), 1))

    def __add__(self, other: "Histogram") -> "Histogram":
        """Both together."""
        if not other.counts:
            return self
        if not self.counts:
            return other
        shared = min(len(self.counts), len(other.counts))
        return Histogram((*map(add, self.counts, other.counts), *self.counts[shared:], *other.counts[shared:]))

    def since(self, before: "Histogram") -> "Histogram | None":
        """What came between two readings of a counter; None if the counter was reset in between."""
        if self.counts == before.counts:
            return Histogram()
        counts = [a - b for a, b in zip_longest(self.counts, before.counts, fillvalue=0)]
        return Histogram.of(counts) if min(counts, default=0) >= 0 else None

    @property
    def total(self) -> int:
        """The number of events."""
        return sum(self.counts)

    def quantile_ns(self, share: float) -> float:
        """The length that this share of the events does not exceed, interpolated within its bucket; 0 if empty.

        The true value lies in the same bucket, so this is right within a factor of two.
        """
        wanted = self.total * share
        seen = 0
        for bucket, count in enumerate(self.counts):
            if count and seen + count >= wanted:
                return float((1 << bucket) * (1 + max(wanted - seen, 0) / count))
            seen += count
        return 0.0

    @property
    def mean_ns(self) -> float:
        """About the mean: every event counts as the middle of its bucket, as `zpool iostat -l` does it."""
        return self.mean_of_quickest_ns(1.0)

    def mean_of_quickest_ns(self, share: float) -> float:
        """The same of this share of the events, the quickest; 0 if there are none."""
        wanted = left = self.total * min(share, 1.0)
        whole = 0.0
        for bucket, count in enumerate(self.counts):
            taken = min(count, left)
            whole, left = whole + 1.5 * (1 << bucket) * taken, left - taken
        return whole / wanted if wanted else 0.0


def bucket_of(value: int) -> int:
    """Where it is counted."""
    return min(max(value, 1).bit_length() - 1, BUCKETS - 1)


def bounds_of_mean(mean_ns: float) -> tuple[float, float, float]:
    """Between what a mean of such histograms lies: a bucket ends at twice its beginning, and its middle was taken."""
    return mean_ns * 2 / 3, mean_ns, mean_ns * 4 / 3


EMPTY: Final = Histogram()


def merged(histograms: "list[Histogram]") -> Histogram:
    """All of them together."""
    result = EMPTY
    for histogram in histograms:
        result = result + histogram
    return result
