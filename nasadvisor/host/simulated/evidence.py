"""Made-up samples, curves, commits and counts for a machine that exists only in memory.

Somebody saves small files all the time, mostly by day. Deterministic in the time, so that a page looks the same when it
is loaded again. Nothing here was measured.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint, MemoryPoint, Traced
from nasadvisor.domain.evidence.curve_cache import Passes
from nasadvisor.domain.evidence.curve_model import CacheRules
from nasadvisor.domain.evidence.histogram import EMPTY, Histogram
from nasadvisor.domain.evidence.log_blocks import CommitTrace, LogBlocks
from nasadvisor.domain.evidence.metadata_blocks import BlockCount, BlockKind, KindBlocks, StoredBlocks
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, LeafFacts, PoolFacts, Tunables
from nasadvisor.domain.evidence.samples import (
    ArcActivity,
    DatasetActivity,
    DiskActivity,
    Levels,
    PoolActivity,
    Sample,
    VdevActivity,
)
from nasadvisor.domain.evidence.spells import PoolSpells, ProgramWait, Spell, SpellSums
from nasadvisor.domain.evidence.tracing import ProcessCalls, WaitingPrograms, by_program
from nasadvisor.domain.storage.inventory import Inventory, Pool, VdevClass
from nasadvisor.domain.units import DAY_S, GIB, KIB, MIB

SLOW_BUCKET, FAST_BUCKET = 23, 15
"""Buckets around 12 ms, a hard disk, and around 50 us, an SSD."""

LOG_BLOCK: Final = 20 * KIB
FEED_BYTES_PER_S: Final = 2 * MIB

SHAPE: Final = ((-1, 0.12), (0, 0.62), (1, 0.21), (2, 0.05))
"""How the times spread over the buckets around the middle one."""


def simulated_facts(inventory: Inventory, pool: Pool) -> PoolFacts:
    """Facts that go with the samples."""
    leaves = tuple(
        LeafFacts(leaf.guid, each, leaf.name.rpartition("/")[2], _disk(leaf.guid), each is VdevClass.NORMAL)
        for each, tops in pool.by_class().items()
        for top in tops
        for leaf in top.leaves()
        if each is not VdevClass.SPARE
    )
    datasets = (
        DatasetFacts(f"{pool.name}/vms", True, "standard", "latency", 16 * KIB),
        DatasetFacts(f"{pool.name}/home", False, "standard", "latency", 128 * KIB),
        DatasetFacts(f"{pool.name}/scratch", False, "disabled", "latency", 128 * KIB),
    )
    memory = inventory.host.memory_bytes
    tunables = Tunables(memory // 10, memory // 5, 5, 32 * 1024 * KIB, 1, 0, memory)
    return PoolFacts(pool.guid, pool.name, inventory.read_at, datasets, leaves, tunables)


def simulated_sample(pool: Pool, at: int, seconds: float = 10.0, *, log_since: int | None = None) -> Sample:
    """What might have happened in the seconds before `at`; `log_since` is when a log was added, if one was."""
    has_log = log_since is not None and at >= log_since
    commits = int(_load(at) * seconds * (4 if has_log else 1))
    blocks = int(commits * 1.1)
    bytes_each = 18 * KIB
    vms = DatasetActivity(
        name=f"{pool.name}/vms",
        commits=commits,
        commit_writers=commits * 9 // 10,
        records=blocks,
        needcopy_bytes=blocks * bytes_each,
        log_blocks=blocks if has_log else 0,
        log_bytes=blocks * LOG_BLOCK if has_log else 0,
        pool_blocks=0 if has_log else blocks,
        pool_bytes=0 if has_log else blocks * LOG_BLOCK,
        writes=blocks * 2,
        written_bytes=blocks * 2 * bytes_each,
        reads=commits,
        read_bytes=commits * 16 * KIB,
    )
    scratch = DatasetActivity(f"{pool.name}/scratch", writes=40, written_bytes=40 * 128 * KIB)
    reads = int(30 * seconds)
    return Sample(
        pool_guid=pool.guid,
        pool_name=pool.name,
        at=at,
        seconds=seconds,
        datasets=(vms, scratch),
        vdevs=tuple(_vdevs(pool, 0 if has_log else blocks, blocks if has_log else 0, reads, at, seconds)),
        disks=(*_disks(pool, 0 if has_log else commits), *_ssds(pool, blocks if has_log else 0, seconds)),
        pool=PoolActivity(arc_reads=reads, arc_read_bytes=reads * 64 * KIB, nfs_commits=commits // 3),
        arc=_arc(reads, _feed(seconds) * len(pool.caches)),
        levels=Levels(arc_bytes=15 * GIB, arc_target_bytes=15 * GIB, arc_most_bytes=16 * GIB),
        txgs=_spread(32, max(int(seconds / 5), 1)),
    ).with_busy()


def simulated_waiting(at: str) -> WaitingPrograms:
    """A database, virtual machines, an NFS server, and a program whose dataset has sync=disabled."""
    calls = (300, 260, 220, 180)
    postgres = (ProcessCalls(2000 + n, "postgres", n, n, n, n * 12_000_000) for n in calls)
    others = (
        ProcessCalls(61, "z_zvol", 0, 410, 409, 4_900_000_000),
        ProcessCalls(988, "nfsd", 120, 120, 120, 1_600_000_000),
        ProcessCalls(4821, "rsync", 45),
    )
    return WaitingPrograms(at, 20, by_program((*postgres, *others)))


SPELL_S: Final = 10
SPELLS_EVERY_S: Final = 120
WAITERS: Final = (("postgres", 0.62, 4), ("z_zvol", 0.27, 3), ("nfsd", 0.11, 1))
"""Who waits in a spell, for which share of it, and how many of their commits at once."""


def simulated_spells(pool: Pool, began: int, until: int, *, log_since: int | None = None) -> PoolSpells:
    """What tracing might have told of this pool between two moments, as `simulated_sample` has it commit."""
    sums, cost_s = SpellSums(), 0.0
    for at in range(began + SPELLS_EVERY_S, until + 1, SPELLS_EVERY_S):
        has_log = log_since is not None and at >= log_since
        commits = int(_load(at) * SPELL_S * (4 if has_log else 1))
        waited_s = commits * (0.0012 if has_log else 0.016 * (1 + 0.2 * math.sin(at / 97)))
        waits = tuple(
            ProgramWait(name, f"{pool.name}/vms", waited_s * share, int(commits * share), most)
            for name, share, most in WAITERS
        )
        counted = int(_load(at) * SPELLS_EVERY_S * (4 if has_log else 1))
        sums += SpellSums(SPELLS_EVERY_S, counted).with_spell(Spell(SPELL_S, commits, waits if commits else ()))
        cost_s += 0.38
    return PoolSpells(pool.guid, began, until, sums, cost_s=cost_s)


def _load(at: int) -> float:
    """Commits a second: little by night, 60 around noon, with a ripple."""
    day = max(math.sin((at % DAY_S) / DAY_S * math.pi), 0.0)
    return 2 + 60 * day**2 * (1 + 0.35 * math.sin(at / 700) + 0.15 * math.sin(at / 61))


def _arc(reads: int, fed_bytes: int) -> ArcActivity:
    """The ARC, and a cache that serves twice what it is fed.

    The ghost hits say of as much memory again what `simulated_curve` says of it.
    """
    usual = ArcActivity(reads * 20, reads, reads * 3, reads // 2, reads // 10, reads * 64 * KIB)
    return (
        replace(
            usual,
            l2_hits=reads // 2,
            l2_misses=reads - reads // 2,
            l2_read_bytes=fed_bytes * 2,
            l2_written_bytes=fed_bytes,
        )
        if fed_bytes
        else usual
    )


def _feed(seconds: float) -> int:
    """What a cache is fed with."""
    return int(seconds * FEED_BYTES_PER_S)


def _vdevs(pool: Pool, to_data: int, to_log: int, reads: int, at: int, seconds: float) -> Iterable[VdevActivity]:
    middle = SLOW_BUCKET + (1 if math.sin(at / 900) > 0.8 else 0)
    count = max(len(pool.data), 1)
    for leaf in (leaf for top in pool.data for leaf in top.leaves()):
        writes = _spread(middle, to_data // count + 12)
        yield VdevActivity(leaf.guid, _spread(SLOW_BUCKET, reads // count), writes, 0, to_data // count)
    for leaf in (leaf for top in pool.logs for leaf in top.leaves()):
        yield VdevActivity(leaf.guid, EMPTY, _spread(FAST_BUCKET, to_log), 0, to_log, to_log * LOG_BLOCK)
    for leaf in (leaf for top in pool.caches for leaf in top.leaves()):
        yield VdevActivity(leaf.guid, EMPTY, _spread(FAST_BUCKET, int(seconds)), 0, 0, _feed(seconds))


def _disks(pool: Pool, commits: int) -> Iterable[DiskActivity]:
    for top in pool.data:
        for leaf in top.leaves():
            yield DiskActivity(_disk(leaf.guid), commits, commits * 9, 30, 30 * 64 * KIB, commits, commits * 20 * KIB)


def _ssds(pool: Pool, to_log: int, seconds: float) -> Iterable[DiskActivity]:
    """The SSDs below logs and caches; something else writes to them a little, too."""
    for tops, count in ((pool.logs, to_log * LOG_BLOCK), (pool.caches, _feed(seconds))):
        for leaf in (leaf for top in tops for leaf in top.leaves()):
            yield DiskActivity(_disk(leaf.guid), writes=to_log, written_bytes=count * 21 // 20)


def _spread(middle: int, count: int) -> Histogram:
    counts = [0] * (middle + 3)
    for offset, share in SHAPE:
        counts[middle + offset] = round(count * share)
    return Histogram.of(counts)


def _disk(guid: str) -> str:
    return f"sim-{guid}"


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
