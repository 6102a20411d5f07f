"""The model of a log: how much of the time programs wait for commits, and how much of that a log takes away.

A commit waits for a write and a flush of the devices that take the ZIL. A log takes it away if it goes there at all, by
what an SSD is quicker than those devices, and as far as the SSD takes what comes. What a log that is there takes away
is reckoned alike, from the times of both.
"""

from dataclasses import dataclass, replace
from typing import Final

from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.thresholds import (
    FAST_SSD_COMMIT_NS,
    NVME_COMMIT_NS,
    PROTECTED_COMMIT_NS,
    SATA_LOG_BYTES_PER_S,
    SLOW_SSD_COMMIT_NS,
    SLOW_SSD_IN_LINE_NS,
    UNKNOWN_COMMIT_NS,
    UNPROTECTED_COMMIT_NS,
)
from nasadvisor.domain.evidence.verdict import Demand, Relief, Waiting
from nasadvisor.domain.evidence.waited import NO_WAIT, Wait, Waited
from nasadvisor.domain.evidence.workload import DATA, LOGS, CommitTime, Workload, commit_time_of
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import DAY_S

WAITS_ALONE: Final = 2.5
WAITS_IN_LINE: Final = 6.5
"""[fitted] How many times as long as the SSD needs alone a commit waits for it at the most: for the slower of two SSDs,
and where several commit at once for the block that is under way. The most that was seen in the runs of docs/evidence.md
is 2.4 and, over NFS, 6.2. The second is for SSDs that were tested by one writer only.
"""

SEVERAL: Final = 1.5
"""[policy] More are under way at a time, on the mean of the busy time."""

STREAM_AT_BEST: Final = 0.2
"""[policy] So much of the waiting of streams a log takes away at best: see `LARGE_COMMIT_BYTES`."""


@dataclass(frozen=True)
class SsdTime:
    """How long a write with flush takes on the SSD in question, in ns: measured, or what an unknown one may need.

    `low_ns` to `high_ns` are of one writer. `many_ns` is what each of many at once may need, None after a test by one.
    """

    low_ns: float
    high_ns: float
    is_measured: bool
    many_ns: float | None = None


UNKNOWN_SSD: Final = SsdTime(FAST_SSD_COMMIT_NS, SLOW_SSD_COMMIT_NS, False, SLOW_SSD_IN_LINE_NS)

KINDS: Final = (
    (Statement("ssd-nvme", _("NVMe with power-loss protection")), SsdTime(*NVME_COMMIT_NS, False)),
    (Statement("ssd-protected", _("SATA or SAS with power-loss protection")), SsdTime(*PROTECTED_COMMIT_NS, False)),
    (Statement("ssd-unprotected", _("without power-loss protection")), SsdTime(*UNPROTECTED_COMMIT_NS, False)),
)
"""The kinds of SSD that are bought for a log, and how long one write with flush takes on each."""


@dataclass(frozen=True)
class Commits:
    """The commits of a pool on what takes its ZIL: how long each that writes something takes, likely and at the most.

    Both None where that is not known.
    """

    workload: Workload
    likely_ns: float | None
    most_ns: float | None

    @property
    def is_least(self) -> bool:
        """Whether it is known only how long one takes at the least."""
        return self.likely_ns is None or self.most_ns != self.likely_ns

    @property
    def at_once(self) -> float:
        """How many are under way at a time in busy times."""
        return self.workload.commits_per_s * (self.likely_ns or 0.0) / 1e9

    @property
    def demand(self) -> Demand:
        """How much of the time somebody waits for commits that a log takes away."""
        workload, most_ns = self.workload, self.most_ns or UNKNOWN_COMMIT_NS
        all_day, busy = self._all_day_per_s, workload.busy_commits_per_s
        felt = max(all_day, busy if workload.is_busy_for_long else 0.0)
        quick, streams = workload.quick_share, workload.stream_share * STREAM_AT_BEST
        return Demand(
            likely=self._waiting(felt, quick * (self.likely_ns or 0.0)),
            most=self._waiting(felt, quick * most_ns),
            ever=self._waiting(max(all_day, busy), (quick + streams) * most_ns),
        )

    @property
    def waiting_all_day(self) -> float:
        """How much of all that was watched somebody waits so."""
        return self._waiting(self._all_day_per_s, self.workload.quick_share * (self.likely_ns or 0.0))

    @property
    def _all_day_per_s(self) -> float:
        return self.workload.commits / max(self.workload.seconds, 1e-9)

    def _waiting(self, per_s: float, each_ns: float) -> float:
        return per_s * self.workload.writing_share * each_ns / 1e9

    def relief_by(self, ssd: SsdTime) -> Relief:
        """What an SSD of this time takes away of the waiting for those commits that it makes quicker."""
        if self.likely_ns is None:
            return Relief(Waiting.COMMITS, 0.0, None)
        most_ns = _most_in_line_ns(ssd) if self.at_once > SEVERAL else ssd.high_ns * WAITS_ALONE
        low = 0.0 if self.is_more_than_sata else max(1 - most_ns / self.likely_ns, 0.0)
        return Relief(Waiting.COMMITS, low, max(1 - ssd.low_ns / (self.most_ns or UNKNOWN_COMMIT_NS), 0.0))

    @property
    def is_more_than_sata(self) -> bool:
        """Whether more is written this way than a log on SATA can take, so that it may hold programs up."""
        return self.workload.busy_sync_bytes_per_s >= SATA_LOG_BYTES_PER_S

    def may_be_as_slow(self, ssd: SsdTime) -> bool:
        """Whether an SSD that was not tested may be of the kind that the pool is of."""
        return self.workload.zil_is_flash and not ssd.is_measured

    def relief(self, ssd: SsdTime) -> Relief:
        """The same of a log on the SSD in question."""
        found = self.relief_by(ssd)
        return replace(found, low=0.0) if self.may_be_as_slow(ssd) else found

    def of_all(self, relief: Relief) -> Relief:
        """The share of the waiting for all commits, those included that a log does nothing for."""
        share = self.workload.quick_share
        return replace(relief, low=share * relief.low, high=share * relief.at_best)


def commits_of(workload: Workload, waited: Waited | None = None) -> Commits:
    """As they were traced, where they were; else as the devices take them."""
    writing = workload.commits * workload.writing_share / max(workload.seconds, 1e-9) * DAY_S
    if waited and waited.total.likely_s and writing:
        each_ns = waited.total.likely_s / writing * 1e9
        return Commits(workload, each_ns, each_ns)
    return _on_devices(workload, workload.commit_time)


def _on_devices(workload: Workload, commit: CommitTime | None) -> Commits:
    """Where no flushes are counted, as by device mapper and old kernels, the time is a least one."""
    if commit is None:
        return Commits(workload, None, None)
    unknown_ns = 0.0 if commit.flush_is_known else UNKNOWN_COMMIT_NS
    return Commits(workload, commit.likely_ns, commit.likely_ns + unknown_ns)


def _most_in_line_ns(ssd: SsdTime) -> float:
    """How long a commit waits for the SSD at the most where others are under way: never shorter than alone."""
    if ssd.many_ns is None:
        return ssd.high_ns * WAITS_IN_LINE
    return max(ssd.many_ns, ssd.high_ns * WAITS_ALONE)


@dataclass(frozen=True)
class LogInUse:
    """A log that is there: its own time for a commit and that of the data disks, None where one is not known.

    What the disks write now is no commit but the same kind of write, see `commit_time_of`.
    """

    workload: Workload
    own: CommitTime | None
    disks: CommitTime | None

    @property
    def without(self) -> Commits:
        """The same commits on the data disks."""
        return _on_devices(self.workload, self.disks)

    @property
    def relief(self) -> Relief:
        """What it takes away of that. Where its own time is not known, that is left out."""
        share, own = self.workload.log_share, self.own.likely_ns if self.own else 0.0
        bounds_ns = self.without.likely_ns, self.without.most_ns
        return Relief(Waiting.COMMITS, *(share * max(1 - own / each, 0.0) if each else share for each in bounds_ns))

    @property
    def saved(self) -> Wait:
        """Seconds a day: its own commits, each by what the data disks would take longer for it."""
        own, disks, workload = self.own, self.disks, self.workload
        if own is None or disks is None:
            return NO_WAIT
        days = max(workload.seconds, 1e-9) / DAY_S
        a_day = workload.commits * workload.writing_share * workload.log_share / days
        each_ns = disks.low_ns - own.high_ns, disks.likely_ns - own.likely_ns, disks.high_ns - own.low_ns
        return Wait(*(a_day * max(each, 0.0) / 1e9 for each in each_ns))


def log_in_use(workload: Workload, facts: PoolFacts) -> LogInUse:
    """The log of a pool, as its devices were seen."""
    own, disks = (commit_time_of(workload.sample, facts.leaves_of(*classes)) for classes in (LOGS, DATA))
    return LogInUse(workload, own, disks)
