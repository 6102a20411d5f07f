"""The frozen picture of one host: its disks, what holds them, and its pools.

All sizes and offsets are bytes. Guids are strings: they are unsigned 64-bit numbers, too large for JSON readers that
keep numbers as doubles.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.units import MIB


class Bus(StrEnum):
    """How a disk is attached."""

    SATA = "sata"
    SAS = "sas"
    NVME = "nvme"
    USB = "usb"
    VIRTIO = "virtio"
    MMC = "mmc"  # eMMC chips and SD cards
    OTHER = "other"


class HoldKind(StrEnum):
    """What can hold a disk or a partition, so that it must not be touched."""

    BOOT = "boot"
    MOUNT = "mount"
    SWAP = "swap"
    HOLDER = "holder"  # device-mapper, md or bcache on top of it
    LVM = "lvm"
    RAID = "raid"
    CEPH = "ceph"
    FILESYSTEM = "filesystem"
    POOL = "pool"  # member of an imported pool
    EXPORTED_POOL = "exported-pool"  # carries the label of a pool that is not imported
    LEFTOVER_LABEL = "leftover-label"  # carries the label of an imported pool that does not use it any more
    SIGNATURE = "signature"  # any other recognised content
    READ_ONLY = "read-only"
    ZONED = "zoned"  # most of it can be written only from the beginning of a zone on
    NO_SIZE = "no-size"  # Linux cannot count its sectors
    PATH = "path"  # another device is a second path to the same disk
    DUPLICATE = "duplicate"  # another device shows the same identity, and nothing proves that it is the same disk
    COPY = "copy"  # another partition has the same PARTUUID
    UNREADABLE = "unreadable"  # could not be examined, so nothing may be assumed


_PARITY: Final = re.compile(r"(?:raidz|draid)([1-3])")

NAMELESS_POOL = "without a name"
"""Stands for the name of an exported pool where the label has none: those of caches and spares do not."""


@dataclass(frozen=True)
class Hold:
    """One reason why a disk or partition is taken; `what` names it ("tank", "/srv", "ext4", "md0")."""

    kind: HoldKind
    what: str


@dataclass(frozen=True)
class ZfsLabel:
    """What the ZFS label on a disk or partition says, as udev tells it.

    `pool_name` and `pool_guid` are "" on caches and spares, whose labels name no pool. `vdev_guid` is that of the leaf.
    """

    pool_name: str
    pool_guid: str
    vdev_guid: str


class TableKind(StrEnum):
    """The partition table of a disk."""

    NONE = "none"
    GPT = "gpt"
    OTHER = "other"


@dataclass(frozen=True)
class PartitionEntry:
    """What the partition table says of a partition: enough to tell whether somebody changed it."""

    number: int
    partuuid: str
    type_uuid: str
    name: str
    start_bytes: int
    size_bytes: int


@dataclass(frozen=True)
class Partition:
    """A partition as the kernel and udev show it. `path` is its preferred persistent name."""

    number: int
    partuuid: str
    type_uuid: str
    name: str
    start_bytes: int
    size_bytes: int
    kernel_name: str
    path: str
    links: tuple[str, ...] = ()
    holds: tuple[Hold, ...] = ()
    zfs_label: ZfsLabel | None = None

    @property
    def end_bytes(self) -> int:
        """The offset of the first byte after the partition."""
        return self.start_bytes + self.size_bytes

    @property
    def place(self) -> PartitionEntry:
        """Its entry in the table, without what holds it and how it is reached."""
        return PartitionEntry(self.number, self.partuuid, self.type_uuid, self.name, self.start_bytes, self.size_bytes)

    def is_at(self, path: str) -> bool:
        """Whether this persistent name or kernel path leads to it."""
        return path in self.links or path in (self.path, f"/dev/{self.kernel_name}")


@dataclass(frozen=True)
class Slot:
    """Where a disk stands, for whoever goes to the rack: as its enclosure calls the place, or the number of a PCI slot,
    and then `enclosure` is "".
    """

    name: str
    enclosure: str = ""


@dataclass(frozen=True)
class Disk:
    """A whole disk.

    `path` is its preferred persistent name, "" where it has none. `kernel_name` ("sda") is a label for people only.
    `holds` are those on the disk itself; those of its partitions are with the partitions. `usable_start_bytes` and
    `usable_end_bytes` bound the area for partitions: from the table where there is one, else where sgdisk would put it.
    `slot` is None where the machine does not tell. `network` says by what a disk of another machine is reached
    ("iSCSI"), "" for one inside this one. `place` is where it is plugged in, "" where its identity tells it from all
    others here. `unrecognised_at` is where data begin that no tool recognises, in the free space of an SSD; None where
    none were found or nobody looked.
    """

    identity: DiskIdentity
    kernel_name: str
    path: str
    links: tuple[str, ...]
    bus: Bus
    rotational: bool
    removable: bool
    table: TableKind
    table_uuid: str
    usable_start_bytes: int
    usable_end_bytes: int
    partitions: tuple[Partition, ...] = ()
    holds: tuple[Hold, ...] = ()
    slot: Slot | None = None
    zfs_label: ZfsLabel | None = None
    network: str = ""
    place: str = ""
    unrecognised_at: int | None = None

    @property
    def key(self) -> str:
        """The identity's key; with the place, of a disk that nothing else tells from another one here."""
        return f"{self.identity.key}@{self.place}" if self.place else self.identity.key

    @property
    def label(self) -> str:
        """Model and serial, for sentences; with the kernel's name of a disk that nothing else tells apart."""
        told = ", ".join(filter(None, (self.identity.serial, self.kernel_name if self.place else "")))
        return f"{self.identity.model or 'Unnamed disk'}{f' ({told})' if told else ''}"

    @property
    def is_blank(self) -> bool:
        """Whether nothing is on it, be it recognised or not: no partition, nothing that holds it, no unknown data."""
        return not self.partitions and not self.holds and self.unrecognised_at is None

    @property
    def all_holds(self) -> tuple[Hold, ...]:
        """Those of the disk and of every partition on it."""
        return self.holds + tuple(hold for part in self.partitions for hold in part.holds)

    @property
    def places(self) -> tuple[PartitionEntry, ...]:
        """The entries of its partition table, by number."""
        return tuple(part.place for part in sorted(self.partitions, key=lambda part: part.number))

    def is_at(self, path: str) -> bool:
        """Whether this persistent name or kernel path leads to it."""
        return path in self.links or path in (self.path, f"/dev/{self.kernel_name}")


class VdevClass(StrEnum):
    """The allocation class of a top-level vdev, in the words of `zpool status -j`."""

    NORMAL = "normal"
    LOG = "logs"
    CACHE = "l2cache"
    SPECIAL = "special"
    DEDUP = "dedup"
    SPARE = "spares"


CLOSED_STATES = frozenset({"OFFLINE", "UNAVAIL", "FAULTED", "REMOVED", "SPLIT"})
"""States of a leaf whose device OpenZFS has closed: vdev_is_dead() and vdev_set_state() in module/zfs/vdev.c."""

REPLACED = "/old"
"""What OpenZFS appends to the path of a disk that is replaced by another at the same path: vdev_attach() and
spa_vdev_attach() in module/zfs/spa.c."""


def leaf_name(path: str) -> str:
    """The last part of a leaf's path, with the mark of a disk that is being replaced; "" where it has none."""
    before = path.removesuffix(REPLACED)
    return f"{before.rpartition('/')[2]}{path[len(before) :]}"


@dataclass(frozen=True)
class Vdev:
    """A node of a pool's tree. `kind` is OpenZFS's vdev_type ("disk", "mirror", "raidz", "hole" …), unknown ones kept.

    `path` is "" for inner nodes. `ashift` is 0 where OpenZFS does not tell it. Error counters count since the last
    clear and are left out of the fingerprint. `slow_ios` counts requests to a leaf that took longer than
    zio_slow_io_ms (30 s unless changed; zfs(4)). `is_forced` is one that somebody took out of use with `zpool offline
    -f` while the pool ran (VDEV_AUX_EXTERNAL in include/sys/fs/zfs.h).
    """

    guid: str
    kind: str
    name: str
    state: str
    path: str = ""
    ashift: int = 0
    children: "tuple[Vdev, ...]" = ()  # quoted whole: the codec resolves names only so
    read_errors: int = 0
    write_errors: int = 0
    checksum_errors: int = 0
    slow_ios: int = 0
    is_forced: bool = False

    @property
    def is_open(self) -> bool:
        """Whether OpenZFS has the device open. Of one that it has not, only the guid tells where it is: its path leads
        to whatever is there today."""
        return self.state not in CLOSED_STATES

    @property
    def has_parity(self) -> bool:
        """Whether it is raidz or draid, of whatever parity."""
        return self.kind in {"raidz", "draid"}

    @property
    def parity(self) -> int:
        """How many of its members it can lose; of raidz and dRAID the name tells ("raidz2-0", "draid1:4d:8c:1s-0")."""
        if self.kind == "mirror":
            return len(self.children) - 1
        found = _PARITY.match(self.name) if self.has_parity else None
        return int(found[1]) if found else 0

    @property
    def errors(self) -> int:
        """Read, write and checksum errors since the last clear."""
        return self.read_errors + self.write_errors + self.checksum_errors

    def walk(self) -> Iterator["Vdev"]:
        """This vdev and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def leaves(self) -> Iterator["Vdev"]:
        """The vdevs without children: disks, files and holes."""
        return (vdev for vdev in self.walk() if not vdev.children)


@dataclass(frozen=True)
class Scan:
    """A scrub or resilver that ran to its end: `kind` in OpenZFS's words, `ended_at` in UTC, errors it met.

    `seconds` is how long it worked without pauses, `read_bytes` how much it read; 0 where that is not told.
    """

    kind: str
    ended_at: str
    errors: int
    seconds: int = 0
    read_bytes: int = 0


@dataclass(frozen=True)
class ScanProgress:
    """How far a scrub or resilver is that runs: `began_at` in UTC, the bytes that it has read, and all that it will.

    `paused_at` is since when a scrub is paused, "" while it works.
    """

    began_at: str
    done_bytes: int
    all_bytes: int
    paused_at: str = ""


UNREADABLE = "UNREADABLE"
"""Stands for the state of a pool of which OpenZFS told nothing that could be understood."""


@dataclass(frozen=True)
class Pool:
    """An imported pool. Top-level vdevs stand by class; holes left by removed logs are dropped from all of them.

    `checkpoint` is the checkpoint's size text, "" where there is none. `scan` is "" or what runs now ("resilver",
    "scrub"). `ashift` is the one of its data vdevs, 0 where unknown; `locked_datasets` are encrypted datasets whose
    keys are not loaded. `last_scan` is None where none is on record, and while one runs: OpenZFS remembers only one.
    `scan_progress` is None where none runs, or one that tells no progress.
    `data_errors` counts the damaged files and objects that `zpool status -v` lists. `fragmentation_percent` is of its
    free space, not of files (zpoolprops(7)); None where it is not told, as of a suspended pool or an old one.

    `compatibility` is the property of that name (zpoolprops(7)), "" where it is off: it limits which features can be
    enabled. `problem` says why OpenZFS's answer about this pool could not be understood; only name and guid count then,
    and what is not shown of it is not known to be absent.
    `features` are those that are enabled, `active_features` those of them that something on disk needs
    (zpool-features(7)). `cloned_bytes` is what cloned blocks take up once (`bcloneused`), `dedup_table_bytes` the size
    of the deduplication table; 0 where the release tells of none. `autotrim` is None where it is not told.
    `special_size_bytes` and `special_allocated_bytes` are of all special vdevs together. `trimmed` is whether any of
    its SSDs ever was; None where nobody asked, as with autotrim.
    """

    name: str
    guid: str
    state: str
    ashift: int
    size_bytes: int
    allocated_bytes: int
    read_only: bool
    suspended: bool
    checkpoint: str
    multihost: bool
    features: tuple[str, ...]
    scan: str = ""
    last_scan: Scan | None = None
    data_errors: int = 0
    fragmentation_percent: int | None = None
    active_features: tuple[str, ...] = ()
    cloned_bytes: int = 0
    dedup_table_bytes: int = 0
    has_volumes: bool = False
    autotrim: bool | None = None
    special_size_bytes: int = 0
    special_allocated_bytes: int = 0
    trimmed: bool | None = None
    locked_datasets: tuple[str, ...] = ()
    data: tuple[Vdev, ...] = ()
    logs: tuple[Vdev, ...] = ()
    caches: tuple[Vdev, ...] = ()
    specials: tuple[Vdev, ...] = ()
    dedups: tuple[Vdev, ...] = ()
    spares: tuple[Vdev, ...] = ()
    problem: str = ""
    compatibility: str = ""
    scan_progress: ScanProgress | None = None

    def by_class(self) -> dict[VdevClass, tuple[Vdev, ...]]:
        """The top-level vdevs of each class, in the order `zpool status` prints them."""
        return {
            VdevClass.NORMAL: self.data,
            VdevClass.SPECIAL: self.specials,
            VdevClass.DEDUP: self.dedups,
            VdevClass.LOG: self.logs,
            VdevClass.CACHE: self.caches,
            VdevClass.SPARE: self.spares,
        }

    def vdevs(self) -> Iterator[Vdev]:
        """Every vdev of every class."""
        return (vdev for tops in self.by_class().values() for top in tops for vdev in top.walk())


@dataclass(frozen=True)
class ZfsParameters:
    """Parameters of the module that decide what a release does to a pool (zfs(4)); None where it has no such one."""

    zfs_bclone_enabled: int | None = None
    zfs_dio_enabled: int | None = None
    zfs_special_class_metadata_reserve_pct: int | None = None
    zvol_use_blk_mq: int | None = None


@dataclass(frozen=True)
class Host:
    """The machine. Versions are as `zpool version` prints them ("2.3.9-1"), "" where a part is missing.

    `tail_bytes` is what the platform wants to stay unpartitioned at the end of an SSD.
    """

    node: str
    os_name: str
    kernel: str
    zfs_userland: str
    zfs_kernel: str
    memory_bytes: int
    tail_bytes: int = MIB
    parameters: ZfsParameters = ZfsParameters()


@dataclass(frozen=True)
class Inventory:
    """One host at one moment. `read_at` is UTC in ISO 8601."""

    host: Host
    disks: tuple[Disk, ...]
    pools: tuple[Pool, ...]
    read_at: str

    @property
    def fingerprint(self) -> str:
        """Equal for two pictures of an unchanged host; see `fingerprint_of`."""
        return fingerprint_of(self.disks, self.pools)

    def disk(self, key: str) -> Disk | None:
        """The disk with this key; None where there is none or more than one."""
        found = self._disks_by_key.get(key, ())
        return found[0] if len(found) == 1 else None

    @cached_property
    def _disks_by_key(self) -> Mapping[str, tuple[Disk, ...]]:
        """Kept because rules and drawings ask for each of a thousand disks; no field, so no part of what is equal."""
        found: dict[str, tuple[Disk, ...]] = {}
        for disk in self.disks:
            found[disk.key] = (*found.get(disk.key, ()), disk)
        return found

    def pool(self, guid: str) -> Pool | None:
        """The imported pool with this guid."""
        return next((pool for pool in self.pools if pool.guid == guid), None)

    def partition(self, partuuid: str) -> tuple[Disk, Partition] | None:
        """The partition with this PARTUUID, with its disk; None where there is none or more than one."""
        found = self.partitions(partuuid)
        return found[0] if len(found) == 1 else None

    def partitions(self, partuuid: str) -> tuple[tuple[Disk, Partition], ...]:
        """Every partition with this PARTUUID, with its disk: more than one where a disk is a copy of another."""
        return tuple((d, p) for d in self.disks for p in d.partitions if p.partuuid == partuuid)

    def parts(self) -> Iterator[tuple[Disk, Partition]]:
        """Every partition, with its disk."""
        return ((disk, part) for disk in self.disks for part in disk.partitions)

    def partition_at(self, path: str) -> tuple[Disk, Partition] | None:
        """The partition that has this persistent name or kernel path; None for the empty path of an unknown one."""
        return next(((d, p) for d in self.disks for p in d.partitions if path and p.is_at(path)), None)

    def disk_at(self, path: str) -> Disk | None:
        """The whole disk that has this persistent name or kernel path; None for the empty path of an unknown one."""
        return next((disk for disk in self.disks if path and disk.is_at(path)), None)

    def place_of(self, leaf: Vdev) -> tuple[Disk, Partition | None] | None:
        """The disk of a pool's leaf, with the partition where it is on one; None where the host does not show it.

        By its path while OpenZFS has it open there; else by the guid in the label, and by its path only where a pool
        holds what is there. So another disk that has the name today is never taken for it.
        """
        at_path = self._places_by_path.get(leaf.path)
        if at_path and leaf.is_open:
            return at_path
        by_guid = self._places_by_guid.get(leaf.guid)
        if by_guid or at_path is None:
            return by_guid
        there = at_path[1] or at_path[0]
        is_held = any(hold.kind is HoldKind.POOL for hold in there.holds) and there.zfs_label is None
        return at_path if is_held else None

    @cached_property
    def _places_by_path(self) -> Mapping[str, tuple[Disk, Partition | None]]:
        """By every persistent name and kernel path: one pass instead of one for each leaf."""
        found: dict[str, tuple[Disk, Partition | None]] = {}
        for disk in self.disks:
            for part in (None, *disk.partitions):
                device = part or disk
                for path in (*device.links, device.path, f"/dev/{device.kernel_name}"):
                    found.setdefault(path, (disk, part))
        found.pop("", None)
        return found

    @cached_property
    def _places_by_guid(self) -> Mapping[str, tuple[Disk, Partition | None]]:
        """Where the label with a guid is, but for guids that are there twice, as on a disk that was copied."""
        found: dict[str, list[tuple[Disk, Partition | None]]] = {}
        for disk in self.disks:
            for part in (None, *disk.partitions):
                label = (part or disk).zfs_label
                if label:
                    found.setdefault(label.vdev_guid, []).append((disk, part))
        return {guid: places[0] for guid, places in found.items() if len(places) == 1}


def has_data_on_ssds(pool: Pool, disks: Iterable[Disk]) -> bool:
    """Whether a vdev that holds data lies on an SSD; a log or a cache on one does not count."""
    ssds = [disk for disk in disks if not disk.rotational]
    paths = {link for disk in ssds for link in (disk.path, *disk.links)}
    paths |= {link for disk in ssds for part in disk.partitions for link in (part.path, *part.links)}
    tops = (*pool.data, *pool.specials, *pool.dedups)
    return any(leaf.path and leaf.path in paths for top in tops for leaf in top.leaves())


def fingerprint_of(disks: Iterable[Disk], pools: Iterable[Pool]) -> str:
    """A digest of identities, tables, partitions, holds, unrecognised data and pool trees; free of counters, usage and
    kernel names.
    """
    document = {
        "disks": sorted(map(_disk_facts, disks), key=repr),
        "pools": sorted(map(_pool_facts, pools), key=repr),
    }
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _disk_facts(disk: Disk) -> dict[str, object]:
    return {
        "identity": asdict(disk.identity),
        "table": [disk.table, disk.table_uuid],
        "holds": sorted([hold.kind, hold.what] for hold in disk.holds),
        "unrecognised": disk.unrecognised_at,
        "partitions": [
            {"place": asdict(part.place), "holds": sorted([hold.kind, hold.what] for hold in part.holds)}
            for part in sorted(disk.partitions, key=lambda part: part.number)
        ],
    }


def _pool_facts(pool: Pool) -> dict[str, object]:
    return {
        "name": pool.name,
        "guid": pool.guid,
        "state": [pool.state, bool(pool.problem), pool.read_only, pool.suspended, bool(pool.checkpoint)],
        "vdevs": [
            [str(vdev_class), vdev.guid, vdev.kind, vdev.state]
            for vdev_class, tops in pool.by_class().items()
            for top in tops
            for vdev in top.walk()
        ],
    }
