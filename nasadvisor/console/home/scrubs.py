"""The scrub of one pool: how far it is, whether one may be started from here, and asking for it."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.evidence.asked import note_asked
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.console.wording.statements import said
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.questions import START_SCRUB
from nasadvisor.domain.health.scrub import ScrubStart
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.storage.inventory import Pool


@dataclass(frozen=True)
class ScrubPart:
    """What the page of a pool says of its scrub: how many percent are read, what became of the last request.

    `forbidden` is why its host lets no console ask for one; `can_start` is whether the button would bring anything,
    which it does for one that is paused as well.
    """

    percent: int | None
    is_paused: bool
    is_asked: bool
    problem: Statement | None
    forbidden: Refused | None
    can_start: bool


def scrub_part(node: Node, pool: Pool, now: datetime) -> ScrubPart:
    """See `ScrubPart`."""
    stored, progress = newest_of(node, ScrubStart, pool.guid), pool.scan_progress
    is_paused = progress is not None and bool(progress.paused_at)
    return ScrubPart(
        percent=min(100 * progress.done_bytes // progress.all_bytes, 100) if progress else None,
        is_paused=is_paused,
        is_asked=stored is not None and stored.is_under_way(now),
        problem=stored.error if stored else None,
        forbidden=why_not(node.platform, Verbs.MEASURE),
        can_start=not ((pool.scan and not is_paused) or pool.suspended or pool.read_only or pool.problem),
    )


@operator_required
@require_POST
def start_scrub(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask the host of a pool to scrub it."""
    node, _inventory, pool = pool_or_404(request, guid)
    forbidden = why_not(node.platform, Verbs.MEASURE)
    if forbidden:
        messages.error(request, said(forbidden))
    elif is_handed_over(request, lambda: hosts.ask(node, START_SCRUB, guid, by=user_of(request))):
        note_asked(node, START_SCRUB, guid)
        audit.record(request, Act.SCRUB, f"{node.name}: {pool.name}")
        messages.info(request, gettext("Scrub of %(pool)s requested.") % {"pool": pool.name})
    return redirect("pool", guid)
