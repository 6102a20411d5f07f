# ruff: noqa: N818 - an error is named for what happened, as in a sentence: "raise HostUnreachable"
"""What the console asks of hosts. The only place that sends tasks to them; the answers arrive in `tasks`."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

import redis.exceptions
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from kombu import Connection
from kombu.exceptions import OperationalError

from nasadvisor.console.celery_app import app
from nasadvisor.console.change.models import Pending, StoredPlan, StoredRun
from nasadvisor.console.evidence.models import StoredMeasurement
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.remote import access, listening
from nasadvisor.domain.change.runs import Run, RunState, Trial, steps_of
from nasadvisor.domain.evidence.measuring.measurement import MeasureOrder
from nasadvisor.domain.evidence.switched import SwitchOrder
from nasadvisor.domain.fleet.joining import host_queue
from nasadvisor.domain.fleet.platforms import Notice
from nasadvisor.domain.health.sweep import SelfTest
from nasadvisor.stored.documents import Json, to_document
from nasadvisor.stored.spoken import spoken

log = logging.getLogger(__name__)

CHANGE_EXPIRES = timedelta(seconds=120)
"""A request to change something that no host has taken up by then is dropped: nobody wants it to run an hour later."""

LOOK_EXPIRES = timedelta(seconds=30)
"""The same for requests that only read."""

WAITING_AT_MOST: Final = 100
"""How many requests may wait for one node before it is not asked to look any more.

Redis keeps an expired request until the node's worker fetches it, and a node that stays away fetches nothing. A worker
that is there drops expired ones at once, so a queue this long means that nobody is; one that comes back empties it, and
is asked again. The length is used rather than the last contact because it is what must not grow. It leaves room for
a round of questions about many unfinished runs.
"""

UNREACHABLE: Final = (OperationalError, redis.exceptions.RedisError, OSError, listening.NotListening)


SAMPLE_EXPIRES = timedelta(seconds=8)
"""A sample that comes late says as much as one that comes on time; two at once say no more than one."""


NOTICE_EXPIRES = timedelta(minutes=10)
"""As long as an answer is waited for (`outbox.LEASE`); then the message is handed over again."""

SWEEP_EXPIRES = timedelta(minutes=30)
"""A sweep may wait that long for the end of a run."""


class HostUnreachable(Exception):
    """The request could not be handed over, so nothing was or will be changed; `str(error)` says what to do."""


class PlanAlreadyRan(Exception):
    """A plan runs once."""


@contextmanager
def unreachable_logged() -> Iterator[None]:
    """A host that cannot be asked does not keep the others from being asked."""
    try:
        yield
    except HostUnreachable as error:
        log.warning("%s", error)


def tell_forms(node: Node) -> None:
    """Tell a host that has told which forms it speaks which ones we do.

    Raises:
        HostUnreachable: it could not be handed over.
    """
    _send_look(node, "host.hear_forms", [to_document(spoken())])


def request_inventory(node: Node) -> None:
    """Ask a host to read itself again.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.read_inventory", [])


def request_sample(node: Node) -> None:
    """Ask a host to read its counters; a request that waits is soon worth nothing.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.sample", [], SAMPLE_EXPIRES)


def request_waiting(node: Node) -> None:
    """Ask a host to trace which programs wait.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.watch_waiting", [])


def request_curve(node: Node, guid: str, seconds: int) -> None:
    """Ask a host to follow the reads of a pool for so long.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.trace_curve", [guid, seconds])


def stop_curve(node: Node) -> None:
    """Ask a host to follow reads no longer.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.stop_curve", [])


def request_commits(node: Node, guid: str, seconds: int) -> None:
    """Ask a host to follow the commits of a pool for so long.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.trace_commits", [guid, seconds])


def stop_commits(node: Node) -> None:
    """Ask a host to follow commits no longer.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.stop_commits", [])


def request_count(node: Node, guid: str, limit_s: int) -> None:
    """Ask a host to count the blocks of a pool, and to give up after so long.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.count_blocks", [guid, limit_s])


def start_switching(node: Node, order: SwitchOrder, by: str) -> None:
    """Ask a host to switch the caches of a pool; `by` is the user's name.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send(node, "host.start_switching", [to_document(order), by], CHANGE_EXPIRES)


def stop_switching(node: Node, guid: str, by: str) -> None:
    """Ask a host to switch the caches of a pool no more, and to put back what is out.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send(node, "host.stop_switching", [guid, by], CHANGE_EXPIRES)


def report_switching(node: Node, guid: str) -> None:
    """Ask a host to publish how the caches of a pool are switched.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.report_switching", [guid])


def request_sweep(node: Node) -> None:
    """Ask a host to ask its disks for their health.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.smart_sweep", [], SWEEP_EXPIRES)


def request_self_test(node: Node, disk_key: str, test: SelfTest, by: str) -> None:
    """Ask a host to make one disk test itself.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send(node, "host.start_self_test", [disk_key, test.value, by], CHANGE_EXPIRES)


def request_notice(node: Node, notice: Notice, message_id: str) -> None:
    """Ask a host to send a message by the means of its platform, and to say what became of it.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send(node, "host.notify", [to_document(notice), message_id], NOTICE_EXPIRES)


def measure(node: Node, order: MeasureOrder, by: str) -> StoredMeasurement:
    """Ask a host to measure by writing; `by` is the user's name.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    with transaction.atomic():
        stored = StoredMeasurement.objects.create(
            id=UUID(order.id),
            node=node,
            pool_guid=order.pool_guid,
            disk_key=order.disk_key,
            requested_by=by,
            requested_at=timezone.now(),
        )
        _send(node, "host.measure", [to_document(order)], CHANGE_EXPIRES)
    return stored


def apply_plan(stored: StoredPlan, by: str, trial_s: int = 0) -> StoredRun:
    """Ask the plan's host to apply it; `by` is the user's name, `trial_s` how long it is tried, 0 for good.

    Raises:
        HostUnreachable: the request could not be handed over.
        PlanAlreadyRan: this plan was applied before.
    """
    now = timezone.now()
    with transaction.atomic():
        run, created = StoredRun.objects.get_or_create(
            id=stored.id,
            defaults={
                "node": stored.node,
                "pool_guid": stored.plan.request.pool_guid,
                "pool_name": stored.plan.pool_name,
                "document": _requested(stored, by, now.isoformat(timespec="seconds"), trial_s),
                "pending": Pending.APPLY,
                "pending_since": now,
                "requested_by": by,
                "requested_at": now,
            },
        )
        if not created:
            raise PlanAlreadyRan(_("This plan was already applied. Make a new plan to do more."))
        _send(stored.node, "host.apply", [stored.document, by, trial_s], CHANGE_EXPIRES)
    return run


def undo_run(run: StoredRun, by: str) -> None:
    """Ask the run's host to take it back.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _ask(run, Pending.UNDO, by)


def finish_run(run: StoredRun, by: str) -> None:
    """Ask the run's host to do what an interruption left undone.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _ask(run, Pending.FINISH, by)


def keep_run(run: StoredRun, by: str) -> None:
    """Ask the run's host to keep what is on trial.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _ask(run, Pending.KEEP, by)


def report_run(run: StoredRun) -> None:
    """Ask a host to publish the state of a run again.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(run.node, "host.report_run", [str(run.id)])


def report_runs(node: Node) -> None:
    """Ask a host to publish all its runs.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send_look(node, "host.report_runs", [])


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


def _waiting_for(node: Node) -> int:
    with listening.broker() if node.is_remote else app.connection_or_acquire() as connection:
        return waiting_in(connection, host_queue(node.name))


def _send_look(node: Node, task: str, args: list[object], expires: timedelta = LOOK_EXPIRES) -> None:
    """Ask for something that only reads, unless nobody has listened for long."""
    try:
        waiting = _waiting_for(node)
    except UNREACHABLE as error:
        raise _no_redis(node) from error
    if waiting >= WAITING_AT_MOST:
        raise HostUnreachable(
            _(
                "%(node)s has not taken up any request for long, so it is not asked again before it does. Look at it "
                "there with `systemctl status nasadvisor-host`, or forget it under Settings if it is gone for good."
            )
            % {"node": node.name}
        )
    _send(node, task, args, expires)


def _ask(run: StoredRun, pending: Pending, by: str) -> None:
    with transaction.atomic():
        StoredRun.objects.filter(pk=run.pk).update(pending=pending, pending_since=timezone.now())
        _send(run.node, f"host.{pending.value}", [str(run.id), by], CHANGE_EXPIRES)


def _requested(stored: StoredPlan, by: str, at: str, trial_s: int) -> Json:
    """The run before its host has said anything: every step pending."""
    plan = stored.plan
    steps = steps_of(plan.actions)
    trial = Trial(trial_s) if trial_s else None
    return to_document(Run(plan.id, stored.node.name, plan, RunState.APPLYING, by, at, "", 0, steps, trial=trial))


def _send(node: Node, task: str, args: list[object], expires: timedelta) -> None:
    send = partial(app.send_task, task, args, queue=host_queue(node.name), expires=expires.total_seconds(), retry=False)
    try:
        if node.is_remote:
            with listening.broker() as connection:
                send(connection=connection)
        else:
            send()
    except UNREACHABLE as error:
        raise _no_redis(node) from error


def _no_redis(node: Node) -> HostUnreachable:
    return HostUnreachable(
        _(
            "The message service (Redis) does not answer, so the request did not reach %(node)s and nothing was "
            "changed. Look at it with `systemctl status %(service)s` and try again."
        )
        % {"node": node.name, "service": "nasadvisor-remote-redis" if node.is_remote else "nasadvisor-redis"}
    )
