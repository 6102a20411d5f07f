# ruff: noqa: N802 - refusals are named like the statements they make
"""The two measurements that write: a probe of a pool, on a dataset of its own, and a test of a blank SSD.

Both are bounded in size and time, both are recorded before they make anything, and what the record names is all that is
ever removed again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from nasadvisor.domain.change.actions import Action
from nasadvisor.domain.change.runs import DiskImage
from nasadvisor.domain.evidence.log_blocks import Replayed
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import GIB, KIB, MIB, size_text

PROBE_PROPERTY: Final = "nasadvisor:probe"
"""The user property (zfsprops(7)) that marks a dataset as ours, with the probe's id."""

PROBE_PREFIX: Final = "nasadvisor-probe-"
PROBE_QUOTA: Final = 2 * GIB
PROBE_FILE_BYTES: Final = 16 * MIB
PROBE_RECORD_BYTES: Final = 16 * KIB

FULLEST_SHARE: Final = 0.8
"""[policy] A pool that is fuller fragments and slows down; the probe shall not add to it."""

BUSY_COMMITS_PER_S: Final = 20.0
BUSY_BYTES_PER_S: Final = 20 * MIB
"""[policy] With so much going on the probe would disturb its users and measure them instead of the pool."""


@dataclass(frozen=True)
class FioFigures:
    """What fio measured with one job: `operations` are writes, each followed by its sync; times are ns.

    `write_p50_ns` is the write alone, `sync_…` the fsync or fdatasync alone.
    """

    block_bytes: int
    writers: int
    operations_per_s: float
    operations: int
    write_p50_ns: float
    sync_mean_ns: float
    sync_p50_ns: float
    sync_p95_ns: float
    sync_p99_ns: float
    bytes_per_s: float

    @property
    def commit_p50_ns(self) -> float:
        """A write and its sync together, about the median."""
        return self.write_p50_ns + self.sync_p50_ns

    @property
    def mean_ns(self) -> float:
        """How long one writer needs for an operation on average, everything included."""
        return self.writers * 1e9 / self.operations_per_s if self.operations_per_s else 0.0


@dataclass(frozen=True)
class ProbeResult:
    """A probe of a pool. `at` is UTC in ISO 8601; `had_log` tells whether the pool had a log at that time."""

    id: str
    pool_guid: str
    pool_name: str
    at: str
    had_log: bool
    figures: tuple[FioFigures, ...]


@dataclass(frozen=True)
class CandidateResult:
    """A test of an SSD. `first_bytes_per_s` and `last_bytes_per_s` are the rate of plain writing before and after its
    fast cache was filled, as far as `written_bytes` went. `replayed` is None where no commits of the pool had been
    traced."""

    id: str
    disk_key: str
    disk: str
    at: str
    first_bytes_per_s: float
    last_bytes_per_s: float
    written_bytes: int
    figures: tuple[FioFigures, ...]
    replayed: Replayed | None = None


@dataclass(frozen=True)
class ProbeRecord:
    """Written before the dataset is made: all that a clean-up needs."""

    id: str
    at: str
    pool_guid: str
    dataset: str
    mountpoint: str
    record: Literal["probe"] = "probe"


@dataclass(frozen=True)
class CandidateRecord:
    """Written before the slice is made: the actions that make it, and the sectors that are put back."""

    id: str
    at: str
    actions: tuple[Action, ...]
    images: tuple[DiskImage, ...]
    record: Literal["candidate"] = "candidate"


def against_probe(pool: Pool, load: Sample | None) -> Iterator[Refused]:
    """Why a pool should not be probed now; `load` is what happened on it in the last seconds, None if unknown."""
    if pool.suspended or pool.read_only or pool.state != "ONLINE":
        yield ProbeNotOnline(pool)
    if pool.scan:
        yield ProbeScan(pool)
    free_bytes = pool.size_bytes - pool.allocated_bytes
    if pool.allocated_bytes > FULLEST_SHARE * pool.size_bytes or free_bytes < 2 * PROBE_QUOTA:
        yield ProbeFull(pool, free_bytes)
    if load is not None and load.seconds > 0:
        yield from _against_load(pool, load)


def _against_load(pool: Pool, load: Sample) -> Iterator[Refused]:
    commits = load.commits / load.seconds
    written = sum(each.written_bytes for each in load.datasets) / load.seconds
    if commits > BUSY_COMMITS_PER_S or written > BUSY_BYTES_PER_S:
        yield ProbeBusy(pool, commits, written)


def ProbeNotOnline(pool: Pool) -> Refused:
    """A measurement writes and flushes in its own dataset to see how long the pool takes. Benchmarks on a pool with
    faults are misleading and add load it cannot spare.
    """
    return Refused(
        "probe-not-online",
        _("Pool {pool} is {state} or not writable, so it was not measured. Nothing was changed."),
        {"pool": pool.name, "state": pool.state},
    )


def ProbeScan(pool: Pool) -> Refused:
    """A scrub or resilver keeps all disks of the pool busy, so the measured times would be those of the scan."""
    return Refused(
        "probe-scan",
        _(
            "Pool {pool} is busy with a {scan}, so a measurement would time that scan. Wait until it ends and try "
            "again."
        ),
        {"pool": pool.name, "scan": pool.scan},
    )


def ProbeFull(pool: Pool, free_bytes: int) -> Refused:
    """A measurement fills its own dataset up to a quota. A nearly full pool gets slow
    and must not be filled further.
    """
    return Refused(
        "probe-full",
        _("Pool {pool} is too full to measure ({free} free). Nothing was changed."),
        {"pool": pool.name, "free": size_text(max(free_bytes, 0))},
    )


def ProbeBusy(pool: Pool, commits_per_s: float, bytes_per_s: float) -> Refused:
    """A measurement shows how long the pool takes without other load. It would also slow
    down programs that write now.
    """
    return Refused(
        "probe-busy",
        _(
            "Pool {pool} is busy ({commits} commits/s, {written}/s written). A measurement would slow its users down "
            "and measure their load instead of the pool. Try again when it is quiet."
        ),
        {"pool": pool.name, "commits": f"{commits_per_s:.0f}", "written": size_text(int(bytes_per_s))},
    )
