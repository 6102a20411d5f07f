"""Two readings of OpenZFS's counters make a sample.

Counters begin anew when a dataset is mounted, a pool imported or a module loaded. A counter that went down was reset:
what it shows is all that happened since, so it is taken as it stands. A dataset, vdev or disk that was not there in the
first reading counts from the next one on, for nobody knows when it began.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final, TypeVar

from nasadvisor.domain.evidence.histogram import Histogram, merged
from nasadvisor.domain.evidence.samples import (
    ArcActivity,
    Busy,
    DatasetActivity,
    DiskActivity,
    Levels,
    PoolActivity,
    Sample,
    VdevActivity,
)

LONGEST_INTERVAL_S: Final = 900.0
"""Two readings further apart than this are not made into a sample: the machine slept, or the service was off."""

T = TypeVar("T", DatasetActivity, DiskActivity, PoolActivity, ArcActivity)


@dataclass(frozen=True)
class VdevCounters:
    """One block of `zpool iostat -w`, counted since import; `guid` is "" for the pool as a whole.

    `written_bytes` counts since the device appeared.
    """

    guid: str
    reads: Histogram
    writes: Histogram
    sync_reads: Histogram
    sync_writes: Histogram
    written_bytes: int = 0


@dataclass(frozen=True)
class Txg:
    """One line of POOL/txgs that is committed: its number and how long it took from opening to the end of syncing."""

    number: int
    duration_ns: int


@dataclass(frozen=True)
class PoolCounters:
    """The counters of one pool; of its vdevs only the leaves. `log_bytes` is what its logs hold now."""

    guid: str
    name: str
    datasets: tuple[DatasetActivity, ...] = ()
    vdevs: tuple[VdevCounters, ...] = ()
    totals: PoolActivity = field(default_factory=PoolActivity)
    txgs: tuple[Txg, ...] = ()
    disks: frozenset[str] = frozenset()
    log_bytes: int = 0


@dataclass(frozen=True)
class Counters:
    """One reading of a host. `at` is the time in seconds since 1970, `monotonic_s` a clock that is never set."""

    at: int
    monotonic_s: float
    pools: tuple[PoolCounters, ...]
    disks: Mapping[str, DiskActivity] = field(default_factory=dict)
    arc: ArcActivity = field(default_factory=ArcActivity)
    levels: Levels = field(default_factory=Levels)


def samples_between(before: Counters, after: Counters) -> tuple[Sample, ...]:
    """What happened on each pool that was there at both times; pools are told apart by guid, so one may be renamed."""
    seconds = after.monotonic_s - before.monotonic_s
    if not 0 < seconds <= LONGEST_INTERVAL_S:
        return ()
    known = {pool.guid: pool for pool in before.pools}
    arc = _difference(before.arc, after.arc)
    return tuple(
        _sample(known[pool.guid], pool, before, after, replace(_START, arc=arc, seconds=seconds))
        for pool in after.pools
        if pool.guid in known
    )


_START: Final = Sample("", "", 0, 0.0)


def _sample(old: PoolCounters, new: PoolCounters, before: Counters, after: Counters, start: Sample) -> Sample:
    return replace(
        start,
        pool_guid=new.guid,
        pool_name=new.name,
        at=after.at,
        datasets=tuple(_active_datasets(old, new)),
        vdevs=tuple(_vdevs(old.vdevs, new.vdevs)),
        disks=tuple(
            _difference(before.disks[key], after.disks[key])
            for key in sorted(new.disks)
            if key in before.disks and key in after.disks
        ),
        pool=_difference(old.totals, new.totals),
        levels=after.levels,
        busy=Busy(peak_log_bytes=new.log_bytes),
        txgs=merged([Histogram.single(txg.duration_ns) for txg in _new_txgs(old.txgs, new.txgs)]),
    ).with_busy()


def _active_datasets(old: PoolCounters, new: PoolCounters) -> Iterable[DatasetActivity]:
    """Those that did something; a pool that was renamed has other names in front of all of them."""
    known = {_inside(each.name): each for each in old.datasets}
    for each in new.datasets:
        past = known.get(_inside(each.name))
        change = _difference(past, each) if past else None
        if change and (change.commits or change.writes or change.reads or change.records):
            yield change


def _inside(dataset: str) -> str:
    """The name without the pool's."""
    return dataset.partition("/")[2]


def _difference(before: T, after: T) -> T:
    """Field by field; text is taken from the later reading."""
    values: dict[str, object] = {}
    numbers = [each.name for each in fields(after) if not isinstance(getattr(after, each.name), str)]
    was_reset = any(getattr(after, name) < getattr(before, name) for name in numbers)
    for name in numbers:
        value = getattr(after, name)
        values[name] = value if was_reset else value - getattr(before, name)
    return replace(after, **values)  # type: ignore[arg-type]


def _vdevs(before: tuple[VdevCounters, ...], after: tuple[VdevCounters, ...]) -> Iterable[VdevActivity]:
    known = {each.guid: each for each in before}
    for each in after:
        past = known.get(each.guid)
        if past is not None:
            yield VdevActivity(
                guid=each.guid,
                reads=_grown(past.reads, each.reads),
                writes=_grown(past.writes, each.writes),
                sync_reads=_grown(past.sync_reads, each.sync_reads).total,
                sync_writes=_grown(past.sync_writes, each.sync_writes).total,
                written_bytes=_written(past.written_bytes, each.written_bytes),
            )


def _written(before: int, after: int) -> int:
    """Bytes since; nothing where the device was not known before, for its counter is older than that."""
    if not before:
        return 0
    return after - before if after >= before else after


def _grown(before: Histogram, after: Histogram) -> Histogram:
    difference = after.since(before)
    return after if difference is None else difference


def _new_txgs(before: tuple[Txg, ...], after: tuple[Txg, ...]) -> Iterable[Txg]:
    """Those committed since; after an import the numbers go on, so nothing special happens there."""
    last = max((txg.number for txg in before), default=None)
    return (txg for txg in after if last is not None and txg.number > last)
