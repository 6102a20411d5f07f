"""Keeping what hosts tell of the evidence. It knows no page, so that the worker loads none for it."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.utils import timezone

from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.evidence.models import ANSWER_WITHIN, SampledPool, StoredAnswer, StoredMeasurement
from nasadvisor.console.fleet.hosts import heard_from
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureProgress
from nasadvisor.domain.evidence.switched import CacheSwitching, ids_in
from nasadvisor.domain.statements import Statement, gettext_noop
from nasadvisor.stored.documents import Json, to_document
from nasadvisor.stored.kinds import name_of

MEASURED_WITHIN: Final = timedelta(minutes=30)
"""A measurement takes some minutes, on a slow machine some more."""

LONGER_STAYS: Final = timedelta(days=1)
"""[policy] How long a curve of a longer trace is better than one of a shorter one."""

NOT_MEASURED: Final = Statement(
    "not-measured",
    gettext_noop(
        "The host did not respond. If it was interrupted, the next measurement or the next start of its service "
        "removes everything it created."
    ),
)


def store_newest(node_name: str, found: object, document: Json) -> None:
    """Keep the newest answer of a form, about a pool or the host. What nobody asked for has no row, and is dropped."""
    rows = StoredAnswer.objects.of(type(found), getattr(found, "pool_guid", ""))
    rows.filter(node__name=node_name).update(told_at=timezone.now(), document=document, error_document=None)


def store_curve(node_name: str, found: CacheCurve, document: Json) -> None:
    """Keep a curve. One that nobody asked for, since reads are followed all day, is kept where the pool is watched.

    It takes the place neither of a trace that is under way nor, for a day, of a curve of a longer one: after each start
    of the host reads are followed anew.
    """
    if not found.traced.is_all_day:
        store_newest(node_name, found, document)
        return
    series = SampledPool.objects.filter(node__name=node_name, guid=found.pool_guid).first()
    if series is None or _stays(newest_of(series.node_id, CacheCurve, found.pool_guid), found):
        return
    defaults = {"asked_at": timezone.now()}
    StoredAnswer.objects.get_or_create(
        node=series.node, form=name_of(CacheCurve), pool_guid=found.pool_guid, defaults=defaults
    )
    store_newest(node_name, found, document)


def _stays(stored: StoredAnswer | None, found: CacheCurve) -> bool:
    """Whether what is known stays in the place of a curve that nobody asked for."""
    if stored is None or stored.is_under_way(timezone.now()):
        return stored is not None
    known = stored.found(CacheCurve)
    if known is None or not known.is_followed:
        return False
    age = datetime.fromisoformat(found.traced.at) - datetime.fromisoformat(known.traced.at)
    return known.traced.seconds > found.traced.seconds and age < LONGER_STAYS


def store_no(form: type) -> Callable[[str, str, Json], None]:
    """What keeps why a host could not tell this; what it told before stays."""

    def store(node_name: str, pool_guid: str, document: Json) -> None:
        rows = StoredAnswer.objects.of(form, pool_guid).filter(node__name=node_name)
        rows.update(told_at=timezone.now(), error_document=document)

    return store


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
    stored, _made = StoredAnswer.objects.get_or_create(
        node=series.node,
        form=name_of(CacheSwitching),
        pool_guid=found.pool_guid,
        defaults={"asked_at": timezone.now()},
    )
    known = stored.found(CacheSwitching)
    if known is None or (found.plan.start, found.seq) >= (known.plan.start, known.seq):
        store_newest(node_name, found, document)


def newest_of(node: Node | int, form: type, pool_guid: str = "") -> StoredAnswer | None:
    """What a host was asked for and told last."""
    return StoredAnswer.objects.of(form, pool_guid).filter(node=node).first()


def runs_out() -> list[StoredRun]:
    """The runs of switches that have a cache out of service, as far as it is known here: their host puts it back by
    itself, and may have told of it while nobody listened."""
    ids = {UUID(each) for _stored, record in _switchings() for _place, each in ids_in(record)}
    out = StoredRun.objects.filter(pk__in=ids, state=StoredRunState.APPLIED)
    return list(out.select_related("node").defer("document", "node__inventory_document"))


def silent() -> list[StoredAnswer]:
    """Those under way of which their host has not told for longer than a period takes."""
    now = timezone.now()
    under_way = [(stored, record) for stored, record in _switchings() if not record.ended_at]
    return [stored for stored, record in under_way if stored.told_at and now > _next_word(stored.told_at, record)]


def _next_word(told_at: datetime, record: CacheSwitching) -> datetime:
    """By when more should have been told: a host tells after each period that it has counted."""
    return told_at + timedelta(seconds=2 * record.plan.period_s) + ANSWER_WITHIN


def _switchings() -> Iterator[tuple[StoredAnswer, CacheSwitching]]:
    known = StoredAnswer.objects.filter(form=name_of(CacheSwitching))
    for stored in known.select_related("node").defer("node__inventory_document"):
        record = stored.found(CacheSwitching)
        if record:
            yield stored, record
