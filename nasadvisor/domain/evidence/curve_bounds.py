"""Between which bounds a share lies that was read off a sample of blocks: nine times out of ten.

The blocks that are followed fall into eight parts by their hash, and each part goes through a model of its own. How
far the parts are apart says how far the whole may be off (the variance of a ratio by random groups; Wolter,
"Introduction to Variance Estimation", 2007, chapter 2), with Student's t for so few. How far all parts together are off
the whole says what a model of so few blocks gets wrong. As more of all blocks are followed, both shrink to nothing.
Where all parts say the same, of nothing above all, Wilson's interval (1927) is the least that is said.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

PARTS: Final = 8
T_OF_PARTS: Final = 1.895
"""Student's t with seven degrees of freedom: 90 % lie within so many standard errors to both sides."""

Z: Final = 1.645
"""The same where the standard error is known."""


class ServedMisses(NamedTuple):
    """How many misses were served, of how many."""

    served: float
    missed: float

    @property
    def share(self) -> float:
        """The share that was served; 0 of nothing."""
        return self.served / self.missed if self.missed else 0.0


def bounds_of(
    whole: ServedMisses, parts: Sequence[ServedMisses], followed_share: float, misses: Iterable[int]
) -> tuple[float, float]:
    """The bounds of a share. `followed_share` is how much of all blocks is followed, `misses` how often each missed."""
    share = whole.share
    all_parts = ServedMisses(sum(each.served for each in parts), sum(each.missed for each in parts))
    apart = math.hypot(T_OF_PARTS * _standard_error(all_parts, parts), all_parts.share - share)
    least, most = _wilson(share, _independent(misses))
    unseen = math.sqrt(1 - followed_share)
    low = share - unseen * max(apart, share - least)
    high = share + unseen * max(apart, most - share)
    return max(low, 0.0), min(high, 1.0)


def _standard_error(all_parts: ServedMisses, parts: Sequence[ServedMisses]) -> float:
    """That of the ratio of two sums of the parts."""
    if not all_parts.missed:
        return 0.0
    squares = sum((each.served - all_parts.share * each.missed) ** 2 for each in parts)
    return math.sqrt(squares * len(parts) / (len(parts) - 1)) / all_parts.missed


def _independent(misses: Iterable[int]) -> float:
    """As how many misses they count, since those of one block are no evidence of each other (Kish, 1965)."""
    counts = tuple(misses)
    return sum(counts) ** 2 / sum(count * count for count in counts) if any(counts) else 1.0


def _wilson(share: float, count: float) -> tuple[float, float]:
    """The interval of a share of so many that are independent."""
    squared = Z**2 / count
    middle = (share + squared / 2) / (1 + squared)
    half = math.sqrt(squared * (share * (1 - share) + squared / 4)) / (1 + squared)
    return middle - half, middle + half
