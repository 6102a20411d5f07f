"""The slices that actions make, use and take away."""

from dataclasses import dataclass
from enum import StrEnum

from nasadvisor.domain.change.actions.base import Outcome
from nasadvisor.domain.storage.inventory import Disk, Inventory, Partition, Vdev
from nasadvisor.domain.storage.partition_types import SOLARIS_ZFS_TYPE


class Role(StrEnum):
    """What a slice is for."""

    LOG = "log"
    CACHE = "cache"


class Naming(StrEnum):
    """By which persistent name a slice is handed to OpenZFS, and so stored in the pool."""

    PARTUUID = "by-partuuid"
    DISK_ID = "by-id"


@dataclass(frozen=True)
class Slice:
    """A GPT partition that we make: where, how big, its PARTUUID (lower case), and how OpenZFS shall name it."""

    disk_key: str
    disk_path: str
    number: int
    start_bytes: int
    size_bytes: int
    sector_bytes: int
    partuuid: str
    role: Role
    naming: Naming

    @property
    def path(self) -> str:
        """The persistent path given to `zpool add`."""
        if self.naming is Naming.PARTUUID:
            return self.partuuid_path
        return f"{self.disk_path}-part{self.number}"

    @property
    def partuuid_path(self) -> str:
        """The name that only this slice can have."""
        return f"/dev/disk/by-partuuid/{self.partuuid}"

    def is_on(self, disk: Disk, part: Partition) -> bool:
        """Whether a partition is exactly this slice: disk, number, place, size, type and PARTUUID."""
        return (
            disk.key == self.disk_key
            and part.number == self.number
            and part.partuuid == self.partuuid
            and part.type_uuid == SOLARIS_ZFS_TYPE
            and part.start_bytes == self.start_bytes
            and part.size_bytes == self.size_bytes
        )

    def is_phantom(self, disk: Disk, part: Partition) -> bool:
        """Whether a partition is one that only the kernel still has where this slice was.

        It could not read the table anew while another partition was in use, and nobody told it of the one that went;
        udev, which reads the table itself, knows no PARTUUID for it.
        """
        place = (self.disk_key, self.number, self.start_bytes, self.size_bytes)
        return not part.partuuid and (disk.key, part.number, part.start_bytes, part.size_bytes) == place

    def as_partition(self) -> Partition:
        """The partition as the inventory will show it."""
        return Partition(
            number=self.number,
            partuuid=self.partuuid,
            type_uuid=SOLARIS_ZFS_TYPE,
            name="",
            start_bytes=self.start_bytes,
            size_bytes=self.size_bytes,
            kernel_name="",
            path=self.path,
            links=(self.partuuid_path, f"{self.disk_path}-part{self.number}"),
        )


def place_of(piece: Slice) -> dict[str, str]:
    """Where a slice is, as sentences say it."""
    return {"number": str(piece.number), "disk": piece.disk_path}


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
