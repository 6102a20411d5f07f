"""Runs between the console and their hosts: asked for, told of, and given up where nobody answers.

What is told may be told twice; the newest document of a run wins, whatever the order of arrival.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from nasadvisor.console.accounts import audit
from nasadvisor.console.change.models import UNREADABLE, Pending, StoredPlan, StoredRun, StoredRunState
from nasadvisor.console.evidence.watch import waiting_document_of
from nasadvisor.console.fleet import hosts, quotas
from nasadvisor.console.fleet.hosts import heard_from
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.domain.change.runs import Run, RunState, Trial, steps_of
from nasadvisor.domain.change.unreadable_runs import UnreadableRun
from nasadvisor.domain.fleet.questions import APPLY, CHANGE_S, Question
from nasadvisor.domain.statements import Statement, gettext_noop
from nasadvisor.stored.documents import Json, to_document

FOLLOWED: Final = (
    StoredRunState.REQUESTED,
    StoredRunState.APPLYING,
    StoredRunState.UNDOING,
    StoredRunState.PUTTING_BACK,
    StoredRunState.INTERRUPTED,
)
"""States that change without the console asking for it, so it keeps asking how they stand."""

RESULTS: Final = frozenset(
    {
        StoredRunState.APPLIED,
        StoredRunState.REFUSED,
        StoredRunState.UNDONE,
        StoredRunState.PUT_BACK,
        StoredRunState.INTERRUPTED,
        StoredRunState.ATTENTION,
    }
)
"""States in which a run comes to rest: they stand in the audit log, where who asked stands already."""

ANSWER_WITHIN: Final = timedelta(seconds=CHANGE_S + 30)
"""A request not answered by then has expired at its host; the margin is for the way there and back."""

NOT_TAKEN_UP: Final = Statement(
    "not-taken-up",
    gettext_noop(
        "The host did not pick up the last request in time. The request has expired, so it changed nothing. Check the "
        "host with `systemctl status nasadvisor-host`, then try again."
    ),
)


class PlanAlreadyRan(Exception):  # noqa: N818 - named for what happened
    """A plan runs once."""


def apply_plan(stored: StoredPlan, by: User, trial_s: int = 0) -> StoredRun:
    """Ask the plan's host to apply it; `trial_s` is how long it is tried, 0 for good.

    Raises:
        HostUnreachable: the request could not be handed over.
        PlanAlreadyRan: this plan was applied before.
    """
    now, plan, name = timezone.now(), stored.plan, by.get_username()
    trial = Trial(trial_s) if trial_s else None
    asked_at = now.isoformat(timespec="seconds")
    steps = steps_of(plan.actions)  # all pending: its host has not said anything yet
    begun = Run(plan.id, stored.node.name, plan, RunState.APPLYING, name, asked_at, "", 0, steps, trial=trial)
    with transaction.atomic():
        run, created = StoredRun.objects.get_or_create(
            id=stored.id,
            defaults={
                "node": stored.node,
                "pool_guid": plan.request.pool_guid,
                "pool_name": plan.pool_name,
                "document": to_document(begun),
                "pending": Pending.APPLY,
                "pending_since": now,
                "requested_by": name,
                "requested_at": now,
                "promised_document": waiting_document_of(stored.node, plan.request.pool_guid),
            },
        )
        if not created:
            raise PlanAlreadyRan(_("This plan has already been applied. Create a new plan to make further changes."))
        hosts.ask(stored.node, APPLY, plan, trial_s, by=by)
    return run


def order(run: StoredRun, question: Question, by: User) -> None:
    """Ask the run's host to undo, finish or keep it.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    with transaction.atomic():
        StoredRun.objects.filter(pk=run.pk).update(pending=Pending(question.verb), pending_since=timezone.now())
        hosts.ask(run.node, question, str(run.id), by=by)


def store_run(node_name: str, run: Run, document: Json) -> None:
    """Keep a run's newest document: compare and swap by its seq.

    An equal seq replaces too: a run found interrupted has the same journal as when it was active.

    Raises:
        QuotaReached: it is one too many.
        ValueError: it has an id that no plan of ours has.
    """
    _require_room_for(node_name, run.id)
    news = {"document": document, "seq": run.seq, "state": run.state.value, **_trial_of(run)}
    node = heard_from(node_name)
    stored, created = StoredRun.objects.get_or_create(
        id=UUID(run.id),
        defaults={
            **news,
            "node": node,
            "pool_guid": run.plan.request.pool_guid,
            "pool_name": run.plan.pool_name,
            "requested_by": run.by,
            "requested_at": datetime.fromisoformat(run.started_at),
            "promised_document": partial(waiting_document_of, node, run.plan.request.pool_guid),  # asked for new ones
        },
    )
    if created:
        _note_result(node_name, stored, "", run.state.value)
        return
    same_node = StoredRun.objects.filter(pk=stored.pk, node=node)
    is_news = Q(seq__lt=run.seq) | Q(state__in=UNREADABLE)  # a journal that was put back may be shorter
    told = same_node.filter(is_news).update(**news, pending=Pending.NOTHING, pending_since=None, error_document=None)
    if told or same_node.filter(seq=run.seq).update(**news):
        _note_result(node_name, stored, stored.state, run.state.value)


def store_unreadable_run(node_name: str, found: UnreadableRun, _document: Json) -> None:
    """Note that a host cannot read the journal of a run; what it told of the run before stays.

    Raises:
        QuotaReached: it is one too many.
        ValueError: it has an id that no plan of ours has.
    """
    node = heard_from(node_name)
    _require_room_for(node_name, found.id)
    news = {
        "state": found.state.value,
        "error_document": to_document(found.said),
        "pending": Pending.NOTHING,
        "pending_since": None,
        "trial_until": None,
    }
    stored, created = StoredRun.objects.get_or_create(
        id=UUID(found.id),
        defaults={
            **news,
            "node": node,
            "document": {},
            "pool_guid": found.pool_guid,
            "pool_name": found.pool_name,
            "requested_by": found.by,
            "requested_at": _moment(found.started_at),
        },
    )
    if not created:
        StoredRun.objects.filter(pk=stored.pk, node=node).update(**news)


def store_run_error(node_name: str, run_id: str, document: Json) -> None:
    """Note why a host did not begin what it was asked for. A run that never began was refused with that."""
    heard_from(node_name)
    asked = StoredRun.objects.filter(pk=UUID(run_id), node__name=node_name)
    for stored in asked.filter(seq=0).defer("document"):
        _note_result(node_name, stored, stored.state, StoredRunState.REFUSED)
    asked.filter(seq=0).update(state=StoredRunState.REFUSED)
    asked.update(error_document=document, pending=Pending.NOTHING, pending_since=None)


def expire_requests(now: datetime) -> None:
    """Give up on requests that no host has taken up in their time: they have expired there too."""
    late = StoredRun.objects.exclude(pending=Pending.NOTHING).filter(pending_since__lt=now - ANSWER_WITHIN)
    late.filter(seq=0).update(state=StoredRunState.UNANSWERED, pending=Pending.NOTHING)
    late.exclude(seq=0).update(pending=Pending.NOTHING, error_document=to_document(NOT_TAKEN_UP))


def runs_to_follow() -> list[StoredRun]:
    """The runs whose state the console should ask for."""
    is_over = Q(trial_until__lte=timezone.now())
    followed = StoredRun.objects.filter(Q(state__in=FOLLOWED) | ~Q(pending=Pending.NOTHING) | is_over)
    return list(followed.select_related("node").defer("document", "node__inventory_document"))


def _note_result(node_name: str, stored: StoredRun, before: str, state: str) -> None:
    """Write down that a run came to rest in another state than before; `before` is "" where it was not known."""
    if state != before and state in RESULTS:
        audit.record_result(node_name, f"{stored.pool_name} {stored.pk}: {state}")


def _require_room_for(node_name: str, run_id: str) -> None:
    """Runs that are known may always move on."""
    if StoredRun.objects.filter(pk=UUID(run_id)).exists():
        return
    if StoredRun.objects.filter(node__name=node_name).count() >= quotas.MOST_RUNS:
        quotas.refuse(node_name, Quota.RUNS)


def _trial_of(run: Run) -> dict[str, datetime | None]:
    until = run.trial.until if run.trial and run.is_on_trial else ""
    ended_at = run.trial.ended_at if run.trial and not run.trial.kept_at else ""
    return {
        "trial_until": datetime.fromisoformat(until) if until else None,
        "trial_ended_at": datetime.fromisoformat(ended_at) if ended_at else None,
    }


def _moment(said: str) -> datetime:
    """A time that a damaged journal tells; now, if it tells none."""
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        return timezone.now()
    return found if found.tzinfo else timezone.now()
