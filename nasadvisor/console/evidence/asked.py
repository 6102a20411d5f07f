"""What a host is asked for and tells in its time (`AskedOfHost`): handing the question over, keeping the answer."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.db.models import Manager, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from nasadvisor.console.evidence.models import AskedOfHost
from nasadvisor.console.fleet import audit, hosts
from nasadvisor.console.fleet.audit_models import Act
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import HOUR_S
from nasadvisor.stored.documents import Json, from_document


def ask(
    request: HttpRequest,
    hand_over: Callable[[], None],
    kept: "Manager[Any]",
    about: Mapping[str, Any],
    **wish: int,
) -> None:
    """Hand a question over, and note among those that are kept what it is about; or say why it could not be asked."""
    try:
        hand_over()
    except hosts.HostUnreachable as error:
        messages.error(request, str(error))
        return
    audit.record(request, Act.LOOK_CLOSER, request.path)
    note_asked(kept, about, **wish)


def note_asked(kept: "Manager[Any]", about: Mapping[str, Any], **wish: int) -> None:
    """Note that a question was handed over; what was told before stays."""
    asked = {"asked_at": timezone.now(), "error_document": None, **wish}
    kept.update_or_create(**about, defaults=asked)


def seconds_asked(request: HttpRequest, lengths: Iterable[tuple[int, int]]) -> int:
    """Which of these lengths somebody chose; an hour if it is none of them."""
    asked = request.POST.get("seconds", "")
    return next((each for each, _ in lengths if str(each) == asked), HOUR_S)


def keep_answer(asked: "QuerySet[AskedOfHost]", document: Json) -> None:
    """Keep what a host has told. What was not asked for is not in `asked`, and is dropped so."""
    asked.update(told_at=timezone.now(), document=document, error_document=None)


def keep_error(asked: "QuerySet[AskedOfHost]", document: Json) -> None:
    """Keep why a host could not tell it; what it told before stays.

    Raises:
        DocumentError: it is not a statement.
    """
    from_document(Statement, document)
    asked.update(told_at=timezone.now(), error_document=document)
