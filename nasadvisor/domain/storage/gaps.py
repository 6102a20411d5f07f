"""Free extents of a disk: where a slice may go."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from nasadvisor.domain.storage.inventory import Disk, Partition
from nasadvisor.domain.units import MIB, align_down, align_up

MIN_SLICE_BYTES: Final = 64 * MIB
"""SPA_MINDEVSIZE, include/sys/vdev_impl.h: OpenZFS refuses anything smaller."""

MAX_AREA_BYTES: Final = 4 * MIB
"""[policy] No table made for the disk that it is on needs more before the first or after the last usable sector: tools
align to 1 MiB, and 128 entries of 128 bytes need 16 KiB. One that was copied from a disk of another size seems to."""


@dataclass(frozen=True)
class Extent:
    """A run of bytes on a disk that no partition covers, both ends aligned to 1 MiB."""

    start_bytes: int
    end_bytes: int

    @property
    def size_bytes(self) -> int:
        """How long it is."""
        return self.end_bytes - self.start_bytes

    def head(self, size_bytes: int) -> "Extent":
        """Its first bytes."""
        return Extent(self.start_bytes, self.start_bytes + size_bytes)

    def until(self, end_bytes: int) -> "Extent":
        """As much of it as lies before this offset; an empty one at its start if nothing does."""
        return Extent(self.start_bytes, max(min(self.end_bytes, end_bytes), self.start_bytes))

    def without_head(self, size_bytes: int) -> "Extent":
        """What is left behind a slice of this size that starts where the extent starts."""
        return Extent(align_up(self.start_bytes + size_bytes), self.end_bytes)


def free_extents(disk: Disk) -> tuple[Extent, ...]:
    """The free extents of at least 1 MiB, in order. The partition table is taken as the disk shows it."""
    starts = [disk.usable_start_bytes, *(part.end_bytes for part in sorted_partitions(disk))]
    ends = [*(part.start_bytes for part in sorted_partitions(disk)), disk.usable_end_bytes]
    extents = (Extent(align_up(start), align_down(end)) for start, end in zip(starts, ends, strict=True))
    return tuple(extent for extent in extents if extent.size_bytes >= MIB)


def largest_extent(disk: Disk) -> Extent:
    """The longest free extent; an empty one where there is none."""
    return max(free_extents(disk), key=lambda extent: extent.size_bytes, default=Extent(0, 0))


def sorted_partitions(disk: Disk) -> list[Partition]:
    """The partitions in the order in which they lie on the disk."""
    return sorted(disk.partitions, key=lambda part: part.start_bytes)


def overlaps(disk: Disk) -> bool:
    """Whether any two partitions share bytes: such a table is not to be trusted."""
    return any(left.end_bytes > right.start_bytes for left, right in pairwise(sorted_partitions(disk)))


def is_out_of_bounds(disk: Disk) -> bool:
    """Whether the table or a partition claims bytes that the disk does not have, as after a copy to a smaller one."""
    size = disk.identity.size_bytes
    broken = any(part.start_bytes <= 0 or part.size_bytes <= 0 or part.end_bytes > size for part in disk.partitions)
    return broken or disk.usable_start_bytes <= 0 or disk.usable_end_bytes > size


def has_odd_area(disk: Disk) -> bool:
    """Whether more than any table needs lies outside the usable sectors, as after a copy from a smaller disk."""
    behind = disk.identity.size_bytes - disk.usable_end_bytes
    return disk.usable_start_bytes > MAX_AREA_BYTES or behind > MAX_AREA_BYTES


def free_number(disk: Disk, *planned: int) -> int:
    """The lowest partition number that is neither in use nor planned."""
    taken = {part.number for part in disk.partitions}.union(planned)
    return next(number for number in range(1, len(taken) + 2) if number not in taken)
