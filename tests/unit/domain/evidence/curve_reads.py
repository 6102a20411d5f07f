"""Reads for the tests of the curve: a published trace, and made-up ones."""

import gzip
import random
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

import pytest

from nasadvisor.domain.evidence.curve import CacheCurve, Traced
from nasadvisor.domain.evidence.curve_cache import Passes
from nasadvisor.domain.evidence.curve_distances import BlockRead, Distances, Shards, place_of
from nasadvisor.domain.evidence.curve_model import CacheRules, CurveModel
from nasadvisor.domain.units import KIB, MIB
from tests.unit.data import DATA

TRACE = DATA / "traces" / "cloudphysics.oracleGeneral.bin.gz"
needs_trace = pytest.mark.skipif(
    not TRACE.is_file(), reason=f"no block trace {TRACE}; NASADVISOR_DATA names its folder"
)

BLOCK = 128 * KIB
ODD = 0x1E3779B97F4A7C15
WORD = (1 << 64) - 1


def mixed(number: int) -> int:
    """A hash of 64 bits, as the script in the kernel makes one."""
    number = (number * ODD) & WORD
    number = ((number ^ (number >> 32)) * ODD) & WORD
    return number ^ (number >> 29)


def trace() -> list[BlockRead]:
    """The reads of a virtual disk, published by CloudPhysics."""
    packed = gzip.decompress(TRACE.read_bytes())
    return [BlockRead(at, mixed(block), size) for at, block, size, _ in struct.iter_unpack("<IQIq", packed)]


def lru_misses(reads: Iterable[BlockRead], capacity: int) -> int:
    """What an LRU memory of so many bytes misses: played, not worked out."""
    held: OrderedDict[int, int] = OrderedDict()
    used = missed = 0
    for read in reads:
        if read.block in held:
            used -= held.pop(read.block)
        else:
            missed += 1
        held[read.block] = read.size_bytes
        used += read.size_bytes
        while used > capacity:
            used -= held.popitem(last=False)[1]
    return missed


def followed(reads: Iterable[BlockRead], threshold: int, most: int = 1 << 60) -> tuple[Distances, Shards]:
    """The distances of those reads whose blocks are followed."""
    shards, found = Shards(threshold), Distances()
    for read in reads:
        if place_of(read.block) < shards.threshold:
            found.add(shards.read(read.block, read.size_bytes), 1 / shards.rate)
        while len(shards) > most:
            shards.follow(shards.threshold // 2)
    return found, shards


def uniform(blocks: int, reads: int, per_s: float = 1000.0) -> Iterator[BlockRead]:
    """Reads of a set, each block as likely as every other."""
    chosen = random.Random(1)
    return (BlockRead(n / per_s, mixed(chosen.randrange(blocks) + 1), BLOCK) for n in range(reads))


def scan(blocks: int, times: int, per_s: float = 1000.0) -> Iterator[BlockRead]:
    """The same blocks from the first to the last, again and again."""
    return (BlockRead(n / per_s, mixed(n % blocks + 1), BLOCK) for n in range(blocks * times))


NEAR = Passes(MIB, busy_s=0.005, idle_s=0.01, reach_bytes=2 * MIB, sublists=1)
"""As where memory is large: of each list only what will soon be dropped is looked at."""


def curve_of(
    reads: Iterable[BlockRead],
    arc_bytes: int = 16 * MIB,
    passes: Passes = NEAR,
    share: Callable[[CacheRules], CurveModel] = CurveModel,
    **rules: bool,
) -> CacheCurve:
    """The curve of some reads."""
    model = share(CacheRules(arc_bytes, passes, **rules))
    for read in reads:
        model.read(read)
    return model.curve(Traced("1", "tank", "2026-11-22T12:00:00+00:00", 3600))


def served_at(curve: CacheCurve, arcs: float) -> float:
    """What the first cache of at least so many ARCs serves."""
    return next(each.served for each in curve.points if each.size_bytes >= arcs * curve.arc_bytes)
