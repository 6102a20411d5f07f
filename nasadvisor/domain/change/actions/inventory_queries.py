"""What an inventory shows of slices and of the vdevs on them, and what it looks like after a change: the parts that
actions have in common.
"""

from dataclasses import replace

from nasadvisor.domain.change.actions.base import PLANNED_GUID, Outcome
from nasadvisor.domain.change.actions.pieces import Slice
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Inventory, Partition, Vdev


def cache_of(pool_guid: str, vdev_guid: str, inventory: Inventory) -> Vdev | None:
    """The cache of a pool with this guid."""
    pool = inventory.pool(pool_guid)
    return next((top for top in pool.caches if top.guid == vdev_guid), None) if pool else None


def phantom_of(piece: Slice, inventory: Inventory) -> Partition | None:
    """What only the kernel still shows of a slice."""
    return next((part for disk, part in inventory.parts() if piece.is_phantom(disk, part)), None)


def is_leaf_on(leaf: Vdev, piece: Slice, inventory: Inventory) -> bool:
    """Whether a pool's leaf lies on this slice, by whatever name the pool knows it."""
    found = inventory.partition_at(leaf.path)
    return found is not None and found[1].partuuid == piece.partuuid


def is_leaf_on_any(leaf: Vdev, pieces: tuple[Slice, ...], inventory: Inventory) -> bool:
    """Whether it lies on one of these."""
    return any(is_leaf_on(leaf, piece, inventory) for piece in pieces)


def left_on(pieces: tuple[Slice, ...], tops: tuple[Vdev, ...], inventory: Inventory) -> Outcome | None:
    """The vdevs that stand on these slices alone.

    A slice that is not there any more is known by the name that the pool has for it.
    """
    names = {name for piece in pieces for name in (piece.path, piece.partuuid_path)}
    ours = [
        top.guid
        for top in tops
        if all(leaf.path in names or is_leaf_on_any(leaf, pieces, inventory) for leaf in top.leaves())
    ]
    return Outcome(tuple(ours)) if ours else None


def is_out(pool_guid: str, vdev_guid: str, pieces: tuple[Slice, ...], inventory: Inventory) -> bool:
    """Whether neither the vdev nor anything on its slices is in the pool; the guid alone can have changed."""
    pool = inventory.pool(pool_guid)
    if pool is None or any(vdev.guid == vdev_guid for vdev in pool.vdevs()):
        return False
    return not any(is_leaf_on(leaf, piece, inventory) for leaf in pool.vdevs() if leaf.path for piece in pieces)


def is_there(disk_key: str, inventory: Inventory) -> bool:
    """Whether a disk is on the host, be it that nothing tells it from another one there."""
    return any(disk_key in (disk.key, disk.identity.key) for disk in inventory.disks)


def leaf_on(piece: Slice, ashift: int) -> Vdev:
    """A slice as a device of a pool, before OpenZFS gave it a guid."""
    return Vdev(PLANNED_GUID, "disk", piece.path, "ONLINE", path=piece.path, ashift=ashift)


def with_disk(inventory: Inventory, key: str, **changes: object) -> Inventory:
    """The inventory with a changed disk."""
    disks = tuple(replace(disk, **changes) if disk.key == key else disk for disk in inventory.disks)  # type: ignore[arg-type]
    return replace(inventory, disks=disks)


def with_pool(inventory: Inventory, guid: str, used: tuple[Slice, ...], **changes: tuple[Vdev, ...]) -> Inventory:
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


def with_cache_state(inventory: Inventory, pool_guid: str, vdev_guid: str, state: str) -> Inventory:
    """The inventory with a cache in another state."""
    pool = inventory.pool(pool_guid)
    caches = pool.caches if pool else ()
    changed = tuple(replace(top, state=state) if top.guid == vdev_guid else top for top in caches)
    return with_pool(inventory, pool_guid, (), caches=changed)
