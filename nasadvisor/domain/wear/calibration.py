"""The fitted numbers of the forecast, and the spreads they give.

Source: 1,440 SSDs of linuxhw/EnterpriseDrive (CC-BY-4.0) with at least three reports each; the last report was hidden
and forecast from the earlier ones. The numbers were fitted on the drives whose id has an even SHA-256 first byte, and
checked on the others (docs/wear.md has both results). Horizons were 20 to 1,000 days, half of them under 74; how the
spread grows beyond that is assumed, not measured.
"""

import math
from typing import Final

MEMORY_DAYS: Final = 30.0
"""An interval that ended so long ago counts 1/e: rates of servers change between months, seldom within one."""

LIFETIME_DAYS: Final = 1.0
"""The lifetime average counts like one day of evidence."""

LEAST_BYTES_PER_DAY: Final = 1e8
"""0.1 GB: below it a drive is idle, and ratios of rates mean nothing."""

UNSEEN_POINTS: Final = 0.25
PRIOR_STEPS: Final = 1.0
MEDIAN: Final = 0.9
"""The median gain is below the expected one: most drives go on as they did, a few write much less."""

REBOUND_POWER: Final = 0.3
LARGEST_REBOUND: Final = 2.5

LOW: Final = (0.4, 0.5)
HIGH: Final = (2.0, 1.6)
BEND_LOW: Final = 5.0
BEND_HIGH: Final = 10.0
"""Slopes of the low and high end against the expected gain, before and after the bend (in points)."""

LOW_OFFSET: Final = 0.5
HIGH_OFFSET: Final = 1.0
HALF: Final = 0.5

RATE_NVME: Final = (0.28, 4.5)
RATE_OTHER: Final = (0.35, 2.6)
"""Fifth and 95th percentile of the true rate over the expected one."""

YOUNG_DAYS: Final = 500.0
GROWTH_AT_YOUNG: Final = 0.10
GROWTH_PER_DOUBLING: Final = -0.06
"""log2 of how much more a drive will write than it did: services grow into a new server."""


def growth(age_days: float) -> float:
    """Factor from the rate so far to the rate to come."""
    exponent = GROWTH_AT_YOUNG + GROWTH_PER_DOUBLING * math.log2(max(age_days, 30.0) / YOUNG_DAYS)
    return float(2.0 ** min(max(exponent, -0.1), 0.3))


def rate_spread(rate: float, *, nvme: bool) -> tuple[float, float, float]:
    """Bytes a day: low, middle, high."""
    low, high = RATE_NVME if nvme else RATE_OTHER
    return rate * low, rate, rate * high


def smooth_spread(gain: float, rebound: float) -> tuple[float, float, float]:
    """Points gained, without rounding: low, middle, high."""
    return _bent(gain, LOW, BEND_LOW), MEDIAN * gain, rebound * _bent(gain, HIGH, BEND_HIGH)


def gain_spread(gain: float, phase: float, rebound: float, *, whole: bool) -> tuple[float, float, float]:
    """Points that the drive's own display gains: low, middle, high.

    A display of whole percents rounds down, so a gain shows when it crosses the next whole one; `phase` is the part
    of the present percent that is used already.
    """
    low, middle, high = smooth_spread(gain, rebound)
    if not whole:
        return low, middle, high + HIGH_OFFSET
    return (
        max(math.floor(low), 0.0),
        max(math.floor(middle + phase), 0.0),
        math.floor(high + HIGH_OFFSET),
    )


def _bent(gain: float, slopes: tuple[float, float], bend: float) -> float:
    before, after = slopes
    return before * min(gain, bend) + after * max(gain - bend, 0.0)
