"""The safety rules for taking back what a run did: by guid and PARTUUID, and only what is still as the run left it."""

from collections.abc import Iterator

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import (
    Cleaning,
    ClearSlice,
    DeleteSlice,
    DetachLog,
    OnlineCache,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    Role,
    Slice,
    UndoAction,
)
from nasadvisor.domain.change.actions.inventory_queries import cache_of, phantom_of
from nasadvisor.domain.change.checks import against_hole, against_place, against_pool_member, against_sick_log
from nasadvisor.domain.change.device_scan import DeviceScan
from nasadvisor.domain.change.undo import GONE_WITH_DISK
from nasadvisor.domain.statements import Allowed, Answer, Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, HoldKind, Inventory, Pool, TableKind, Vdev
from nasadvisor.domain.storage.logs import TAKES_IO


def why_skipped(action: UndoAction, inventory: Inventory, look: DeviceScan) -> Statement | None:
    """Why a step is left out, None where it has something to do.

    `look` is what stands in the slices of a vdev; it tells a pool that was destroyed from one that is away.
    """
    path = action.away_from(inventory)
    if path:
        template = _("{disk} is not on this host, so nothing was changed on it.")
        return Statement(GONE_WITH_DISK, template, {"disk": path})
    if isinstance(action, RemoveVdev | DetachLog) and inventory.pool(action.pool_guid) is None:
        if any(label.may_be_needed for _partuuid, label in look.labels):
            return None
        if isinstance(action, RemoveVdev) and action.role is Role.CACHE:
            return _cache_of_absent_pool(action)
        template = _(
            "Pool {pool} is not on this host, and no slice of this run shows that the pool needs it: the pool was "
            "destroyed. There was nothing to remove from it."
        )
        return Statement("gone-with-pool", template, {"pool": action.pool_name})
    if isinstance(action, OnlineCache) and action.is_away(inventory):
        template = _(
            "Neither pool {pool} nor its cache {path} is on this host, so there was nothing to put back into service."
        )
        return Statement("gone-with-cache", template, {"pool": action.pool_name, "path": action.vdev_path})
    return None


def _cache_of_absent_pool(action: RemoveVdev) -> Statement:
    """The label of a cache names no pool, so it does not tell a pool that was destroyed from one that is away."""
    template = _(
        "Pool {pool} is not on this host, so its cache was not removed from it. A cache contains only copies. If the "
        "pool is imported again, it shows the cache as missing: remove it with `zpool remove {pool} {guid}`."
    )
    return Statement("cache-of-absent-pool", template, {"pool": action.pool_name, "guid": action.vdev_guid})


def can_undo(action: UndoAction, inventory: Inventory) -> Answer:
    """Whether an undo action may run on a host in this state; never raises."""
    return next(_against(action, inventory), Allowed())


def can_clean(action: Cleaning, inventory: Inventory) -> Answer:
    """Whether what a step left that was cut off may be cleaned, so that the step can run again; never raises."""
    return next(_against_cleaning(action, inventory), Allowed())


def _against_cleaning(action: Cleaning, inventory: Inventory) -> Iterator[Refused]:
    match action:
        case RewindTable():
            yield from against_place(action.disk_key, action.disk_path, inventory)
            disk = inventory.disk(action.disk_key)
            yield from _against_holders(disk) if disk else ()
        case ClearSlice(slice=piece):
            if inventory.pool(action.pool_guid) is None:
                yield no.PoolAway(action.pool_name, action.pool_guid)
            yield from _against_slice(piece, inventory)


def _against(action: UndoAction, inventory: Inventory) -> Iterator[Refused]:
    match action:
        case RemoveVdev():
            return _against_remove(action, inventory)
        case DetachLog():
            return _against_detach(action, inventory)
        case DeleteSlice():
            return _against_delete(action, inventory)
        case RestoreTable():
            return _against_restore(action, inventory)
        case OnlineCache():
            return _against_online(action, inventory)


def _against_remove(action: RemoveVdev, inventory: Inventory) -> Iterator[Refused]:
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.PoolAway(action.pool_name, action.pool_guid)
        return
    yield from _against_pool(pool, action.pool_name)
    tops = pool.logs if action.role is Role.LOG else pool.caches
    top = next((top for top in tops if any(vdev.guid == action.vdev_guid for vdev in top.walk())), None)
    if top is None:
        yield no.VdevGone(action.vdev_guid, pool.name, action.role)
        return
    yield from _against_foreign_leaf(action, pool, top, inventory)
    if top.guid != action.vdev_guid:  # a single log that got a second side is a side now
        yield no.VdevGone(action.vdev_guid, pool.name, action.role)
    if action.role is Role.LOG:
        yield from against_sick_log(pool, top)
        yield from against_hole(pool, inventory.host)


def _against_pool(pool: Pool, planned_name: str) -> Iterator[Refused]:
    """Nothing is taken out of a pool with a checkpoint (spa_vdev_remove() in module/zfs/vdev_removal.c)."""
    yield from _against_state(pool, planned_name)
    if pool.checkpoint:
        yield no.PoolHasCheckpoint(pool)


def _against_state(pool: Pool, planned_name: str) -> Iterator[Refused]:
    if pool.problem:
        yield no.PoolUnreadable(pool)
    if pool.name != planned_name:
        yield no.PoolRenamed(pool, planned_name)
    if pool.suspended:
        yield no.PoolSuspended(pool)
    if pool.state not in TAKES_IO:
        yield no.PoolNotOnline(pool)
    if pool.read_only:
        yield no.PoolReadOnly(pool)


def _against_foreign_leaf(action: RemoveVdev, pool: Pool, top: Vdev, inventory: Inventory) -> Iterator[Refused]:
    """A vdev of ours may have got a further side since, or a replacement, which is not ours to take out."""
    ours = {piece.partuuid for piece in action.slices}
    for leaf in top.leaves():
        found = inventory.partition_at(leaf.path)
        foreign = found[1].partuuid not in ours if found else inventory.disk_at(leaf.path) is not None
        if foreign:
            yield no.VdevChanged(pool, top, leaf, action.role)


def _against_detach(action: DetachLog, inventory: Inventory) -> Iterator[Refused]:
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.PoolAway(action.pool_name, action.pool_guid)
        return
    yield from _against_pool(pool, action.pool_name)
    mirror = next((top for top in pool.logs if any(side.guid == action.vdev_guid for side in top.children)), None)
    if mirror is None:
        yield no.VdevGone(action.vdev_guid, pool.name, Role.LOG)
        return
    others = [side for side in mirror.children if side.guid != action.vdev_guid]
    if all(side.state != "ONLINE" for side in others):
        yield from (no.LastGoodSide(pool, side) for side in others)


def _against_online(action: OnlineCache, inventory: Inventory) -> Iterator[Refused]:
    """A checkpoint is no hindrance: nothing is taken out."""
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.PoolAway(action.pool_name, action.pool_guid)
        return
    yield from _against_state(pool, action.pool_name)
    if cache_of(action.pool_guid, action.vdev_guid, inventory) is None:
        yield no.CacheGone(pool, action.vdev_guid)


def _against_delete(action: DeleteSlice, inventory: Inventory) -> Iterator[Refused]:
    yield from _against_slice(action.slice, inventory)
    disk = inventory.disk(action.slice.disk_key)
    yield from _against_holders(disk) if disk else ()


def _against_slice(piece: Slice, inventory: Inventory) -> Iterator[Refused]:
    """The slice must be there, as it was made, once, and nothing may use it.

    What stands in it is judged by its bytes (`domain.change.looks`): udev shows the label that a vdev leaves behind
    when it is removed as that of an exported pool.
    """
    copies = inventory.partitions(piece.partuuid)
    phantom = phantom_of(piece, inventory)
    if phantom and not copies:
        yield from (no.SliceHeld(piece, hold) for hold in phantom.holds if hold.kind is not HoldKind.UNREADABLE)
        return
    if len(copies) > 1:
        yield no.SliceTwice(piece, ", ".join(disk.label for disk, _ in copies))
        return
    if not copies or not piece.is_on(*copies[0]):
        yield no.SliceGone(piece)
        return
    yield from against_place(piece.disk_key, piece.disk_path, inventory)
    part = copies[0][1]
    yield from (no.SliceHeld(piece, hold) for hold in part.holds if hold.kind not in no.LABELS)
    yield from against_pool_member(piece, part, inventory)


def _against_restore(action: RestoreTable, inventory: Inventory) -> Iterator[Refused]:
    yield from against_place(action.disk_key, action.disk_path, inventory)
    disk = inventory.disk(action.disk_key)
    if disk is None:
        return
    yield from _against_holders(disk)
    # A crash in the middle of writing a table can leave one that is not readable, or shows as of another kind. Whose it
    # is tell its sectors alone, which are asked in any case (`domain.change.looks`).
    other_table = disk.table is not TableKind.NONE and disk.table_uuid != action.table_uuid
    if is_readable(disk) and (other_table or set(disk.places) != set(action.places)):
        yield no.TableChanged(disk)


def is_readable(disk: Disk) -> bool:
    """Whether the host shows which partition table a disk has, or that it has none."""
    return disk.table is not TableKind.OTHER and all(hold.kind is not HoldKind.UNREADABLE for hold in disk.holds)


def _against_holders(disk: Disk) -> Iterator[Refused]:
    """What holds the disk itself. A table that cannot be read is none of it: mending that is what restoring is for."""
    yield from (no.DiskHeld(disk, hold) for hold in disk.holds if hold.kind is not HoldKind.UNREADABLE)
