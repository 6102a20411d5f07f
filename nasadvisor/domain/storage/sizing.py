"""How much memory a cache needs for its headers. Sizes are bytes."""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.units import KIB, MIB

L2ARC_HEADER_BYTES: Final = 96
"""Memory for each block that lies only in the L2ARC: offsetof(arc_buf_hdr_t, b_l1hdr), module/zfs/arc.c, the same in
OpenZFS 2.2, 2.3 and 2.4; slabinfo in OpenZFS issue 11702 shows the same number."""

TYPICAL_BLOCK_BYTES: Final = 128 * KIB
"""The default recordsize (zfsprops(7)): the mean block of a file server that holds large files, before compression."""

SMALL_BLOCK_BYTES: Final = 16 * KIB
"""The default volblocksize (zfsprops(7)): virtual machines and databases."""

LARGE_BLOCK_BYTES: Final = MIB
"""A recordsize of 1M: media and backups."""


@dataclass(frozen=True)
class HeaderMemory:
    """Memory for the headers of a full cache at three mean block sizes."""

    typical_bytes: int
    small_blocks_bytes: int
    large_blocks_bytes: int


def header_memory_bytes(cache_bytes: int, mean_block_bytes: int) -> int:
    """Memory for the headers of a full cache: 96 bytes for each block.

    `mean_block_bytes` is the mean size of a block as it lies on the cache, that is after compression.

    Raises:
        ValueError: if the mean block size is not above zero.
    """
    if mean_block_bytes <= 0:
        raise ValueError("The mean block size must be above zero.")
    return cache_bytes * L2ARC_HEADER_BYTES // mean_block_bytes


def header_memory(cache_bytes: int) -> HeaderMemory:
    """The header memory of a full cache at 128 KiB blocks, and the range from 1M down to 16K blocks."""
    return HeaderMemory(
        typical_bytes=header_memory_bytes(cache_bytes, TYPICAL_BLOCK_BYTES),
        small_blocks_bytes=header_memory_bytes(cache_bytes, SMALL_BLOCK_BYTES),
        large_blocks_bytes=header_memory_bytes(cache_bytes, LARGE_BLOCK_BYTES),
    )
