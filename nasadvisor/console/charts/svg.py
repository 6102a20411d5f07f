"""What our pictures have in common: they are drawn twice, for wide and for narrow screens, as SVG paths."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from itertools import islice
from typing import Final

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop

WIDE: Final = 760
NARROW: Final = 360
"""Widths in units of the view box; a narrow one is as wide as a phone, so that its words keep their size."""

RIGHT: Final = 12
TOP: Final = 12
BOTTOM: Final = 24
"""Room around the lines of a picture over time; how much stands left of them differs."""


@dataclass(frozen=True)
class ChartFrame:
    """How large a picture is and where its lines begin and end, in units of the view box."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int


@dataclass(frozen=True)
class Tick:
    """A line across the picture, and what it stands for."""

    at: float
    label: str


def line_through(points: Iterable[tuple[float, float]]) -> str:
    """A path through these points, x and y; "" where there are none. A single one is a dot with round caps."""
    path = "".join(f"{'M' if index == 0 else 'L'}{x:g} {y:g}" for index, (x, y) in enumerate(points))
    return path if "L" in path or not path else f"{path}h0"


UNITS_A_LABEL: Final = 90
"""Room for "Nov 2026" and some air, in units of the pictures' view boxes."""

HALF_A_LABEL: Final = 28


class Unit(Enum):
    """What steps are counted in; the value is how a moment is written."""

    HOURS = "H:i"
    DAYS = gettext_noop("j M")
    MONTHS = "M Y"
    YEARS = "Y"


@dataclass(frozen=True)
class TimeStep:
    """From one moment to the next."""

    count: int
    unit: Unit

    def moments(self, after: datetime) -> Iterator[datetime]:
        """From the first one after this local time."""
        months = {Unit.MONTHS: self.count, Unit.YEARS: 12 * self.count}.get(self.unit)
        midnight = after.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
        number = (after.year * 12 + after.month - 1) // months if months else 0
        while True:
            if months:
                year, month = divmod(number * months, 12)
                moment = datetime(year, month + 1, 1)  # noqa: DTZ001 - made aware below
            elif self.unit is Unit.HOURS:
                moment = midnight + timedelta(hours=number * self.count)
            else:
                moment = midnight + timedelta(days=number * self.count)
            aware = timezone.make_aware(moment)
            if aware > after:
                yield aware
            number += 1


STEPS: Final = (
    *(TimeStep(count, Unit.HOURS) for count in (1, 2, 3, 6, 12)),
    *(TimeStep(count, Unit.DAYS) for count in (1, 2, 4, 7, 14)),
    *(TimeStep(count, Unit.MONTHS) for count in (1, 2, 3, 6)),
    *(TimeStep(count, Unit.YEARS) for count in (1, 2, 5, 10, 20)),
)


def time_labels(begin: datetime, end: datetime, width: int) -> list[tuple[datetime, str]]:
    """Moments between two, as many as have room below a picture of this width; none so late that its words are cut."""
    after, last = timezone.localtime(begin), end - (end - begin) * HALF_A_LABEL / width
    at_most = width // UNITS_A_LABEL
    for step in STEPS:
        found = list(islice(step.moments(after), at_most + 1))
        within = [moment for moment in found if moment <= last]
        if len(within) <= at_most:
            return [(moment, date_format(timezone.localtime(moment), gettext(step.unit.value))) for moment in within]
    return []
