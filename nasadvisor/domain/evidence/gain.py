"""How many times as fast: the ratio of times before and after, with its range."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

LOW_SHARE: Final = 0.05
HIGH_SHARE: Final = 0.95
"""[policy] Nine of ten pairs lie between them: how much the gain varies, not how sure its middle is."""

Timed = tuple[int, float]
"""The hour of the day of a block, and how long a commit took in it, in ns."""


@dataclass(frozen=True)
class Gain:
    """How many times as fast it became; below 1 it became slower. Nine of ten pairs lie between `low` and `high`."""

    low: float
    middle: float
    high: float


def gain_between(before: Sequence[Timed], after: Sequence[Timed]) -> Gain | None:
    """Of every block before with every block after of the same hour of the day, the ratio of their times.

    The middle is the median of all pairs, as Hodges and Lehmann estimate a shift (1963), here of logarithms. None where
    no hour has both.
    """
    ratios = sorted(
        old / new for hour in {hour for hour, _ in before} for old in _of(before, hour) for new in _of(after, hour)
    )
    if not ratios:
        return None
    return Gain(_quantile(ratios, LOW_SHARE), _quantile(ratios, 0.5), _quantile(ratios, HIGH_SHARE))


def _of(blocks: Sequence[Timed], hour: int) -> list[float]:
    return [time for at, time in blocks if at == hour and time > 0]


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
