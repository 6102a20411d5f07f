"""Storing what hosts tell. Called by the tasks, and by `load_machine`; every function may be called twice."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db.models import Q
from django.utils import timezone

from nasadvisor.console.change.models import UNREADABLE, Pending, StoredRun, StoredRunState
from nasadvisor.console.change.results import note_result
from nasadvisor.console.evidence.models import StoredMeasurement
from nasadvisor.console.fleet import hosts, quotas
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.console.health.capacity import note_pools
from nasadvisor.console.health.inventory import findings_on, note_disks
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.change.unreadable_runs import UnreadableRun
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureProgress
from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.fleet.spoken import Spoken
from nasadvisor.domain.statements import Statement, gettext_noop
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import Json, NewerForm, from_document, to_document

FOLLOWED = (
    StoredRunState.REQUESTED,
    StoredRunState.APPLYING,
    StoredRunState.UNDOING,
    StoredRunState.PUTTING_BACK,
    StoredRunState.INTERRUPTED,
)
"""States that change without the console asking for it, so it keeps asking how they stand."""

ANSWER_WITHIN = hosts.CHANGE_EXPIRES + timedelta(seconds=30)
"""A request not answered by then has expired at its host; the margin is for the way there and back."""


MEASURED_WITHIN = timedelta(minutes=30)
"""A measurement takes some minutes, on a slow machine some more."""

OVERTAKEN_WITHIN = timedelta(minutes=5)


_NOT_TAKEN_UP = Statement(
    "not-taken-up",
    gettext_noop(
        "The host did not take up the last request in time. The request has expired, so nothing was changed by it. "
        "Look at the host with `systemctl status nasadvisor-host` and ask again."
    ),
)


_NOT_MEASURED = Statement(
    "not-measured",
    gettext_noop(
        "The host did not answer. If it was interrupted, the next measurement or the start of its service removes what "
        "it made."
    ),
)


def store_spoken(node_name: str, document: Json) -> Node:
    """Keep which forms of documents a host speaks.

    Raises:
        DocumentError: if it does not say so.
        ValueError: if it is what another node speaks.
    """
    told = from_document(Spoken, document)
    if told.node != node_name:
        raise ValueError(f"What {told.node} speaks came from {node_name}. It was not stored.")
    node = _heard_from(node_name)
    Node.objects.filter(pk=node.pk).update(spoken_document=document)
    return node


def store_inventory(node_name: str, document: Json) -> Node:
    """Keep a host's newest inventory; an older one that arrives late is dropped.

    One that is older by more than `OVERTAKEN_WITHIN` was not overtaken: the host's clock was set back.

    Raises:
        DocumentError: if it is not an inventory.
        QuotaReached: it has more disks or pools than one host has.
        ValueError: if it is that of another node.
    """
    try:
        inventory = from_document(Inventory, document)
    except NewerForm:
        _heard_from(node_name)  # it is there; that its release is newer than ours is said elsewhere
        raise
    if inventory.host.node != node_name:
        raise ValueError(f"An inventory of {inventory.host.node} came from {node_name}. It was not stored.")
    read_at = datetime.fromisoformat(inventory.read_at)
    node = _heard_from(node_name)
    if len(inventory.disks) > quotas.MOST_DISKS:
        quotas.refuse(node_name, Quota.DISKS)
    if len(inventory.pools) > quotas.MOST_POOLS:
        quotas.refuse(node_name, Quota.POOLS)
    news = Q(inventory_read_at=None) | Q(inventory_read_at__lte=read_at)
    clock_was_set = Q(inventory_read_at__gt=read_at + OVERTAKEN_WITHIN)
    taken = Node.objects.filter(news | clock_was_set, pk=node.pk).update(
        inventory_document=document,
        inventory_version=uuid4(),
        inventory_read_at=read_at,
        inventory_error_document=None,
    )
    if taken:
        note_disks(node, inventory, read_at)
        note_pools(node, inventory, read_at)
        findings = [to_document(finding) for finding in findings_on(node, inventory)]
        Node.objects.filter(pk=node.pk).update(finding_documents=findings)
    return node


def store_platform(node_name: str, document: Json) -> None:
    """Keep what the platforms of a host say.

    Raises:
        DocumentError: if it is no such report.
        ValueError: if it is that of another node.
    """
    report = from_document(PlatformReport, document)
    if report.node != node_name:
        raise ValueError(f"A report of {report.node} came from {node_name}. It was not stored.")
    Node.objects.filter(pk=_heard_from(node_name).pk).update(platform_document=document)


def store_inventory_error(node_name: str, document: Json) -> None:
    """Note why a host could not read itself; its last inventory stays.

    Raises:
        DocumentError: if it is not a statement.
    """
    from_document(Statement, document)
    Node.objects.filter(pk=_heard_from(node_name).pk).update(inventory_error_document=document)


def store_run(node_name: str, document: Json) -> None:
    """Keep a run's newest document: compare and swap by its seq.

    An equal seq replaces too: a run found interrupted has the same journal as when it was active.

    Raises:
        DocumentError: if it is not a run.
        QuotaReached: it is too large, or one too many.
        ValueError: if it is that of another node.
    """
    if quotas.size_of(document) > quotas.LARGEST_RUN:
        _heard_from(node_name)
        quotas.refuse(node_name, Quota.RUN_SIZE)
    run = from_document(Run, document)
    if run.node != node_name:
        raise ValueError(f"A run of {run.node} came from {node_name}. It was not stored.")
    _require_room_for(node_name, run.id)
    news = {"document": document, "seq": run.seq, "state": run.state.value, **_trial_of(run)}
    node = _heard_from(node_name)
    stored, created = StoredRun.objects.get_or_create(
        id=UUID(run.id),
        defaults={
            **news,
            "node": node,
            "pool_guid": run.plan.request.pool_guid,
            "pool_name": run.plan.pool_name,
            "requested_by": run.by,
            "requested_at": datetime.fromisoformat(run.started_at),
        },
    )
    if created:
        note_result(node_name, stored, "", run.state.value)
        return
    same_node = StoredRun.objects.filter(pk=stored.pk, node=node)
    is_news = Q(seq__lt=run.seq) | Q(state__in=UNREADABLE)  # a journal that was put back may be shorter
    told = same_node.filter(is_news).update(**news, pending=Pending.NOTHING, pending_since=None, error_document=None)
    if told or same_node.filter(seq=run.seq).update(**news):
        note_result(node_name, stored, stored.state, run.state.value)


def store_unreadable_run(node_name: str, document: Json) -> None:
    """Note that a host cannot read the journal of a run; what it told of the run before stays.

    Raises:
        DocumentError: if it is not one.
        QuotaReached: it is one too many.
        ValueError: if it is that of another node, or has an id that no plan of ours has.
    """
    found = from_document(UnreadableRun, document)
    if found.node != node_name:
        raise ValueError(f"A run of {found.node} came from {node_name}. It was not stored.")
    node = _heard_from(node_name)
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
    """Note why a host did not begin what it was asked for. A run that never began was refused with that.

    Raises:
        DocumentError: if it is not a statement.
    """
    from_document(Statement, document)
    _heard_from(node_name)
    asked = StoredRun.objects.filter(pk=UUID(run_id), node__name=node_name)
    for stored in asked.filter(seq=0).defer("document"):
        note_result(node_name, stored, stored.state, StoredRunState.REFUSED)
    asked.filter(seq=0).update(state=StoredRunState.REFUSED)
    asked.update(error_document=document, pending=Pending.NOTHING, pending_since=None)


def store_measurement(node_name: str, document: Json) -> None:
    """Keep what was measured; the first answer to an order stays.

    Raises:
        DocumentError: if it is not a measurement.
    """
    found = from_document(Measurement, document)
    asked = StoredMeasurement.objects.filter(
        pk=UUID(found.order.id), node=_heard_from(node_name), document__isnull=True
    )
    asked.update(document=document, error_document=None)


def store_measure_progress(node_name: str, document: Json) -> None:
    """Keep how far a measurement is, while it is.

    Raises:
        DocumentError: if it is not a progress.
    """
    progress = from_document(MeasureProgress, document)
    asked = StoredMeasurement.objects.filter(pk=UUID(progress.order_id), node=_heard_from(node_name))
    asked.filter(document__isnull=True, error_document__isnull=True).update(progress_document=document)


def store_measurement_error(node_name: str, order_id: str, document: Json) -> None:
    """Note why nothing was measured.

    Raises:
        DocumentError: if it is not a statement.
    """
    from_document(Statement, document)
    StoredMeasurement.objects.filter(pk=UUID(order_id), node=_heard_from(node_name)).update(error_document=document)


def expire_requests(now: datetime) -> None:
    """Give up on requests that no host has taken up in their time: they have expired there too."""
    late = StoredRun.objects.exclude(pending=Pending.NOTHING).filter(pending_since__lt=now - ANSWER_WITHIN)
    late.filter(seq=0).update(state=StoredRunState.UNANSWERED, pending=Pending.NOTHING)
    late.exclude(seq=0).update(pending=Pending.NOTHING, error_document=to_document(_NOT_TAKEN_UP))
    silent = StoredMeasurement.objects.filter(
        document__isnull=True, error_document__isnull=True, requested_at__lt=now - MEASURED_WITHIN
    )
    silent.update(error_document=to_document(_NOT_MEASURED))


def runs_to_follow() -> list[StoredRun]:
    """The runs whose state the console should ask for."""
    is_over = Q(trial_until__lte=timezone.now())
    followed = StoredRun.objects.filter(Q(state__in=FOLLOWED) | ~Q(pending=Pending.NOTHING) | is_over)
    return list(followed.select_related("node").defer("document", "node__inventory_document"))


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


def _heard_from(node_name: str) -> Node:
    """Note that a host is there. Each record of a run does, so two plain statements, without what the host told."""
    now = timezone.now()
    slim = Node.objects.only("name")
    if slim.filter(name=node_name).update(last_contact=now):
        return slim.get(name=node_name)
    node, _ = slim.get_or_create(name=node_name, defaults={"last_contact": now})
    return node
