"""The metadata of a pool: asking its host to count blocks, keeping what it told, and the part of the page."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts.roles import operator_required
from nasadvisor.console.evidence.asked import ask, seconds_asked
from nasadvisor.console.evidence.curves import curve_of
from nasadvisor.console.evidence.models import StoredAnswer
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.evidence.watch import known_now, series_of, watched
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.evidence.metadata_blocks import KIND_NAMES, BlockCount, KindBlocks
from nasadvisor.domain.evidence.metadata_choice import MetadataAdvice, advise_metadata
from nasadvisor.domain.evidence.metadata_size import Counted, CutOff
from nasadvisor.domain.evidence.options import NAMES, Known
from nasadvisor.domain.fleet.questions import COUNT_BLOCKS
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import HOUR_S

LENGTHS: Final = ((HOUR_S, 1), (8 * HOUR_S, 8))
"""After how many seconds the host gives up, and the hours that they are."""

WIDTH: Final = 100.0


@dataclass(frozen=True)
class KindRow:
    """A kind of metadata: what it would take up on special vdevs, and its part of that in percent, for a bar."""

    name: str
    kind: KindBlocks
    special_bytes: int
    width: float


@dataclass(frozen=True)
class CutRow:
    """A value of special_small_blocks; `all_bytes` is what they would then hold."""

    cut: CutOff
    all_bytes: int
    is_advised: bool


@dataclass(frozen=True)
class MetadataPart:
    """What the page shows of a pool's metadata; `counted` is None before the first count.

    `choice` is the name of what is advised, "" where nothing can be said.
    """

    advice: MetadataAdvice
    choice: str
    is_under_way: bool = False
    is_unanswered: bool = False
    error: Statement | None = None
    counted: Counted | None = None
    kinds: tuple[KindRow, ...] = ()
    cuts: tuple[CutRow, ...] = ()


def metadata_of(stored: StoredAnswer | None, known: Known, now: datetime) -> MetadataPart:
    """The part of the page."""
    advice = advise_metadata(known)
    counted = known.counted
    return MetadataPart(
        advice=advice,
        choice=NAMES[advice.option] if advice.option else "",
        is_under_way=stored is not None and stored.is_under_way(now),
        is_unanswered=stored is not None and stored.is_unanswered(now),
        error=stored.error if stored else None,
        counted=counted,
        kinds=_kinds(counted) if counted else (),
        cuts=_cuts(counted) if counted else (),
    )


@operator_required
@require_POST
def start_count(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask the host of a pool to count its blocks. Nothing is written, so no password is asked for."""
    node, _inventory, _pool = pool_or_404(request, guid)
    limit_s = seconds_asked(request, LENGTHS)
    ask(request, node, COUNT_BLOCKS, guid, limit_s, pool_guid=guid, seconds=limit_s)
    return redirect("evidence-pool", guid)


def metadata(request: HttpRequest, guid: str) -> HttpResponse:
    """The part of the page that changes while blocks are counted."""
    node, _inventory, pool = pool_or_404(request, guid)
    now, stored = timezone.now(), newest_of(node, BlockCount, guid)
    seen = watched(series_of(node, guid), now)
    if seen is None:
        return redirect("evidence-pool", guid)
    known = known_now(seen, pool, curve_of(node, guid, now).curve, stored.found(BlockCount) if stored else None)
    context = {"pool": pool, "metadata": metadata_of(stored, known, now), "count_lengths": LENGTHS}
    return render(request, "evidence/_metadata.html", context)


def _kinds(counted: Counted) -> tuple[KindRow, ...]:
    ashift = counted.size.ashift
    whole = max(sum(each.bytes_at(ashift) for each in counted.count.metadata), 1)
    return tuple(
        KindRow(KIND_NAMES[each.kind], each, size, round(WIDTH * size / whole, 2))
        for each in counted.count.metadata
        for size in (each.bytes_at(ashift),)
    )


def _cuts(counted: Counted) -> tuple[CutRow, ...]:
    size = counted.size
    nothing = CutOff(0, 0, 0)
    return tuple(
        CutRow(each, size.metadata_bytes + each.added_bytes, each.block_bytes == size.cut_off)
        for each in (nothing, *size.cut_offs)
    )
