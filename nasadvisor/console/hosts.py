# ruff: noqa: N818 - an error is named for what happened, as in a sentence: "raise HostUnreachable"
"""What the console asks of hosts. The only place that sends tasks to them; the answers arrive in `tasks`."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from nasadvisor.console.celery_app import app
from nasadvisor.console.models import Node, Pending, StoredPlan, StoredRun
from nasadvisor.documents import Json, to_document
from nasadvisor.domain.lifecycle import Run, RunState, steps_of
from nasadvisor.domain.sweep import SelfTest

CHANGE_EXPIRES = timedelta(seconds=120)
"""A request to change something that no host has taken up by then is dropped: nobody wants it to run an hour later."""

LOOK_EXPIRES = timedelta(seconds=30)
"""The same for requests that only read."""


SWEEP_EXPIRES = timedelta(minutes=30)
"""A sweep may wait that long for the end of a run."""


class HostUnreachable(Exception):
    """The request could not be handed over, so nothing was or will be changed; `str(error)` says what to do."""


class PlanAlreadyRan(Exception):
    """A plan runs once."""


def request_inventory(node: Node) -> None:
    """Ask a host to read itself again.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send(node, "host.read_inventory", [], LOOK_EXPIRES)


def request_sweep(node: Node) -> None:
    """Ask a host to ask its disks for their health.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send(node, "host.smart_sweep", [], SWEEP_EXPIRES)


def request_self_test(node: Node, disk_key: str, test: SelfTest, by: str) -> None:
    """Ask a host to make one disk test itself.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send(node, "host.start_self_test", [disk_key, test.value, by], CHANGE_EXPIRES)


def apply_plan(stored: StoredPlan, by: str) -> StoredRun:
    """Ask the plan's host to apply it; `by` is the user's name.

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
                "document": _requested(stored, by, now.isoformat(timespec="seconds")),
                "pending": Pending.APPLY,
                "pending_since": now,
                "requested_by": by,
                "requested_at": now,
            },
        )
        if not created:
            raise PlanAlreadyRan(_("This plan was already applied. Make a new plan to do more."))
        _send(stored.node, "host.apply", [stored.document, by], CHANGE_EXPIRES)
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


def report_run(run: StoredRun) -> None:
    """Ask a host to publish the state of a run again.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send(run.node, "host.report_run", [str(run.id)], LOOK_EXPIRES)


def report_runs(node: Node) -> None:
    """Ask a host to publish all its runs.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    _send(node, "host.report_runs", [], LOOK_EXPIRES)


def _ask(run: StoredRun, pending: Pending, by: str) -> None:
    with transaction.atomic():
        StoredRun.objects.filter(pk=run.pk).update(pending=pending, pending_since=timezone.now())
        _send(run.node, f"host.{pending.value}", [str(run.id), by], CHANGE_EXPIRES)


def _requested(stored: StoredPlan, by: str, at: str) -> Json:
    """The run before its host has said anything: every step pending."""
    plan = stored.plan
    steps = steps_of(plan.actions)
    return to_document(Run(plan.id, stored.node.name, plan, RunState.APPLYING, by, at, "", 0, steps))


def _send(node: Node, task: str, args: list[object], expires: timedelta) -> None:
    try:
        app.send_task(task, args, queue=f"host.{node.name}", expires=expires.total_seconds(), retry=False)
    except OperationalError as error:
        raise HostUnreachable(
            _(
                "The message service (Redis) does not answer, so the request did not reach %(node)s and nothing was "
                "changed. Look at it with `systemctl status nasadvisor-redis` and try again."
            )
            % {"node": node.name}
        ) from error
