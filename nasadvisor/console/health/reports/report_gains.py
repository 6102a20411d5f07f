"""The logs and caches of a report: since when each is there, what it takes now, what it brought, and what it wears."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.evidence.report import Report, report_of
from nasadvisor.console.evidence.verdict_badges import series_on
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.bytes_by_role import written_by_role
from nasadvisor.console.health.forecasts import stored_forecast
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.domain.health.traffic_findings import Traffic
from nasadvisor.domain.health.wear.forecast import Spread
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev, VdevClass
from nasadvisor.stored.documents import DocumentError

COMPARED: Final = 4
"""Runs whose before and after a report shows: each reads a week of samples and more."""

LISTED: Final = 50
HOURS_A_DAY: Final = 24.0
ROLES: Final = {VdevClass.LOG: "log", VdevClass.CACHE: "cache"}


@dataclass(frozen=True)
class SsdGain:
    """One SSD of a log or cache: what is written to it for that a day, and the points of its endurance a year."""

    name: str
    bytes_per_day: int | None
    percent_per_year: Spread | None


@dataclass(frozen=True)
class InUse:
    """A log or cache of a pool. `added` is the run of ours that added it; `since` when it was seen there first."""

    node: Node
    pool: Pool
    role: str
    sides: tuple[SsdGain, ...]
    is_mirror: bool
    added: StoredRun | None
    since: datetime | None
    traffic: Traffic | None

    @property
    def is_log(self) -> bool:
        """Whether it is a log."""
        return self.role == ROLES[VdevClass.LOG]

    @property
    def share(self) -> float | None:
        """Of the log blocks, how many go to the log; None where nothing was written synchronously."""
        seen = self.traffic
        total = seen.log_bytes + seen.spilled_bytes if seen else 0
        return seen.log_bytes / total if seen and total else None

    @property
    def taken_per_day(self) -> float | None:
        """Bytes that the log took a day."""
        return self._per_day(self.traffic.log_bytes) if self.traffic else None

    @property
    def served_per_day(self) -> float | None:
        """Bytes that were read from caches a day, of all pools of the host together."""
        return self._per_day(self.traffic.cache_read_bytes) if self.traffic else None

    @property
    def filled_per_day(self) -> float | None:
        """Bytes that were written to caches a day, of all pools of the host together."""
        return self._per_day(self.traffic.cache_written_bytes) if self.traffic else None

    def _per_day(self, count: int) -> float | None:
        return count / self.traffic.hours * HOURS_A_DAY if self.traffic and self.traffic.hours else None


def in_use(nodes: Iterable[Node], now: datetime) -> list[InUse]:
    """Every log and cache of all hosts, as far as a report has room."""
    found: list[InUse] = []
    for node in nodes:
        inventory = node.inventory if len(found) < LISTED else None
        if inventory and any(pool.logs or pool.caches for pool in inventory.pools):
            found += _of_host(node, inventory, now)
    return found[:LISTED]


def comparisons(now: datetime) -> list[Report]:
    """What the newest runs brought, newest first; those of another release and unwatched ones are left out."""
    done = StoredRun.objects.filter(state__in=(StoredRunState.APPLIED, StoredRunState.UNDONE))
    found: list[Report] = []
    for stored in done.select_related("node").defer("node__inventory_document")[:COMPARED]:
        with suppress(DocumentError):
            compared = report_of(stored, now)
            found += [compared] if compared else []
    return found


def _of_host(node: Node, inventory: Inventory, now: datetime) -> Iterator[InUse]:
    index, series = Index(inventory), series_on(node)
    for pool in inventory.pools:
        for vdev_class, tops in pool.by_class().items():
            if tops and vdev_class in ROLES:
                yield _in_use(node, pool, vdev_class, tops, index, series, now)


def _in_use(
    node: Node,
    pool: Pool,
    vdev_class: VdevClass,
    tops: tuple[Vdev, ...],
    index: Index,
    series: Mapping[str, SampledPool],
    now: datetime,
) -> InUse:
    role = ROLES[vdev_class]
    disks = _disks_of(tops, index)
    watched = series.get(pool.guid)
    seen = watched.traffic if watched else None
    traffic = (seen.log if vdev_class is VdevClass.LOG else seen.cache) if seen else None
    return InUse(
        node=node,
        pool=pool,
        role=role,
        sides=tuple(_side(disk, role, now) for disk in disks),
        is_mirror=any(top.children for top in tops),
        added=_added(node, pool, role),
        since=max((disk.role_since for disk in disks), default=None),
        traffic=traffic if traffic and traffic.hours else None,
    )


def _disks_of(tops: Iterable[Vdev], index: Index) -> list[StoredDisk]:
    places = (index.inventory.place_of(leaf) for top in tops for leaf in top.leaves())
    known = StoredDisk.objects.defer("reading_document").now_known_as(place[0].key for place in places if place)
    return sorted(known.values(), key=lambda disk: (disk.model, disk.serial))


def _side(disk: StoredDisk, role: str, now: datetime) -> SsdGain:
    kept = stored_forecast(disk)
    written = written_by_role([disk], now, kept.forecast.percent_per_year if kept else None).get(disk.pk)
    if written is None or not written.is_enough:
        return SsdGain(disk.label, None, None)
    part = next((each for each in written.parts if each.share.role == role), None)
    return SsdGain(disk.label, written.bytes_per_day(role), part.wear if part else None)


def _added(node: Node, pool: Pool, role: str) -> StoredRun | None:
    """The newest run of ours that added one, unless it was taken back."""
    applied = StoredRun.objects.filter(node=node, pool_guid=pool.guid, state=StoredRunState.APPLIED)
    for stored in applied:
        with suppress(DocumentError):
            request = stored.run.plan.request
            if request.log_disks if role == ROLES[VdevClass.LOG] else request.cache_disks:
                return stored
    return None
