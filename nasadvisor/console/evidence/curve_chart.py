"""The picture of a cache curve: the share of misses served over the size of the cache. Drawn as SVG by us."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Final

from nasadvisor.console.svg import NARROW, WIDE, ChartFrame, line_through
from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint

LEFT: Final = 64
INSET: Final = 30
RIGHT: Final = 34
TOP: Final = 24
BOTTOM: Final = 66
HEIGHT: Final = 300
TICKS: Final = {WIDE: 8, NARROW: 4}
LEVEL: Final = 0.2


@dataclass(frozen=True)
class ShareLine:
    """A line across the picture at a share."""

    at: float
    share: float


@dataclass(frozen=True)
class SizeTick:
    """A size below the picture, with the memory for the headers and what is written in a year, both in bytes."""

    at: float
    size_bytes: int
    header_bytes: int
    written_bytes: float


@dataclass(frozen=True)
class CurveChart(ChartFrame):
    """All that the template draws. `knee_at` is None where there is no knee."""

    curve: str
    band: str
    levels: tuple[ShareLine, ...]
    sizes: tuple[SizeTick, ...]
    knee: CurvePoint | None
    knee_at: float | None
    knee_height: float | None

    @property
    def knee_on_the_right(self) -> bool:
        """Whether its words have to stand on its left."""
        return self.knee_at is not None and self.knee_at > self.width * 0.6


def curve_charts(curve: CacheCurve | None) -> tuple[CurveChart, ...]:
    """The picture for wide and for narrow screens; none of a curve from which nothing can be read off."""
    if curve is None or not curve.is_enough or len(curve.points) < 2:
        return ()
    return curve_chart(curve, WIDE), curve_chart(curve, NARROW)


def curve_chart(curve: CacheCurve, width: int) -> CurveChart:
    """Draw it: sizes by their logarithms, since 10 to 20 GiB matters as much as 100 to 200."""
    points, knee = curve.points, curve.knee
    first, last = (log2(points[end].size_bytes) for end in (0, -1))
    most = max(ceil(max(each.high for each in points) / LEVEL), 1) * LEVEL
    right, bottom = width - RIGHT, HEIGHT - BOTTOM

    def x(size_bytes: int) -> float:
        return round(LEFT + INSET + (log2(size_bytes) - first) / (last - first) * (right - LEFT - INSET), 1)

    def y(share: float) -> float:
        return round(bottom - share / most * (bottom - TOP), 1)

    line = [(x(each.size_bytes), y(each.served)) for each in points]
    above = [(x(each.size_bytes), y(each.high)) for each in points]
    below = [(x(each.size_bytes), y(each.low)) for each in reversed(points)]
    return CurveChart(
        width=width,
        height=HEIGHT,
        left=LEFT,
        right=right,
        top=TOP,
        bottom=bottom,
        curve=line_through(line),
        band=f"{line_through([*above, *below])}Z",
        levels=tuple(ShareLine(y(step * LEVEL), step * LEVEL) for step in range(round(most / LEVEL) + 1)),
        sizes=tuple(
            SizeTick(
                x(each.size_bytes), each.size_bytes, curve.header_bytes(each.size_bytes), each.written_bytes_per_year
            )
            for each in _evenly(points, TICKS[width])
        ),
        knee=knee,
        knee_at=x(knee.size_bytes) if knee else None,
        knee_height=y(knee.served) if knee else None,
    )


def _evenly(points: Sequence[CurvePoint], count: int) -> Iterator[CurvePoint]:
    """Not more than there is room for, from the last one on."""
    step = -(-len(points) // count)
    return reversed(points[::-1][::step])
