# ruff: noqa: N818 - an error is named for what happened, as in a sentence: "raise HostUnreachable"
"""Asking hosts, and hearing from them: the only place that sends them questions. The answers arrive in `answers`."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from enum import StrEnum
from functools import partial
from typing import Final

import redis.exceptions
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from kombu import Connection
from kombu.exceptions import OperationalError

from nasadvisor.console.accounts.roles import may_change
from nasadvisor.console.celery_app import app
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.remote import access, listening
from nasadvisor.domain.fleet.joining import host_queue
from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.fleet.questions import ASKER, HEAR_FORMS, Asker, Question
from nasadvisor.domain.fleet.schema_versions import SchemaVersions
from nasadvisor.stored.documents import Json, to_document
from nasadvisor.stored.kinds import own_schema_versions

log = logging.getLogger(__name__)

BY_CLOCK: Final = "schedule"
"""Who asks, where nobody did."""

WAITING_AT_MOST: Final = 100
"""How many requests may wait for one node before it is not asked to look any more.

Redis keeps an expired request until the node's worker fetches it, and a node that stays away fetches nothing. A worker
that is there drops expired ones at once, so a queue this long means that nobody is; one that comes back empties it, and
is asked again. The length is used rather than the last contact because it is what must not grow. It leaves room for
a round of questions about many unfinished runs.
"""

UNREACHABLE: Final = (OperationalError, redis.exceptions.RedisError, OSError, listening.NotListening)


class HostUnreachable(Exception):
    """The request could not be handed over, so nothing was or will be changed; `str(error)` says what to do."""


@contextmanager
def unreachable_logged() -> Iterator[None]:
    """A host that cannot be asked does not keep the others from being asked."""
    try:
        yield
    except HostUnreachable as error:
        log.warning("%s", error)


def ask(node: Node, question: Question, *arguments: object, by: User | None) -> None:
    """Hand a question over to a host. `by` is who asks; None is the console itself, by its clock.

    In whose name it is asked is added here, so that nobody asks in that of another.

    Raises:
        PermissionDenied: they may not ask this.
        HostUnreachable: it could not be handed over.
    """
    if by and (question.may_ask is Asker.NOBODY or (question.may_ask is Asker.OPERATOR and not may_change(by))):
        raise PermissionDenied(_("You have read-only access. Ask an operator to make this change."))
    if ASKER in question.arguments:
        arguments = (*arguments, by.get_username() if by else BY_CLOCK)
    if not question.groups:
        _require_listener(node)
    send = partial(
        app.send_task,
        question.task,
        [_as_json(argument) for argument in arguments],
        queue=host_queue(node.name),
        expires=float(question.wanted_s),
        retry=False,
    )
    try:
        if node.is_remote:
            with listening.broker() as connection:
                send(connection=connection)
        else:
            send()
    except UNREACHABLE as error:
        raise _no_redis(node) from error


def is_handed_over(request: HttpRequest, hand_over: Callable[[], object]) -> bool:
    """Hand a question over for a page; where it cannot be, the page says why."""
    try:
        hand_over()
    except HostUnreachable as error:
        messages.error(request, str(error))
        return False
    return True


def ask_all(question: Question) -> None:
    """Ask every host; simulated ones have a worker too (`make dev`)."""
    for node in Node.objects.defer("inventory_document"):
        with unreachable_logged():
            ask(node, question, by=None)


def heard_from(node_name: str) -> Node:
    """Note that a host is there. Each record of a run does, so two plain statements, without what the host told."""
    now = timezone.now()
    slim = Node.objects.only("name")
    if slim.filter(name=node_name).update(last_contact=now):
        return slim.get(name=node_name)
    node, _made = slim.get_or_create(name=node_name, defaults={"last_contact": now})
    return node


def store_schema_versions(node_name: str, _told: SchemaVersions, document: Json) -> Node:
    """Keep which forms of documents a host speaks."""
    node = heard_from(node_name)
    Node.objects.filter(pk=node.pk).update(schema_versions_document=document)
    return node


def meet(node_name: str, told: SchemaVersions, document: Json) -> None:
    """Keep which forms a host speaks, and tell it ours."""
    node = store_schema_versions(node_name, told, document)
    with unreachable_logged():
        ask(node, HEAR_FORMS, own_schema_versions(), by=None)


def store_platform(node_name: str, _report: PlatformReport, document: Json) -> None:
    """Keep what the platforms of a host say."""
    Node.objects.filter(pk=heard_from(node_name).pk).update(platform_document=document)


def drop_requests(node: Node) -> None:
    """Take back everything that waits for a host; one on another machine is not let in any more.

    Raises:
        HostUnreachable: the message service does not answer.
    """
    try:
        if node.is_remote:
            with listening.client() as service:
                access.shut_out(service, node.name)
        else:
            with app.connection_or_acquire() as connection:
                connection.default_channel.queue_purge(host_queue(node.name))
    except UNREACHABLE as error:
        raise _no_redis(node) from error


def waiting_in(connection: Connection, queue: str) -> int:
    """How many messages nobody has fetched yet."""
    return int(connection.default_channel.queue_declare(queue).message_count)  # type: ignore[attr-defined]  # no stub


def _require_listener(node: Node) -> None:
    """What only looks is not asked of a host where nobody has listened for long."""
    try:
        with listening.broker() if node.is_remote else app.connection_or_acquire() as connection:
            waiting = waiting_in(connection, host_queue(node.name))
    except UNREACHABLE as error:
        raise _no_redis(node) from error
    if waiting >= WAITING_AT_MOST:
        raise HostUnreachable(
            _(
                "%(node)s has not responded to requests for a while, so no new ones are sent until it does. Check "
                "`systemctl status nasadvisor-host` there, or forget the host under Settings if it is permanently "
                "gone."
            )
            % {"node": node.name}
        )


def _as_json(argument: object) -> object:
    if isinstance(argument, StrEnum):
        return argument.value
    return to_document(argument) if is_dataclass(argument) else argument


def _no_redis(node: Node) -> HostUnreachable:
    return HostUnreachable(
        _(
            "The message service (Redis) is not responding, so the request did not reach %(node)s and nothing was "
            "changed. Check `systemctl status %(service)s` and try again."
        )
        % {"node": node.name, "service": "nasadvisor-remote-redis" if node.is_remote else "nasadvisor-redis"}
    )
