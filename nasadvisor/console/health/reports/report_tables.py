"""The tables of a report: logs and caches with what they brought, hard disks with what they count and how that moved,
SSDs with how they wear.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nasadvisor.console.change.models import StoredRun, StoredRunState
from nasadvisor.console.charts.svg import NARROW
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.evidence.report import Report, report_of
from nasadvisor.console.evidence.verdict_badges import series_on
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.disk_badges import WORST_FIRST, badge_of
from nasadvisor.console.health.bytes_by_role import Written, written_by_role
from nasadvisor.console.health.disks.wear_chart import WearChart, wear_chart, wear_points
from nasadvisor.console.health.forecasts import stored_forecast, with_ratings
from nasadvisor.console.health.models import NOT_LISTED, DiskOutcome, StoredDisk
from nasadvisor.console.health.readings import TREND, Temperatures, change_of, days_of, temperatures_of
from nasadvisor.console.health.wear_bill import written_by_guests
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.console.storage.disks import PoolIssue, issues_by_key
from nasadvisor.console.wording.badges import GOOD, WAITING, WARN, Badge, badge_of_state
from nasadvisor.domain.health.smart.attributes import GROWN_DEFECTS, PENDING_DEFECTS
from nasadvisor.domain.health.traffic_findings import Traffic
from nasadvisor.domain.health.wear.forecast import Spread
from nasadvisor.domain.health.wear.what_if import part_of
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Pool, Vdev, VdevClass
from nasadvisor.stored.documents import DocumentError

COMPARED: Final = 4
"""Runs whose before and after a report shows: each reads a week of samples and more."""

IN_USE_LISTED: Final = 50
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
        inventory = node.inventory if len(found) < IN_USE_LISTED else None
        if not inventory or not any(pool.logs or pool.caches for pool in inventory.pools):
            continue
        index, series = Index(inventory), series_on(node)
        for pool in inventory.pools:
            for vdev_class, tops in pool.by_class().items():
                if tops and vdev_class in ROLES:
                    found.append(_in_use(node, pool, vdev_class, tops, index, series.get(pool.guid), now))
    return found[:IN_USE_LISTED]


def comparisons(now: datetime) -> list[Report]:
    """What the newest runs brought, newest first; those of another release and unwatched ones are left out."""
    done = StoredRun.objects.filter(state__in=(StoredRunState.APPLIED, StoredRunState.UNDONE))
    found: list[Report] = []
    for stored in done.select_related("node").defer("node__inventory_document")[:COMPARED]:
        with suppress(DocumentError):
            compared = report_of(stored, now)
            found += [compared] if compared else []
    return found


def _in_use(
    node: Node,
    pool: Pool,
    vdev_class: VdevClass,
    tops: tuple[Vdev, ...],
    index: Index,
    watched: SampledPool | None,
    now: datetime,
) -> InUse:
    role = ROLES[vdev_class]
    places = (index.inventory.place_of(leaf) for top in tops for leaf in top.leaves())
    known = StoredDisk.objects.defer("reading_document").now_known_as(place[0].key for place in places if place)
    disks = sorted(known.values(), key=lambda disk: (disk.model, disk.serial))
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


def _side(disk: StoredDisk, role: str, now: datetime) -> SsdGain:
    kept = stored_forecast(disk)
    written = written_by_role([disk], now).get(disk.pk)
    if written is None or not written.is_enough:
        return SsdGain(disk.label, None, None)
    part = next((each for each in written.parts if each.role == role), None)
    return SsdGain(
        disk.label, written.bytes_per_day(role), part_of(kept.forecast, part.share) if kept and part else None
    )


def _added(node: Node, pool: Pool, role: str) -> StoredRun | None:
    """The newest run of ours that added one, unless it was taken back."""
    applied = StoredRun.objects.filter(node=node, pool_guid=pool.guid, state=StoredRunState.APPLIED)
    for stored in applied:
        with suppress(DocumentError):
            request = stored.run.plan.request
            if request.log_disks if role == ROLES[VdevClass.LOG] else request.cache_disks:
                return stored
    return None


LISTED: Final = 100
DRAWN: Final = 8

REALLOCATED: Final = ("5", GROWN_DEFECTS)
PENDING: Final = ("197", PENDING_DEFECTS)
CRC: Final = ("199",)
"""Keys of `smart.attributes` by which the days of a disk have these counts where they are hard disks."""

SaidByPools = Mapping[tuple[int, str], PoolIssue]
"""What pools say against disks, by the number of the node and the key of the disk there."""


@dataclass(frozen=True)
class Count:
    """What a disk counts, None where it does not, and how much more that is than at the beginning of the period."""

    now: int | None
    more: int | None


@dataclass(frozen=True)
class HardDisk:
    """A hard disk with what it counts."""

    disk: StoredDisk
    look: Badge
    reallocated: Count
    pending: Count
    crc: Count
    temperatures: Temperatures | None


@dataclass(frozen=True)
class Ssd:
    """An SSD, with who writes to it; the disk has `rated_terabytes`."""

    disk: StoredDisk
    look: Badge
    written: Written | None


@dataclass(frozen=True)
class Drawn:
    """An SSD with its picture."""

    disk: StoredDisk
    chart: WearChart


def hard_disks(now: datetime, said: SaidByPools) -> list[HardDisk]:
    """The hard disks of all hosts, those that need a look first."""
    found = _listed(said).filter(is_rotational=True).defer(*NOT_LISTED)
    counts = [F(name).desc(nulls_last=True) for name in ("pending", "reallocated", "crc_errors")]
    against = Case(When(key__in={key for _, key in said}, is_present=True, then=Value(0)), default=Value(1))
    disks = list(found.order_by(WORST_FIRST.asc(), against.asc(), *counts, "node__name", "model", "serial")[:LISTED])
    days, heat = days_of(disks), temperatures_of(disks, now - TREND)
    looks = {disk.pk: look_of(disk, said.get((disk.node_id, disk.key))) for disk in disks}
    return [_hard_disk(disk, looks[disk.pk], days.get(disk.pk, []), heat.get(disk.pk), now) for disk in disks]


def count_of_hard_disks(said: SaidByPools) -> int:
    """All of them of which anything is known, whether there is room to list them or not."""
    return _listed(said).filter(is_rotational=True).count()


def ssds(now: datetime, said: SaidByPools) -> list[Ssd]:
    """The SSDs of all hosts, those first that wear out first."""
    disks = list(with_ratings(_by_wear(_listed(said)).defer(*NOT_LISTED))[:LISTED])
    written = written_by_guests(disks, now)
    return [Ssd(disk, look_of(disk, said.get((disk.node_id, disk.key))), written.get(disk.pk)) for disk in disks]


def count_of_ssds(said: SaidByPools) -> int:
    """All of them of which anything is known, whether there is room to list them or not."""
    return _listed(said).filter(is_rotational=False).count()


def count_of_unasked(said: SaidByPools) -> int:
    """The disks of which there is nothing to list: they were never asked, and no pool complains of them."""
    return _known().count() - _listed(said).count()


def drawn_ssds(now: datetime) -> list[Drawn]:
    """The pictures of those that wear out first."""
    disks = _by_wear(_known()).filter(has_forecast=True, percent_used__gt=0)[:DRAWN]
    found = []
    for disk in disks.defer("node__inventory_document"):
        kept = stored_forecast(disk)
        found.append(Drawn(disk, wear_chart(wear_points(disk), kept.fan if kept else (), now, NARROW)))
    return found


def look_of(disk: StoredDisk, issue: PoolIssue | None) -> Badge:
    """How a disk is, in a mark and a word. `issue` is what its pools say against it."""
    mark = badge_of(disk)
    is_out = issue is not None and bool(issue.state) and disk.is_present
    if mark and (mark.level is Level.CRITICAL or not is_out):
        return mark.look
    if issue and disk.is_present:
        errors = ngettext("%(errors)s I/O error", "%(errors)s I/O errors", issue.errors) % {"errors": issue.errors}
        return badge_of_state(issue.state) if issue.state else Badge(*WARN, errors)
    if disk.outcome == DiskOutcome.READ:
        return Badge(*GOOD, _("Healthy"))
    return badge_of_state(disk.outcome) if disk.outcome else Badge(*WAITING, _("Not checked yet"))


def said_by_pools(nodes: Iterable[Node]) -> SaidByPools:
    """What the pools of these hosts say against disks."""
    read = ((node.pk, node.inventory) for node in nodes)
    indexes = ((pk, Index(inventory)) for pk, inventory in read if inventory)
    return {(pk, key): issue for pk, index in indexes for key, issue in issues_by_key(index).items()}


def _known() -> QuerySet[StoredDisk]:
    return StoredDisk.objects.filter(is_forgotten=False).select_related("node")


def _listed(said: SaidByPools) -> QuerySet[StoredDisk]:
    return _known().filter(~Q(outcome=DiskOutcome.NEVER) | Q(key__in={key for _, key in said}))


def _by_wear(disks: QuerySet[StoredDisk]) -> QuerySet[StoredDisk]:
    order = (F("worn_out_at").asc(nulls_last=True), F("percent_used").desc(nulls_last=True))
    return disks.filter(is_rotational=False).order_by(*order, "node__name", "model", "serial")


def _hard_disk(
    disk: StoredDisk, look: Badge, days: list[tuple[date, Mapping[str, int]]], heat: Temperatures | None, now: datetime
) -> HardDisk:
    today = timezone.localtime(now).date()

    def count(value: int | None, keys: tuple[str, ...]) -> Count:
        if value is None:
            return Count(None, None)
        changes = (change_of(key, value, days, today) for key in keys)
        return Count(value, next((change[0] for change in changes if change), None))

    return HardDisk(
        disk=disk,
        look=look,
        reallocated=count(disk.reallocated, REALLOCATED),
        pending=count(disk.pending, PENDING),
        crc=count(disk.crc_errors, CRC),
        temperatures=heat,
    )
