"""The cache curve of a pool: asking its host to follow reads, keeping what it told, and the part of the page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log2
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts.roles import operator_required
from nasadvisor.console.charts.svg import NARROW, WIDE, ChartFrame, line_through
from nasadvisor.console.evidence.asked import LENGTHS, begin_following, end_following
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint, MemoryPoint, curve_in_words
from nasadvisor.domain.fleet.questions import STOP_CURVE, TRACE_CURVE
from nasadvisor.domain.statements import Statement

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
    right, bottom = width - RIGHT, HEIGHT - BOTTOM

    def x(size_bytes: int) -> float:
        return round(LEFT + INSET + (log2(size_bytes) - first) / (last - first) * (right - LEFT - INSET), 1)

    def y(share: float) -> float:
        return round(bottom - share * (bottom - TOP), 1)

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
        levels=tuple(ShareLine(y(step * LEVEL), step * LEVEL) for step in range(round(1 / LEVEL) + 1)),
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


@dataclass(frozen=True)
class CurveRow:
    """A size with the memory for its headers."""

    point: CurvePoint
    header_bytes: int


@dataclass(frozen=True)
class CurvePart:
    """What the page shows of a pool's curve; `curve` is None before the first trace.

    `left_s` is how much of a trace that is under way is to come. `knee` is the cache that it comes down to, `memory`
    what as much more ARC would do; `modelled_per_s` and `counted_per_s` are misses of all pools.
    """

    is_under_way: bool = False
    is_unanswered: bool = False
    left_s: float = 0.0
    error: Statement | None = None
    curve: CacheCurve | None = None
    words: Statement | None = None
    charts: tuple[CurveChart, ...] = ()
    rows: tuple[CurveRow, ...] = ()
    knee: CurvePoint | None = None
    memory: MemoryPoint | None = None
    modelled_per_s: float = 0.0
    counted_per_s: float = 0.0


def curve_of(node: Node, guid: str, now: datetime) -> CurvePart:
    """The newest curve of a pool."""
    stored = newest_of(node, CacheCurve, guid)
    if stored is None:
        return CurvePart()
    found = stored.found(CacheCurve)
    knee = found.knee if found else None
    return CurvePart(
        is_under_way=stored.is_under_way(now),
        is_unanswered=stored.is_unanswered(now),
        left_s=stored.left_s(now),
        error=stored.error,
        curve=found,
        words=curve_in_words(found) if found else None,
        charts=curve_charts(found),
        rows=tuple(CurveRow(each, found.header_bytes(each.size_bytes)) for each in found.points) if found else (),
        knee=knee,
        memory=found.memory_for(knee.served) if found and knee else None,
        modelled_per_s=found.missed_by_all_pools / found.counted_s if found and found.counted_s else 0.0,
        counted_per_s=found.traced.missed / found.traced.seconds if found and found.traced.seconds else 0.0,
    )


@operator_required
@require_POST
def start_curve(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask the host of a pool to follow its reads. Nothing is written, so no password is asked for."""
    return begin_following(request, guid, TRACE_CURVE, "evidence-pool")


@operator_required
@require_POST
def stop_curve(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask the host to end the trace; what was found stays."""
    return end_following(request, guid, STOP_CURVE, "evidence-pool")


def curve(request: HttpRequest, guid: str) -> HttpResponse:
    """The part of the page that changes while reads are followed."""
    node, _inventory, pool = pool_or_404(request, guid)
    part = curve_of(node, guid, timezone.now())
    return render(request, "evidence/_curve.html", curve_context(part) | {"pool": pool})


def curve_context(part: CurvePart) -> dict[str, object]:
    """What the template of the part needs besides the pool."""
    return {"part": part, "lengths": LENGTHS}
