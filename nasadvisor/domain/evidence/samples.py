"""What happened on one pool in one interval: differences of OpenZFS's counters, which add up to longer intervals.

Every number of a `Sample` is a sum over the interval, except the gauges in `Levels`. So an hour is the sum of its
minutes, and nothing is lost but the moment at which it happened. Peaks are kept beside the sums.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Final, TypeVar

from nasadvisor.domain.evidence.histogram import EMPTY, Histogram, bucket_of, merged

BUSY_COMMITS_PER_S: Final = 5.0
"""From here on an interval counts as one in which somebody waits for synchronous writes. Below lie the odd fsync of a
log daemon or a package manager."""

PACES_IN_ONE: Final = 16
"""The slowest pace that is told apart is one in so many seconds; each further one is twice as fast."""

T = TypeVar("T")


@dataclass(frozen=True)
class DatasetActivity:
    """One file system or volume: /proc/spl/kstat/zfs/POOL/objset-0x… . Sizes are bytes.

    `indirect`, `copied` and `needcopy` are what the ZIL was given: their sum is what would go to a log.
    `log_bytes` is what was allocated on a separate log, `pool_bytes` what was allocated for the ZIL on the pool itself.
    """

    name: str
    commits: int = 0
    commit_writers: int = 0
    records: int = 0
    indirect_bytes: int = 0
    copied_bytes: int = 0
    needcopy_bytes: int = 0
    log_blocks: int = 0
    log_bytes: int = 0
    pool_blocks: int = 0
    pool_bytes: int = 0
    writes: int = 0
    written_bytes: int = 0
    reads: int = 0
    read_bytes: int = 0

    @property
    def sync_bytes(self) -> int:
        """What was handed to the ZIL."""
        return self.indirect_bytes + self.copied_bytes + self.needcopy_bytes


@dataclass(frozen=True)
class VdevActivity:
    """One leaf vdev: `zpool iostat -w`. Times are the device's own, without cache flushes.

    `quiet_writes` and `quiet_sync_writes` are those among them of times in which nobody waited for synchronous writes,
    where there were others. `written_bytes` is what the kernel counted for the disk or partition of an SSD
    (/sys/class/block/NAME/stat). Only leaves are kept: what OpenZFS tells of the vdevs above them is the sum of theirs
    (vdev_get_stats_ex_impl() in module/zfs/vdev.c).
    """

    guid: str
    reads: Histogram = EMPTY
    writes: Histogram = EMPTY
    sync_reads: int = 0
    sync_writes: int = 0
    written_bytes: int = 0
    quiet_sync_writes: int = 0
    quiet_writes: Histogram = EMPTY


@dataclass(frozen=True)
class DiskActivity:
    """One whole disk: /sys/block/DISK/stat. `key` is the kernel's name; times are milliseconds.

    `quiet_flushes` and `quiet_flush_ms` are those among them of quiet times, as of a `VdevActivity`.
    """

    key: str
    flushes: int = 0
    flush_ms: int = 0
    reads: int = 0
    read_bytes: int = 0
    writes: int = 0
    written_bytes: int = 0
    write_ms: int = 0
    quiet_flushes: int = 0
    quiet_flush_ms: int = 0

    def without_quiet(self) -> "DiskActivity":
        """Its flushes of busy times only."""
        return replace(self, flushes=self.flushes - self.quiet_flushes, flush_ms=self.flush_ms - self.quiet_flush_ms)


@dataclass(frozen=True)
class ArcActivity:
    """The ARC of the host, for all pools together: arcstats(5) and include/sys/arc_impl.h.

    `metadata_misses` are among the others. `evicted_ineligible_bytes` were dropped too, but may not enter a cache.
    """

    demand_hits: int = 0
    demand_misses: int = 0
    prefetch_hits: int = 0
    prefetch_misses: int = 0
    ghost_hits: int = 0
    evicted_eligible_bytes: int = 0
    l2_hits: int = 0
    l2_misses: int = 0
    l2_read_bytes: int = 0
    l2_written_bytes: int = 0
    metadata_misses: int = 0
    evicted_ineligible_bytes: int = 0

    @property
    def asked(self) -> int:
        """Everything that was read through the ARC."""
        return self.demand_hits + self.prefetch_hits + self.misses

    @property
    def misses(self) -> int:
        """Everything that was not in the ARC."""
        return self.demand_misses + self.prefetch_misses


@dataclass(frozen=True)
class Levels:
    """What stands at a level rather than counting up, at the end of the interval. Bytes.

    `arc_target_bytes` is arcstats' `c`; `arc_most_bytes` its `c_max`.
    """

    arc_bytes: int = 0
    arc_target_bytes: int = 0
    arc_most_bytes: int = 0
    l2_bytes: int = 0
    l2_header_bytes: int = 0


@dataclass(frozen=True)
class PoolActivity:
    """What is counted for the pool as a whole. `arc_reads` were not in the ARC; `direct` went past it (OpenZFS 2.3).

    `nfs_commits` and `nfs_writes` are those of the host's NFS server, for all pools.
    """

    arc_reads: int = 0
    arc_read_bytes: int = 0
    direct_written_bytes: int = 0
    nfs_commits: int = 0
    nfs_writes: int = 0


@dataclass(frozen=True)
class Busy:
    """That part of an interval in which somebody waited for synchronous writes, and its peaks.

    `peak_log_bytes` is the most that the pool's logs held when they were looked at, whoever waited. `commits_at` are
    all commits by their pace in the interval, `commit_s_at` the seconds of each pace; `misses_at` and
    `miss_s_at` are those of reads that programs waited for and the ARC missed (whole host).
    """

    seconds: float = 0.0
    commits: int = 0
    sync_bytes: int = 0
    peak_commits_per_s: float = 0.0
    peak_bytes_per_s: float = 0.0
    peak_log_bytes: int = 0
    commit_s_at: Histogram = EMPTY
    commits_at: Histogram = EMPTY
    miss_s_at: Histogram = EMPTY
    misses_at: Histogram = EMPTY


@dataclass(frozen=True)
class Sample:
    """One pool in one interval. `at` is its end in seconds since 1970 (UTC), `seconds` what was observed of it."""

    pool_guid: str
    pool_name: str
    at: int
    seconds: float
    datasets: tuple[DatasetActivity, ...] = ()
    vdevs: tuple[VdevActivity, ...] = ()
    disks: tuple[DiskActivity, ...] = ()
    pool: PoolActivity = PoolActivity()
    arc: ArcActivity = ArcActivity()
    levels: Levels = Levels()
    txgs: Histogram = EMPTY
    busy: Busy = Busy()

    @property
    def commits(self) -> int:
        """Commits of all datasets."""
        return sum(each.commits for each in self.datasets)

    @property
    def sync_bytes(self) -> int:
        """Bytes handed to the ZIL by all datasets."""
        return sum(each.sync_bytes for each in self.datasets)

    def with_busy(self) -> "Sample":
        """The same, with `busy` worked out: for an interval as it was measured, before it is added to others."""
        seconds, missed = self.seconds, self.arc.demand_misses
        busy = Busy(
            0.0,
            peak_log_bytes=self.busy.peak_log_bytes,
            commit_s_at=_at_pace(self.commits, seconds, round(seconds)),
            commits_at=_at_pace(self.commits, seconds, self.commits),
            miss_s_at=_at_pace(missed, seconds, round(seconds)),
            misses_at=_at_pace(missed, seconds, missed),
        )
        if seconds > 0 and self.commits >= BUSY_COMMITS_PER_S * seconds:
            busy = replace(
                busy,
                seconds=seconds,
                commits=self.commits,
                sync_bytes=self.sync_bytes,
                peak_commits_per_s=self.commits / seconds,
                peak_bytes_per_s=self.sync_bytes / seconds,
            )
        return replace(self, busy=busy)

    def as_quiet(self) -> "Sample":
        """The same beside busy times: all of it was quiet, unless it has busy times of its own."""
        if self.busy.seconds:
            return self
        return replace(
            self,
            vdevs=tuple(replace(v, quiet_writes=v.writes, quiet_sync_writes=v.sync_writes) for v in self.vdevs),
            disks=tuple(replace(d, quiet_flushes=d.flushes, quiet_flush_ms=d.flush_ms) for d in self.disks),
        )


def _at_pace(events: int, seconds: float, count: int) -> Histogram:
    """So many at the pace of these events: bucket n is for 2**n to 2**(n+1) of them in `PACES_IN_ONE` seconds."""
    if not events or seconds <= 0:
        return EMPTY
    return Histogram((*(0,) * bucket_of(int(events / seconds * PACES_IN_ONE)), count))


def merge(samples: Iterable[Sample]) -> Sample:
    """One sample for the time that all of them cover. Order does not matter, except that the latest levels stand.

    Raises:
        ValueError: there are none.
    """
    ordered = sorted(samples, key=lambda each: each.at)
    if not ordered:
        raise ValueError("There is nothing to merge.")
    if any(each.busy.seconds for each in ordered):
        ordered = [each.as_quiet() for each in ordered]
    last = ordered[-1]
    return Sample(
        pool_guid=last.pool_guid,
        pool_name=last.pool_name,
        at=last.at,
        seconds=sum(each.seconds for each in ordered),
        datasets=_by_key("name", (each.datasets for each in ordered)),
        vdevs=_by_key("guid", (each.vdevs for each in ordered)),
        disks=_by_key("key", (each.disks for each in ordered)),
        pool=_sum([each.pool for each in ordered]),
        arc=_sum([each.arc for each in ordered]),
        levels=last.levels,
        txgs=merged([each.txgs for each in ordered]),
        busy=_busy([each.busy for each in ordered]),
    )


def _by_key(key: str, groups: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    found: dict[str, list[T]] = {}
    for group in groups:
        for each in group:
            found.setdefault(getattr(each, key), []).append(each)
    return tuple(_sum(each) for each in found.values())


def _sum(parts: list[T]) -> T:
    """Add field by field; text fields are equal in all of them."""
    first = parts[0]
    if len(parts) == 1:
        return first
    values = {}
    for field in fields(first):  # type: ignore[arg-type]
        start = getattr(first, field.name)
        if isinstance(start, str):
            values[field.name] = start
            continue
        for part in parts[1:]:
            start = start + getattr(part, field.name)
        values[field.name] = start
    return type(first)(**values)


def _busy(parts: list[Busy]) -> Busy:
    return Busy(
        seconds=sum(each.seconds for each in parts),
        commits=sum(each.commits for each in parts),
        sync_bytes=sum(each.sync_bytes for each in parts),
        peak_commits_per_s=max(each.peak_commits_per_s for each in parts),
        peak_bytes_per_s=max(each.peak_bytes_per_s for each in parts),
        peak_log_bytes=max(each.peak_log_bytes for each in parts),
        commit_s_at=merged([each.commit_s_at for each in parts]),
        commits_at=merged([each.commits_at for each in parts]),
        miss_s_at=merged([each.miss_s_at for each in parts]),
        misses_at=merged([each.misses_at for each in parts]),
    )
