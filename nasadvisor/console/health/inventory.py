"""Which disks there are, what they do, and how full each pool is, day by day: taken over from each inventory."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Final
from uuid import uuid4

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from nasadvisor.console.charts.history_chart import HistoryChart, Series, history_charts, start_of
from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.hosts import heard_from
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import Quota
from nasadvisor.console.health.models import LARGE_FIELDS, PoolDay, StoredDisk
from nasadvisor.console.storage.disk_uses import Index, is_system
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.storage.inventory import Disk, HoldKind, Inventory, Pool, VdevClass
from nasadvisor.domain.units import GIB, TIB
from nasadvisor.stored.documents import Json, to_document


def known_protection(inventory: Inventory) -> dict[str, str]:
    """A `power_loss.Protection` for each disk of the inventory that was asked, by its key."""
    found = StoredDisk.objects.filter(node__name=inventory.host.node).exclude(power_loss="")
    return dict(found.values_list("key", "power_loss"))


OVERTAKEN_WITHIN = timedelta(minutes=5)

SYSTEM = "system"
ROLE_OF_CLASS = {
    VdevClass.LOG: "log",
    VdevClass.CACHE: "cache",
    VdevClass.SPARE: "spare",
    VdevClass.NORMAL: "data",
    VdevClass.SPECIAL: "special",
    VdevClass.DEDUP: "dedup",
}
"""The order is that of their writing, for disks that do several things: see `role_of`."""


@dataclass(frozen=True)
class DiskRole:
    """What a disk does ("log+cache", "data", "system", "" for nothing), for which pool, in which of its vdevs, and as
    which leaves, by their guids.
    """

    words: str = ""
    pool_name: str = ""
    vdev_name: str = ""
    leaf_guids: tuple[str, ...] = ()


def role_of(disk: Disk, index: Index) -> DiskRole:
    """What a disk does, as the pools' layouts tell."""
    uses = index.pool_uses_of(disk)
    found = {ROLE_OF_CLASS[use.vdev_class] for use in uses}
    if found:
        words = "+".join(role for role in ROLE_OF_CLASS.values() if role in found)
        return DiskRole(words, uses[0].pool.name, uses[0].top_name, tuple(use.vdev.guid for use in uses))
    return DiskRole(SYSTEM) if is_system(disk) else DiskRole()


def store_inventory(node_name: str, inventory: Inventory, document: Json) -> Node:
    """Keep a host's newest inventory; an older one that arrives late is dropped.

    One that is older by more than `OVERTAKEN_WITHIN` was not overtaken: the host's clock was set back.

    Raises:
        QuotaReached: it has more disks or pools than one host has.
    """
    read_at = datetime.fromisoformat(inventory.read_at)
    node = heard_from(node_name)
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
        # How full each pool that could be read is, once a day.
        day = timezone.localtime(read_at).date()
        noted = set(PoolDay.objects.filter(node=node, day=day).values_list("guid", flat=True))
        PoolDay.objects.bulk_create(
            (
                PoolDay(node=node, guid=p.guid, day=day, allocated_bytes=p.allocated_bytes, size_bytes=p.size_bytes)
                for p in inventory.pools
                if p.guid not in noted and not p.problem
            ),
            ignore_conflicts=True,
        )
        findings = [to_document(finding) for finding in findings_on(node, inventory)]
        Node.objects.filter(pk=node.pk).update(finding_documents=findings)
    return node


def store_inventory_error(node_name: str, _about: str, document: Json) -> None:
    """Note why a host could not read itself; its last inventory stays."""
    Node.objects.filter(pk=heard_from(node_name).pk).update(inventory_error_document=document)


def note_disks(node: Node, inventory: Inventory, read_at: datetime) -> None:
    """Take over which disks there are; only what has changed is written."""
    index = Index(inventory)
    present = {disk.key: disk for disk in inventory.disks}
    known = StoredDisk.objects.defer(*LARGE_FIELDS).now_known_as(present)
    unread = {pool.name for pool in inventory.pools if pool.problem}
    with transaction.atomic():
        gone = StoredDisk.objects.filter(node=node, is_present=True).exclude(key__in=list(present))
        gone.update(is_present=False)
        for key, disk in _with_room(node, present, known).items():
            stored = known.get(key)
            if stored and any(hold.kind is HoldKind.POOL and hold.what in unread for hold in disk.all_holds):
                # A pool that could not be read holds it: what it does there is as it was.
                role = DiskRole(stored.role, stored.pool_name, stored.vdev_name, tuple(stored.leaf_guids))
            else:
                role = role_of(disk, index)
            _note(node, disk, role, stored, read_at)


def last_seen_on(node: Node) -> dict[str, StoredDisk]:
    """The disks that a node shows no more, by the guids of the vdevs that they were when they were seen last."""
    gone = StoredDisk.objects.filter(node=node, is_present=False).defer(*LARGE_FIELDS)
    return {guid: disk for disk in gone for guid in disk.leaf_guids}


def findings_on(node: Node, inventory: Inventory) -> tuple[Finding, ...]:
    """What the last inventory of a node gives reason to say, with the names of disks that it shows no more."""
    last_seen = {guid: disk.label for guid, disk in last_seen_on(node).items()}
    return findings_of(inventory, last_seen, growth_on(node, datetime.fromisoformat(inventory.read_at)))


def _with_room(node: Node, present: dict[str, Disk], known: dict[str, StoredDisk]) -> dict[str, Disk]:
    """The disks that are known, and as many new ones as there is room for."""
    new = [key for key in present if key not in known]
    if not new:
        return present
    room = max(0, quotas.MOST_DISKS - StoredDisk.objects.filter(node=node).count())
    if len(new) > room:
        quotas.note(node.name, Quota.DISKS)
    left_out = frozenset(new[room:])
    return {key: disk for key, disk in present.items() if key not in left_out}


def _note(node: Node, disk: Disk, role: DiskRole, stored: StoredDisk | None, read_at: datetime) -> None:
    facts: dict[str, object] = {
        "is_rotational": disk.rotational,
        "is_removable": disk.removable,
        "role": role.words,
        "pool_name": role.pool_name,
        "vdev_name": role.vdev_name,
        "leaf_guids": list(role.leaf_guids),
        "is_present": True,
        "is_forgotten": False,
    }
    if stored is None:
        StoredDisk.objects.get_or_create(
            key=disk.key,
            own_serial="",
            defaults={
                **facts,
                "node": node,
                "model": disk.identity.model,
                "serial": disk.identity.serial,
                "size_bytes": disk.identity.size_bytes,
                "first_seen_at": read_at,
                "last_seen_at": read_at,
                "role_since": read_at,
            },
        )
        return
    is_elsewhere = stored.node_id != node.pk and stored.is_present
    if is_elsewhere:
        return  # both nodes see it, as in a shared shelf: it stays with the first
    facts["node_id"] = node.pk
    if (stored.role, stored.pool_name) != (role.words, role.pool_name):
        facts["role_since"] = read_at
    if any(getattr(stored, field) != value for field, value in facts.items()):
        StoredDisk.objects.filter(pk=stored.pk).update(**facts, last_seen_at=read_at)


SHOWN: Final = timedelta(days=365)
COMPARED: Final = timedelta(days=30)
WATCHED_AT_LEAST: Final = timedelta(days=7)
"""Less says nothing of how a pool grows."""


@dataclass(frozen=True)
class Capacity:
    """How full a pool was on earlier days, and how much more is used now than on `since`; None on the first day."""

    pool: Pool
    days: tuple[tuple[date, int], ...]
    now: datetime
    since: date | None
    change_bytes: int

    @cached_property
    def charts(self) -> tuple[HistoryChart, ...]:
        """The picture for wide and narrow screens; none before the second day."""
        if not self.days:
            return ()
        unit, name = (TIB, " TiB") if self.pool.size_bytes >= 4 * TIB else (GIB, " GiB")
        points = [(start_of(day), used / unit) for day, used in self.days]
        series = Series(_("Used"), [*points, (self.now, self.pool.allocated_bytes / unit)])
        return history_charts([series], points[0][0], self.now, name, (0,))

    @property
    def more_bytes(self) -> int:
        """How many bytes were added, 0 where it shrank."""
        return max(0, self.change_bytes)

    @property
    def less_bytes(self) -> int:
        """How many bytes were freed, 0 where it grew."""
        return max(0, -self.change_bytes)


def growth_on(node: Node, now: datetime) -> dict[str, float]:
    """How many bytes each pool of a node took up a day lately, by its guid; those hardly known are left out."""
    since = timezone.localtime(now).date() - COMPARED
    days: dict[str, list[tuple[date, int]]] = {}
    kept = PoolDay.objects.filter(node=node, day__gte=since).order_by("day")
    for guid, day, used in kept.values_list("guid", "day", "allocated_bytes"):
        days.setdefault(guid, []).append((day, used))
    ends = {guid: (found[0], found[-1]) for guid, found in days.items()}
    return {
        guid: (last_used - first_used) / (last - first).days
        for guid, ((first, first_used), (last, last_used)) in ends.items()
        if last - first >= WATCHED_AT_LEAST
    }


def capacity_of(node: Node, pool: Pool, now: datetime) -> Capacity:
    """How full a pool was on the days that it was watched, and is now."""
    today = timezone.localtime(now).date()
    kept = PoolDay.objects.filter(node=node, guid=pool.guid, day__gte=today - SHOWN, day__lt=today)
    days = tuple(kept.values_list("day", "allocated_bytes"))
    if not days:
        return Capacity(pool, (), now, None, 0)
    since, used_then = next((each for each in days if each[0] >= today - COMPARED), days[-1])
    return Capacity(pool, days, now, since, pool.allocated_bytes - used_then)
