"""What an inventory looks like after a change: the parts that actions have in common."""

from dataclasses import replace

from nasadvisor.domain.change.actions.base import PLANNED_GUID
from nasadvisor.domain.change.actions.pieces import Slice
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Inventory, Vdev


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
