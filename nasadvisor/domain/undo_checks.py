"""The safety rules for taking back what a run did: by guid and PARTUUID, and only what is still as the run left it."""

from collections.abc import Iterator

from nasadvisor.domain import refusals as no
from nasadvisor.domain.actions import DeleteSlice, DetachLog, RemoveVdev, RestoreTable, Role, UndoAction
from nasadvisor.domain.checks import against_hole, against_place, against_pool_member
from nasadvisor.domain.inventory import NAMELESS_POOL, Hold, HoldKind, Inventory, Pool, TableKind, Vdev
from nasadvisor.domain.statements import Allowed, Answer, Refused

USABLE = frozenset({"ONLINE", "DEGRADED"})
"""States in which a pool serves, and a device still takes I/O."""


def can_undo(action: UndoAction, inventory: Inventory) -> Answer:
    """Whether an undo action may run on a host in this state; never raises."""
    return next(_against(action, inventory), Allowed())


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


def _against_remove(action: RemoveVdev, inventory: Inventory) -> Iterator[Refused]:
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    yield from _against_pool(pool, action.pool_name)
    tops = pool.logs if action.role is Role.LOG else pool.caches
    top = next((top for top in tops if any(vdev.guid == action.vdev_guid for vdev in top.walk())), None)
    if top is None:
        yield no.VdevGone(action.vdev_guid, pool.name, action.role)
        return
    yield from _against_foreign_leaf(action, pool, top, inventory)
    if top.guid != action.vdev_guid:  # a single log that got a second side is a leg now
        yield no.VdevGone(action.vdev_guid, pool.name, action.role)
    if action.role is Role.LOG:
        yield from against_sick_log(pool, top)
        yield from against_hole(pool, inventory.host)


def _against_pool(pool: Pool, planned_name: str) -> Iterator[Refused]:
    if pool.name != planned_name:
        yield no.PoolRenamed(pool, planned_name)
    if pool.suspended:
        yield no.PoolSuspended(pool)
    if pool.state not in USABLE:
        yield no.PoolNotOnline(pool)
    if pool.read_only:
        yield no.PoolReadOnly(pool)
    if pool.checkpoint:
        yield no.PoolHasCheckpoint(pool)


def _against_foreign_leaf(action: RemoveVdev, pool: Pool, top: Vdev, inventory: Inventory) -> Iterator[Refused]:
    """A vdev of ours may have got a further leg since, or a replacement, which is not ours to take out."""
    ours = {piece.partuuid for piece in action.slices}
    for leaf in top.leaves():
        found = inventory.partition_at(leaf.path)
        foreign = found[1].partuuid not in ours if found else inventory.disk_at(leaf.path) is not None
        if foreign:
            yield no.VdevChanged(pool, top, leaf, action.role)


def against_sick_log(pool: Pool, top: Vdev) -> Iterator[Refused]:
    """A log is removed only if some leg is healthy and nothing of it that still takes I/O has errors."""
    if all(leaf.state != "ONLINE" for leaf in top.leaves()):
        yield no.LogHasErrors(pool, next(top.leaves()))
    for vdev in top.walk():
        if vdev.state in USABLE and vdev.read_errors + vdev.write_errors:
            yield no.LogHasErrors(pool, vdev)


def _against_detach(action: DetachLog, inventory: Inventory) -> Iterator[Refused]:
    pool = inventory.pool(action.pool_guid)
    if pool is None:
        yield no.NoPool(action.pool_guid)
        return
    yield from _against_pool(pool, action.pool_name)
    mirror = next((top for top in pool.logs if any(leg.guid == action.vdev_guid for leg in top.children)), None)
    if mirror is None:
        yield no.VdevGone(action.vdev_guid, pool.name, Role.LOG)
        return
    others = [leg for leg in mirror.children if leg.guid != action.vdev_guid]
    if all(leg.state != "ONLINE" for leg in others):
        yield from (no.LastGoodLeg(pool, leg) for leg in others)


def _against_delete(action: DeleteSlice, inventory: Inventory) -> Iterator[Refused]:
    piece = action.slice
    found = inventory.partition(piece.partuuid)
    if found is None or not piece.is_on(*found):
        yield no.SliceGone(piece)
        return
    yield from against_place(piece.disk_key, piece.disk_path, inventory)
    # The label that a vdev leaves behind when it is removed looks like one of its pool, exported; or has no name. Only
    # while that very pool is imported, and does without the slice, is it known to be no more than that.
    pool = inventory.pool(action.pool_guid)
    left_behind = {Hold(HoldKind.EXPORTED_POOL, name) for name in (pool.name, NAMELESS_POOL)} if pool else set()
    yield from (no.SliceHeld(piece, hold) for hold in found[1].holds if hold not in left_behind)
    yield from against_pool_member(piece, found[1], inventory)


def _against_restore(action: RestoreTable, inventory: Inventory) -> Iterator[Refused]:
    yield from against_place(action.disk_key, action.disk_path, inventory)
    disk = inventory.disk(action.disk_key)
    if disk is None:
        return
    for hold in disk.holds:
        yield no.DiskHeld(disk, hold)
    # A crash in the middle of writing a table can leave none that is readable; that one may be overwritten.
    other_table = disk.table is not TableKind.NONE and disk.table_uuid != action.table_uuid
    if other_table or set(disk.places) != set(action.places):
        yield no.TableChanged(disk)
