"""What a host shows of a run: read before a run is called undone, and where its journal cannot be believed."""

from collections.abc import Iterable
from dataclasses import dataclass

from nasadvisor.domain.change.actions import OfflineCache
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.storage.inventory import Disk, Inventory, Partition, Pool, Vdev


@dataclass(frozen=True)
class Traces:
    """Every partition with a PARTUUID of the plan; every vdev that has a guid of the run or lies on such a slice."""

    slices: tuple[tuple[Disk, Partition], ...]
    vdevs: tuple[tuple[Pool, Vdev], ...]

    def __bool__(self) -> bool:
        return bool(self.slices or self.vdevs)

    def __str__(self) -> str:
        """Names that can be looked up: "partition 1 on Samsung SSD 980 (S64F); mirror-1 in pool tank"."""
        places = [f"partition {part.number} on {disk.label}" for disk, part in self.slices]
        return "; ".join((*places, *(f"{vdev.path or vdev.name} in pool {pool.name}" for pool, vdev in self.vdevs)))


def traces_of(plan: Plan, inventory: Inventory, guids: Iterable[str] = ()) -> Traces:
    """What a host shows of a plan that was run; `guids` are those of the vdevs that the run made, as recorded."""
    made = {piece.partuuid for piece in plan.slices}
    slices = tuple(
        (disk, part)
        for disk, part in inventory.parts()
        if part.partuuid in made or any(piece.is_phantom(disk, part) for piece in plan.slices)
    )
    paths = {name for piece in plan.slices for name in (piece.partuuid_path, piece.path)}
    paths |= {name for _, part in slices for name in (part.path, *part.links, f"/dev/{part.kernel_name}")}
    known = set(guids)
    vdevs = tuple(
        (pool, vdev)
        for pool in inventory.pools
        for vdev in pool.vdevs()
        if vdev.guid in known or (vdev.path and vdev.path in paths)
    )
    return Traces(slices, vdevs)


def pool_now(plan: Plan, inventory: Inventory) -> Pool | None:
    """The pool that a plan changed, whatever it is called now; after `zpool reguid` it is known by the run's slices, or
    by the cache that the run took out of service: reguid changes the guid of the pool and of no device below it."""
    pool = inventory.pool(plan.request.pool_guid)
    if pool:
        return pool
    taken_out = {action.vdev_guid for action in plan.actions if isinstance(action, OfflineCache)}
    found = {pool.guid: pool for pool, _ in traces_of(plan, inventory, taken_out).vdevs}
    return next(iter(found.values())) if len(found) == 1 else None
