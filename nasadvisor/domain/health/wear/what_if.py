"""What a drive would wear in another role: the same forecast with other bytes a day."""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.wear.forecast import DAYS_PER_YEAR, Forecast, Spread
from nasadvisor.domain.units import DAY_S

ENOUGH_PERCENT: Final = 100.0


@dataclass(frozen=True)
class WhatIf:
    """A role that is being weighed. `added_percent_per_year` is None where the drive's wear per byte is unknown.

    `years_left` counts what is left of the rated endurance with the present writing and the added one.
    """

    role: str
    added_bytes_per_day: float
    added_percent_per_year: Spread | None
    years_left: Spread | None


def as_slog(now: Forecast, sync_bytes_per_day: float) -> WhatIf:
    """As a log here: all synchronous writes of the pool, measured, go to it once more; to both sides of a mirror."""
    return with_added(now, "log", sync_bytes_per_day)


def as_l2arc(now: Forecast, bytes_per_s: float) -> WhatIf:
    """As a cache device that is fed so much all day (`evidence.feed` says how much that can be)."""
    return with_added(now, "cache", bytes_per_s * DAY_S)


def with_added(now: Forecast, role: str, added: float) -> WhatIf:
    """With so many bytes a day more, in whatever role."""
    if now.percent_used is None or now.percent_per_year is None or now.bytes_per_day is None:
        return WhatIf(role, added, None, None)
    per_byte = now.percent_per_year.middle / (now.bytes_per_day.middle * DAYS_PER_YEAR)
    growth = added * DAYS_PER_YEAR * per_byte
    # Wear per byte itself is uncertain by as much as the forecast of the present wear is.
    spread = now.percent_per_year
    low, high = (end / spread.middle if spread.middle > 0 else 1.0 for end in (spread.low, spread.high))
    percent = Spread(growth * low, growth, growth * high)
    left = max(ENOUGH_PERCENT - now.percent_used, 0.0)
    total = Spread(spread.low + percent.low, spread.middle + percent.middle, spread.high + percent.high)
    years = None
    if total.low > 0:
        years = Spread(left / total.high, left / total.middle, left / total.low)
    return WhatIf(role, added, percent, years)
