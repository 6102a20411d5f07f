"""Where a disk changed its role, in the picture of its wear: a line each, and words that do not cover one another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

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
