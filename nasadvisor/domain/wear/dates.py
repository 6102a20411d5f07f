"""Days of a forecast as calendar dates: "Mar 2028 (Sep 2026 - after 2036)"."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from nasadvisor.domain.wear.forecast import LONGEST_DAYS, Exhaustion

LEAST_SHARE: Final = 0.01
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class DateRange:
    """When a milestone is reached; None is after `beyond`, which is ten years from the day of the forecast."""

    percent: int
    earliest: date | None
    expected: date | None
    latest: date | None
    beyond: date

    def __str__(self) -> str:
        """In English, by month."""
        ends = f"{self._month(self.earliest)} - {self._month(self.latest)}"
        return f"{self._month(self.expected)} ({ends})"

    def _month(self, day: date | None) -> str:
        return f"after {self.beyond.year}" if day is None else f"{MONTHS[day.month - 1]} {day.year}"


def dates_of(exhaustion: Exhaustion, today: date, powered_share: float = 1.0) -> DateRange:
    """Put the days of a milestone on the calendar.

    Args:
        exhaustion: in days of the history's clock, that is of power-on time.
        today: the day of the newest reading.
        powered_share: the share of the time that the drive is switched on, above 0 and up to 1.
    """
    share = min(max(powered_share, LEAST_SHARE), 1.0)

    def day(days: float | None) -> date | None:
        return None if days is None or days / share > LONGEST_DAYS else today + timedelta(days=days / share)

    return DateRange(
        exhaustion.percent,
        day(exhaustion.earliest_days),
        day(exhaustion.expected_days),
        day(exhaustion.latest_days),
        today + timedelta(days=LONGEST_DAYS),
    )
