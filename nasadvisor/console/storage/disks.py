"""The list of disks, and the page of one."""

from dataclasses import dataclass
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console.fleet.shown import current_node
from nasadvisor.console.storage.diagrams import TITLES, draw_disk
from nasadvisor.console.storage.disk_uses import Index, is_system
from nasadvisor.domain.change.plan import room_on
from nasadvisor.domain.change.targets import can_have_slice
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Host, Inventory

FREE, SYSTEM, REST = "free", "system", "rest"

HOLD_WORDS: Final[dict[HoldKind, str | Promise]] = {
    HoldKind.BOOT: gettext_lazy("Boots this machine ({what})"),
    HoldKind.MOUNT: gettext_lazy("Mounted at {what}"),
    HoldKind.SWAP: gettext_lazy("Swap space"),
    HoldKind.HOLDER: gettext_lazy("Under {what}"),
    HoldKind.LVM: gettext_lazy("LVM {what}"),
    HoldKind.RAID: gettext_lazy("RAID {what}"),
    HoldKind.CEPH: gettext_lazy("Ceph {what}"),
    HoldKind.FILESYSTEM: gettext_lazy("Filesystem {what}"),
    HoldKind.POOL: gettext_lazy("Pool {what}"),
    HoldKind.EXPORTED_POOL: gettext_lazy("Exported pool {what}"),
    HoldKind.SIGNATURE: gettext_lazy("Data of the kind {what}"),
    HoldKind.READ_ONLY: gettext_lazy("Read-only"),
    HoldKind.DUPLICATE: gettext_lazy("Same identity as {what}"),
    HoldKind.UNREADABLE: gettext_lazy("Nothing may be assumed: {what}"),
}


@dataclass(frozen=True)
class DiskRow:
    """A disk in the list: what it is used for, its unpartitioned room beside that, and why it cannot be used at all."""

    disk: Disk
    uses: tuple[str, ...]
    room_bytes: int
    refusal: Refused | None


@dataclass(frozen=True)
class DiskGroup:
    """Disks that are used alike."""

    title: str
    is_free: bool
    rows: tuple[DiskRow, ...]


def disks(request: HttpRequest) -> HttpResponse:
    """Every disk of the node, grouped by use."""
    node = current_node(request)
    if node is None:
        return render(request, "fleet/no_node.html", {"section": "disks"})
    inventory = node.inventory
    context = {
        "node": node,
        "inventory": inventory,
        "groups": (lambda: group_disks(inventory)) if inventory else (),
        "section": "disks",
    }
    return render(request, "storage/disks.html", context)


def disk(request: HttpRequest, key: str) -> HttpResponse:
    """One disk: all its names, its partitions to scale, what holds it."""
    node = current_node(request)
    inventory = node.inventory if node else None
    found = next((each for each in inventory.disks if each.key == key), None) if inventory else None
    if inventory is None or found is None:
        raise Http404
    index = Index(inventory)
    context = {
        "node": node,
        "inventory": inventory,
        "disk": found,
        "drawing": draw_disk(found, index),
        "uses": uses_of(found, index),
        "parts": [(part, [hold_words(hold) for hold in part.holds]) for part in found.partitions],
        "pool_uses": index.pool_uses_of(found),
        "is_free": is_free(found, inventory.host),
        "refusal": reason_against(found, inventory.host),
        "section": "disks",
    }
    return render(request, "storage/disk.html", context)


def is_free(disk: Disk, host: Host) -> bool:
    """Whether nothing is on it and nothing forbids its use."""
    return not disk.partitions and reason_against(disk, host) is None


def reason_against(disk: Disk, host: Host) -> Refused | None:
    """Why a disk cannot be a target; None if it can, be it only in the room beside its partitions."""
    answer = can_have_slice(disk, host)
    return answer if isinstance(answer, Refused) else None


def free_disks(inventory: Inventory) -> tuple[Disk, ...]:
    """The disks with nothing on them."""
    return tuple(disk for disk in inventory.disks if is_free(disk, inventory.host))


def group_disks(inventory: Inventory) -> tuple[DiskGroup, ...]:
    """Free ones first, then pool by pool, then the system's, then the rest with the reasons against them."""
    index = Index(inventory)
    titles = {
        FREE: _("Free"),
        **{pool.guid: _("In pool %(pool)s") % {"pool": pool.name} for pool in inventory.pools},
        SYSTEM: _("System"),
        REST: _("Otherwise in use"),
    }
    members: dict[str, list[DiskRow]] = {name: [] for name in titles}
    for each in inventory.disks:
        group = _group_of(each, index)
        members[group].append(_row(each, index, group))
    return tuple(DiskGroup(titles[name], name == FREE, tuple(rows)) for name, rows in members.items() if rows)


def uses_of(disk: Disk, index: Index) -> tuple[str, ...]:
    """What a disk is used for, in words: its pools and classes, then everything else that holds it."""
    pools = [f"{use.pool.name}: {TITLES[use.vdev_class]}" for use in index.pool_uses_of(disk)]
    known = {use.pool.name for use in index.pool_uses_of(disk)}
    others = [hold_words(hold) for hold in disk.all_holds if hold.kind is not HoldKind.POOL or hold.what not in known]
    return tuple(dict.fromkeys(pools + others))


def hold_words(hold: Hold) -> str:
    """What holds a disk or partition, in a few words."""
    return str(HOLD_WORDS[hold.kind]).format(what=hold.what)


def _group_of(disk: Disk, index: Index) -> str:
    """`FREE`, `SYSTEM`, `REST` or the guid of a pool."""
    uses = index.pool_uses_of(disk)
    if is_system(disk):
        return SYSTEM
    if uses:
        return uses[0].pool.guid
    return FREE if is_free(disk, index.inventory.host) else REST


def _row(disk: Disk, index: Index, group: str) -> DiskRow:
    host = index.inventory.host
    answer = reason_against(disk, host)
    shown = answer if group in (SYSTEM, REST) else None
    room_bytes = room_on(disk, host, 0).size_bytes if disk.partitions and answer is None else 0
    return DiskRow(disk, uses_of(disk, index), room_bytes, shown)
