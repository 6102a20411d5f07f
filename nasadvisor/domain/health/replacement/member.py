"""A device of a pool, the disk that it is on, and whether all that names it agrees."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, HoldKind, Inventory, Partition, Pool, Vdev, VdevClass

WORKS: Final = frozenset({"ONLINE", "DEGRADED"})
"""States of a leaf that is read and written."""

_CONTROLLER: Final = re.compile(r"/dev/disk/by-path/(pci-.+?)-(?:ata|sas|scsi)-")

Place = tuple[Disk, Partition | None]


class MemberIdentity(StrEnum):
    """How sure it is that this disk is that device of the pool."""

    AGREES = "agrees"  # the label has the guid, and the pool's path leads there
    UNLABELLED = "unlabelled"  # the pool has it open by this path; udev told no label
    MOVED = "moved"  # the path leads to another device than the label
    TWINS = "twins"  # more than one disk has the guid or the serial
    ABSENT = "absent"  # no disk that the host shows has it


@dataclass(frozen=True)
class Member:
    """A leaf of a pool. `part` is the child of `top` that it is or is below: a spare or a replacement stands beside it
    there. `disk` is None where nothing shows for certain which one it is.
    """

    pool: Pool
    vdev_class: VdevClass
    top: Vdev
    part: Vdev
    leaf: Vdev
    identity: MemberIdentity
    disk: Disk | None = None
    partition: Partition | None = None

    @property
    def works(self) -> bool:
        """Whether the pool reads and writes it."""
        return self.leaf.state in WORKS

    @property
    def doubt(self) -> Statement | None:
        """What does not agree about its identity; None where everything does."""
        if self.identity not in _DOUBTS:
            return None
        values = {"path": self.leaf.path, "pool": self.pool.name, "guid": self.leaf.guid}
        return Statement(f"identity-{self.identity}", _DOUBTS[self.identity], values)


_DOUBTS: Final = {
    MemberIdentity.MOVED: _(
        "The name {path}, under which pool {pool} knows it, now leads to another device. Only the label with guid "
        "{guid} counts."
    ),
    MemberIdentity.TWINS: _(
        "More than one disk has this serial number or a label with guid {guid}. Find the right one by its slot, and "
        "pull none before only one is left that can be meant."
    ),
    MemberIdentity.ABSENT: _(
        "The host shows no disk with guid {guid}. Read the labels of the disks in the rack: it is one whose serial "
        "number `lsblk -d -o NAME,MODEL,SERIAL,WWN,SIZE` does not list."
    ),
}


def members_of(inventory: Inventory) -> tuple[Member, ...]:
    """Every leaf of every pool, spares too; a spare that is in use is there once for each place."""
    names = _Names(inventory)
    return tuple(names.member(*place) for pool in inventory.pools for place in _leaves(pool))


def member_with(guid: str, members: Iterable[Member]) -> Member | None:
    """The device with this guid, of whichever pool. A spare that is in use is found where it works."""
    found = [each for each in members if each.leaf.guid == guid]
    return min(found, key=lambda each: each.vdev_class is VdevClass.SPARE, default=None)


def members_on(disk: Disk, members: Iterable[Member]) -> tuple[Member, ...]:
    """The devices that are on a disk; each once."""
    found = [each for each in members if each.disk is disk]
    found.sort(key=lambda each: each.vdev_class is not VdevClass.SPARE)
    return tuple({each.leaf.guid: each for each in found}.values())


def _leaves(pool: Pool) -> Iterator[tuple[Pool, VdevClass, Vdev, Vdev, Vdev]]:
    for vdev_class, tops in pool.by_class().items():
        for top in tops:
            # One that is being replaced stands alone: it is its own and only part.
            alone = not top.children or top.kind in ("replacing", "spare")
            for part in (top,) if alone else top.children:
                yield from ((pool, vdev_class, top, part, leaf) for leaf in part.leaves())


def controller_of(disk: Disk) -> str:
    """The controller that a disk is connected to, as its link by path names it; "" where none tells."""
    return next((found[1] for link in disk.links if (found := _CONTROLLER.match(link))), "")


class _Names:
    """What the host's disks are called: by labels, by paths, and by the serial numbers on them."""

    def __init__(self, inventory: Inventory) -> None:
        self._by_label: dict[str, list[Place]] = {}
        self._by_path: dict[str, Place] = {}
        for disk in inventory.disks:
            for part in (None, *disk.partitions):
                device = part or disk
                if device.zfs_label:
                    self._by_label.setdefault(device.zfs_label.vdev_guid, []).append((disk, part))
                for path in (*device.links, device.path, f"/dev/{device.kernel_name}"):
                    self._by_path.setdefault(path, (disk, part))
        self._by_path.pop("", None)
        whole = {(disk.identity.hardware, disk.key) for disk in inventory.disks if not disk.identity.namespace}
        split = {disk.identity.hardware for disk in inventory.disks if disk.identity.namespace}
        self._serials = Counter((*(serial for serial, _key in whole), *split))

    def member(self, pool: Pool, vdev_class: VdevClass, top: Vdev, part: Vdev, leaf: Vdev) -> Member:
        identity, place = self._identify(leaf)
        disk, partition = place or (None, None)
        return Member(pool, vdev_class, top, part, leaf, identity, disk, partition)

    def _identify(self, leaf: Vdev) -> tuple[MemberIdentity, Place | None]:
        """The label counts before the path: a path leads to whatever is there today."""
        labelled = self._by_label.get(leaf.guid, [])
        named = self._by_path.get(leaf.path)
        if len({disk.key for disk, _part in labelled}) > 1:
            return MemberIdentity.TWINS, None
        if labelled:
            place, identity = labelled[0], MemberIdentity.AGREES
            if named and named[0].key != place[0].key:
                identity = MemberIdentity.MOVED
        elif named and leaf.is_open:
            if (named[1] or named[0]).zfs_label:
                return MemberIdentity.MOVED, None
            place, identity = named, MemberIdentity.UNLABELLED
        else:
            return MemberIdentity.ABSENT, None
        return (MemberIdentity.TWINS, None) if self._has_twin(place[0]) else (identity, place)

    def _has_twin(self, disk: Disk) -> bool:
        """Whether another disk has the same serial number; namespaces of one SSD are one piece of hardware."""
        is_copied = any(hold.kind in (HoldKind.DUPLICATE, HoldKind.COPY) for hold in disk.all_holds)
        return is_copied or (bool(disk.identity.hardware) and self._serials[disk.identity.hardware] > 1)
