"""The evidence of one pool, and the data of its heat map."""

from datetime import UTC, datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.arc_chart import arc_history
from nasadvisor.console.evidence.curves import curve_context, curve_of
from nasadvisor.console.evidence.first_day import first_day
from nasadvisor.console.evidence.heat import TimeRange, heat_map, run_marks, targets_of, with_disk_names
from nasadvisor.console.evidence.measuring import reasons_against_measuring
from nasadvisor.console.evidence.metadata import LENGTHS, metadata_of
from nasadvisor.console.evidence.options import drawn
from nasadvisor.console.evidence.shopping import shopping_context
from nasadvisor.console.evidence.switching import switching_part
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.evidence.tracing import waiting_of
from nasadvisor.console.evidence.watch import Watched, known_now, series_of, watched
from nasadvisor.console.evidence.who_waits import who_waits_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.diagrams import TITLES
from nasadvisor.console.storage.pools import helped_pools, pool_or_404, reason_against_adding
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.evidence.options_table import options_of
from nasadvisor.domain.fleet.platforms import in_evidence
from nasadvisor.domain.units import DAY_S, HOUR_S

SHORTEST_RANGE_S = 120
DATASETS_SHOWN = 50
LONGEST_RANGE_S = 366 * DAY_S
RANGES = ((HOUR_S, "1 h"), (6 * HOUR_S, "6 h"), (DAY_S, "24 h"), (7 * DAY_S, "7 d"), (30 * DAY_S, "30 d"))


def pool(request: HttpRequest, guid: str) -> HttpResponse:
    """One pool: who waits, what each choice takes away, and folded below it what that rests on."""
    node, inventory, found = pool_or_404(request, guid)
    series, now = series_of(node, guid), timezone.now()
    seen = watched(series, now)
    targets = targets_of(with_disk_names(series.facts, found, inventory), found, TITLES) if series else ()
    runs = [run for run in _runs(node, guid) if run.state in ("applied", "undone")]
    followed = curve_of(node, guid, now)
    context = {
        "node": node,
        "inventory": inventory,
        "pool": found,
        "tab": "evidence",
        "refusal": reason_against_adding(found, inventory.host, node.platform.vetoes),
        "against_measuring": reasons_against_measuring(node, found),
        "seen": seen,
        "would_help": guid in helped_pools(node, inventory),
        "last_at": datetime.fromtimestamp(seen.last_at, UTC) if seen else None,
        "datasets": seen.known.workload.datasets[:DATASETS_SHOWN] if seen else (),
        "nfs_commits_per_s": _per_second(seen, seen.known.workload.sample.pool.nfs_commits) if seen else 0,
        "nfs_writes_per_s": _per_second(seen, seen.known.workload.sample.pool.nfs_writes) if seen else 0,
        "waiting": waiting_of(node, now),
        "guests": node.platform.guests,
        "rewrites": in_evidence(node.platform.rewrites, found.name, seen.first_at) if seen else None,
        "arc": arc_history(series, now),
        "targets": targets,
        "ranges": RANGES,
        "shown_s": _shown_at_first(seen, now) if seen else DAY_S,
        "runs": runs,
        "heat_url": reverse("evidence-heat", args=[guid]),
        "switching": switching_part(node, inventory, found, now),
        "section": "evidence",
    }
    if seen:
        context["first_day"] = first_day(seen, now)
        stored = newest_of(node, BlockCount, guid)
        known = known_now(seen, found, followed.curve, stored.found(BlockCount) if stored else None)
        table = options_of(known)
        context["who_waits"] = who_waits_of(seen.waited, table)
        options = drawn(table, known)
        context |= {"options": options, **shopping_context(known, table, request.GET)}
        context["would_help"] = context["would_help"] and not options.best_is_added  # its button stands below
        context |= {"metadata": metadata_of(stored, known, now), "count_lengths": LENGTHS}
    return render(request, "evidence/pool.html", context | curve_context(followed))


def heat(request: HttpRequest, guid: str) -> JsonResponse:
    """The heat map's data as JSON: `target`, `kind` (writes or reads), `start` and `end` in seconds since 1970."""
    node, inventory, found = pool_or_404(request, guid)
    series = series_of(node, guid)
    if series is None:
        raise Http404
    facts = with_disk_names(series.facts, found, inventory)
    targets = targets_of(facts, found, {})
    target = next((each for each in targets if each.key == request.GET.get("target")), targets[0])
    kind = "reads" if request.GET.get("kind") == "reads" else "writes"
    span = _range(request)
    data: dict[str, Any] = heat_map(series, facts, target, kind, span)
    data["marks"] = [{**mark, "what": _mark_word(mark["what"])} for mark in run_marks(_runs(node, guid), span)]
    return JsonResponse(data)


def _range(request: HttpRequest) -> TimeRange:
    """The range that was asked for, the last day if that makes no sense."""
    now = int(timezone.now().timestamp())
    try:
        start, end = int(request.GET["start"]), int(request.GET["end"])
    except (KeyError, ValueError):
        start, end = now - DAY_S, now
    end = min(end, now + 60)
    start = max(min(start, end - SHORTEST_RANGE_S), end - LONGEST_RANGE_S)
    return TimeRange(start, end)


def _runs(node: Node, guid: str) -> list[StoredRun]:
    return list(StoredRun.objects.filter(node=node, pool_guid=guid)[:50])


def _shown_at_first(seen: Watched, now: datetime) -> int:
    """The shortest range, in seconds, that shows all that was watched; a day at the most."""
    watched_s = now.timestamp() - seen.first_at
    return next(seconds for seconds, _name in RANGES if seconds >= min(watched_s, DAY_S))


def _per_second(seen: Watched, count: int) -> float:
    return count / seen.known.workload.seconds if seen.known.workload.seconds else 0.0


def _mark_word(what: str) -> str:
    return _("Added") if what == "applied" else _("Reverted")
