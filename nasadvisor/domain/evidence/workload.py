"""What a pool's samples say about its users: who writes synchronously, how long a commit takes, who reads what."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from nasadvisor.domain.evidence.histogram import EMPTY, Histogram, bounds_of_mean, merged
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, LeafFacts, PoolFacts
from nasadvisor.domain.evidence.samples import DatasetActivity, DiskActivity, Sample, VdevActivity
from nasadvisor.domain.evidence.thresholds import (
    COMMITS_A_BLOCK,
    LARGE_COMMIT_BYTES,
    MOST_SHARE,
    OTHER_READS,
    READS_AGGREGATED,
    SMALL_BYTES,
)
from nasadvisor.domain.evidence.verdict import BUSY_SHARE, Pace
from nasadvisor.domain.figures import MS
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import DAY_S

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
    """One pool over some time. Rates are per second of what was watched unless their name says `busy`.

    `sync_reads` are those of the data disks that programs waited for, 0 where they are not known apart; `cached_reads`
    were served by the host's caches, 0 where this pool has none.
    """

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
    sync_reads: int = 0
    cached_reads: int = 0

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
    def writing_commits_per_day(self) -> float:
        """The commits that wrote something, on the average of all that was watched."""
        return self.commits * self.writing_share / max(self.seconds, 1e-9) * DAY_S

    @property
    def commits_per_s(self) -> float:
        """In busy times; of all that was watched where no time was busy, as on a pool that takes seconds for each."""
        return self.busy_commits_per_s or self.commits / max(self.seconds, 1e-9)

    @property
    def commit_pace(self) -> Pace:
        """How often somebody waits for a commit that writes something."""
        busy, share = self.sample.busy, self.writing_share
        levels = _levels(busy.commit_s_at, busy.commits_at, self.seconds, share)
        return Pace(self.commits / max(self.seconds, 1e-9) * share, self.busy_commits_per_s * share, levels)

    @property
    def log_bytes_per_s(self) -> float:
        """What a log would have to take in busy times, as blocks; streams are among it."""
        in_all = sum(each.sync_bytes_per_s for each in self.datasets)
        share = (
            sum(each.sync_bytes_per_s for each in self.datasets if each.reach is Reach.LOG) / in_all if in_all else 0.0
        )
        return (self.busy_sync_bytes_per_s or in_all) * share * self.block_overhead

    @property
    def large_bytes_per_commit(self) -> float:
        """What a commit that a log makes quicker carries beyond a small block; those of streams are not among them."""
        quick = [each for each in self.datasets if each.reach is Reach.LOG and not each.is_stream]
        commits = sum(each.commits_per_s for each in quick)
        carried = sum(each.sync_bytes_per_s for each in quick) / commits if commits else 0.0
        return max(carried - SMALL_BYTES, 0.0) * self.block_overhead

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
        """The share of the host's misses that is this pool's: by its own count (OpenZFS 2.3), else by what was read of
        its disks and caches. Of the disks' reads those count that programs wait for; where they are not known apart, a
        scrub's are among them.
        """
        arc, own = self.sample.arc, self.sample.pool.arc_reads
        if own or not arc.misses:
            return min(own / arc.misses, 1.0) if arc.misses else 1.0
        ahead = 0.0 if self.sync_reads else arc.prefetch_misses / READS_AGGREGATED
        read = self.cached_reads + (self.sync_reads or self.reads.total)
        return min(read / max(arc.demand_misses + ahead, 1), 1.0)

    @property
    def missed_reads_per_s(self) -> float:
        """Reads that programs wait for, that the ARC missed and that can be this pool's."""
        return self.sample.arc.demand_misses * self.misses_share / self.seconds if self.seconds else 0.0

    @property
    def read_pace(self) -> Pace:
        """How often somebody waits for a read of this pool that the ARC missed."""
        busy = self.sample.busy
        levels = _levels(busy.miss_s_at, busy.misses_at, self.seconds, self.misses_share)
        lasting = [per_s for per_s, share in levels if share >= BUSY_SHARE]
        return Pace(self.missed_reads_per_s, max(lasting, default=0.0), levels)

    @property
    def read_ns(self) -> float:
        """How long a read that the ARC missed takes, mean; where others are a scrub's, of the quickest reads of the
        disks: what programs wait for goes first.
        """
        return self.reads.mean_of_quickest_ns(self._missed_of_reads)

    @property
    def read_bounds_ns(self) -> tuple[float, float, float]:
        """The same at the least, likely, and at the most: as long as all reads take, unless most are a scrub's."""
        most_ns = self.reads.mean_ns if self._missed_of_reads >= OTHER_READS else self.read_ns
        low, likely, _ = bounds_of_mean(self.read_ns)
        return low, likely, bounds_of_mean(most_ns)[2]

    @property
    def _missed_of_reads(self) -> float:
        """The share of the disks' reads that the ARC missed; more than 1 where several were read at once."""
        missed = self.sample.arc.misses * self.misses_share - self.cached_reads
        return max(missed, self.sync_reads) / self.reads.total if self.reads.total else 0.0

    def _commits_share(self, counts: Callable[[DatasetWorkload], bool]) -> float:
        total = sum(each.commits_per_s for each in self.datasets)
        return sum(each.commits_per_s for each in self.datasets if counts(each)) / total if total else 0.0


def _levels(
    seconds_at: Histogram, events_at: Histogram, whole_s: float, counts: float
) -> tuple[tuple[float, float], ...]:
    """The levels of a `Pace`, of whose events such a share counts; the busiest first."""
    found, seconds, events = [], 0, 0
    for more_s, more in reversed(list(zip(seconds_at.counts, events_at.counts, strict=False))):
        seconds, events = seconds + more_s, events + more
        if more_s:
            found.append((events / seconds * counts, min(seconds / max(whole_s, 1e-9), 1.0)))
    return tuple(found)


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
        sync_reads=sum(each.sync_reads for each in _activity_of(sample, data)),
        cached_reads=sample.arc.l2_hits if facts.leaves_of(VdevClass.CACHE) else 0,
    )


def _activity_of(sample: Sample, leaves: tuple[LeafFacts, ...]) -> list[VdevActivity]:
    guids = {leaf.guid for leaf in leaves}
    return [each for each in sample.vdevs if each.guid in guids]


def reads_of(sample: Sample, leaves: tuple[LeafFacts, ...]) -> Histogram:
    """How long the reads of these leaves took."""
    return merged([each.reads for each in _activity_of(sample, leaves)])


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
    if not sum(each.sync_writes for each in _activity_of(sample, leaves)):
        return None
    return commit_time_of(sample, leaves)


def commit_time_of(sample: Sample, leaves: tuple[LeafFacts, ...]) -> CommitTime | None:
    """How long a commit takes, or would take, on these leaves; None where nothing was written to them.

    It is that of busy times, where some were. Where most writes are not synchronous, as beside a replication, the
    median is theirs. Synchronous ones go first (zfs_vdev_sync_write_min_active), so they are taken for the quickest.
    """
    active = _activity_of(sample, leaves)
    every, quiet = (merged([getattr(each, name) for each in active]) for name in ("writes", "quiet_writes"))
    if every == EMPTY:
        return None
    writes = every.since(quiet) or every
    names = {leaf.disk for leaf in leaves}
    disks = [disk for disk in sample.disks if disk.key in names]
    busy_disks = [disk.without_quiet() for disk in disks]
    flushes, flush_ns = flush_time(busy_disks if any(disk.flushes for disk in busy_disks) else disks)
    sync_writes = sum(each.sync_writes - each.quiet_sync_writes for each in active)
    sync_share = sync_writes / max(writes.total, 1)
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
        return sum(each.sync_writes for each in _activity_of(sample, facts.leaves_of(vdev_class)))

    return facts.leaves_of(max((*DATA, *LOGS), key=sync_writes))


def flush_time(disks: list[DiskActivity]) -> tuple[int, float]:
    """How many flushes there were and how long the mean one took, in ns."""
    flushes = sum(disk.flushes for disk in disks)
    return flushes, sum(disk.flush_ms for disk in disks) * MS / flushes if flushes else 0.0
