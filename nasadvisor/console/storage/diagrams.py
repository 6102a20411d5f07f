"""Drawings of pools and disks: typed content for the partials `storage/_pool.html` and `storage/_disk_scale.html`.

A pool as it is and a pool as a plan leaves it (`Plan.after`) are drawn alike; vdevs that OpenZFS has yet to create
carry the guid `PLANNED_GUID` and are marked as new.
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, Self

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.storage.disk_uses import Index, PoolUse
from nasadvisor.domain.change.actions import PLANNED_GUID
from nasadvisor.domain.storage.gaps import free_extents
from nasadvisor.domain.storage.inventory import Disk, Inventory, Partition, Pool, Vdev, VdevClass, leaf_name

DRAWING_WIDTH: Final = 1000
"""Units of a disk's drawing; a disk is always this wide."""

LEAST_WIDTH: Final = 5.0
"""Units at the least that a partition is drawn: a log of 1 GiB on an SSD of 1 TB would be thinner than its border."""

LEAVES_IN_FULL: Final = 36

TITLES: Final[dict[VdevClass, str | Promise]] = {
    VdevClass.NORMAL: _("Data"),
    VdevClass.SPECIAL: _("Special"),
    VdevClass.DEDUP: _("Dedup"),
    VdevClass.LOG: _("Log"),
    VdevClass.CACHE: _("Cache"),
    VdevClass.SPARE: _("Spare"),
}

EXPLANATIONS: Final[dict[VdevClass, str | Promise]] = {
    VdevClass.NORMAL: _("Stores the data."),
    VdevClass.SPECIAL: _("Stores metadata and small blocks. The pool depends on it."),
    VdevClass.DEDUP: _("Stores the deduplication table. The pool depends on it."),
    VdevClass.LOG: _("SLOG: takes synchronous writes, so programs do not wait for the data vdevs."),
    VdevClass.CACHE: _("L2ARC: holds copies of blocks that do not fit in memory."),
    VdevClass.SPARE: _("Takes over when a disk of the pool fails."),
}


@dataclass(frozen=True)
class LeafDrawing:
    """A disk, slice or file in a pool. `disk` is None where the inventory does not show it.

    `inside` names the inner vdev it stands in below the top one ("replacing-1"), else "".
    """

    vdev: Vdev
    disk: Disk | None
    partition: Partition | None
    inside: str

    @property
    def is_new(self) -> bool:
        """Whether a plan is going to add it."""
        return self.vdev.guid == PLANNED_GUID

    @property
    def name(self) -> str:
        """What people call it: the model, or else the last part of its path."""
        return (self.disk.identity.model if self.disk else "") or self.short_path

    @property
    def short_path(self) -> str:
        """Its persistent name without the folder."""
        return leaf_name(self.vdev.path or self.vdev.name)

    @property
    def is_slice(self) -> bool:
        """Whether the disk has room for more than this partition, so that the partition is worth naming."""
        return bool(self.disk and self.partition and self.size_bytes < self.disk.identity.size_bytes * 9 // 10)

    @property
    def size_bytes(self) -> int:
        """The partition's or disk's size, 0 where unknown."""
        if self.partition:
            return self.partition.size_bytes
        return self.disk.identity.size_bytes if self.disk else 0

    @property
    def marked_key(self) -> str:
        """The key of the disk whose health is shown here, "" of one that is unknown or not there yet."""
        return self.disk.key if self.disk and not self.is_new else ""

    @property
    def errors(self) -> int:
        """Read, write and checksum errors since the last clear."""
        return self.vdev.errors

    @property
    def is_quiet(self) -> bool:
        """Whether ZFS says nothing of it but that it is there, so that its serial is enough in a large pool."""
        told = self.is_new or self.errors or self.inside or self.vdev.state != "ONLINE"
        return self.disk is not None and not told


@dataclass(frozen=True)
class VdevDrawing:
    """A top-level vdev: a mirror or RAID-Z with its leaves, or one leaf alone."""

    vdev: Vdev
    leaves: tuple[LeafDrawing, ...]

    @property
    def is_new(self) -> bool:
        """Whether a plan is going to create it; an existing one may still get new leaves."""
        return self.vdev.guid == PLANNED_GUID

    @property
    def is_single(self) -> bool:
        """Whether it is one leaf, so that no box is needed around it."""
        return not self.vdev.children


@dataclass(frozen=True)
class GroupDrawing:
    """The vdevs of one allocation class."""

    vdev_class: VdevClass
    vdevs: tuple[VdevDrawing, ...]

    @property
    def title(self) -> str | Promise:
        """The class as people say it."""
        return TITLES[self.vdev_class]

    @property
    def explanation(self) -> str | Promise:
        """One sentence on what it is for."""
        return EXPLANATIONS[self.vdev_class]

    @property
    def summary(self) -> str:
        """The vdevs counted: two mirrors of two, three disks."""
        kinds = Counter((_kind(vdev.vdev), len(vdev.leaves)) for vdev in self.vdevs)
        return ", ".join(_counted(kind, leaves, count) for (kind, leaves), count in kinds.items())


@dataclass(frozen=True)
class PoolDrawing:
    """A pool with the classes that it has, log and cache also where it has none."""

    pool: Pool
    groups: tuple[GroupDrawing, ...]

    @cached_property
    def is_large(self) -> bool:
        """Whether leaves are drawn small, by their serial alone; every leaf asks."""
        return sum(len(vdev.leaves) for group in self.groups for vdev in group.vdevs) > LEAVES_IN_FULL

    @property
    def status_command(self) -> str:
        """What shows the pool in a shell."""
        return f"zpool status {shlex.quote(self.pool.name)}"

    @property
    def used_percent(self) -> int:
        """How full it is."""
        return self.pool.allocated_bytes * 100 // self.pool.size_bytes if self.pool.size_bytes else 0


def _kind(vdev: Vdev) -> str:
    """mirror, raidz2, draid1 or disk: the name tells the parity, the kind does not."""
    return vdev.name.partition("-")[0] if vdev.children else "disk"


def _counted(kind: str, leaves: int, count: int) -> str:
    if leaves == 1:
        return ngettext("%(count)s disk", "%(count)s disks", count) % {"count": count}
    return gettext("%(count)s × %(kind)s of %(leaves)s") % {"count": count, "kind": kind, "leaves": leaves}


def draw_pool(pool: Pool, index: Index) -> PoolDrawing:
    """A pool and where its leaves are."""
    groups = (
        GroupDrawing(vdev_class, tuple(VdevDrawing(top, tuple(_leaves(top, "", index))) for top in tops))
        for vdev_class, tops in pool.by_class().items()
    )
    shown = (VdevClass.NORMAL, VdevClass.LOG, VdevClass.CACHE)
    return PoolDrawing(pool, tuple(group for group in groups if group.vdevs or group.vdev_class in shown))


def draw_pools(inventory: Inventory) -> tuple[PoolDrawing, ...]:
    """Every pool of a host."""
    index = Index(inventory)
    return tuple(draw_pool(pool, index) for pool in inventory.pools)


def _leaves(vdev: Vdev, inside: str, index: Index) -> Iterator[LeafDrawing]:
    if not vdev.children:
        disk, part = index.inventory.place_of(vdev) or (None, None)
        yield LeafDrawing(vdev, disk, part, inside)
    for child in vdev.children:
        yield from _leaves(child, child.name if child.children else inside, index)


class SegmentKind(StrEnum):
    """What a stretch of a disk is; the values are CSS classes too."""

    PARTITION = "partition"
    DATA = "data"
    LOG = "log"
    CACHE = "cache"
    FREE = "free"
    RESERVE = "reserve"


SEGMENT_WORDS: Final[dict[SegmentKind, str | Promise]] = {
    SegmentKind.PARTITION: _("Partition"),
    SegmentKind.DATA: _("Data"),
    SegmentKind.LOG: _("Log"),
    SegmentKind.CACHE: _("Cache"),
    SegmentKind.FREE: _("Free"),
    SegmentKind.RESERVE: _("Reserve"),
}


@dataclass(frozen=True)
class Segment:
    """A stretch of a disk, drawn `width` units wide from `x`. `what` says what an existing partition holds."""

    kind: SegmentKind
    start_bytes: int
    size_bytes: int
    x: float
    width: float
    number: int = 0
    what: str = ""
    is_new: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing lies there."""
        return self.kind in (SegmentKind.FREE, SegmentKind.RESERVE)

    @property
    def drawn_width(self) -> float:
        """Wide enough to be seen."""
        return self.width if self.is_empty else max(self.width, LEAST_WIDTH)

    @property
    def words(self) -> str:
        """What it is and, of a partition, its number and what it holds: "1: Log of tank"."""
        number = f"{self.number}: " if self.number else ""
        kind = "" if self.what and self.kind is SegmentKind.PARTITION else str(SEGMENT_WORDS[self.kind])
        return number + (f"{kind} {gettext('of')} {self.what}" if kind and self.what else kind or self.what)


@dataclass(frozen=True)
class DiskDrawing:
    """A disk from its first byte to its last."""

    disk: Disk
    segments: tuple[Segment, ...]

    @property
    def looks(self) -> tuple[object, ...]:
        """What is the same of two disks that look alike: one picture is enough for both."""
        return self.disk.identity.model, self.disk.identity.size_bytes, self.segments

    @property
    def painted(self) -> list[Segment]:
        """What lies on the disk after what is empty, so that nothing covers it."""
        return sorted(self.segments, key=lambda each: not each.is_empty)

    @classmethod
    def of(cls, disk: Disk, segments: Iterable[Segment]) -> Self:
        """The stretches in the order in which they lie on the disk; on a large one many have the same `x`."""
        return cls(disk, tuple(sorted(segments, key=lambda each: each.start_bytes)))


def draw_disk(disk: Disk, index: Index) -> DiskDrawing:
    """A disk with its partitions and free extents to scale; a disk without a table that is in use is one stretch."""
    whole = index.pool_uses.get((disk.key, 0), ())
    if not disk.partitions and (disk.holds or whole):
        what = ", ".join(hold.what for hold in disk.holds)
        return DiskDrawing(disk, (segment(disk, kind_of(whole), 0, disk.identity.size_bytes, what=what),))
    taken = (
        segment(disk, kind_of(uses), part.start_bytes, part.size_bytes, part.number, _what(part))
        for part in disk.partitions
        for uses in [index.pool_uses.get((disk.key, part.number), ())]
    )
    free = (segment(disk, SegmentKind.FREE, extent.start_bytes, extent.size_bytes) for extent in free_extents(disk))
    return DiskDrawing.of(disk, (*taken, *free))


def segment(
    disk: Disk, kind: SegmentKind, start_bytes: int, size_bytes: int, number: int = 0, what: str = ""
) -> Segment:
    """A stretch of a disk, to scale."""
    scale = DRAWING_WIDTH / (disk.identity.size_bytes or 1)  # of some disks Linux knows no size
    x, width = round(start_bytes * scale, 2), round(size_bytes * scale, 2)
    return Segment(kind, start_bytes, size_bytes, x, width, number, what)


def kind_of(uses: tuple[PoolUse, ...]) -> SegmentKind:
    """How a stretch that serves a pool, or none, is drawn."""
    classes = {use.vdev_class for use in uses}
    if VdevClass.LOG in classes:
        return SegmentKind.LOG
    if VdevClass.CACHE in classes:
        return SegmentKind.CACHE
    return SegmentKind.DATA if classes - {VdevClass.SPARE} else SegmentKind.PARTITION


def _what(part: Partition) -> str:
    return ", ".join(dict.fromkeys(hold.what for hold in part.holds)) or part.name
