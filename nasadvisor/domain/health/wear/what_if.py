"""How long a drive lasts with more to write, or without one of those who write to it."""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.wear.forecast import DAYS_PER_YEAR, Forecast, Spread

ENOUGH_PERCENT: Final = 100.0


@dataclass(frozen=True)
class WhatIf:
    """Writing that is being weighed. `added_percent_per_year` is None where the drive's wear per byte is unknown.

    `years_left` counts what is left of the rated endurance with the present writing and the added one, which is less
    than nothing for a writer that goes; None where nothing would wear the drive any more.
    """

    role: str
    added_bytes_per_day: float
    added_percent_per_year: Spread | None
    years_left: Spread | None


def with_added(now: Forecast, role: str, added: float) -> WhatIf:
    """With so many bytes a day more, in whatever role.

    As a log here, all synchronous writes of the pool, measured, go to it once more; to both sides of a mirror.
    """
    if now.percent_used is None or now.percent_per_year is None or now.bytes_per_day is None:
        return WhatIf(role, added, None, None)
    per_byte = now.percent_per_year.middle / (now.bytes_per_day.middle * DAYS_PER_YEAR)
    growth = added * DAYS_PER_YEAR * per_byte
    # Wear per byte itself is uncertain by as much as the forecast of the present wear is.
    spread = now.percent_per_year
    low, high = (end / spread.middle if spread.middle > 0 else 1.0 for end in (spread.low, spread.high))
    percent = Spread(growth * low, growth, growth * high)
    total = Spread(spread.low + percent.low, spread.middle + percent.middle, spread.high + percent.high)
    return WhatIf(role, added, percent, _years(now.percent_used, total))


def without(now: Forecast, writer: str, share: float) -> WhatIf:
    """Without the writer of a share of the bytes, from 0 to 1: wear goes with the bytes, whoever wrote them."""
    less = -share * now.bytes_per_day.middle if now.bytes_per_day else 0.0
    year = now.percent_per_year
    if now.percent_used is None or year is None:
        return WhatIf(writer, less, None, None)
    rest = Spread(year.low * (1 - share), year.middle * (1 - share), year.high * (1 - share))
    gone = Spread(year.low * share, year.middle * share, year.high * share)
    return WhatIf(writer, less, -gone, _years(now.percent_used, rest))


def _years(percent_used: float, per_year: Spread) -> Spread | None:
    left = max(ENOUGH_PERCENT - percent_used, 0.0)
    if per_year.low <= 0:
        return None
    return Spread(left / per_year.high, left / per_year.middle, left / per_year.low)
