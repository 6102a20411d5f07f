"""Made-up commits for a machine that exists only in memory. Nothing here was measured."""

import math
from typing import Final

from nasadvisor.domain.evidence.commits import CommitTrace, LogBlocks
from nasadvisor.domain.units import KIB

BLOCKS: Final = 3000
SIZES: Final = (8, 8, 12, 36, 8, 8, 128, 8, 20)
PER_S: Final = 41


def simulated_commits(guid: str, name: str, at: str, seconds: int, *, is_done: bool = True) -> CommitTrace:
    """Small blocks mostly, on hard disks, in waves."""
    sizes = tuple(SIZES[number % len(SIZES)] * KIB for number in range(BLOCKS))
    after_us = tuple(int(12_000 * (1.2 + math.sin(number / 37))) for number in range(BLOCKS))
    took_us = tuple(int(14_000 + 9_000 * math.sin(n / 3) + 40_000 * (n % 61 == 0)) for n in range(BLOCKS))
    blocks = LogBlocks(after_us, sizes, took_us)
    count = PER_S * seconds
    return CommitTrace(guid, name, at, seconds, is_done, count, count * blocks.bytes // BLOCKS, blocks)
