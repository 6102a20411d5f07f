"""The cache curve of a pool: asking its host to follow reads, keeping what it told, and the part of the page."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts.roles import operator_required
from nasadvisor.console.evidence.asked import LENGTHS, begin_following, end_following
from nasadvisor.console.evidence.curve_chart import CurveChart, curve_charts
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint, MemoryPoint, curve_in_words
from nasadvisor.domain.fleet.questions import STOP_CURVE, TRACE_CURVE
from nasadvisor.domain.statements import Statement


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
