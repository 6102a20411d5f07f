"""What a host is asked for and tells in its time (`StoredAnswer`): handing it over, and noting that it was."""

from collections.abc import Iterable
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.roles import user_of
from nasadvisor.console.evidence.models import StoredAnswer
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.fleet.questions import Question
from nasadvisor.domain.units import HOUR_S
from nasadvisor.stored.kinds import name_of

LENGTHS: Final = ((HOUR_S, 1), (8 * HOUR_S, 8), (24 * HOUR_S, 24))
"""For how many seconds something is followed, and the hours that they are."""


def ask(
    request: HttpRequest, node: Node, question: Question, *arguments: object, pool_guid: str = "", seconds: int = 0
) -> None:
    """Hand a question over, and note what it is about and how long the host has for it; or say why it could not be
    asked.
    """
    if is_handed_over(request, lambda: hosts.ask(node, question, *arguments, by=user_of(request))):
        audit.record(request, Act.LOOK_CLOSER, request.path)
        note_asked(node, question, pool_guid, seconds)


def note_asked(node: Node, question: Question, pool_guid: str, seconds: int = 0) -> None:
    """Note that a question was handed over; what was told before stays."""
    asked = {"asked_at": timezone.now(), "error_document": None, "seconds": seconds}
    for form in question.answers:
        StoredAnswer.objects.update_or_create(node=node, form=name_of(form), pool_guid=pool_guid, defaults=asked)


def seconds_asked(request: HttpRequest, lengths: Iterable[tuple[int, int]]) -> int:
    """Which of these lengths somebody chose; an hour if it is none of them."""
    asked = request.POST.get("seconds", "")
    return next((each for each, _ in lengths if str(each) == asked), HOUR_S)


def begin_following(request: HttpRequest, guid: str, question: Question, page: str) -> HttpResponse:
    """Ask the host of a pool to follow it for as long as was chosen, and go on to the page with that name."""
    node, _inventory, _pool = pool_or_404(request, guid)
    seconds = seconds_asked(request, LENGTHS)
    ask(request, node, question, guid, seconds, pool_guid=guid, seconds=seconds)
    return redirect(page, guid)


def end_following(request: HttpRequest, guid: str, question: Question, page: str) -> HttpResponse:
    """Ask the host to end it; what was found stays."""
    node, _inventory, _pool = pool_or_404(request, guid)
    is_handed_over(request, lambda: hosts.ask(node, question, by=user_of(request)))
    return redirect(page, guid)
