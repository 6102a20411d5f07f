"""Which programs wait: asking a host to trace it, keeping what it told, and the part of the page that shows it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts.roles import operator_required
from nasadvisor.console.evidence.asked import ask
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.evidence.tracing import WaitingProgram, WaitingPrograms
from nasadvisor.domain.fleet.questions import WATCH_WAITING
from nasadvisor.domain.statements import Statement

SHOWN: Final = 30


@dataclass(frozen=True)
class ProgramRow:
    """A program as the page shows it."""

    program: WaitingProgram
    fsyncs_per_s: float
    commits_per_s: float


@dataclass(frozen=True)
class TracedPrograms:
    """What is known of the programs that wait on a host; `found` is None before the first trace."""

    is_under_way: bool = False
    is_unanswered: bool = False
    error: Statement | None = None
    found: WaitingPrograms | None = None
    rows: tuple[ProgramRow, ...] = ()


def waiting_of(node: Node, now: datetime) -> TracedPrograms:
    """The newest trace of a host."""
    stored = newest_of(node, WaitingPrograms)
    if stored is None:
        return TracedPrograms()
    found = stored.found(WaitingPrograms)
    rows = _rows(found) if found else ()
    return TracedPrograms(stored.is_under_way(now), stored.is_unanswered(now), stored.error, found, rows)


@operator_required
@require_POST
def trace(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask the host of a pool to trace. It only counts calls, so no password is asked for."""
    node, _inventory, _pool = pool_or_404(request, guid)
    ask(request, node, WATCH_WAITING)
    return redirect("evidence-pool", guid)


def waiting(request: HttpRequest, guid: str) -> HttpResponse:
    """The part of the page that changes while it is traced."""
    node, _inventory, pool = pool_or_404(request, guid)
    return render(request, "evidence/_waiting.html", {"pool": pool, "waiting": waiting_of(node, timezone.now())})


def _rows(found: WaitingPrograms) -> tuple[ProgramRow, ...]:
    shown = found.programs[:SHOWN]
    return tuple(ProgramRow(each, found.per_second(each.fsyncs), found.per_second(each.commits)) for each in shown)
