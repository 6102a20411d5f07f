"""Samples and facts of made-up pools, for tests of verdicts and sizes."""

from dataclasses import replace

from nasadvisor.domain.evidence.histogram import EMPTY, Histogram
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
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import GIB, KIB, MIB

DAY = 86400.0
MS_BUCKET = {"fast": 16, "slow": 23}
"""About 0.1 ms, and about 12 ms."""

LEAVES = (LeafFacts("1", VdevClass.NORMAL, "sda", "sda", True), LeafFacts("2", VdevClass.NORMAL, "sdb", "sdb", True))
FLASH = tuple(replace(leaf, rotational=False) for leaf in LEAVES)
LOG_LEAF = LeafFacts("3", VdevClass.LOG, "nvme0n1p1", "nvme0n1", False)
CACHE_LEAF = LeafFacts("4", VdevClass.CACHE, "nvme0n1p2", "nvme0n1", False)


def facts(
    *leaves: LeafFacts, sync: str = "standard", logbias: str = "latency", zfs: str = "2.3.9-1", **tunables: int
) -> PoolFacts:
    """A pool with one dataset, tank/db; two hard disks unless leaves are given."""
    values = {"memory_bytes": 32 * GIB, "wrlog_data_max_bytes": 8 * GIB, "dirty_data_max_bytes": 4 * GIB, **tunables}
    dataset = DatasetFacts("tank/db", False, sync, logbias, 128 * KIB)
    return PoolFacts("9", "tank", "", (dataset,), leaves or LEAVES, Tunables(**values, zfs_version=zfs))


def sync_writers(
    commits_per_s: float = 60,
    seconds: float = DAY,
    commit_bytes: int = 16 * KIB,
    speed: str = "slow",
    flush_ms: int = 4,
) -> Sample:
    """Somebody who waits for synchronous writes the whole time."""
    commits = int(commits_per_s * seconds)
    writes = Histogram((*(0,) * MS_BUCKET[speed], commits))
    dataset = DatasetActivity(
        "tank/db",
        commits=commits,
        needcopy_bytes=commits * commit_bytes,
        pool_blocks=commits,
        pool_bytes=commits * commit_bytes * 5 // 4,
        writes=commits,
        written_bytes=commits * commit_bytes,
    )
    disks = tuple(DiskActivity(name, commits, commits * flush_ms) for name in ("sda", "sdb"))
    return Sample(
        "9",
        "tank",
        int(seconds),
        seconds,
        (dataset,),
        tuple(VdevActivity(guid, EMPTY, writes, 0, commits) for guid in ("1", "2")),
        disks,
        txgs=Histogram.single(5 * 10**9),
    ).with_busy()


def async_writers(seconds: float = DAY) -> Sample:
    """A big stream that nobody waits for."""
    dataset = DatasetActivity("tank/db", writes=10**6, written_bytes=10**6 * MIB)
    writes = VdevActivity("1", EMPTY, Histogram((*(0,) * 23, 10**6)), 0, 0)
    return Sample("9", "tank", int(seconds), seconds, (dataset,), (writes,)).with_busy()


def readers(
    misses_per_s: float = 50,
    ghost_share: float = 0.5,
    prefetch_share: float = 0.1,
    arc_bytes: int = 8 * GIB,
    seconds: float = DAY,
) -> Sample:
    """Programs that read; the ARC's target is 8 GiB of at most 16."""
    misses = int(misses_per_s * seconds)
    prefetch = int(misses * prefetch_share)
    arc = ArcActivity(
        demand_hits=misses * 5,
        demand_misses=misses - prefetch,
        prefetch_misses=prefetch,
        ghost_hits=int(misses * ghost_share),
        evicted_eligible_bytes=misses * 64 * KIB,
    )
    reads = Histogram((*(0,) * 22, misses))
    return Sample(
        "9",
        "tank",
        int(seconds),
        seconds,
        vdevs=(VdevActivity("1", reads, EMPTY), VdevActivity("2", reads, EMPTY)),
        pool=PoolActivity(arc_reads=misses, arc_read_bytes=misses * 64 * KIB),
        arc=arc,
        levels=Levels(arc_bytes, 8 * GIB, 16 * GIB),
    ).with_busy()
