"""Keeping what hosts tell of caches that are switched: of each pool the newest."""

from uuid import UUID

from django.utils import timezone

from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.evidence.asked import keep_answer, keep_error
from nasadvisor.console.evidence.models import SampledPool, StoredSwitching
from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.domain.evidence.switched import CacheSwitching, ids_in
from nasadvisor.stored.documents import Json, from_document


def store_switching(node_name: str, document: Json) -> None:
    """Keep a record as its host has it now; what is older, and of a pool that nobody watches, is dropped.

    It may have been begun on the command line there, so it is kept whether it was asked for here or not.

    Raises:
        DocumentError: it is no record.
        QuotaReached: it is larger than any that a host makes.
        ValueError: it is that of another node.
    """
    if quotas.size_of(document) > quotas.LARGEST_RUN:
        quotas.refuse(node_name, Quota.RUN_SIZE)
    found = from_document(CacheSwitching, document)
    if found.node != node_name:
        raise ValueError(f"What {found.node} switches came from {node_name}. It was not stored.")
    series = SampledPool.objects.filter(node__name=node_name, guid=found.pool_guid).first()
    if series is None:
        return
    stored, _made = StoredSwitching.objects.get_or_create(
        node=series.node, pool_guid=found.pool_guid, defaults={"asked_at": timezone.now()}
    )
    known = stored.record
    if known is None or (found.plan.start, found.seq) >= (known.plan.start, known.seq):
        keep_answer(StoredSwitching.objects.filter(pk=stored.pk), document)


def store_switching_error(node_name: str, pool_guid: str, document: Json) -> None:
    """Keep why a host did not do what it was asked for.

    Raises:
        DocumentError: it is not a statement.
    """
    keep_error(StoredSwitching.objects.filter(node__name=node_name, pool_guid=pool_guid), document)


def switching_of(node: Node, pool_guid: str) -> "StoredSwitching | None":
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
