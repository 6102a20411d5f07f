"""Made-up counts of blocks, for tests of the advice about metadata."""

from dataclasses import replace
from typing import Final

from nasadvisor.domain.evidence.metadata_blocks import BlockCount, BlockKind, KindBlocks, StoredBlocks
from nasadvisor.domain.evidence.metadata_size import Counted, counted_of
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.units import GIB, KIB, TIB
from tests.unit.domain.evidence.pools import facts

AT: Final = "2026-03-01T10:00:00+00:00"


def kind(of: BlockKind, *sizes: tuple[int, int], copies: float = 2.0) -> KindBlocks:
    """Blocks of one kind, sizes and how many of each; every copy of them rounded up to 4 KiB."""
    stored = tuple(StoredBlocks(size, blocks, copies) for size, blocks in sizes)
    found = KindBlocks(of, 0, stored)
    return replace(found, allocated_bytes=found.bytes_at(12))


def top(kind_name: str = "mirror", name: str = "mirror-0", disks: int = 2, ashift: int = 12) -> Vdev:
    """A top-level vdev of so many disks."""
    leaves = tuple(Vdev(f"{number + 10}", "disk", f"sd{number}", "ONLINE") for number in range(disks))
    return Vdev("1", kind_name, name, "ONLINE", ashift=ashift, children=leaves)


def pool(*tops: Vdev, size_bytes: int = 8 * TIB, allocated_bytes: int = 4 * TIB) -> Pool:
    """A pool, of one mirror unless vdevs are given, half full."""
    return Pool(
        "tank", "9", "ONLINE", 12, size_bytes, allocated_bytes, False, False, "", False, (), data=tops or (top(),)
    )


COUNT: Final = BlockCount(
    "9",
    "tank",
    AT,
    1234,
    (
        kind(BlockKind.FILES, (4 * KIB, 6 * 2**20)),
        kind(BlockKind.DIRECTORIES, (4 * KIB, 2**18), (16 * KIB, 2**16)),
        kind(BlockKind.PLACES, (8 * KIB, 2**18)),
        kind(BlockKind.POOL, (4 * KIB, 1000), copies=3.0),
        kind(BlockKind.DATA, (4 * KIB, 2**20), (32 * KIB, 2**20), (128 * KIB, 2**24), copies=1.0),
        kind(BlockKind.VOLUMES, (16 * KIB, 2**20), copies=1.0),
    ),
)
"""28 GiB of metadata in memory, most of it small files'; their first copies and the second take 56 GiB."""


def counted(count: BlockCount = COUNT, of: Pool | None = None, zfs: str = "2.3.9-1") -> Counted:
    """What that comes to."""
    return counted_of(count, of or pool(), facts(zfs=zfs))


SMALL: Final = replace(COUNT, kinds=(kind(BlockKind.FILES, (4 * KIB, GIB // (4 * KIB))),))
"""1 GiB of metadata in memory."""
