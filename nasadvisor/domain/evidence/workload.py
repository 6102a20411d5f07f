"""What a pool's samples say about its users: who writes synchronously, how long a commit takes, who reads what."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from nasadvisor.domain.evidence.histogram import EMPTY, Histogram, merged
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, LeafFacts, PoolFacts
from nasadvisor.domain.evidence.samples import DatasetActivity, DiskActivity, Sample
from nasadvisor.domain.evidence.thresholds import (
    BUSY_SHARE,
    COMMITS_A_BLOCK,
    LARGE_COMMIT_BYTES,
    MOST_SHARE,
    OTHER_READS,
    READS_AGGREGATED,
)
from nasadvisor.domain.figures import MS
from nasadvisor.domain.storage.inventory import VdevClass

DATA = (VdevClass.NORMAL, VdevClass.SPECIAL, VdevClass.DEDUP)
LOGS = (VdevClass.LOG,)


class Reach(StrEnum):
    """Whether a dataset's synchronous writes can go to a log."""

    LOG = "log"
    DISABLED = "disabled"  # sync=disabled: nobody waits, and OpenZFS does not even count
    THROUGHPUT = "throughput"  # logbias=throughput: always to the pool itself


@dataclass(frozen=True)
class DatasetWorkload:
    """One dataset, per second of what was watched. `facts` is None if its properties are not known yet."""

    name: str
    facts: DatasetFacts | None
    commits_per_s: float
    sync_bytes_per_s: float
    written_bytes_per_s: float
    log_share: float
    writes_per_s: float = 0.0

    @property
    def is_stream(self) -> bool:
        """Whether its commits carry so much that the disks take them as well as a log does."""
        return self.sync_bytes_per_s >= LARGE_COMMIT_BYTES * self.commits_per_s

    @property
    def reach(self) -> Reach:
        """Where its synchronous writes go."""
        if self.facts and self.facts.sync == "disabled":
            return Reach.DISABLED
        if self.facts and self.facts.logbias == "throughput":
            return Reach.THROUGHPUT
        return Reach.LOG


@dataclass(frozen=True)
class CommitTime:
    """How long one commit on the data disks takes, from write and flush. `flush_ns` 0 with no flushes counted.

    `flush_is_known` if some were counted, or the kernel sends none because no cache is volatile ("write through").

    `low_ns` and `high_ns` bound what is likely: OpenZFS has no counter for whole commits.
    """

    write_ns: float
    flush_ns: float
    flushes: int
    low_ns: float
    likely_ns: float
    high_ns: float
    flush_is_known: bool = True


@dataclass(frozen=True)
class Workload:
    """One pool over some time. Rates are per second of what was watched unless their name says `busy`."""

    seconds: float
    busy_seconds: float
    busy_commits_per_s: float
    busy_sync_bytes_per_s: float
    peak_sync_bytes_per_s: float
    datasets: tuple[DatasetWorkload, ...]
    commits: int
    sync_bytes: int
    written_bytes: int
    direct_share: float
    block_overhead: float
    log_share: float
    commit_time: CommitTime | None
    is_flash: bool
    zil_is_flash: bool
    reads: Histogram
    txgs: Histogram
    sample: Sample

    @property
    def reachable_commits_share(self) -> float:
        """The share of commits that could go to a log."""
        return self._commits_share(lambda each: each.reach is Reach.LOG)

    @property
    def throughput_share(self) -> float:
        """The share of commits on datasets with logbias=throughput."""
        return self._commits_share(lambda each: each.reach is Reach.THROUGHPUT)

    @property
    def hidden(self) -> tuple[DatasetWorkload, ...]:
        """Datasets that are written with sync=disabled, so that nobody can know how much of it is synchronous."""
        return tuple(each for each in self.datasets if each.reach is Reach.DISABLED and each.written_bytes_per_s)

    @property
    def bytes_per_commit(self) -> float:
        """How much one commit carries."""
        return self.sync_bytes / self.commits if self.commits else 0.0

    @property
    def writing_share(self) -> float:
        """The share of commits that wrote something; the others found nothing to write, and nobody waited for them."""
        blocks = sum(each.log_blocks + each.pool_blocks for each in self.sample.datasets)
        if not self.commits or not (blocks or self.sync_bytes):
            return 0.0
        return min(COMMITS_A_BLOCK * blocks / self.commits, 1.0) if blocks else 1.0

    @property
    def commits_per_s(self) -> float:
        """In busy times; of all that was watched where no time was busy, as on a pool that takes seconds for each."""
        return self.busy_commits_per_s or self.commits / max(self.seconds, 1e-9)

    @property
    def is_busy_for_long(self) -> bool:
        """Whether what happened in busy times is felt, and not a burst that is soon over."""
        return 0 < self.busy_seconds >= BUSY_SHARE * self.seconds

    @property
    def stream_share(self) -> float:
        """The share of commits that could go to a log, but are streams that the disks take as well."""
        return self._commits_share(lambda each: each.reach is Reach.LOG and each.is_stream)

    @property
    def quick_share(self) -> float:
        """The share of commits that a log makes quicker: they reach it, are no streams, and carry their data."""
        past = min(self.direct_share, self.indirect_share)
        return max(self.reachable_commits_share - self.stream_share, 0.0) * (1 - past)

    @property
    def indirect_share(self) -> float:
        """The share of what was committed that lies on the pool already, as Direct I/O and large blocks do."""
        indirect = sum(each.indirect_bytes for each in self.sample.datasets)
        return indirect / self.sync_bytes if self.sync_bytes else 0.0

    @property
    def misses_share(self) -> float:
        """The share of the host's misses that can be this pool's: by its own count (OpenZFS 2.3), else by its disks."""
        misses = self.sample.arc.misses
        if not misses:
            return 1.0
        own = self.sample.pool.arc_reads or READS_AGGREGATED * self.reads.total
        return min(own / misses, 1.0)

    @property
    def missed_reads_per_s(self) -> float:
        """Reads that programs wait for, that the ARC missed and that can be this pool's."""
        return self.sample.arc.demand_misses * self.misses_share / self.seconds if self.seconds else 0.0

    @property
    def read_ns(self) -> float:
        """How long a read that the ARC missed takes, median."""
        return self.quantile_of_reads_ns(0.5)

    def quantile_of_reads_ns(self, share: float) -> float:
        """The time that this share of the reads that the ARC missed does not exceed; of the quickest reads of the disks
        where most are a scrub's."""
        own = self.sample.pool.arc_reads or self.sample.arc.misses
        of_disks = own / self.reads.total if self.reads.total else 1.0
        return self.reads.quantile_ns(share if of_disks >= OTHER_READS else share * of_disks)

    def _commits_share(self, counts: Callable[[DatasetWorkload], bool]) -> float:
        total = sum(each.commits_per_s for each in self.datasets)
        return sum(each.commits_per_s for each in self.datasets if counts(each)) / total if total else 0.0


def workload_of(sample: Sample, facts: PoolFacts) -> Workload:
    """What one sample, usually a merged one, says together with the pool's properties."""
    seconds = max(sample.seconds, 1e-9)
    busy = sample.busy
    written = sum(each.written_bytes for each in sample.datasets)
    data, zil = facts.leaves_of(*DATA), zil_leaves(sample, facts)
    in_log = sum(each.log_blocks for each in sample.datasets)
    in_pool = sum(each.pool_blocks for each in sample.datasets)
    return Workload(
        seconds=sample.seconds,
        busy_seconds=busy.seconds,
        busy_commits_per_s=busy.commits / busy.seconds if busy.seconds else 0.0,
        busy_sync_bytes_per_s=busy.sync_bytes / busy.seconds if busy.seconds else 0.0,
        peak_sync_bytes_per_s=busy.peak_bytes_per_s,
        datasets=tuple(sorted((_dataset(each, facts, seconds) for each in sample.datasets), key=_most_commits_first)),
        commits=sample.commits,
        sync_bytes=sample.sync_bytes,
        written_bytes=written,
        direct_share=min(sample.pool.direct_written_bytes / written, 1.0) if written else 0.0,
        block_overhead=_block_overhead(sample),
        log_share=in_log / (in_log + in_pool) if in_log + in_pool else 0.0,
        commit_time=_commit_time(sample, facts),
        is_flash=bool(data) and not any(leaf.rotational for leaf in data),
        zil_is_flash=bool(zil) and not any(leaf.rotational for leaf in zil),
        reads=reads_of(sample, data),
        txgs=sample.txgs,
        sample=sample,
    )


def reads_of(sample: Sample, leaves: tuple[LeafFacts, ...]) -> Histogram:
    """How long the reads of these leaves took."""
    guids = {leaf.guid for leaf in leaves}
    return merged([each.reads for each in sample.vdevs if each.guid in guids])


def _most_commits_first(dataset: DatasetWorkload) -> tuple[float, float, str]:
    return (-dataset.commits_per_s, -dataset.written_bytes_per_s, dataset.name)


def _dataset(activity: DatasetActivity, facts: PoolFacts, seconds: float) -> DatasetWorkload:
    blocks = activity.log_blocks + activity.pool_blocks
    return DatasetWorkload(
        name=activity.name,
        facts=facts.dataset(activity.name),
        commits_per_s=activity.commits / seconds,
        sync_bytes_per_s=activity.sync_bytes / seconds,
        written_bytes_per_s=activity.written_bytes / seconds,
        log_share=activity.log_blocks / blocks if blocks else 0.0,
        writes_per_s=activity.writes / seconds,
    )


def _block_overhead(sample: Sample) -> float:
    """How much larger the blocks are than what they carry; between 1 and 4, 1 where nothing was logged."""
    payload = sum(each.copied_bytes + each.needcopy_bytes for each in sample.datasets)
    blocks = sum(each.log_bytes + each.pool_bytes for each in sample.datasets)
    return min(max(blocks / payload, 1.0), 4.0) if payload else 1.0


def _commit_time(sample: Sample, facts: PoolFacts) -> CommitTime | None:
    """From the disks that take the ZIL now; None where nothing was written synchronously."""
    leaves = zil_leaves(sample, facts)
    if not sum(each.sync_writes for each in sample.vdevs if each.guid in {leaf.guid for leaf in leaves}):
        return None
    return commit_time_of(sample, leaves)


def commit_time_of(sample: Sample, leaves: tuple[LeafFacts, ...]) -> CommitTime | None:
    """How long a commit takes, or would take, on these leaves; None where nothing was written to them.

    Where most writes are not synchronous, as beside a replication, the median is theirs. Synchronous ones go first
    (zfs_vdev_sync_write_min_active), so they are taken for the quickest.
    """
    active = [each for each in sample.vdevs if each.guid in {leaf.guid for leaf in leaves}]
    writes = merged([each.writes for each in active])
    if writes == EMPTY:
        return None
    names = {leaf.disk for leaf in leaves}
    flushes, flush_ns = flush_time([disk for disk in sample.disks if disk.key in names])
    sync_share = sum(each.sync_writes for each in active) / max(writes.total, 1)
    middle = sync_share / 2 if 0 < sync_share < MOST_SHARE else 0.5
    write_ns = writes.quantile_ns(middle)
    return CommitTime(
        write_ns=write_ns,
        flush_ns=flush_ns,
        flushes=flushes,
        low_ns=writes.quantile_ns(middle / 2) + flush_ns / 2,
        likely_ns=write_ns + flush_ns,
        high_ns=writes.quantile_ns(0.9) + 2 * flush_ns,
        flush_is_known=bool(flushes) or all(leaf.write_cache == "write through" for leaf in leaves),
    )


def zil_leaves(sample: Sample, facts: PoolFacts) -> tuple[LeafFacts, ...]:
    """The leaves of the class that takes most synchronous writes: a log, or from OpenZFS 2.4 on `special`."""

    def sync_writes(vdev_class: VdevClass) -> int:
        guids = {leaf.guid for leaf in facts.leaves_of(vdev_class)}
        return sum(each.sync_writes for each in sample.vdevs if each.guid in guids)

    return facts.leaves_of(max((*DATA, *LOGS), key=sync_writes))


def flush_time(disks: list[DiskActivity]) -> tuple[int, float]:
    """How many flushes there were and how long the mean one took, in ns."""
    flushes = sum(disk.flushes for disk in disks)
    return flushes, sum(disk.flush_ms for disk in disks) * MS / flushes if flushes else 0.0
