"""Following what a pool does for a while (its reads, its commits): asking its host to begin, and to end."""

from collections.abc import Callable
from typing import Any, Final

from django.contrib import messages
from django.db.models import Manager
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from nasadvisor.console.evidence.asked import ask, seconds_asked
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.units import HOUR_S

LENGTHS: Final = ((HOUR_S, 1), (8 * HOUR_S, 8), (24 * HOUR_S, 24))
"""For how many seconds something is followed, and the hours that they are."""


def begin_following(
    request: HttpRequest, guid: str, follow: Callable[[Node, str, int], None], kept: "Manager[Any]", page: str
) -> HttpResponse:
    """Ask the host of a pool to follow it for as long as was chosen, and go on to the page with that name."""
    node, _inventory, _pool = pool_or_404(request, guid)
    seconds = seconds_asked(request, LENGTHS)
    ask(request, lambda: follow(node, guid, seconds), kept, {"node": node, "pool_guid": guid}, seconds=seconds)
    return redirect(page, guid)


def end_following(request: HttpRequest, guid: str, stop: Callable[[Node], None], page: str) -> HttpResponse:
    """Ask the host to end it; what was found stays."""
    node, _inventory, _pool = pool_or_404(request, guid)
    try:
        stop(node)
    except hosts.HostUnreachable as error:
        messages.error(request, str(error))
    return redirect(page, guid)
