"""The safety rules. One place, asked by the wizard, the command line and the host worker alike.

`can(action, inventory)` answers `Allowed` or `Refused`; it never raises. The rules for taking back are in
`undo_checks`.
"""

from collections.abc import Iterator

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    CreateSlice,
    CreateTable,
    DropLog,
    DropLogSide,
    OfflineCache,
    Role,
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.actions.inventory_queries import cache_of
from nasadvisor.domain.statements import Allowed, Answer, Refused
from nasadvisor.domain.storage import releases
from nasadvisor.domain.storage.gaps import free_extents, has_odd_area, is_out_of_bounds, overlaps
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Host, Inventory, Partition, Pool, TableKind, Vdev
from nasadvisor.domain.storage.known_bugs import MULTIHOST_HOLE_WHY
from nasadvisor.domain.storage.logs import (
    TAKES_IO,
    is_dead,
    is_out_of_service,
    log_mirror_of,
    side_bounds,
    without_dead_logs,
    without_log_side,
)
from nasadvisor.domain.storage.names import is_disk_name
from nasadvisor.domain.units import MIB

LOG_FEATURE = "allocation_classes"
"""vdev_log_state_valid() in module/zfs/vdev.c; zpool-features(7)."""

NEVER_ON_A_USED_DISK = frozenset(
    {HoldKind.BOOT, HoldKind.UNREADABLE, HoldKind.DUPLICATE, HoldKind.COPY, HoldKind.READ_ONLY}
)
"""Holds of a partition that forbid even the free space beside it."""

SECTOR_BYTES = tuple(512 << power for power in range(8))
"""512 to 64 KiB: what sector sizes Linux knows."""

ASHIFTS = range(9, 17)
"""ASHIFT_MIN to ASHIFT_MAX, include/sys/vdev_impl.h."""

RESILVER = "resilver"

MAX_PARTITIONS = 128
"""How many entries sgdisk(8) writes into a table, and everybody else too."""


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
        case DropLogSide():
            return _first(_against_drop(action, inventory))
        case DropLog():
            return _first(_against_drop_log(action, inventory))
        case OfflineCache():
            return _first(_against_offline(action, inventory))


def can_use_disk(disk: Disk) -> Answer:
    """Whether a disk may be a target at all, whatever is planned on it."""
    return _first(_against_disk(disk))


def can_use_pool(pool: Pool, host: Host, adds_log: bool) -> Answer:
    """Whether a pool may be given a log (`adds_log`) or a cache."""
    return _first(_against_log_pool(pool, host) if adds_log else _against_pool(pool))


def _first(refusals: Iterator[Refused]) -> Answer:
    return next(refusals, Allowed())


def _against_disk(disk: Disk) -> Iterator[Refused]:
    of_parts = (hold for part in disk.partitions for hold in part.holds if hold.kind in NEVER_ON_A_USED_DISK)
    for hold in (*disk.holds, *of_parts):
        yield no.DiskHeld(disk, hold)
    if not is_disk_name(disk.path):
        yield no.NoPersistentName(disk)
    if not disk.identity.is_told:
        yield no.NoIdentity(disk)
    if disk.identity.logical_sector_bytes not in SECTOR_BYTES:
        yield no.StrangeSectors(disk)
    if disk.table is TableKind.OTHER:
        yield no.ForeignTable(disk)
    if overlaps(disk) or is_out_of_bounds(disk):
        yield no.BrokenTable(disk)
    if has_odd_area(disk):
        yield no.TableAreaOdd(disk)


def _against_pool(pool: Pool) -> Iterator[Refused]:
    if pool.problem:
        yield no.PoolUnreadable(pool)
    if pool.suspended:
        yield no.PoolSuspended(pool)
    if pool.state != "ONLINE":
        yield no.PoolNotOnline(pool)
    if pool.read_only:
        yield no.PoolReadOnly(pool)
    if pool.checkpoint:
        yield no.PoolHasCheckpoint(pool)
    if pool.ashift not in ASHIFTS:
        yield no.AshiftUnknown(pool)


def _against_log_pool(pool: Pool, host: Host) -> Iterator[Refused]:
    yield from _against_pool(pool)
    if LOG_FEATURE not in pool.features:
        yield no.FeatureMissing(pool)
    yield from against_hole(pool, host)


def against_hole(pool: Pool, host: Host) -> Iterator[Refused]:
    """A log that is removed leaves a hole, and some releases then refuse to import the pool."""
    if pool.multihost and releases.MULTIHOST_HOLE.is_in(host.zfs_kernel):
        yield no.KnownBug(pool, host.zfs_kernel, MULTIHOST_HOLE_WHY)


def _against_target(key: str, path: str, inventory: Inventory) -> Iterator[Refused]:
    yield from against_place(key, path, inventory)
    disk = inventory.disk(key)
    if disk:
        yield from _against_disk(disk)


def against_place(key: str, path: str, inventory: Inventory) -> Iterator[Refused]:
    """The disk that was meant must be there, and the persistent name must still be its own."""
    disk = inventory.disk(key)
    if disk is None:
        yield no.DiskGone(key)
    elif path != disk.path and path not in disk.links:
        yield no.DiskChanged(disk, path)
    elif not is_disk_name(path):
        yield no.NoPersistentName(disk)


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
    if disk.identity.logical_sector_bytes != piece.sector_bytes:
        yield no.SectorsDiffer(disk, piece)
    if piece.start_bytes % MIB or piece.size_bytes % MIB:
        yield no.NotAligned(disk, piece)
    start, end = piece.start_bytes, piece.start_bytes + piece.size_bytes
    if not any(extent.start_bytes <= start < end <= extent.end_bytes for extent in free_extents(disk)):
        yield no.ExtentTaken(disk, piece)
    if not 1 <= piece.number <= MAX_PARTITIONS:
        yield no.TableFull(disk, piece)
    if any(part.number == piece.number for part in disk.partitions):
        yield no.NumberTaken(disk, piece)
    if any(part.partuuid == piece.partuuid for each in inventory.disks for part in each.partitions):
        yield no.PartuuidTaken(piece)


def _against_addition(action: AddLog | AddCache | AttachLog, pool: Pool) -> Iterator[Refused]:
    """The pool must be the one that the plan was made for."""
    if pool.name != action.pool_name:
        yield no.PoolRenamed(pool, action.pool_name)
    if pool.ashift != action.ashift:
        yield no.WrongAshift(pool, action.ashift)


def _against_members(pieces: tuple[Slice, ...], role: Role, pool: Pool, inventory: Inventory) -> Iterator[Refused]:
    """Slices that go into a pool must be there, as planned, and unused."""
    if not pieces:
        yield no.NothingToDo(pool.name)
    for piece in pieces:
        if piece.role is not role:
            yield no.PlanForeign()
        yield from _against_target(piece.disk_key, piece.disk_path, inventory)
        yield from _against_member(piece, pool, inventory)


def _against_member(piece: Slice, pool: Pool, inventory: Inventory) -> Iterator[Refused]:
    found = inventory.partition(piece.partuuid)
    if found is None or not piece.is_on(*found):
        yield no.SliceGone(piece)
        return
    disk, part = found
    for hold in part.holds:
        yield no.SliceHeld(piece, hold)
    yield from against_pool_member(piece, part, inventory)
    if disk.identity.logical_sector_bytes > 1 << pool.ashift:
        yield no.SectorTooLarge(disk, pool)


def against_pool_member(piece: Slice, part: Partition, inventory: Inventory) -> Iterator[Refused]:
    """A second look, besides the holds: no imported pool may name the partition as one of its devices."""
    for pool in inventory.pools:
        if any(part.is_at(vdev.path) for vdev in pool.vdevs() if vdev.path):
            yield no.SliceHeld(piece, Hold(HoldKind.POOL, pool.name))


def _against_log(action: AddLog, inventory: Inventory) -> Iterator[Refused]:
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    yield from _against_log_pool(pool, inventory.host)
    yield from _against_addition(action, pool)
    yield from _against_members(action.sides, Role.LOG, pool, inventory)
    if len({side.size_bytes for side in action.sides}) > 1:
        yield no.SizesDiffer(action.pool_name)
    disks = [inventory.disk(side.disk_key) for side in action.sides]
    yield from against_shared_disk(disks)
    in_log = {physical(disk) for top in pool.logs for disk in _disks_of(top, inventory)}
    yield from (no.DiskInLog(disk, pool) for disk in disks if disk and physical(disk) in in_log)


def _against_cache(action: AddCache, inventory: Inventory) -> Iterator[Refused]:
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    yield from _against_pool(pool)
    yield from _against_addition(action, pool)
    keys = [piece.disk_key for piece in action.slices]
    yield from (no.DiskTwice(key, Role.CACHE) for key in keys if keys.count(key) > 1)
    yield from _against_members(action.slices, Role.CACHE, pool, inventory)


def _against_attach(action: AttachLog, inventory: Inventory) -> Iterator[Refused]:
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    yield from _against_log_pool(pool, inventory.host)
    if pool.scan == RESILVER:
        yield no.PoolResilvers(pool)
    yield from _against_addition(action, pool)
    yield from _against_members((action.side,), Role.LOG, pool, inventory)
    top = next((top for top in pool.logs for leaf in top.leaves() if leaf.guid == action.existing_guid), None)
    if top is None:
        yield no.LogSideGone(pool, action.existing_guid)
        return
    yield from _against_partners(action, pool, top, inventory)


def _against_partners(action: AttachLog, pool: Pool, top: Vdev, inventory: Inventory) -> Iterator[Refused]:
    """Every side that is there must be healthy, known and on another SSD, and the new one as long as they are."""
    disks: list[Disk | None] = [inventory.disk(action.side.disk_key)]
    for leaf in top.leaves():
        if leaf.state != "ONLINE":
            yield no.LogSideNotOnline(pool, leaf)
        found = inventory.partition_at(leaf.path)
        if found is None:
            yield no.LogSideUnknown(pool, leaf)
            continue
        disks.append(found[0])
    shortest, longest = side_bounds(top, inventory)
    if not shortest <= action.side.size_bytes <= longest:
        yield no.SizesDiffer(pool.name)
    yield from against_shared_disk(disks)


def _against_drop(action: DropLogSide, inventory: Inventory) -> Iterator[Refused]:
    """A side is taken out only if it is broken, another one works, and nothing else ails the pool."""
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    if pool.name != action.pool_name:
        yield no.PoolRenamed(pool, action.pool_name)
    top = log_mirror_of(pool, action.vdev_guid)
    if top is None:
        yield no.LogSideGone(pool, action.vdev_guid)
        return
    side = next(side for side in top.children if side.guid == action.vdev_guid)
    others = [other for other in top.children if other.guid != action.vdev_guid]
    if side.state == "ONLINE":
        yield no.LogSideWorks(pool, side)
    if all(other.state != "ONLINE" for other in others):
        yield from (no.LastGoodSide(pool, other) for other in others)
    yield from _against_log_pool(without_log_side(pool, action.vdev_guid), inventory.host)


def _against_drop_log(action: DropLog, inventory: Inventory) -> Iterator[Refused]:
    """A log is taken out only if it is dead, and nothing but dead logs ails the pool."""
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    if pool.name != action.pool_name:
        yield no.PoolRenamed(pool, action.pool_name)
    log = next((top for top in pool.logs if top.guid == action.vdev_guid), None)
    if log is None:
        yield no.LogSideGone(pool, action.vdev_guid)
        return
    if not is_dead(log):
        yield from against_sick_log(pool, log)
        yield no.LogOutOfService(pool, log) if is_out_of_service(log) else no.LogWorks(pool, log)
    yield from _against_pool(without_dead_logs(pool))
    yield from against_hole(pool, inventory.host)


def against_sick_log(pool: Pool, top: Vdev) -> Iterator[Refused]:
    """A log is removed only if nothing of it that still takes I/O has errors.

    One of which nothing takes I/O any more is no danger: its writes lie in the pool already, and `zpool remove` does
    not wait for it (tried on OpenZFS 2.3.9, pulled and faulted, with writers running: 4 s).
    """
    takes_io = [leaf for leaf in top.leaves() if leaf.state in TAKES_IO]
    if takes_io and all(leaf.state != "ONLINE" for leaf in takes_io):
        yield no.LogHasErrors(pool, takes_io[0])
    for vdev in top.walk():
        if vdev.state in TAKES_IO and vdev.read_errors + vdev.write_errors:
            yield no.LogHasErrors(pool, vdev)


def _against_offline(action: OfflineCache, inventory: Inventory) -> Iterator[Refused]:
    """Only a cache is taken out of service, and only one that works: nothing but copies is in it."""
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    if pool.name != action.pool_name:
        yield no.PoolRenamed(pool, action.pool_name)
    yield from _against_pool(pool)
    cache = cache_of(action.pool_guid, action.vdev_guid, inventory)
    if cache is None:
        yield no.CacheGone(pool, action.vdev_guid)
    elif cache.state != "ONLINE":
        yield no.CacheNotOnline(pool, cache)


def against_shared_disk(disks: list[Disk | None]) -> Iterator[Refused]:
    """Two sides on one physical disk."""
    seen: set[str] = set()
    for disk in filter(None, disks):
        if physical(disk) in seen:
            yield no.SameDisk(disk)
        seen.add(physical(disk))


def physical(disk: Disk) -> str:
    """What two devices share that are one piece of hardware: the namespaces of an NVMe SSD have its serial."""
    return disk.identity.hardware or disk.key


def _disks_of(top: Vdev, inventory: Inventory) -> Iterator[Disk]:
    places = (inventory.place_of(leaf) for leaf in top.leaves())
    yield from (place[0] for place in places if place)
