"""A made-up count of blocks for a machine that exists only in memory. Nothing here was counted."""

from nasadvisor.domain.evidence.metadata_blocks import BlockCount, BlockKind, KindBlocks, StoredBlocks
from nasadvisor.domain.units import KIB


def simulated_count(guid: str, name: str, at: str) -> BlockCount:
    """A pool of virtual machines and some million files."""
    kinds = (
        _kind(BlockKind.FILES, 2.0, (4 * KIB, 2_900_000), (8 * KIB, 310_000)),
        _kind(BlockKind.DIRECTORIES, 2.0, (4 * KIB, 240_000), (16 * KIB, 21_000)),
        _kind(BlockKind.PLACES, 2.0, (4 * KIB, 190_000), (16 * KIB, 320_000), (64 * KIB, 11_000)),
        _kind(BlockKind.POOL, 3.0, (4 * KIB, 9_800)),
        _kind(BlockKind.DATA, 1.0, (4 * KIB, 800_000), (16 * KIB, 240_000), (128 * KIB, 31_000_000)),
        _kind(BlockKind.VOLUMES, 1.0, (16 * KIB, 18_000_000)),
    )
    return BlockCount(guid, name, at, 2640, kinds)


def _kind(kind: BlockKind, copies: float, *sizes: tuple[int, int]) -> KindBlocks:
    stored = tuple(StoredBlocks(size, blocks, copies) for size, blocks in sizes)
    return KindBlocks(kind, int(sum(each.bytes_at(12) for each in stored)), stored)
