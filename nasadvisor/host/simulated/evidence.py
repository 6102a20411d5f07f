"""Made-up answers about evidence for a machine that exists only in memory. Nothing here was measured."""

import math
from typing import Final

from nasadvisor.domain.evidence.commits import CommitTrace, LogBlocks
from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint, MemoryPoint, Traced
from nasadvisor.domain.evidence.curve_cache import Passes
from nasadvisor.domain.evidence.curve_model import CacheRules
from nasadvisor.domain.evidence.metadata_blocks import BlockCount, BlockKind, KindBlocks, StoredBlocks
from nasadvisor.domain.units import GIB, KIB, MIB


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


ARC: Final = 15 * GIB
MISSES_PER_S: Final = 45
CLIFF: Final = 190 * GIB
"""Where the virtual machines' files fit that a backup reads from end to end every hour."""


def simulated_curve(guid: str, name: str, at: str, seconds: int, *, is_done: bool = True) -> CacheCurve:
    """Some blocks much more often than others, and a set that is read round and round."""
    rules = CacheRules(ARC, Passes(32.0 * MIB))
    missed = MISSES_PER_S * seconds * 3 // 4
    return CacheCurve(
        traced=Traced(guid, name, at, seconds, MISSES_PER_S * seconds * 11 // 10, is_done),
        arc_bytes=ARC,
        followed_reads=seconds * 46,
        followed_share=0.021,
        counted_s=seconds * 0.7,
        missed=missed,
        missed_by_all_pools=missed * 6 // 5,
        metadata_share=0.18,
        first_share=0.21,
        block_bytes=48 * KIB,
        seen_bytes=640 * GIB,
        points=tuple(_point(size) for size in rules.sizes if size <= 700 * GIB),
        memory=tuple(_memory(more) for more in rules.memory_steps),
    )


def _point(size: int) -> CurvePoint:
    warm = 0.055 * math.log2(1 + size / ARC)
    served = warm + 0.31 / (1 + math.exp(-(size - CLIFF * 0.9) / (CLIFF * 0.045)))
    apart = 0.012 + 0.08 * math.exp(-(((size - CLIFF * 0.9) / (CLIFF * 0.3)) ** 2))
    written = 2.4 * MIB * (1 - 0.9 * served)
    return CurvePoint(size, served, max(served - apart, 0.0), served + apart, min(served * 1.3, 1.0), written)


def _memory(more: int) -> MemoryPoint:
    served = 0.07 * math.log2(1 + more / ARC)
    return MemoryPoint(more, served, served * 0.85, served * 1.15)
