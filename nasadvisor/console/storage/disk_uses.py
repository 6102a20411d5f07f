"""What each disk and partition is used for, from the inventory alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from nasadvisor.domain.storage.inventory import Disk, HoldKind, Inventory, Pool, Vdev, VdevClass

SYSTEM_HOLDS = frozenset({HoldKind.BOOT, HoldKind.SWAP})


@dataclass(frozen=True)
class PoolUse:
    """A disk or partition serves a pool as this vdev of this class, in this top-level vdev."""

    pool: Pool
    vdev_class: VdevClass
    vdev: Vdev
    top: Vdev

    @property
    def top_name(self) -> str:
        """What `zpool status` calls the mirror or RAID-Z that it is a part of; "" for a leaf that stands alone."""
        return self.top.name if self.top.children else ""


class Index:
    """Looks up what serves which pool: one pass over the inventory instead of one for each disk."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory

    @cached_property
    def pool_uses(self) -> Mapping[tuple[str, int], tuple[PoolUse, ...]]:
        """The pool uses of each (disk key, partition number), number 0 for the whole disk."""
        uses: dict[tuple[str, int], tuple[PoolUse, ...]] = {}
        for pool in self.inventory.pools:
            for vdev_class, tops in pool.by_class().items():
                for top, leaf in ((each, leaf) for each in tops for leaf in each.leaves()):
                    disk, part = self.inventory.place_of(leaf) or (None, None)
                    if disk:
                        place = (disk.key, part.number if part else 0)
                        uses[place] = (*uses.get(place, ()), PoolUse(pool, vdev_class, leaf, top))
        return uses

    def pool_uses_of(self, disk: Disk) -> tuple[PoolUse, ...]:
        """What a disk and its partitions do for pools, in the order of the partitions."""
        numbers = (0, *(part.number for part in disk.partitions))
        return tuple(use for number in numbers for use in self.pool_uses.get((disk.key, number), ()))


def is_system(disk: Disk) -> bool:
    """Whether the machine itself runs from this disk."""
    return any(hold.kind in SYSTEM_HOLDS for hold in disk.all_holds)
