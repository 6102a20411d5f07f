"""Keeping what hosts tell of the evidence. It knows no page, so that the worker loads none for it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, Protocol
from uuid import UUID

from django.db.models import Manager
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.evidence.models import SampledPool, StoredMeasurement, StoredSwitching, StoredWaiting
from nasadvisor.console.fleet.hosts import heard_from
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureProgress
from nasadvisor.domain.evidence.switched import CacheSwitching, ids_in
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.statements import Statement, gettext_noop
from nasadvisor.stored.documents import Json, to_document

MEASURED_WITHIN: Final = timedelta(minutes=30)
"""A measurement takes some minutes, on a slow machine some more."""

NOT_MEASURED: Final = Statement(
    "not-measured",
    gettext_noop(
        "The host did not answer. If it was interrupted, the next measurement or the start of its service removes what "
        "it made."
    ),
)


class OfPool(Protocol):
    """What a host tells of one pool."""

    @property
    def pool_guid(self) -> str:
        """Which one."""


def store_newest(kept: "Manager[Any]") -> Callable[[str, OfPool, Json], None]:
    """What keeps the newest answer of a pool there. What nobody asked for has no row, and is dropped."""

    def store(node_name: str, found: OfPool, document: Json) -> None:
        rows = kept.filter(node__name=node_name, pool_guid=found.pool_guid)
        rows.update(told_at=timezone.now(), document=document, error_document=None)

    return store


def store_error(kept: "Manager[Any]") -> Callable[[str, str, Json], None]:
    """What keeps there why a host could not tell it; what it told before stays."""

    def store(node_name: str, guid: str, document: Json) -> None:
        rows = kept.filter(node__name=node_name, pool_guid=guid)
        rows.update(told_at=timezone.now(), error_document=document)

    return store


def store_waiting(node_name: str, _found: WaitingPrograms, document: Json) -> None:
    """Keep what a host traced, if it was asked for."""
    rows = StoredWaiting.objects.filter(node__name=node_name)
    rows.update(told_at=timezone.now(), document=document, error_document=None)


def store_waiting_error(node_name: str, _about: str, document: Json) -> None:
    """Keep why a host could not trace; what it told before stays."""
    StoredWaiting.objects.filter(node__name=node_name).update(told_at=timezone.now(), error_document=document)


def store_measurement(node_name: str, found: Measurement, document: Json) -> None:
    """Keep what was measured; the first answer to an order stays."""
    asked = StoredMeasurement.objects.filter(pk=UUID(found.order.id), node=heard_from(node_name), document__isnull=True)
    asked.update(document=document, error_document=None)


def store_progress(node_name: str, progress: MeasureProgress, document: Json) -> None:
    """Keep how far a measurement is, while it is."""
    asked = StoredMeasurement.objects.filter(pk=UUID(progress.order_id), node=heard_from(node_name))
    asked.filter(document__isnull=True, error_document__isnull=True).update(progress_document=document)


def store_measurement_error(node_name: str, order_id: str, document: Json) -> None:
    """Note why nothing was measured."""
    StoredMeasurement.objects.filter(pk=UUID(order_id), node=heard_from(node_name)).update(error_document=document)


def expire_measurements(now: datetime) -> None:
    """Give up on those that no host has told of in their time."""
    silent = StoredMeasurement.objects.filter(
        document__isnull=True, error_document__isnull=True, requested_at__lt=now - MEASURED_WITHIN
    )
    silent.update(error_document=to_document(NOT_MEASURED))


def store_switching(node_name: str, found: CacheSwitching, document: Json) -> None:
    """Keep a record as its host has it now; what is older, and of a pool that nobody watches, is dropped.

    It may have been begun on the command line there, so it is kept whether it was asked for here or not.
    """
    series = SampledPool.objects.filter(node__name=node_name, guid=found.pool_guid).first()
    if series is None:
        return
    stored, _made = StoredSwitching.objects.get_or_create(
        node=series.node, pool_guid=found.pool_guid, defaults={"asked_at": timezone.now()}
    )
    known = stored.record
    if known is None or (found.plan.start, found.seq) >= (known.plan.start, known.seq):
        store_newest(StoredSwitching.objects)(node_name, found, document)


def switching_of(node: Node, pool_guid: str) -> StoredSwitching | None:
    """The newest of a pool, as it was asked for or told."""
    return StoredSwitching.objects.filter(node=node, pool_guid=pool_guid).first()


def runs_out() -> list[StoredRun]:
    """The runs of switches that have a cache out of service, as far as it is known here: their host puts it back by
    itself, and may have told of it while nobody listened."""
    records = filter(None, (each.record for each in StoredSwitching.objects.all()))
    ids = {UUID(each) for record in records for _place, each in ids_in(record)}
    out = StoredRun.objects.filter(pk__in=ids, state=StoredRunState.APPLIED)
    return list(out.select_related("node").defer("document", "node__inventory_document"))


def silent() -> list[StoredSwitching]:
    """Those under way of which their host has not told for longer than a period takes."""
    now = timezone.now()
    known = StoredSwitching.objects.select_related("node").defer("node__inventory_document")
    return [each for each in known if each.is_silent(now)]
