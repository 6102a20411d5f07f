"""The picture of who wrote to a drive on which day: stacked columns. Drawn as SVG by us."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from django.utils.formats import date_format

from nasadvisor.console.health.bytes_by_role import LOOK_BACK, ORDER, ROLE_OF_COLUMN
from nasadvisor.console.health.models import WrittenDay
from nasadvisor.domain.health.wear.roles import UNATTRIBUTED
from nasadvisor.domain.units import DAY_S

COLUMN: Final = 20
GAP: Final = 4
HEIGHT: Final = 120
LEAST_SEEN_S: Final = DAY_S / 24


@dataclass(frozen=True)
class Block:
    """One role on one day; lengths are units of the view box."""

    role: str
    x: int
    y: float
    height: float
    label: str
    count: int


@dataclass(frozen=True)
class WrittenChart:
    """All that the template draws. `most` is what the tallest column stands for, in bytes."""

    width: int
    height: int
    column: int
    blocks: tuple[Block, ...]
    most: int
    first: date
    last: date


def written_chart(days: Iterable[WrittenDay], today: date) -> WrittenChart | None:
    """Draw it; None where there is nothing to draw. Days that were seen in part are drawn as they were seen."""
    begin = today - LOOK_BACK + timedelta(days=1)
    shown = [day for day in days if begin <= day.day <= today and day.seconds >= LEAST_SEEN_S]
    most = max((sum(_counts(day).values()) for day in shown), default=0)
    if not most:
        return None
    blocks = tuple(block for day in shown for block in _column(day, (day.day - begin).days, most))
    return WrittenChart(LOOK_BACK.days * (COLUMN + GAP), HEIGHT, COLUMN, blocks, most, begin, today)


def _column(day: WrittenDay, index: int, most: int) -> Iterator[Block]:
    top = float(HEIGHT)
    for role, count in _counts(day).items():
        height = count / most * HEIGHT
        top -= height
        if count:
            yield Block(role, index * (COLUMN + GAP), round(top, 2), round(height, 2), date_format(day.day), count)


def _counts(day: WrittenDay) -> dict[str, int]:
    """What each role wrote, in the order of the bar."""
    counts = {role: getattr(day, column) for column, role in ROLE_OF_COLUMN.items()}
    counts[UNATTRIBUTED] = max(day.drive_bytes - sum(counts.values()), 0)
    return {role: counts[role] for role in ORDER}
