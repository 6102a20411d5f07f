"""Did it help? Asked of the switches themselves: which other coins could have fallen, and would they say as much.

A randomisation test (Fisher, "The Design of Experiments", 1935) over the coins of `switching`. If the cache did
nothing, each pair would have shown the same two values with the coin the other way round. So how often coins that might
have fallen show as much is the probability of chance, whatever the load did and however its hours depend on each other.

Compared are logarithms, so that a factor is a shift. For the mean of pairs and a shift, a set of turned coins shows as
much exactly if the mean of the turned pairs lies beyond the shift. So the means of all sets of pairs, in order, are
both the test and, inverted, the confidence interval (Hartigan, "Using subsample values as typical values", 1969).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Final

from nasadvisor.domain.evidence.switching import Period, Switching, coins_of

ALL_SETS_UP_TO: Final = 12
"""Up to so many pairs every set of them is looked at: 4,095."""

SETS_DRAWN: Final = 1999
"""Of more pairs so many sets are drawn, with coins of their own: a probability of 5 % is then right within 1 %."""

CONFIDENCE: Final = 0.95

FEWEST_PAIRS: Final = 8
"""[policy] With fewer, chance alone shows as much once in 64 times at the least."""


@dataclass(frozen=True)
class SwitchEffect:
    """What the cache does, as a factor: 0.7 is 30 % less with it. The interval holds the truth in 95 of 100 cases.

    `probability` is how often coins alone would show as much, in either direction.
    """

    pairs: int
    factor: float
    low: float
    high: float
    probability: float

    @property
    def is_found(self) -> bool:
        """Whether chance is ruled out, as far as 95 of 100 rules it out."""
        return self.probability <= 1 - CONFIDENCE


def effect_of(plan: Switching, values: Mapping[Period, float]) -> SwitchEffect | None:
    """From one figure for each period, above zero: the fewer the better, such as reads that reach the data disks.

    Pairs of which a period has none are left out. None where fewer than eight remain.
    """
    shifts = _shifts(plan, values)
    if len(shifts) < FEWEST_PAIRS:
        return None
    means = _means_of_sets(shifts, plan.seed)
    everything = len(means) + 1  # the coins that fell are one of the sets that might have
    below = sum(each <= 0 for each in means)
    above = sum(each >= 0 for each in means)
    outside = max(int((1 - CONFIDENCE) / 2 * everything), 1)
    return SwitchEffect(
        pairs=len(shifts),
        factor=exp(sum(shifts) / len(shifts)),
        low=exp(means[outside - 1]),
        high=exp(means[-outside]),
        probability=min(2 * (1 + min(below, above)) / everything, 1.0),
    )


def expected_precision(plan: Switching, values: Mapping[Period, float]) -> float | None:
    """How exact such a plan will be, from as long a time in which nothing was switched: ± this share.

    The same coins are laid over it: whatever they show is chance, and the interval is as wide as it will be.
    """
    found = effect_of(plan, values)
    return None if found is None else (found.high / found.low) ** 0.5 - 1


def _shifts(plan: Switching, values: Mapping[Period, float]) -> tuple[float, ...]:
    """For each whole pair, how much more there was with the cache, as a difference of logarithms."""
    found: dict[int, dict[bool, float]] = {}
    for period in plan.periods():
        value = values.get(period, 0.0)
        if value > 0:
            found.setdefault(period.pair, {})[period.in_service] = log(value)
    return tuple(pair[True] - pair[False] for pair in found.values() if len(pair) == 2)


def _means_of_sets(shifts: Sequence[float], seed: str) -> list[float]:
    """The means of sets of pairs, in order; never of the empty set."""
    count = len(shifts)
    if count <= ALL_SETS_UP_TO:
        return sorted(_mean(shifts, chosen) for chosen in range(1, 1 << count))
    drawn = coins_of(f"{seed}/test", SETS_DRAWN, count)
    return sorted(_mean(shifts, chosen) for chosen in drawn if chosen)


def _mean(shifts: Sequence[float], chosen: int) -> float:
    taken = [shift for place, shift in enumerate(shifts) if chosen >> place & 1]
    return sum(taken) / len(taken)
