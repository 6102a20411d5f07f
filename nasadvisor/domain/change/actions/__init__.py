"""What a plan can do, and what an undo can do: typed, immutable, and pure.

An action says what it is (`describe`), whether it adds, changes or takes away (`category`), and what the inventory
looks like afterwards (`forwards`). Rules about when it may run are in `checks`; its commands are in `commands`; what
undoes it is in `undo`; running it is the host's business. The shape is that of Django's migration operations.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Inventory, Partition, Place, TableKind, Vdev
from nasadvisor.domain.storage.log_legs import without_log_leg
from nasadvisor.domain.storage.partition_types import SOLARIS_ZFS_TYPE
from nasadvisor.domain.units import zfs_size

PLANNED_GUID = "planned"
"""Stands for the guid of a vdev that OpenZFS has yet to create."""


class Category(StrEnum):
    """Django's marks: what an action does to the topology."""

    ADDITION = "+"
    REMOVAL = "-"
    ALTERATION = "~"


class Role(StrEnum):
    """What a slice is for."""

    LOG = "log"
    CACHE = "cache"


class Naming(StrEnum):
    """By which persistent name a slice is handed to OpenZFS, and so stored in the pool."""

    PARTUUID = "by-partuuid"
    DISK_ID = "by-id"


@dataclass(frozen=True)
class Slice:
    """A GPT partition that we make: where, how big, its PARTUUID (lower case), and how OpenZFS shall name it."""

    disk_key: str
    disk_path: str
    number: int
    start_bytes: int
    size_bytes: int
    sector_bytes: int
    partuuid: str
    role: Role
    naming: Naming

    @property
    def path(self) -> str:
        """The persistent path given to `zpool add`."""
        if self.naming is Naming.PARTUUID:
            return self.partuuid_path
        return f"{self.disk_path}-part{self.number}"

    @property
    def partuuid_path(self) -> str:
        """The name that only this slice can have."""
        return f"/dev/disk/by-partuuid/{self.partuuid}"

    def is_on(self, disk: Disk, part: Partition) -> bool:
        """Whether a partition is exactly this slice: disk, number, place, size, type and PARTUUID."""
        return (
            disk.key == self.disk_key
            and part.number == self.number
            and part.partuuid == self.partuuid
            and part.type_uuid == SOLARIS_ZFS_TYPE
            and part.start_bytes == self.start_bytes
            and part.size_bytes == self.size_bytes
        )

    def is_phantom(self, disk: Disk, part: Partition) -> bool:
        """Whether a partition is one that only the kernel still has where this slice was.

        It could not read the table anew while another partition was in use, and nobody told it of the one that went;
        udev, which reads the table itself, knows no PARTUUID for it.
        """
        place = (self.disk_key, self.number, self.start_bytes, self.size_bytes)
        return not part.partuuid and (disk.key, part.number, part.start_bytes, part.size_bytes) == place

    def as_partition(self) -> Partition:
        """The partition as the inventory will show it."""
        return Partition(
            number=self.number,
            partuuid=self.partuuid,
            type_uuid=SOLARIS_ZFS_TYPE,
            name="",
            start_bytes=self.start_bytes,
            size_bytes=self.size_bytes,
            kernel_name="",
            path=self.path,
            links=(self.partuuid_path, f"{self.disk_path}-part{self.number}"),
        )


@dataclass(frozen=True)
class CreateTable:
    """Write an empty GPT on a blank disk."""

    disk_key: str
    disk_path: str
    table_uuid: str
    usable_start_bytes: int
    usable_end_bytes: int
    action: Literal["create-table"] = "create-table"

    category = Category.ADDITION

    def describe(self) -> Statement:
        return Statement(self.action, _("Write an empty GPT on {disk}"), {"disk": self.disk_path})

    def forwards(self, inventory: Inventory) -> Inventory:
        return _with_disk(
            inventory,
            self.disk_key,
            table=TableKind.GPT,
            table_uuid=self.table_uuid,
            usable_start_bytes=self.usable_start_bytes,
            usable_end_bytes=self.usable_end_bytes,
        )


@dataclass(frozen=True)
class SaveTable:
    """Keep a copy of the sectors of an existing GPT before slices are added to it; writes nothing on the disk.

    `places` are those of the partitions that are there and stay.
    """

    disk_key: str
    disk_path: str
    table_uuid: str
    places: tuple[Place, ...]
    action: Literal["save-table"] = "save-table"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        return Statement(self.action, _("Save the partition table of {disk}"), {"disk": self.disk_path})

    def forwards(self, inventory: Inventory) -> Inventory:
        return inventory


@dataclass(frozen=True)
class CreateSlice:
    """Make one partition of type BF01 in free space, for this pool."""

    slice: Slice
    pool_guid: str
    action: Literal["create-slice"] = "create-slice"

    category = Category.ADDITION

    def describe(self) -> Statement:
        template = (
            _("Create a {size} log slice (partition {number}) on {disk}")
            if self.slice.role is Role.LOG
            else _("Create a {size} cache slice (partition {number}) on {disk}")
        )
        values = {"size": zfs_size(self.slice.size_bytes), **_place_of(self.slice)}
        return Statement(self.action, template, values)

    def forwards(self, inventory: Inventory) -> Inventory:
        disk = inventory.disk(self.slice.disk_key)
        parts = (*disk.partitions, self.slice.as_partition()) if disk else ()
        return _with_disk(inventory, self.slice.disk_key, partitions=parts)


@dataclass(frozen=True)
class AddLog:
    """Add a log vdev: one leg is a single log, two or more are a mirror."""

    pool_name: str
    pool_guid: str
    ashift: int
    legs: tuple[Slice, ...]
    action: Literal["add-log"] = "add-log"

    category = Category.ADDITION

    @property
    def is_mirror(self) -> bool:
        return len(self.legs) > 1

    def describe(self) -> Statement:
        if not self.is_mirror:
            return Statement(self.action, _("Add one slice as log to pool {pool}"), {"pool": self.pool_name})
        values = {"count": str(len(self.legs)), "pool": self.pool_name}
        return Statement(self.action, _("Add a mirror of {count} slices as log to pool {pool}"), values)

    def forwards(self, inventory: Inventory) -> Inventory:
        if not self.legs:
            return inventory
        leaves = tuple(_leaf(leg, self.ashift) for leg in self.legs)
        top = leaves[0]
        if self.is_mirror:
            top = Vdev(PLANNED_GUID, "mirror", "mirror", "ONLINE", ashift=self.ashift, children=leaves)
        pool = inventory.pool(self.pool_guid)
        return _with_pool(inventory, self.pool_guid, self.legs, logs=(*pool.logs, top) if pool else ())


@dataclass(frozen=True)
class AddCache:
    """Add cache vdevs; OpenZFS always stripes them."""

    pool_name: str
    pool_guid: str
    ashift: int
    slices: tuple[Slice, ...]
    action: Literal["add-cache"] = "add-cache"

    category = Category.ADDITION

    def describe(self) -> Statement:
        if len(self.slices) == 1:
            return Statement(self.action, _("Add 1 cache slice to pool {pool}"), {"pool": self.pool_name})
        values = {"count": str(len(self.slices)), "pool": self.pool_name}
        return Statement(self.action, _("Add {count} cache slices to pool {pool}"), values)

    def forwards(self, inventory: Inventory) -> Inventory:
        leaves = tuple(_leaf(piece, self.ashift) for piece in self.slices)
        pool = inventory.pool(self.pool_guid)
        return _with_pool(inventory, self.pool_guid, self.slices, caches=(*pool.caches, *leaves) if pool else ())


@dataclass(frozen=True)
class AttachLog:
    """Make a single log a mirror, or add a leg to a mirrored one, with `zpool attach`."""

    pool_name: str
    pool_guid: str
    ashift: int
    existing_guid: str
    existing_path: str
    leg: Slice
    action: Literal["attach-log"] = "attach-log"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        return Statement(
            self.action,
            _("Mirror the log of pool {pool}: attach a slice on {disk} to {existing}"),
            {"pool": self.pool_name, "disk": self.leg.disk_path, "existing": self.existing_path},
        )

    def forwards(self, inventory: Inventory) -> Inventory:
        pool = inventory.pool(self.pool_guid)
        logs = tuple(self._mirrored(top) for top in pool.logs) if pool else ()
        return _with_pool(inventory, self.pool_guid, (self.leg,), logs=logs)

    def _mirrored(self, top: Vdev) -> Vdev:
        leaf = _leaf(self.leg, self.ashift)
        if top.guid == self.existing_guid:
            return Vdev(PLANNED_GUID, "mirror", "mirror", "ONLINE", ashift=top.ashift, children=(top, leaf))
        if any(child.guid == self.existing_guid for child in top.children):
            return replace(top, children=(*top.children, leaf))
        return top


@dataclass(frozen=True)
class DropLogLeg:
    """Take a broken side out of a mirrored log, by guid, so that another can take its place. Nothing takes it back."""

    pool_name: str
    pool_guid: str
    vdev_guid: str
    vdev_path: str
    action: Literal["drop-log-leg"] = "drop-log-leg"

    category = Category.REMOVAL

    def describe(self) -> Statement:
        return Statement(
            self.action,
            _("Take the broken side {path} out of the log of pool {pool}"),
            {"path": self.vdev_path or self.vdev_guid, "pool": self.pool_name},
        )

    def forwards(self, inventory: Inventory) -> Inventory:
        pools = tuple(
            without_log_leg(pool, self.vdev_guid) if pool.guid == self.pool_guid else pool for pool in inventory.pools
        )
        return replace(inventory, pools=pools)


Action = CreateTable | SaveTable | CreateSlice | AddLog | AddCache | AttachLog | DropLogLeg


@dataclass(frozen=True)
class RemoveVdev:
    """Take one log or cache vdev out of a pool, by guid. `slices` are those of the step that added it."""

    pool_name: str
    pool_guid: str
    role: Role
    vdev_guid: str
    slices: tuple[Slice, ...]
    action: Literal["remove-vdev"] = "remove-vdev"

    category = Category.REMOVAL

    def describe(self) -> Statement:
        template = (
            _("Remove log {guid} from pool {pool}")
            if self.role is Role.LOG
            else _("Remove cache {guid} from pool {pool}")
        )
        return Statement(self.action, template, {"guid": self.vdev_guid, "pool": self.pool_name})


@dataclass(frozen=True)
class DetachLog:
    """Take one leg out of a mirrored log, by guid."""

    pool_name: str
    pool_guid: str
    vdev_guid: str
    leg: Slice
    action: Literal["detach-log"] = "detach-log"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        values = {"guid": self.vdev_guid, "pool": self.pool_name}
        return Statement(self.action, _("Detach log leg {guid} from pool {pool}"), values)


@dataclass(frozen=True)
class DeleteSlice:
    """Clear the ZFS labels of a slice that we made for this pool, and delete the partition."""

    slice: Slice
    pool_guid: str
    action: Literal["delete-slice"] = "delete-slice"

    category = Category.REMOVAL

    def describe(self) -> Statement:
        template = (
            _("Clear and delete the log slice (partition {number}) on {disk}")
            if self.slice.role is Role.LOG
            else _("Clear and delete the cache slice (partition {number}) on {disk}")
        )
        return Statement(self.action, template, _place_of(self.slice))


@dataclass(frozen=True)
class RestoreTable:
    """Write back the sectors that held the partition table before the run, if nothing else changed since.

    `table_uuid` is that of the table during the run; `places` are those of the partitions that were there before.
    """

    disk_key: str
    disk_path: str
    table_uuid: str
    places: tuple[Place, ...]
    action: Literal["restore-table"] = "restore-table"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        template = _("Restore the partition table sectors of {disk} as they were")
        return Statement(self.action, template, {"disk": self.disk_path})


UndoAction = RemoveVdev | DetachLog | DeleteSlice | RestoreTable


@dataclass(frozen=True)
class RewindTable:
    """Write back what the last finished step left of a partition table, after a step on it was cut off."""

    disk_key: str
    disk_path: str
    action: Literal["rewind-table"] = "rewind-table"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        template = _("Put the partition table of {disk} back to where the step that was cut off began")
        return Statement(self.action, template, {"disk": self.disk_path})


@dataclass(frozen=True)
class ClearSlice:
    """Write zeros over what a step that was cut off left at both ends of a slice of ours."""

    slice: Slice
    pool_name: str
    pool_guid: str
    action: Literal["clear-slice"] = "clear-slice"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        template = _("Clear partition {number} on {disk} of what a step that was cut off left in it")
        return Statement(self.action, template, _place_of(self.slice))


Cleaning = RewindTable | ClearSlice
"""What makes the host ready for a step that is to run again."""


def cleaning_of(action: Action) -> tuple[Cleaning, ...]:
    """What to clean before a step runs again that began but did not get through."""
    match action:
        case CreateTable():
            return (RewindTable(action.disk_key, action.disk_path),)
        case CreateSlice(slice=piece):
            return (RewindTable(piece.disk_key, piece.disk_path),)
        case AddLog() | AddCache() | AttachLog():
            return tuple(ClearSlice(piece, action.pool_name, action.pool_guid) for piece in slices_of(action))
        case SaveTable() | DropLogLeg():
            return ()


def slices_of(action: Action) -> tuple[Slice, ...]:
    """The slices an action makes or uses."""
    match action:
        case CreateTable() | SaveTable() | DropLogLeg():
            return ()
        case CreateSlice(slice=piece):
            return (piece,)
        case AddLog(legs=legs):
            return legs
        case AddCache(slices=pieces):
            return pieces
        case AttachLog(leg=leg):
            return (leg,)


def _place_of(piece: Slice) -> dict[str, str]:
    return {"number": str(piece.number), "disk": piece.disk_path}


def _leaf(piece: Slice, ashift: int) -> Vdev:
    return Vdev(PLANNED_GUID, "disk", piece.path, "ONLINE", path=piece.path, ashift=ashift)


def _with_disk(inventory: Inventory, key: str, **changes: object) -> Inventory:
    disks = tuple(replace(disk, **changes) if disk.key == key else disk for disk in inventory.disks)  # type: ignore[arg-type]
    return replace(inventory, disks=disks)


def _with_pool(inventory: Inventory, guid: str, used: tuple[Slice, ...], **changes: tuple[Vdev, ...]) -> Inventory:
    """The inventory with a changed pool, and the slices it now uses held by it."""
    pool = inventory.pool(guid)
    if pool is None:
        return inventory
    hold = Hold(HoldKind.POOL, pool.name)
    partuuids = {piece.partuuid for piece in used}
    pools = tuple(replace(each, **changes) if each.guid == guid else each for each in inventory.pools)  # type: ignore[arg-type]
    return replace(inventory, pools=pools, disks=tuple(_held(disk, partuuids, hold) for disk in inventory.disks))


def _held(disk: Disk, partuuids: set[str], hold: Hold) -> Disk:
    parts = tuple(
        replace(part, holds=(*part.holds, hold)) if part.partuuid in partuuids else part for part in disk.partitions
    )
    return replace(disk, partitions=parts)
