"""How long a drive lasts with more to write or without one of those who write to it, and what each of them costs."""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.wear.bill import BillLine, WearBill
from nasadvisor.domain.health.wear.forecast import Forecast, Spread
from nasadvisor.domain.units import DAY_S, DAYS_PER_YEAR, TERABYTE

ENOUGH_PERCENT: Final = 100.0


@dataclass(frozen=True)
class WhatIf:
    """Writing that is being weighed. `added_percent_per_year` is None where the drive's wear per byte is unknown.

    `years_left` counts what is left of the rated endurance with the present writing and the added one.
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


def part_of(now: Forecast, share: float) -> Spread | None:
    """The percent of a year that a share of the bytes causes, from 0 to 1: wear goes with bytes, whoever wrote them.

    None where the drive does not tell its wear.
    """
    year = now.percent_per_year
    return Spread(year.low * share, year.middle * share, year.high * share) if year else None


def years_without(now: Forecast, share: float) -> Spread | None:
    """How long it lasts without the writer of that share; None where nothing else wears it, or it is unknown."""
    rest = part_of(now, 1 - share)
    return None if now.percent_used is None or rest is None else _years(now.percent_used, rest)


@dataclass(frozen=True)
class WeighedLine:
    """A line of the bill and what it means: its bytes a day, its part in the points of a year, and in what they cost.

    `years_without` is how long the drive lasts without it; None where that is unknown, or nothing else wears it.
    """

    line: BillLine
    share: float
    bytes_per_day: float
    percent_per_year: Spread | None
    years_without: Spread | None
    cost: float | None


def weighed(bill: WearBill, seconds: float, now: Forecast | None, cost: float | None) -> tuple[WeighedLine, ...]:
    """Every line of what was written in so many seconds; `cost` is what all of it costs a year."""
    found = []
    for line in bill.lines:
        share = bill.share_of(line)
        found.append(
            WeighedLine(
                line,
                share,
                line.device_bytes * DAY_S / seconds if seconds > 0 else 0.0,
                part_of(now, share) if now else None,
                years_without(now, share) if now else None,
                cost * share if cost is not None else None,
            )
        )
    return tuple(found)


def cost_per_year(
    price: float | None, now: Forecast | None, rated_terabytes: float | None, bytes_per_year: float
) -> float | None:
    """What a year's writing costs of a drive at its price: by its own wear, else by the terabytes it is rated for."""
    if price is None:
        return None
    if now and now.percent_per_year:
        return price * now.percent_per_year.middle / ENOUGH_PERCENT
    return price * bytes_per_year / (rated_terabytes * TERABYTE) if rated_terabytes else None


def _years(percent_used: float, per_year: Spread) -> Spread | None:
    left = max(ENOUGH_PERCENT - percent_used, 0.0)
    if per_year.low <= 0:
        return None
    return Spread(left / per_year.high, left / per_year.middle, left / per_year.low)
