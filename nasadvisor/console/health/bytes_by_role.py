"""By whom each SSD is written: hours of its pools' samples added up to days, and what came of the last weeks.

The kernel counts for every partition, so a slice's writing is known by itself; what it counts for the whole drive
beyond that is somebody else's.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Max, Sum
from django.utils import timezone

from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.series import whole_samples_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import StoredDisk, WrittenDay
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.health.traffic_findings import pool_traffic, traffic_findings
from nasadvisor.domain.health.wear.forecast import Spread
from nasadvisor.domain.health.wear.roles import UNATTRIBUTED, Attribution, RoleBytes, RoleShare, attribute
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
ROLE_OF_COLUMN: Final = {"log_bytes": "log", "cache_bytes": "cache", POOL_COLUMN: "data"}
ORDER: Final = (*ROLE_OF_COLUMN.values(), UNATTRIBUTED)
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
    """A role's piece of the bar: where it begins, and how long it is. `wear` is its part in the points of a year."""

    share: RoleShare
    x: float
    width: float
    bytes_per_day: int
    wear: Spread | None


@dataclass(frozen=True)
class Written:
    """What was written to one SSD within the seconds that were seen of the last weeks, and by which role."""

    seconds: float
    attribution: Attribution
    percent_per_year: Spread | None

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The roles' shares side by side on a bar, in their own order so that two drives can be compared."""
        shares = sorted(self.attribution.shares, key=lambda share: ORDER.index(share.role))
        begins = accumulate((share.share for share in shares), initial=0.0)
        year = self.percent_per_year
        return tuple(
            Part(
                share,
                round(begin * BAR, 1),
                round(share.share * BAR, 1),
                round(share.bytes_written * DAY_S / self.seconds) if self.seconds else 0,
                Spread(year.low * share.share, year.middle * share.share, year.high * share.share) if year else None,
            )
            for begin, share in zip(begins, shares, strict=False)
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
        found = sum(share.bytes_written for share in self.attribution.shares if share.role == role)
        return round(found * DAY_S / self.seconds) if self.is_enough else None


def add_hours(series: SampledPool, hours: Iterable[Sample]) -> None:
    """Add hours of a pool to the days of its SSDs. Within a transaction that sees to it that each is added once.

    An hour that began before the disk had its role belongs to neither.
    """
    inventory = series.node.inventory
    slices = _slices(inventory, series.guid) if inventory else {}
    drives = {leaf.disk: slices[leaf.guid] for leaf in series.facts.leaves if leaf.disk and leaf.guid in slices}
    sums: dict[tuple[int, datetime, date], Counter[str]] = {}
    for hour in hours if slices else ():
        began = datetime.fromtimestamp(hour.at - HOUR_S, UTC)
        day = timezone.localtime(began).date()
        for part, column, count in _parts(hour, slices, drives):
            if part.segment_at <= began:
                sums.setdefault((part.disk_pk, part.segment_at, day), Counter())[column] += count
    for (disk_pk, segment_at, day), counts in sums.items():
        row, _ = WrittenDay.objects.get_or_create(disk_id=disk_pk, segment_at=segment_at, day=day)
        WrittenDay.objects.filter(pk=row.pk).update(**{name: F(name) + count for name, count in counts.items()})


def written_by_role(
    disks: Iterable[StoredDisk], now: datetime, percent_per_year: Spread | None = None
) -> Mapping[int, Written]:
    """By the disk's number, what its present roles wrote in the last weeks; one query for all of them."""
    rows: Iterable[Mapping[str, Any]] = (
        WrittenDay.objects.filter(
            disk__in=[disk.pk for disk in disks],
            segment_at=F("disk__role_since"),
            day__gt=timezone.localtime(now).date() - LOOK_BACK,
        )
        .order_by()
        .values("disk")
        .annotate(**{f"all_{name}": Sum(name) for name in (*ROLE_OF_COLUMN, DRIVE_COLUMN, SECONDS)})
    )
    middle = percent_per_year.middle if percent_per_year else None
    found = {}
    for row in rows:
        roles = [RoleBytes(role, row[f"all_{column}"]) for column, role in ROLE_OF_COLUMN.items()]
        attribution = attribute(row[f"all_{DRIVE_COLUMN}"], [role for role in roles if role.bytes_written], middle)
        found[row["disk"]] = Written(row[f"all_{SECONDS}"], attribution, percent_per_year)
    return found


def forget(now: datetime) -> None:
    """Remove days that nobody looks at any more."""
    WrittenDay.objects.filter(day__lt=timezone.localtime(now).date() - KEPT).delete()


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
