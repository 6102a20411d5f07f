"""What an inventory shows of slices, and of the vdevs on them: the parts that actions have in common."""

from nasadvisor.domain.change.actions.base import Outcome
from nasadvisor.domain.change.actions.pieces import Slice
from nasadvisor.domain.storage.inventory import Inventory, Partition, Vdev


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
