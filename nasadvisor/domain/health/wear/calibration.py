"""The fitted numbers of the forecast, and the spreads they give.

Source: 1,440 SSDs of linuxhw/EnterpriseDrive (CC-BY-4.0) with at least three reports each; the last report was hidden
and forecast from the earlier ones. The numbers were fitted on the drives whose id has an even first byte of its
SHA-256, and checked on the others (docs/explanation/wear.md has both results, benchmarks/wear_calibration.py computes
the quantiles again). Horizons were 20 to 1,000 days, half of them under 75; beyond that the spread of the longest is
used.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from nasadvisor.domain.health.wear.history import Phase

MEMORY_DAYS: Final = 30.0
"""An interval that ended so long ago counts 1/e: rates of servers change between months, seldom within one."""

RATE_DAYS: Final = 7.0
STEADY_DAYS: Final = 45.0
WEAR_DAYS: Final = 120.0
"""Least lengths of the intervals that rates, steadiness and wear per byte are taken from; the drives behind the fit
were read weeks or months apart."""

LIFETIME_DAYS: Final = 1.0
"""The lifetime average counts like one day of evidence."""

LEAST_BYTES_PER_DAY: Final = 1e8
"""0.1 GB: below it a drive is idle, and ratios of rates mean nothing."""

UNSEEN_POINTS: Final = 0.25
"""Added to a whole percentage when wear per byte is taken from it: part of the next one is used already."""

USUAL_REWRITES: Final = 500.0
"""Full drive writes per 100 % of a drive that has not shown its own yet: the lower quartile of the fit half, and what
0.3 drive writes a day for five years come to."""

USUAL_DAYS: Final = 1826.0
"""Days per 100 % where nothing counts bytes: five years, the usual warranty."""

PRIOR_STEPS: Final = 1.0
"""Weight of the lifetime ratio against the newest interval, in steps of a percent."""

MEDIAN: Final = 0.9
"""The median gain is below the expected one: most drives go on as they did, a few write much less."""

STEADY_LOG2: Final = 0.3
UNSTEADY_LOG2: Final = 0.7
"""log2 between the rates of the last two intervals: under the first a drive is steady, above the second it is not."""

LONG_HORIZON_DAYS: Final = 150.0
LONG_INTERVAL_DAYS: Final = 200.0
"""A forecast further ahead, or from readings further apart, is one step less certain."""

BEND_POINTS: Final = 5.0
"""Where the slope of the high end changes: small gains are the more uncertain ones."""

YOUNG_DAYS: Final = 500.0
GROWTH_AT_YOUNG: Final = 0.10
GROWTH_PER_DOUBLING: Final = -0.06
LEAST_GROWTH: Final = -0.1
MOST_GROWTH: Final = 0.3
YOUNGEST_DAYS: Final = 30.0
"""log2 of how much more a drive will write than it did: services grow into a new server."""


class Steadiness(StrEnum):
    """How even the writing was, which decides how wide a range has to be."""

    STEADY = "steady"
    USUAL = "usual"
    UNSTEADY = "unsteady"


@dataclass(frozen=True)
class Ends:
    """Slopes of the low and high end against the expected gain; the high one before and after a bend.

    `rate` are the fifth and 95th percentile of the true write rate over the expected one. `surprise` is the high end at
    an expected gain of one point where nothing is known of how the drive goes on; it grows with SURPRISE_POWER of it.
    """

    low: float
    high: float
    high_beyond: float
    rate: tuple[float, float]
    surprise: float = 0.0


ENDS: Final = {
    Steadiness.STEADY: Ends(0.65, 1.4, 1.3, (0.55, 1.6)),
    Steadiness.USUAL: Ends(0.30, 2.0, 1.5, (0.4, 2.2)),
    Steadiness.UNSTEADY: Ends(0.26, 2.5, 2.0, (0.22, 4.6), surprise=6.0),
}
"""The low ends are fifth percentiles. The high ones are above the 95th: drives whose wear rose must be in the range as
often as those that stand still, and it is the fast ones that a user must hear of. They hold for families that were not
seen: `surprise` is the least that keeps 94 % of the risen drives in the range, each family judged by what was fitted
without it (benchmarks/wear_calibration.py)."""

SURPRISE_POWER: Final = 0.7
"""A small expected gain can be exceeded more often over than a large one: what is new comes on top of what was."""

PHASE_MARGIN: Final = 0.1
"""Wear follows bytes only roughly, so a step may come a tenth of a percent before the readings allow it."""


def growth(age_days: float) -> float:
    """Factor from the rate so far to the rate to come."""
    exponent = GROWTH_AT_YOUNG + GROWTH_PER_DOUBLING * math.log2(max(age_days, YOUNGEST_DAYS) / YOUNG_DAYS)
    return math.pow(2.0, min(max(exponent, LEAST_GROWTH), MOST_GROWTH))


def rate_spread(rate: float, steadiness: Steadiness) -> tuple[float, float, float]:
    """Bytes a day: low, middle, high."""
    low, high = ENDS[steadiness].rate
    return rate * low, rate, rate * high


def smooth_spread(gain: float, steadiness: Steadiness) -> tuple[float, float, float]:
    """Points gained, without rounding: low, middle, high."""
    ends = ENDS[steadiness]
    usual = ends.high * min(gain, BEND_POINTS) + ends.high_beyond * max(gain - BEND_POINTS, 0.0)
    return ends.low * gain, MEDIAN * gain, max(usual, ends.surprise * gain**SURPRISE_POWER)


def stepped_spread(gain: float, phase: Phase, steadiness: Steadiness) -> tuple[float, float, float]:
    """Points that a display of whole percents gains: low, middle, high. It rounds down, so a gain shows at a step."""
    low, middle, high = smooth_spread(gain, steadiness)
    most = min(phase.most + PHASE_MARGIN, 1.0)
    return (
        float(math.floor(low)),
        float(math.floor(middle + phase.middle)),
        float(math.floor(high + most)),
    )
