"""The history of each pool's counters: stored as measured for a day, then as minutes and hours.

Every function may be called twice: a sample that is there already is left as it is.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Final, TypeAlias, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from nasadvisor.console.evidence.models import Resolution, SampledPool, StoredSample
from nasadvisor.console.evidence.spells import store_spells
from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample, VdevActivity, merge
from nasadvisor.domain.storage.inventory import Disk, Partition, leaf_name
from nasadvisor.domain.units import DAY_S, HOUR_S
from nasadvisor.stored.documents import Json, to_document
from nasadvisor.stored.packing import NameTable, pack_activity, pack_latency, unpack_activity, unpack_latency

log = logging.getLogger(__name__)

Stored = TypeVar("Stored")
Unpacked = TypeVar("Unpacked")
Packed: TypeAlias = "bytes | memoryview[int]"

GRACE_S = 20
"""How late a sample may arrive and still be part of its minute."""

AHEAD_S = 15 * HOUR_S
"""How far a host's clock may be ahead of ours: one that takes local time for UTC is by up to 14 hours. What lies
further in the future would be kept until then."""

FORMER_AT_MOST: Final = 64
"""Of so many devices that leave a pool at once the names are kept."""

FEW_HOURS: Final = 3
"""A picture of two points says nothing."""


def store_reading(node_name: str, reading: Reading, _document: Json) -> None:
    """Keep what a host has told of its counters.

    Raises:
        QuotaReached: it is of the future, or of more pools than one host has.
    """
    node, _ = Node.objects.defer("inventory_document").get_or_create(name=node_name)
    kept = SampledPool.objects.filter(node=node).only("node", "guid", "names", "facts_document", "former")
    known = {series.guid: series for series in kept}
    _require_room_for(node, reading, frozenset(known))
    for facts in reading.facts:
        changes = {"name": facts.name, "facts_document": to_document(facts)}
        if facts.guid in known:
            changes["former"] = known[facts.guid].former | _devices_that_left(node, known[facts.guid], facts)
        SampledPool.objects.update_or_create(node=node, guid=facts.guid, defaults=changes)
    for sample in reading.samples:
        _store(node, sample, known.get(sample.pool_guid))
    for spells in reading.spells:
        store_spells(node, spells)


def _devices_that_left(node: Node, series: SampledPool, facts: PoolFacts) -> Json:
    """The devices that the pool had at the last reading and has no more, named as people know them."""
    there = {leaf.guid for leaf in facts.leaves}
    gone = [leaf for leaf in series.facts.leaves if leaf.guid not in there]
    if not gone:
        return {}
    now, inventory = int(timezone.now().timestamp()), node.inventory
    disks = inventory.disks if inventory else ()
    labels = {name: disk.label for disk in disks for name in _names_of(disk)}
    return {
        leaf.guid: {
            "name": labels.get(leaf_name(leaf.name)) or labels.get(leaf.disk) or leaf.name,
            "class": leaf.vdev_class.value,
            "until": now,
        }
        for leaf in gone[:FORMER_AT_MOST]
    }


def _names_of(disk: Disk) -> Iterator[str]:
    """What the kernel and `zpool status` call a disk and its partitions."""
    parts: tuple[Disk | Partition, ...] = (disk, *disk.partitions)
    for part in parts:
        yield part.kernel_name
        yield from (leaf_name(link) for link in (part.path, *part.links))


def _require_room_for(node: Node, reading: Reading, known: frozenset[str]) -> None:
    latest = timezone.now().timestamp() + AHEAD_S
    if any(at > latest for at in (*(each.at for each in reading.samples), *(each.until for each in reading.spells))):
        quotas.refuse(node.name, Quota.CLOCK)
    told = {facts.guid for facts in reading.facts} | {sample.pool_guid for sample in reading.samples}
    if not told <= known and len(known | told) > quotas.MOST_POOLS:
        quotas.refuse(node.name, Quota.POOLS)


def _store(node: Node, sample: Sample, series: SampledPool | None) -> None:
    with transaction.atomic():
        if series is None:
            names = {"name": sample.pool_name}
            series, _ = SampledPool.objects.get_or_create(node=node, guid=sample.pool_guid, defaults=names)
        save_samples(series, Resolution.RAW, [sample])


def save_samples(series: SampledPool, resolution: Resolution, samples: Iterable[Sample]) -> None:
    """Keep samples of one pool; within a transaction, for the table of names grows with them."""
    table = NameTable(list(series.names))
    rows = [
        StoredSample(
            series=series,
            resolution=resolution,
            at=sample.at,
            seconds=sample.seconds,
            activity=pack_activity(sample, table),
            latency=pack_latency(sample, table),
        )
        for sample in samples
    ]
    if table.names != series.names:
        series.names = table.names
        series.save(update_fields=["names"])
    StoredSample.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)


def samples_of(series: SampledPool, resolution: Resolution, after: int, until: int) -> Iterator[Sample]:
    """The samples that end after one moment and not after another, without the vdevs' latencies."""

    def unpack(row: tuple[int, float, Packed]) -> Sample:
        at, seconds, activity = row
        return unpack_activity(_empty(series, at, seconds), bytes(activity), series.names)

    # Tuples, and not objects of the model: of a day's minutes these would take a third of the time.
    return _readable(_rows(series, resolution, after, until).values_list("at", "seconds", "activity"), unpack)


def hours_of_each(pools: Iterable[SampledPool], after: int, until: int) -> dict[str, list[Sample]]:
    """The hours of several pools, by their guids; of one that has few whole ones yet, its minutes."""
    known = list(pools)
    found = samples_of_each(known, Resolution.HOUR, after, until)
    new = [each for each in known if len(found[each.guid]) < FEW_HOURS]
    return found | samples_of_each(new, Resolution.MINUTE, until - FEW_HOURS * HOUR_S, until) if new else found


def samples_of_each(
    pools: Iterable[SampledPool], resolution: Resolution, after: int, until: int
) -> dict[str, list[Sample]]:
    """The same of several pools at once, by their guids."""
    by_pk = {series.pk: series for series in pools}
    rows = StoredSample.objects.filter(series__in=by_pk, resolution=resolution, at__gt=after, at__lte=until)

    def unpack(row: tuple[int, int, float, Packed]) -> Sample:
        pk, at, seconds, activity = row
        return unpack_activity(_empty(by_pk[pk], at, seconds), bytes(activity), by_pk[pk].names)

    found: dict[str, list[Sample]] = {series.guid: [] for series in by_pk.values()}
    for sample in _readable(rows.order_by("at").values_list("series", "at", "seconds", "activity"), unpack):
        found[sample.pool_guid].append(sample)
    return found


def whole_samples_of(series: SampledPool, resolution: Resolution, after: int, until: int) -> Iterator[Sample]:
    """The same with the vdevs' latencies."""

    def unpack(row: tuple[int, float, Packed, Packed]) -> Sample:
        at, seconds, activity, latency = row
        empty = replace(_empty(series, at, seconds), vdevs=unpack_latency(bytes(latency), series.names))
        return unpack_activity(empty, bytes(activity), series.names)

    rows = _rows(series, resolution, after, until).values_list("at", "seconds", "activity", "latency")
    return _readable(rows, unpack)


def latencies_of(
    series: SampledPool, resolution: Resolution, after: int, until: int
) -> Iterator[tuple[int, float, tuple[VdevActivity, ...]]]:
    """Only the latencies: end, length in seconds, and the vdevs."""

    def unpack(row: tuple[int, float, Packed]) -> tuple[int, float, tuple[VdevActivity, ...]]:
        at, seconds, latency = row
        return at, seconds, unpack_latency(bytes(latency), series.names)

    return _readable(_rows(series, resolution, after, until).values_list("at", "seconds", "latency"), unpack)


def _readable(rows: Iterable[Stored], unpack: Callable[[Stored], Unpacked]) -> Iterator[Unpacked]:
    """What can be unpacked. A sample that is damaged, or that a newer release packed, is a gap like any other."""
    for row in rows:
        try:
            found = unpack(row)
        except ValueError as error:
            log.info("a stored sample is left out: %s", error)
            continue
        yield found


def roll_up(now: datetime) -> None:
    """Make minutes and hours of what is complete."""
    for series in SampledPool.objects.defer("facts_document"):
        with transaction.atomic():
            _roll_up(series, Resolution.RAW, Resolution.MINUTE, int(now.timestamp()) - GRACE_S)
            _roll_up(series, Resolution.MINUTE, Resolution.HOUR, int(now.timestamp()) - GRACE_S)


def forget(now: datetime) -> None:
    """Remove what is older than the setting says."""
    for resolution, days in zip(Resolution, settings.SAMPLES_KEPT_DAYS, strict=True):
        oldest = int(now.timestamp() - days * DAY_S)
        StoredSample.objects.filter(resolution=resolution, at__lt=oldest).delete()


def _roll_up(series: SampledPool, source: Resolution, target: Resolution, until: int) -> None:
    last = series.samples.filter(resolution=target).order_by("-at").values_list("at", flat=True).first() or 0
    end = until // target * target
    groups = groupby(whole_samples_of(series, source, last, end), key=lambda sample: -(-sample.at // target) * target)
    save_samples(series, target, [replace(merge(group), at=at) for at, group in groups])


def _empty(series: SampledPool, at: int, seconds: float) -> Sample:
    return Sample(series.guid, series.name, at, seconds)


def _rows(series: SampledPool, resolution: Resolution, after: int, until: int) -> QuerySet[StoredSample]:
    return series.samples.filter(resolution=resolution, at__gt=after, at__lte=until).order_by("at")
