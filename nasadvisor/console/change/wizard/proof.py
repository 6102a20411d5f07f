"""What the result shows at its end: each planned part, and how the pool has it now."""

from dataclasses import dataclass

from nasadvisor.domain.change.actions import Slice
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev


@dataclass(frozen=True)
class PartInPool:
    """A planned slice, its disk's label, and the pool's device on it; None if the pool has none there."""

    slice: Slice
    disk: str
    vdev: Vdev | None


def parts_in_pool(plan: Plan, inventory: Inventory, pool: Pool) -> tuple[PartInPool, ...]:
    """Every slice of a plan, looked up among the log and cache devices of its pool."""
    leaves = [leaf for top in (*pool.logs, *pool.caches) for leaf in top.leaves()]
    return tuple(_part(piece, inventory, leaves) for piece in plan.slices)


def _part(piece: Slice, inventory: Inventory, leaves: list[Vdev]) -> PartInPool:
    disk, found = inventory.disk(piece.disk_key), inventory.partition(piece.partuuid)
    names = {piece.path, piece.partuuid_path, *((found[1].path, *found[1].links) if found else ())}
    vdev = next((leaf for leaf in leaves if leaf.path in names), None)
    return PartInPool(piece, disk.label if disk else piece.disk_path, vdev)
