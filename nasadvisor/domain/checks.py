"""The safety rules. One place, asked by the wizard, the command line and the host worker alike.

`can(action, inventory)` and `can_undo(action, inventory)` answer `Allowed` or `Refused`; they never raise.
"""

from collections.abc import Iterator

from nasadvisor.domain import refusals as no
from nasadvisor.domain.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    RemoveVdev,
    RestoreTable,
    Role,
    SaveTable,
    Slice,
    UndoAction,
)
from nasadvisor.domain.gaps import free_extents, overlaps
from nasadvisor.domain.inventory import Disk, HoldKind, Host, Inventory, Partition, Pool, TableKind, Vdev
from nasadvisor.domain.partition_types import SOLARIS_ZFS_TYPE
from nasadvisor.domain.statements import Allowed, Answer, Refused
from nasadvisor.domain.units import MIB
from nasadvisor.domain.zfs_bugs import MULTIHOST_HOLE_WHY, has_multihost_hole_bug

LOG_FEATURE = "allocation_classes"
"""vdev_log_state_valid() in module/zfs/vdev.c; zpool-features(7)."""

NEVER_ON_A_USED_DISK = frozenset({HoldKind.BOOT, HoldKind.UNREADABLE, HoldKind.DUPLICATE, HoldKind.READ_ONLY})
"""Holds of a partition that forbid even the free space beside it."""


def can(action: Action, inventory: Inventory) -> Answer:
    """Whether a plan's action may run on a host in this state."""
    match action:
        case CreateTable():
            return _first(_against_table(action, inventory))
        case SaveTable():
            return _first(_against_save(action, inventory))
        case CreateSlice(slice=piece):
            return _first(_against_slice(piece, inventory))
        case AddLog():
            return _first(_against_log(action, inventory))
        case AddCache():
            return _first(_against_cache(action, inventory))
        case AttachLog():
            return _first(_against_attach(action, inventory))


def can_undo(action: UndoAction, inventory: Inventory) -> Answer:
    """Whether an undo action may run on a host in this state."""
    match action:
        case RemoveVdev():
            return _first(_against_remove(action, inventory))
        case DetachLog():
            return _first(_against_detach(action, inventory))
        case DeleteSlice(slice=piece):
            return _first(_against_delete(piece, inventory))
        case RestoreTable():
            return _first(_against_restore(action, inventory))


def can_use_disk(disk: Disk) -> Answer:
    """Whether a disk may be a target at all, whatever is planned on it."""
    return _first(_against_disk(disk))


def can_use_pool(pool: Pool, host: Host, adds_log: bool) -> Answer:
    """Whether a pool may be given a log (`adds_log`) or a cache."""
    return _first(_against_log_pool(pool, host) if adds_log else _against_pool(pool))


def find_log_leg(pool: Pool, guid: str) -> Vdev | None:
    """The leaf of a pool's logs with this guid."""
    return next((leaf for top in pool.logs for leaf in top.leaves() if leaf.guid == guid), None)


def _first(refusals: Iterator[Refused]) -> Answer:
    return next(refusals, Allowed())


def _against_disk(disk: Disk) -> Iterator[Refused]:
    for hold in disk.holds:
        yield no.DiskHeld(disk, hold)
    for part in disk.partitions:
        for hold in part.holds:
            if hold.kind in NEVER_ON_A_USED_DISK:
                yield no.DiskHeld(disk, hold)
    if not disk.path.startswith("/dev/disk/by-id/"):
        yield no.NoPersistentName(disk)
    if disk.table is TableKind.OTHER:
        yield no.ForeignTable(disk)
    if overlaps(disk):
        yield no.BrokenTable(disk)


def _against_pool(pool: Pool) -> Iterator[Refused]:
    if pool.suspended:
        yield no.PoolSuspended(pool)
    if pool.state != "ONLINE":
        yield no.PoolNotOnline(pool)
    if pool.read_only:
        yield no.PoolReadOnly(pool)
    if pool.checkpoint:
        yield no.PoolHasCheckpoint(pool)
    if not pool.ashift:
        yield no.AshiftUnknown(pool)


def _against_log_pool(pool: Pool, host: Host) -> Iterator[Refused]:
    yield from _against_pool(pool)
    if LOG_FEATURE not in pool.features:
        yield no.FeatureMissing(pool)
    if pool.multihost and has_multihost_hole_bug(host.zfs_kernel):
        yield no.KnownBug(pool, host.zfs_kernel, MULTIHOST_HOLE_WHY)


def _against_target(key: str, path: str, inventory: Inventory) -> Iterator[Refused]:
    disk = inventory.disk(key)
    if disk is None:
        yield no.DiskGone(key)
        return
    if path != disk.path and path not in disk.links:
        yield no.DiskChanged(disk, path)
    yield from _against_disk(disk)


def _against_table(action: CreateTable, inventory: Inventory) -> Iterator[Refused]:
    yield from _against_target(action.disk_key, action.disk_path, inventory)
    disk = inventory.disk(action.disk_key)
    if disk and (disk.partitions or disk.table is not TableKind.NONE):
        yield no.DiskNotBlank(disk)


def _against_save(action: SaveTable, inventory: Inventory) -> Iterator[Refused]:
    yield from _against_target(action.disk_key, action.disk_path, inventory)
    disk = inventory.disk(action.disk_key)
    if disk and (disk.table is not TableKind.GPT or disk.table_uuid != action.table_uuid):
        yield no.TableMissing(disk)


def _against_slice(piece: Slice, inventory: Inventory) -> Iterator[Refused]:
    yield from _against_target(piece.disk_key, piece.disk_path, inventory)
    disk = inventory.disk(piece.disk_key)
    if disk is None:
        return
    if disk.table is not TableKind.GPT:
        yield no.TableMissing(disk)
    if piece.start_bytes % MIB or piece.size_bytes % MIB:
        yield no.NotAligned(disk, piece)
    end = piece.start_bytes + piece.size_bytes
    if not any(extent.start_bytes <= piece.start_bytes and end <= extent.end_bytes for extent in free_extents(disk)):
        yield no.ExtentTaken(disk, piece)
    if any(part.number == piece.number for part in disk.partitions):
        yield no.NumberTaken(disk, piece)
    if any(part.partuuid == piece.partuuid for each in inventory.disks for part in each.partitions):
        yield no.PartuuidTaken(piece)


def _against_members(
    pool_guid: str, pool_name: str, ashift: int, pieces: tuple[Slice, ...], inventory: Inventory
) -> Iterator[Refused]:
    """What every addition to a pool has in common: the right pool, and slices that are there, ours and unused."""
    pool = inventory.pool(pool_guid)
    if pool is None:
        yield no.NoPool(pool_guid)
        return
    if pool.name != pool_name:
        yield no.PoolRenamed(pool, pool_name)
    if pool.ashift != ashift:
        yield no.WrongAshift(pool, ashift)
    for piece in pieces:
        yield from _against_member(piece, pool, inventory)


def _against_member(piece: Slice, pool: Pool, inventory: Inventory) -> Iterator[Refused]:
    found = inventory.partition(piece.partuuid)
    if found is None or not is_our_slice(piece, *found):
        yield no.SliceGone(piece)
        return
    disk, part = found
    for hold in part.holds:
        yield no.SliceHeld(piece, hold)
    if disk.identity.logical_sector_bytes > 1 << pool.ashift:
        yield no.SectorTooLarge(disk, pool)


def is_our_slice(piece: Slice, disk: Disk, part: Partition) -> bool:
    """Whether a partition is exactly the slice that was planned: disk, number, place, size, type and PARTUUID."""
    return (
        disk.key == piece.disk_key
        and part.number == piece.number
        and part.partuuid == piece.partuuid
        and part.type_uuid == SOLARIS_ZFS_TYPE
        and part.start_bytes == piece.start_bytes
        and part.size_bytes == piece.size_bytes
    )


def _against_log(action: AddLog, inventory: Inventory) -> Iterator[Refused]:
    yield from _against_members(action.pool_guid, action.pool_name, action.ashift, action.legs, inventory)
    pool = inventory.pool(action.pool_guid)
    if pool:
        yield from _against_log_pool(pool, inventory.host)
    if len({leg.size_bytes for leg in action.legs}) > 1:
        yield no.SizesDiffer(action.pool_name)
    yield from _against_shared_disk([inventory.disk(leg.disk_key) for leg in action.legs])


def _against_cache(action: AddCache, inventory: Inventory) -> Iterator[Refused]:
    yield from _against_members(action.pool_guid, action.pool_name, action.ashift, action.slices, inventory)
    pool = inventory.pool(action.pool_guid)
    if pool:
        yield from _against_pool(pool)


def _against_attach(action: AttachLog, inventory: Inventory) -> Iterator[Refused]:
    yield from _against_members(action.pool_guid, action.pool_name, action.ashift, (action.leg,), inventory)
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        return
    yield from _against_log_pool(pool, inventory.host)
    top = next((top for top in pool.logs for leaf in top.leaves() if leaf.guid == action.existing_guid), None)
    if top is None:
        yield no.LogLegGone(pool, action.existing_guid)
        return
    yield from _against_partners(action, pool, top, inventory)


def _against_partners(action: AttachLog, pool: Pool, top: Vdev, inventory: Inventory) -> Iterator[Refused]:
    """Every leg that is already there must be healthy, known, on another SSD and of the same size."""
    disks: list[Disk | None] = [inventory.disk(action.leg.disk_key)]
    for leaf in top.leaves():
        if leaf.state != "ONLINE":
            yield no.LogLegNotOnline(pool, leaf)
        found = inventory.partition_at(leaf.path)
        if found is None:
            yield no.LogLegUnknown(pool, leaf)
            continue
        disks.append(found[0])
        if found[1].size_bytes != action.leg.size_bytes:
            yield no.SizesDiffer(pool.name)
    yield from _against_shared_disk(disks)


def _against_shared_disk(disks: list[Disk | None]) -> Iterator[Refused]:
    """Two legs on one physical disk. Namespaces of one NVMe SSD share its serial, so the serial decides."""
    seen: set[str] = set()
    for disk in disks:
        if disk is None:
            continue
        physical = disk.identity.serial or disk.key
        if physical in seen:
            yield no.SameDisk(disk)
        seen.add(physical)


def _against_remove(action: RemoveVdev, inventory: Inventory) -> Iterator[Refused]:
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    yield from _against_undo_pool(pool, action.pool_name)
    tops = pool.logs if action.role is Role.LOG else pool.caches
    top = next((top for top in tops if top.guid == action.vdev_guid), None)
    if top is None:
        yield no.VdevGone(action.vdev_guid, pool.name, action.role)
    elif action.role is Role.LOG:
        yield from _against_sick_log(pool, top)


def _against_undo_pool(pool: Pool, planned_name: str) -> Iterator[Refused]:
    if pool.name != planned_name:
        yield no.PoolRenamed(pool, planned_name)
    if pool.suspended:
        yield no.PoolSuspended(pool)
    if pool.read_only:
        yield no.PoolReadOnly(pool)
    if pool.checkpoint:
        yield no.PoolHasCheckpoint(pool)


def _against_sick_log(pool: Pool, top: Vdev) -> Iterator[Refused]:
    """A log is removed only if some leg is healthy and no leg that still takes I/O has errors."""
    leaves = list(top.leaves())
    for leaf in leaves:
        errors = leaf.read_errors + leaf.write_errors
        if (leaf.state == "ONLINE" and errors) or all(each.state != "ONLINE" for each in leaves):
            yield no.LogHasErrors(pool, leaf)


def _against_detach(action: DetachLog, inventory: Inventory) -> Iterator[Refused]:
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    yield from _against_undo_pool(pool, action.pool_name)
    mirrored = [top for top in pool.logs if any(child.guid == action.vdev_guid for child in top.children)]
    if not mirrored:
        yield no.VdevGone(action.vdev_guid, pool.name, Role.LOG)


def _against_delete(piece: Slice, inventory: Inventory) -> Iterator[Refused]:
    found = inventory.partition(piece.partuuid)
    if found is None or not is_our_slice(piece, *found):
        yield no.SliceGone(piece)
        return
    disk, part = found
    if piece.disk_path != disk.path and piece.disk_path not in disk.links:
        yield no.DiskChanged(disk, piece.disk_path)
    for hold in part.holds:
        # The label that a vdev leaves behind when it is removed looks like one of an exported pool.
        if hold.kind is not HoldKind.EXPORTED_POOL:
            yield no.SliceHeld(piece, hold)


def _against_restore(action: RestoreTable, inventory: Inventory) -> Iterator[Refused]:
    disk = inventory.disk(action.disk_key)
    if disk is None:
        yield no.DiskGone(action.disk_key)
        return
    if action.disk_path != disk.path and action.disk_path not in disk.links:
        yield no.DiskChanged(disk, action.disk_path)
    # A crash in the middle of writing a table can leave none that is readable; that one may be overwritten.
    other_table = disk.table is TableKind.GPT and disk.table_uuid != action.table_uuid
    if other_table or {part.partuuid for part in disk.partitions} != set(action.partuuids):
        yield no.TableChanged(disk)
