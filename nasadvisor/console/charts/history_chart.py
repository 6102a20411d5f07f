"""The picture of some figures over time, one line each. Drawn as SVG by us."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from math import ceil, floor, log10
from typing import Final

from django.utils import timezone
from django.utils.formats import number_format

from nasadvisor.console.charts.svg import BOTTOM, NARROW, RIGHT, TOP, WIDE, ChartFrame, Tick, time_labels

LEFT: Final = 64
HEIGHT: Final = 220
LEVELS_AT_MOST: Final = 5
LEAST_SPREAD: Final = 4.0
POINTS_AT_MOST: Final = 300
LINES_AT_MOST: Final = 6
"""As many as have a colour of their own."""

STEPS: Final = (1, 2, 5, 10)
THOUSANDS: Final = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**4, "k"))


@dataclass(frozen=True)
class Series:
    """A figure over time. A `is_stepped` one stays what it was until the next point."""

    label: str
    points: Sequence[tuple[datetime, float]]
    is_stepped: bool = False

    @property
    def is_drawn(self) -> bool:
        """Whether there is a line: one reading alone is none, but a count stays what it was."""
        return bool(self.points) if self.is_stepped else len(self.points) > 1


@dataclass(frozen=True)
class HistoryLine:
    """A line of the picture, and what it stands for; `number` chooses its colour, `last` is its newest value."""

    label: str
    path: str
    number: int
    last: str


@dataclass(frozen=True)
class HistoryChart(ChartFrame):
    """All that the template draws."""

    lines: tuple[HistoryLine, ...]
    levels: tuple[Tick, ...]
    times: tuple[Tick, ...]


def start_of(day: date) -> datetime:
    """When a day begins where the console is."""
    return timezone.make_aware(datetime.combine(day, time.min))


def history_charts(
    series: Sequence[Series], begin: datetime, end: datetime, unit: str = "", within: Sequence[float] = ()
) -> tuple[HistoryChart, ...]:
    """The picture for wide and for narrow screens; none where there is no line within the time."""
    drawn = (history_chart(series, begin, end, width, unit, within) for width in (WIDE, NARROW))
    return tuple(each for each in drawn if each)


def history_chart(
    series: Sequence[Series],
    begin: datetime,
    end: datetime,
    width: int = WIDE,
    unit: str = "",
    within: Sequence[float] = (),
) -> HistoryChart | None:
    """Draw it; None where there is no line within the time. Values of `within` are on the axis in any case, as 0 and
    100 of a share.
    """
    found = [each for each in series if each.is_drawn][:LINES_AT_MOST]
    values = [value for each in found for _, value in each.points]
    if not values or end <= begin:
        return None
    levels = _levels(min(*values, *within, values[0]), max(*values, *within, values[0]))
    low, high = levels[0], levels[-1]
    right, bottom = width - RIGHT, HEIGHT - BOTTOM

    def x(moment: datetime) -> float:
        return round(LEFT + (moment - begin) / (end - begin) * (right - LEFT), 1)

    def y(value: float) -> float:
        return round(bottom - (value - low) / (high - low) * (bottom - TOP), 1)

    return HistoryChart(
        width=width,
        height=HEIGHT,
        left=LEFT,
        right=right,
        top=TOP,
        bottom=bottom,
        lines=tuple(
            HistoryLine(
                each.label,
                _path([(x(at), y(value)) for at, value in _shown(each, end)], each.is_stepped),
                number,
                f"{_short(round(each.points[-1][1], 1))}{unit}",
            )
            for number, each in enumerate(found)
        ),
        levels=tuple(Tick(y(level), f"{_short(level)}{unit}") for level in levels),
        times=tuple(Tick(x(moment), label) for moment, label in time_labels(begin, end, right - LEFT)),
    )


def _shown(series: Series, end: datetime) -> Sequence[tuple[datetime, float]]:
    """Not more than can be seen; a stepped one goes on until the end."""
    step = max(1, -(-len(series.points) // POINTS_AT_MOST))
    last = series.points[-1]
    return [*series.points[::step], (end, last[1]) if series.is_stepped else last]


def _levels(least: float, most: float) -> list[float]:
    """A few round numbers, at 1, 2 or 5 times a power of ten, that hold what is between two others."""
    if most - least < LEAST_SPREAD:  # a line that hardly moves is drawn as one
        middle = (least + most) / 2
        least, most = max(min(least, 0.0), middle - LEAST_SPREAD / 2), middle + LEAST_SPREAD / 2
    spread = most - least
    power = 10.0 ** floor(log10(spread / LEVELS_AT_MOST))
    step = next(power * each for each in STEPS if power * each * LEVELS_AT_MOST >= spread)
    first, last = floor(least / step), ceil(most / step)
    return [step * each for each in range(first, max(last, first + 1) + 1)]


def _short(value: float) -> str:
    """A number that fits beside a chart."""
    for thousand, letter in THOUSANDS:
        if abs(value) >= thousand:
            return f"{number_format(round(value / thousand, 3))} {letter}"
    return number_format(round(value, 3) if value % 1 else int(value))


def _path(points: Sequence[tuple[float, float]], is_stepped: bool) -> str:
    first, *rest = points
    drawn = [f"H{x:g}V{y:g}" if is_stepped else f"L{x:g} {y:g}" for x, y in rest]
    return f"M{first[0]:g} {first[1]:g}" + "".join(drawn)
