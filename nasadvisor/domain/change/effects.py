"""What really happened: reading the effect of a step off a fresh inventory.

Used to verify a step right after it ran, and to classify a step of which, after a crash, only the intent is known.
"""

from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    DropLogLeg,
    RemoveVdev,
    RestoreTable,
    Role,
    SaveTable,
    Slice,
    UndoAction,
)
from nasadvisor.domain.change.undo import Outcome
from nasadvisor.domain.storage.inventory import Inventory, Partition, Pool, TableKind, Vdev


def landed(action: Action, inventory: Inventory) -> Outcome | None:
    """What the step did, if the host shows that it happened completely; else None."""
    match action:
        case CreateTable():
            disk = inventory.disk(action.disk_key)
            made = disk and disk.table is TableKind.GPT and disk.table_uuid == action.table_uuid
            return Outcome() if made else None
        case SaveTable():
            return None  # it leaves no trace on the host; doing it again is harmless
        case CreateSlice(slice=piece):
            found = inventory.partition(piece.partuuid)
            return Outcome() if found and piece.is_on(*found) else None
        case AddLog():
            pool = inventory.pool(action.pool_guid)
            return _landed_log(action, pool, inventory) if pool else None
        case AddCache():
            pool = inventory.pool(action.pool_guid)
            return _landed_cache(action, pool, inventory) if pool else None
        case AttachLog():
            pool = inventory.pool(action.pool_guid)
            return _landed_leg(action, pool, inventory) if pool else None
        case DropLogLeg():
            pool = inventory.pool(action.pool_guid)
            return Outcome() if pool and all(vdev.guid != action.vdev_guid for vdev in pool.vdevs()) else None


def left(action: Action, inventory: Inventory) -> Outcome | None:
    """What is left of a log or cache of which parts are gone since: the vdevs that stand on slices of the step alone.

    A slice that is not there any more is known by the name that the pool has for it.
    """
    pool = inventory.pool(action.pool_guid) if isinstance(action, AddLog | AddCache) else None
    if pool is None or not isinstance(action, AddLog | AddCache):
        return None
    tops, pieces = (pool.logs, action.legs) if isinstance(action, AddLog) else (pool.caches, action.slices)
    names = {name for piece in pieces for name in (piece.path, piece.partuuid_path)}
    ours = [
        top.guid for top in tops if all(leaf.path in names or _on_any(leaf, pieces, inventory) for leaf in top.leaves())
    ]
    return Outcome(tuple(ours)) if ours else None


def gone(action: UndoAction, inventory: Inventory) -> bool:
    """Whether the host shows that an undo step has nothing left to do. A table's sectors it cannot show."""
    match action:
        case RemoveVdev(slices=pieces):
            # A cache keeps its guid, and its pieces may be those of other caches of the same run.
            legs = pieces if action.role is Role.LOG else ()
            return _is_out(action.pool_guid, action.vdev_guid, legs, inventory)
        case DetachLog(leg=piece):
            return _is_out(action.pool_guid, action.vdev_guid, (piece,), inventory)
        case DeleteSlice(slice=piece):
            is_there = bool(inventory.partitions(piece.partuuid)) or phantom_of(piece, inventory) is not None
            return inventory.disk(piece.disk_key) is not None and not is_there
        case RestoreTable():
            return False


def phantom_of(piece: Slice, inventory: Inventory) -> Partition | None:
    """What only the kernel still shows of a slice."""
    return next((part for disk, part in inventory.parts() if piece.is_phantom(disk, part)), None)


def _is_out(pool_guid: str, vdev_guid: str, pieces: tuple[Slice, ...], inventory: Inventory) -> bool:
    """Whether neither the vdev nor anything on its slices is in the pool; the guid alone can have changed."""
    pool = inventory.pool(pool_guid)
    if pool is None or any(vdev.guid == vdev_guid for vdev in pool.vdevs()):
        return False
    return not any(is_leaf_on(leaf, piece, inventory) for leaf in pool.vdevs() if leaf.path for piece in pieces)


def is_leaf_on(leaf: Vdev, piece: Slice, inventory: Inventory) -> bool:
    """Whether a pool's leaf lies on this slice, by whatever name the pool knows it."""
    found = inventory.partition_at(leaf.path)
    return found is not None and found[1].partuuid == piece.partuuid


def _landed_log(action: AddLog, pool: Pool, inventory: Inventory) -> Outcome | None:
    for top in pool.logs:
        leaves = list(top.leaves())
        same_count = len(leaves) == len(action.legs)
        right_kind = (top.kind == "mirror") == action.is_mirror
        if same_count and right_kind and all(_on_any(leaf, action.legs, inventory) for leaf in leaves):
            return Outcome((top.guid,))
    return None


def _landed_cache(action: AddCache, pool: Pool, inventory: Inventory) -> Outcome | None:
    guids = []
    for piece in action.slices:
        leaf = next((leaf for leaf in pool.caches if is_leaf_on(leaf, piece, inventory)), None)
        if leaf is None:
            return None
        guids.append(leaf.guid)
    return Outcome(tuple(guids))


def _landed_leg(action: AttachLog, pool: Pool, inventory: Inventory) -> Outcome | None:
    for top in pool.logs:
        guids = [leaf.guid for leaf in top.leaves() if is_leaf_on(leaf, action.leg, inventory)]
        if top.kind == "mirror" and guids and any(leaf.guid == action.existing_guid for leaf in top.leaves()):
            return Outcome((guids[0],))
    return None


def _on_any(leaf: Vdev, pieces: tuple[Slice, ...], inventory: Inventory) -> bool:
    return any(is_leaf_on(leaf, piece, inventory) for piece in pieces)
