"""What the programs of a pool commit: asking its host to follow it, keeping what it told, and the part of the page."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts.roles import operator_required
from nasadvisor.console.evidence.asked import LENGTHS, begin_following, end_following
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.fleet.questions import STOP_COMMITS, TRACE_COMMITS
from nasadvisor.domain.statements import Statement


@dataclass(frozen=True)
class CommitsPart:
    """What the page shows of a pool's commits; `trace` is None before the first one.

    `left_s` is how much of a trace that is under way is to come.
    """

    is_under_way: bool = False
    is_unanswered: bool = False
    left_s: float = 0.0
    error: Statement | None = None
    trace: CommitTrace | None = None


def commits_context(node: Node, guid: str, now: datetime) -> dict[str, object]:
    """What the template of the part needs besides the pool."""
    return {"commits": _part(node, guid, now), "lengths": LENGTHS}


@operator_required
@require_POST
def start_commits(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask the host of a pool to follow its commits. Nothing is written, so no password is asked for."""
    return begin_following(request, guid, TRACE_COMMITS, "evidence-measure")


@operator_required
@require_POST
def stop_commits(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask the host to end the trace; what was found stays."""
    return end_following(request, guid, STOP_COMMITS, "evidence-measure")


@operator_required
def commits(request: HttpRequest, guid: str) -> HttpResponse:
    """The part of the page that changes while commits are followed."""
    node, _inventory, pool = pool_or_404(request, guid)
    return render(request, "evidence/_commits.html", commits_context(node, guid, timezone.now()) | {"pool": pool})


def _part(node: Node, guid: str, now: datetime) -> CommitsPart:
    stored = newest_of(node, CommitTrace, guid)
    if stored is None:
        return CommitsPart()
    return CommitsPart(
        is_under_way=stored.is_under_way(now),
        is_unanswered=stored.is_unanswered(now),
        left_s=stored.left_s(now),
        error=stored.error,
        trace=stored.found(CommitTrace),
    )
