"""What our pictures have in common: they are drawn twice, for wide and for narrow screens, as SVG paths."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

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
