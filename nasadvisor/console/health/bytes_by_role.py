"""By whom each SSD is written: hours of its pools' samples added up to days, and what came of the last weeks.

The kernel counts for every partition, so a slice's writing is known by itself; what it counts for the whole drive
beyond that is somebody else's. Within a pool it is laid to datasets hour by hour (`wear.laid`), and kept as lines of
the day for as long as a bill looks back.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Max, QuerySet, Sum
from django.utils import timezone

from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.series import whole_samples_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import StoredDisk, WrittenDay
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.health.traffic_findings import pool_traffic, traffic_findings
from nasadvisor.domain.health.wear.bill import (
    COUNTS,
    DATA,
    ROLES,
    UNATTRIBUTED,
    BillLine,
    Payee,
    WearBill,
    added_up,
    bill_of,
)
from nasadvisor.domain.health.wear.laid import laid
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.storage.inventory import Inventory, Pool, VdevClass
from nasadvisor.domain.units import DAY_S
from nasadvisor.stored.documents import to_document

HOUR_S: Final = Resolution.HOUR.value
LOOK_BACK: Final = timedelta(days=30)
"""Shares are those of the last weeks: the forecast's write rate looks back about as far."""

LEAST_SECONDS: Final = DAY_S
"""A day has its own course: nothing shorter is split."""

KEPT: Final = timedelta(days=2 * 365)

COLUMN_OF_CLASS: Final = {VdevClass.LOG: "log_bytes", VdevClass.CACHE: "cache_bytes"}
POOL_COLUMN, DRIVE_COLUMN, SECONDS = "pool_bytes", "drive_bytes", "seconds"
PAYEE_OF_COLUMN: Final = {"log_bytes": Payee.LOG, "cache_bytes": Payee.CACHE, POOL_COLUMN: Payee.UNDIVIDED}
ROLE_OF_COLUMN: Final = {column: ROLES.get(payee, DATA) for column, payee in PAYEE_OF_COLUMN.items()}
ORDER: Final = (*ROLE_OF_COLUMN.values(), UNATTRIBUTED)
LINES_A_DAY: Final = 40
"""[policy] Of so many writers a day the names are kept, the largest; the rest is in its role's column all the same."""

LINES_KEPT: Final = LOOK_BACK + timedelta(days=5)
"""A bill looks no further back: a year of lines would take more room than all else that is kept of a disk."""

BAR: Final = 1000
"""The length of a bar, in the units of its view box."""


@dataclass(frozen=True)
class LeafDrive:
    """What lies below one leaf vdev: which disk, since when it has its role, and which column its bytes go to.

    `counts_drive` is for one pool of each disk only, so that a disk of two pools is not counted twice.
    """

    disk_pk: int
    segment_at: datetime
    column: str
    counts_drive: bool


@dataclass(frozen=True)
class Part:
    """A role's piece of the bar: where it begins, and how long it is."""

    role: str
    share: float
    x: float
    width: float


@dataclass(frozen=True)
class Written:
    """What was written to one SSD within the seconds that were seen of the last weeks, and by whom."""

    seconds: float
    bill: WearBill

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The roles' shares side by side on a bar, in their own order so that two drives can be compared."""
        counts = {role: count for role in ORDER if (count := self.bill.bytes_of(role))}
        shares = {role: count / self.bill.total for role, count in counts.items()}
        begins = accumulate(shares.values(), initial=0.0)
        return tuple(
            Part(role, share, round(begin * BAR, 1), round(share * BAR, 1))
            for begin, (role, share) in zip(begins, shares.items(), strict=False)
        )

    @property
    def is_enough(self) -> bool:
        """Whether it was watched long enough for shares."""
        return self.seconds >= LEAST_SECONDS

    @property
    def days(self) -> int:
        """How long it was watched, in whole days."""
        return round(self.seconds / DAY_S)

    def bytes_per_day(self, role: str) -> int | None:
        """What one role writes a day; None if that is not known yet."""
        return self.a_day(self.bill.bytes_of(role)) if self.is_enough else None

    def a_day(self, count: int) -> int:
        """So many bytes of the whole time are so many a day."""
        return round(count * DAY_S / self.seconds) if self.seconds else 0


def add_hours(series: SampledPool, hours: Iterable[Sample]) -> None:
    """Add hours of a pool to the days of its SSDs. Within a transaction that sees to it that each is added once.

    An hour that began before the disk had its role belongs to neither.
    """
    inventory, facts = series.node.inventory, series.facts
    slices = _slices(inventory, series.guid) if inventory else {}
    drives = {leaf.disk: slices[leaf.guid] for leaf in facts.leaves if leaf.disk and leaf.guid in slices}
    pool = next((each for each in inventory.pools if each.guid == series.guid), None) if inventory else None
    sums: dict[tuple[int, datetime, date], Counter[str]] = {}
    lines: dict[tuple[int, datetime, date], list[BillLine]] = {}
    for hour in hours if slices else ():
        began = datetime.fromtimestamp(hour.at - HOUR_S, UTC)
        day = timezone.localtime(began).date()
        for part, column, count in _parts(hour, slices, drives):
            if part.segment_at <= began:
                sums.setdefault((part.disk_pk, part.segment_at, day), Counter())[column] += count
        for guid, found in laid(hour, facts, pool).items() if pool else ():
            if guid in slices and slices[guid].segment_at <= began:
                lines.setdefault((slices[guid].disk_pk, slices[guid].segment_at, day), []).extend(found)
    for (disk_pk, segment_at, day), counts in sums.items():
        locked = WrittenDay.objects.select_for_update()
        row, _ = locked.get_or_create(disk_id=disk_pk, segment_at=segment_at, day=day)
        changes: dict[str, Any] = {name: F(name) + count for name, count in counts.items()}
        if more := lines.get((disk_pk, segment_at, day)):
            changes["lines"] = _packed(added_up([*_lines_in(row.lines), *more]))
        WrittenDay.objects.filter(pk=row.pk).update(**changes)


def _packed(lines: Iterable[BillLine]) -> list[list[Any]]:
    named = [[line.kind.value, line.name, *(getattr(line, name) for name in COUNTS)] for line in lines]
    return named[:LINES_A_DAY]


def _lines_in(packed: Iterable[list[Any]]) -> list[BillLine]:
    return [BillLine(Payee(kind), *rest) for kind, *rest in packed]


def written_by_role(disks: Iterable[StoredDisk], now: datetime) -> dict[int, Written]:
    """By the disk's number, what its present roles wrote in the last weeks; one query for all of them."""
    return {pk: Written(row[f"all_{SECONDS}"], _bill(row, ())) for pk, row in _sums(_recent(disks, now)).items()}


def written_by_whom(disks: Iterable[StoredDisk], now: datetime) -> dict[int, Written]:
    """The same with a line for each dataset that they wrote for."""
    days = _recent(disks, now)
    lines: dict[int, list[BillLine]] = {}
    for pk, packed in days.values_list("disk", "lines"):
        lines.setdefault(pk, []).extend(_lines_in(packed))
    return {pk: Written(row[f"all_{SECONDS}"], _bill(row, lines.get(pk, ()))) for pk, row in _sums(days).items()}


def _recent(disks: Iterable[StoredDisk], now: datetime) -> QuerySet[WrittenDay]:
    """The days of the last weeks in the present role."""
    return WrittenDay.objects.filter(
        disk__in=[disk.pk for disk in disks],
        segment_at=F("disk__role_since"),
        day__gt=timezone.localtime(now).date() - LOOK_BACK,
    ).order_by()


def _sums(days: QuerySet[WrittenDay]) -> dict[int, Mapping[str, Any]]:
    columns = (*ROLE_OF_COLUMN, DRIVE_COLUMN, SECONDS)
    return {row["disk"]: row for row in days.values("disk").annotate(**{f"all_{name}": Sum(name) for name in columns})}


def _bill(row: Mapping[str, Any], lines: Sequence[BillLine]) -> WearBill:
    """The bill of one disk; what a column has beyond its lines was written before there were any, or by small ones."""
    known = list(lines)
    for column, payee in PAYEE_OF_COLUMN.items():
        rest = row[f"all_{column}"] - sum(line.device_bytes for line in lines if line.role == ROLE_OF_COLUMN[column])
        known.append(BillLine(payee, "", max(rest, 0)))
    return bill_of(row[f"all_{DRIVE_COLUMN}"], known)


def forget(now: datetime) -> None:
    """Remove days that nobody looks at any more, and lines that no bill has any more."""
    today = timezone.localtime(now).date()
    WrittenDay.objects.filter(day__lt=today - KEPT).delete()
    WrittenDay.objects.filter(day__lt=today - LINES_KEPT).exclude(lines=[]).update(lines=[])


def _slices(inventory: Inventory, pool_guid: str) -> dict[str, LeafDrive]:
    """The slices of a pool on SSDs, by the guid of their vdev."""
    index = Index(inventory)
    uses = {disk.key: found for disk in inventory.disks if not disk.rotational and (found := index.pool_uses_of(disk))}
    keys = [key for key, each in uses.items() if any(use.pool.guid == pool_guid for use in each)]
    known = StoredDisk.objects.only("key", "role_since").now_known_as(keys)
    return {
        use.vdev.guid: LeafDrive(
            disk.pk,
            disk.role_since,
            COLUMN_OF_CLASS.get(use.vdev_class, POOL_COLUMN),
            uses[key][0].pool.guid == pool_guid,
        )
        for key, disk in known.items()
        for use in uses[key]
        if use.pool.guid == pool_guid
    }


def _parts(
    hour: Sample, slices: Mapping[str, LeafDrive], drives: Mapping[str, LeafDrive]
) -> Iterator[tuple[LeafDrive, str, int]]:
    """What one hour adds, and to which column."""
    for vdev in hour.vdevs:
        part = slices.get(vdev.guid)
        if part:
            yield part, part.column, vdev.written_bytes
    for disk in hour.disks:
        part = drives.get(disk.key)
        if part and part.counts_drive:
            yield part, DRIVE_COLUMN, disk.written_bytes
    for part in {each.disk_pk: each for each in slices.values() if each.counts_drive}.values():
        yield part, SECONDS, round(min(hour.seconds, HOUR_S))


TRAFFIC_S: Final = 7 * DAY_S
"""Logs and caches are judged by a week, as verdicts are."""


def add_up() -> None:
    """Add up what is new. Each hour counts once, however often and by how many processes this is called."""
    for series in SampledPool.objects.select_related("node").defer("node__inventory_document"):
        newest = series.samples.filter(resolution=Resolution.HOUR).aggregate(last=Max("at"))["last"] or 0
        if newest <= series.added_until:
            continue
        with transaction.atomic():
            row = SampledPool.objects.filter(pk=series.pk)
            # Whoever moves `added_until` on has the hours before it.
            if row.filter(added_until=series.added_until).update(added_until=newest):
                week = list(whole_samples_of(series, Resolution.HOUR, newest - TRAFFIC_S, newest))
                add_hours(series, (hour for hour in week if hour.at > series.added_until))
                row.update(traffic_document=to_document(pool_traffic(week, series.facts)))


HELD: Final = timedelta(hours=3)
"""An hour of samples is added up soon after its end; one that is older says nothing about now."""


def traffic_of(node: Node, pool: Pool, now: datetime) -> tuple[Finding, ...] | None:
    """What there is to say; None where nobody watched of late, who cannot say that something is over."""
    watched = SampledPool.objects.filter(node=node, guid=pool.guid, traffic_document__isnull=False)
    series = watched.defer("facts_document", "names").first()
    seen = series.traffic if series else None
    if seen is None or now.timestamp() - seen.until > HELD.total_seconds():
        return None
    return (*traffic_findings(pool, seen.log), *traffic_findings(pool, seen.cache))
