"""The warranty clock beside the wear clock: terabytes written against the rating, and erases against the flash's.

A rating (TBW) says when the maker stops paying. It is no measure of wear: drives of one model were seen to need from
a third to three times their rating per 100 %.
"""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.wear.forecast import Spread
from nasadvisor.domain.units import TERABYTE

MOST_DAYS: Final = 36_525.0


@dataclass(frozen=True)
class WarrantyClock:
    """How much of a rating is written, and when the rest will be. `days_left` is None above a century."""

    rated_bytes: int
    used_percent: float
    days_left: Spread | None


def tbw_clock(rated_terabytes: float, bytes_written: int, bytes_per_day: Spread | None) -> WarrantyClock:
    """Against the terabytes written that the data sheet allows.

    Raises:
        ValueError: if the rating is not above zero.
    """
    if rated_terabytes <= 0:
        raise ValueError("A rating of terabytes written is a number above zero.")
    return _clock(round(rated_terabytes * TERABYTE), bytes_written, bytes_per_day)


def erase_clock(
    capacity_bytes: int, rated_erases: int, write_amplification: float, bytes_written: int, bytes_per_day: Spread | None
) -> WarrantyClock:
    """Against the erases that the flash is rated for: capacity times erases, divided by the write amplification.

    Raises:
        ValueError: if a number is not above zero.
    """
    if min(capacity_bytes, rated_erases, write_amplification) <= 0:
        raise ValueError("Capacity, rated erases and write amplification are numbers above zero.")
    return _clock(round(capacity_bytes * rated_erases / write_amplification), bytes_written, bytes_per_day)


def _clock(rated: int, written: int, per_day: Spread | None) -> WarrantyClock:
    left = max(rated - written, 0)
    days = None
    if per_day is not None and per_day.low > 0 and left / per_day.middle <= MOST_DAYS:
        days = Spread(*(min(left / rate, MOST_DAYS) for rate in (per_day.high, per_day.middle, per_day.low)))
    return WarrantyClock(rated, 100 * written / rated, days)
