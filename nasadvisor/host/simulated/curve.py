"""A made-up cache curve for a machine that exists only in memory. Nothing here was measured."""

import math
from typing import Final

from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint, MemoryPoint, Traced
from nasadvisor.domain.evidence.curve_cache import Passes
from nasadvisor.domain.evidence.curve_model import CacheRules
from nasadvisor.domain.units import GIB, KIB, MIB

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
