"""The picture of a drive's wear: what it used so far, and the fan of what is to be expected. Drawn as SVG by us."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import Any, Final

from nasadvisor.console.charts.svg import BOTTOM, RIGHT, TOP, WIDE, ChartFrame, Tick, line_through, time_labels
from nasadvisor.console.health.forecasts import FanPoint
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.readings import readings_of

UNITS_A_LETTER: Final = 7.0
"""About what a letter takes in the pictures' type."""

GAP: Final = 8.0
ROWS: Final = 3
ROW_HEIGHT: Final = 14


@dataclass(frozen=True)
class RoleMark:
    """An event at a moment: a change of role. Its words stand `y` below the top, and left of the line where they would
    leave the picture; "" where there is no room for them.
    """

    at: float
    label: str
    y: int = 0
    is_before: bool = False


def role_marks(
    roles: Sequence[tuple[datetime, str]], x: Callable[[datetime], float], right: float
) -> tuple[RoleMark, ...]:
    """One for each change of the role at a moment, the words in the first row that is free there."""
    ends = [float("-inf")] * ROWS
    marks: list[RoleMark] = []
    for (_, before), (moment, role) in pairwise(roles):
        if before == role:
            continue
        at, label = x(moment), role or "–"
        wide = GAP + UNITS_A_LETTER * (len(label) + 2 * label.count("+"))
        is_before = at + wide > right
        begin = at - wide if is_before else at
        row = next((row for row in range(ROWS) if ends[row] <= begin), None)
        if row is None:
            marks.append(RoleMark(at, ""))
            continue
        ends[row] = begin + wide
        marks.append(RoleMark(at, label, row * ROW_HEIGHT, is_before))
    return tuple(marks)


LEFT: Final = 48
FULL: Final = 100.0
HEIGHTS: Final = (5.0, 10.0, 20.0, 50.0)
"""How high the axis of an SSD reaches that has used hardly anything: on one to 100 % its line is flat."""

HIGHEST: Final = 260.0
LEAST_HISTORY: Final = timedelta(days=30)
HEIGHT: Final = 260
POINTS_AT_MOST: Final = 200


@dataclass(frozen=True)
class WearChart(ChartFrame):
    """All that the template draws. Paths are "" where there is nothing.

    `full` is where the limit of the endurance lies, None where the axis ends below it. `is_broken` says that the
    history is of more than one source, so that its line has gaps.
    """

    history: str
    fan: str
    middle: str
    now: float
    full: float | None
    levels: tuple[Tick, ...]
    times: tuple[Tick, ...]
    marks: tuple[RoleMark, ...]
    is_broken: bool


@dataclass(frozen=True)
class DrawnWear:
    """A percentage at a moment, the role at that time, and the code of the indicator that it is read from."""

    at: datetime
    percent: float
    role: str
    source: str = ""


def wear_chart(points: Sequence[DrawnWear], fan: Sequence[FanPoint], now: datetime, width: int = WIDE) -> WearChart:
    """Draw it. Without a forecast the picture ends now."""
    begin = min(points[0].at if points else now, now - LEAST_HISTORY)
    end = now + timedelta(days=fan[-1].days if fan else 1)
    # High enough for what was used and what is expected; the upper end of the fan may be cut off.
    used = max((point.percent for point in points), default=0.0)
    expected = max((point.spread.middle for point in fan), default=0.0)
    highest = max(used, *(point.spread.high for point in fan), 0.0)
    low = next((each for each in HEIGHTS if highest <= each), None)
    top = low if low and points else min(max(FULL * 1.1, used * 1.05, expected * 1.05), HIGHEST)
    right, bottom = width - RIGHT, HEIGHT - BOTTOM

    def x(moment: datetime) -> float:
        return round(LEFT + (moment - begin) / (end - begin) * (right - LEFT), 1)

    def y(percent: float) -> float:
        return round(bottom - min(percent, top) / top * (bottom - TOP), 1)

    ahead = [(x(now + timedelta(days=point.days)), point.spread) for point in fan]
    upper = [(at, y(spread.high)) for at, spread in ahead]
    lower = [(at, y(spread.low)) for at, spread in ahead]
    return WearChart(
        width=width,
        height=HEIGHT,
        left=LEFT,
        right=right,
        top=TOP,
        bottom=bottom,
        history="".join(line_through((x(each.at), y(each.percent)) for each in piece) for piece in _pieces(points)),
        fan=line_through([*upper, *lower[::-1]]) + "Z" if len(ahead) > 1 else "",
        middle=line_through((at, y(spread.middle)) for at, spread in ahead),
        now=x(now),
        full=y(FULL) if top >= FULL else None,
        levels=tuple(Tick(y(percent), f"{percent:.0f} %") for percent in _levels(top)),
        times=tuple(Tick(x(moment), label) for moment, label in time_labels(begin, end, right - LEFT)),
        marks=role_marks([(point.at, point.role) for point in points], x, right),
        is_broken=len({point.source for point in points}) > 1,
    )


def _pieces(points: Sequence[DrawnWear]) -> Iterable[Iterable[DrawnWear]]:
    """Stretches of one source each: what two sources say of a disk differs by far, so no line joins them.

    Of many points as many as can be seen.
    """
    step = max(1, -(-len(points) // POINTS_AT_MOST))
    shown = [*points[:-1:step], points[-1]] if points else ()
    return (piece for _source, piece in groupby(shown, key=lambda point: point.source))


def _levels(top: float) -> Iterable[float]:
    step = top / 5 if top < FULL else 20.0 if top <= 2 * FULL else 50.0
    return [step * index for index in range(int(top // step) + 1)]


def wear_points(disk: StoredDisk, since: datetime | None = None) -> list[DrawnWear]:
    """Every reading that tells the wear, oldest first.

    A disk may tell it in several ways that differ by far, and in others after an update of its firmware or of the
    drive database of smartctl. The way that counts today is followed back through all readings that have it, as the
    forecast does (`wear.history`); where one lacks it, its point says from what else it is.
    """
    readings = readings_of(disk, since)
    known = [(each, each.percent_used) for each in readings if each.percent_used is not None]
    followed = next(_percents(known[-1][0].indicators), ("", 0.0))[0] if known else ""
    points = []
    for reading, percent in known:
        told = dict(_percents(reading.indicators))
        source = followed if followed in told else next(iter(told), "")
        points.append(DrawnWear(reading.taken_at, told.get(followed, percent), reading.role, source))
    return points


def _percents(documents: Any) -> Iterator[tuple[str, float]]:
    """The indicators of a stored reading by code, the most trusted first; what is damaged is left out."""
    for document in documents if isinstance(documents, list) else ():
        match document:
            case {"code": str(code), "percent_used": int() | float() as percent}:
                yield code, float(percent)
