"""The slices that actions make, use and take away."""

from dataclasses import dataclass
from enum import StrEnum

from nasadvisor.domain.storage.gpt import SOLARIS_ZFS_TYPE
from nasadvisor.domain.storage.inventory import Disk, Partition


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
