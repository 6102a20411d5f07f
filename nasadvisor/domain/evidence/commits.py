"""The model of a log: how much of the time programs wait for commits, and how much of that a log takes away.

A commit waits for a write and a flush of the devices that take the ZIL. A log takes it away if it goes there at all, by
what an SSD is quicker than those devices, and as far as the SSD takes what comes. What a log that is there takes away
is reckoned alike, from the times of both.
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Final

from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.thresholds import (
    FAST_SSD_COMMIT_NS,
    NVME_COMMIT_NS,
    NVME_LOG_BYTES_PER_S,
    PROTECTED_COMMIT_NS,
    SATA_LOG_BYTES_PER_S,
    SLOW_SSD_COMMIT_NS,
    SLOW_SSD_IN_LINE_NS,
    UNKNOWN_COMMIT_NS,
    UNPROTECTED_COMMIT_NS,
    US,
)
from nasadvisor.domain.evidence.verdict import Demand, Relief, Waiting
from nasadvisor.domain.evidence.waited import NO_WAIT, Wait, Waited
from nasadvisor.domain.evidence.workload import DATA, LOGS, CommitTime, Workload, commit_time_of
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _

WAITS_ALONE: Final = 2.5
WAITS_IN_LINE: Final = 6.5
"""[fitted] How many times as long as the SSD needs alone a commit waits for it at the most: for the slower of two SSDs,
and where several commit at once for the block that is under way. The most that was seen in the runs of
docs/explanation/evidence.md is 2.4 and, over NFS, 6.2. The second is for SSDs that were tested by one writer only.
"""

LONGER_ALONE_NS: Final = 1250 * US
"""[fitted] How much longer it waits at the most for an SSD that was tested. What is seen there beyond the SSD's time is
OpenZFS's own, which does not grow with it: 0.7 and 1.1 ms in the same runs, on an emulated processor."""

SEVERAL: Final = 1.5
"""[policy] More are under way at a time, on the mean of the busy time."""

STREAM_AT_BEST: Final = 0.2
"""[policy] So much of the waiting of streams a log takes away at best: see `LARGE_COMMIT_BYTES`."""


@dataclass(frozen=True)
class SsdTime:
    """How long a write with flush takes on the SSD in question, in ns: measured, or what an unknown one may need.

    `low_ns` to `high_ns` are of one writer. `many_ns` is what each of many at once may need, None after a test by one.
    `least_per_s` to `most_per_s` are the bytes that it takes for as long as programs write.
    """

    low_ns: float
    high_ns: float
    is_measured: bool
    many_ns: float | None = None
    least_per_s: float = SATA_LOG_BYTES_PER_S
    most_per_s: float = NVME_LOG_BYTES_PER_S[1]


UNKNOWN_SSD: Final = SsdTime(FAST_SSD_COMMIT_NS, SLOW_SSD_COMMIT_NS, False, SLOW_SSD_IN_LINE_NS)

KINDS: Final = (
    (
        Statement("ssd-nvme", _("NVMe with power-loss protection")),
        SsdTime(*NVME_COMMIT_NS, False, None, *NVME_LOG_BYTES_PER_S),
    ),
    (
        Statement("ssd-protected", _("SATA or SAS with power-loss protection")),
        SsdTime(*PROTECTED_COMMIT_NS, False, None, SATA_LOG_BYTES_PER_S, SATA_LOG_BYTES_PER_S),
    ),
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
    is_traced: bool = False

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
        workload, pace, most_s = self.workload, self.workload.commit_pace, (self.most_ns or UNKNOWN_COMMIT_NS) / 1e9
        quick, streams = workload.quick_share, workload.stream_share * STREAM_AT_BEST
        return Demand(
            likely=pace.felt(quick * (self.likely_ns or 0.0) / 1e9),
            most=pace.felt(quick * most_s),
            ever=pace.ever((quick + streams) * most_s),
        )

    @property
    def waiting_all_day(self) -> float:
        """How much of all that was watched somebody waits so."""
        return self.workload.commit_pace.all_day * self.workload.quick_share * (self.likely_ns or 0.0) / 1e9

    def relief_by(self, ssd: SsdTime) -> Relief:
        """What an SSD of this time takes away of the waiting for those commits that it makes quicker."""
        if self.likely_ns is None:
            return Relief(Waiting.COMMITS, 0.0, None)
        load, best_ns = self.load(ssd), ssd.low_ns + self._transfer_ns(ssd.most_per_s)
        most_ns = self._small_ns(ssd) + self._transfer_ns(ssd.least_per_s) / (1 - load) if load < 1 else inf
        high = max(1 - best_ns / (self.most_ns or UNKNOWN_COMMIT_NS), 0.0)
        return Relief(Waiting.COMMITS, min(max(1 - most_ns / self.likely_ns, 0.0), high), high)

    def load(self, ssd: SsdTime) -> float:
        """How busy the slowest such SSD is with what it has to take; from 1 on it holds programs up."""
        return self.workload.log_bytes_per_s / ssd.least_per_s

    def is_much_for(self, ssd: SsdTime) -> bool:
        """Whether it is the amount that keeps such an SSD busy, and not the number of commits."""
        load = self.load(ssd)
        return load >= 1 or self._transfer_ns(ssd.least_per_s) / (1 - load) >= self._small_ns(ssd)

    def _transfer_ns(self, bytes_per_s: float) -> float:
        return self.workload.large_bytes_per_commit / bytes_per_s * 1e9

    def _small_ns(self, ssd: SsdTime) -> float:
        """How long a small commit waits for the SSD at the most. Beside others it waits in line, for the disks as for
        the SSD: where neither is known of a line, their own times are compared.
        """
        if self.at_once > SEVERAL and (self.is_traced or ssd.is_measured):
            return _most_in_line_ns(ssd)
        return _most_alone_ns(ssd)

    def needs_ns(self, ssd: SsdTime) -> tuple[float, float]:
        """Between what the SSD needs for a small commit, as tested or assumed; in line, if that was tested."""
        many_ns = ssd.many_ns if self.at_once > SEVERAL and ssd.is_measured else None
        return ssd.low_ns, max(many_ns or 0.0, ssd.high_ns)

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
    writing = workload.writing_commits_per_day
    if waited and waited.total.likely_s and writing:
        each_ns = waited.total.likely_s / writing * 1e9
        return Commits(workload, each_ns, each_ns, is_traced=True)
    return _on_devices(workload, workload.commit_time)


def _on_devices(workload: Workload, commit: CommitTime | None) -> Commits:
    """Where no flushes are counted, as by device mapper and old kernels, the time is a least one."""
    if commit is None:
        return Commits(workload, None, None)
    return Commits(workload, commit.likely_ns, _most_ns(commit, workload.zil_is_flash))


def _most_ns(commit: CommitTime, is_flash: bool) -> float:
    """With a flush that nobody counts, as long as one may take."""
    flush_ns = UNPROTECTED_COMMIT_NS[1] if is_flash else UNKNOWN_COMMIT_NS
    return commit.likely_ns + (0.0 if commit.flush_is_known else flush_ns)


def _most_in_line_ns(ssd: SsdTime) -> float:
    """How long a commit waits for the SSD at the most where others are under way: never shorter than alone."""
    if ssd.many_ns is None:
        return ssd.high_ns * WAITS_IN_LINE
    return max(ssd.many_ns, _most_alone_ns(ssd))


def _most_alone_ns(ssd: SsdTime) -> float:
    most_ns = ssd.high_ns * WAITS_ALONE
    return min(most_ns, ssd.high_ns + LONGER_ALONE_NS) if ssd.is_measured else most_ns


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
        share, without = self.workload.log_share, self.without
        own_ns = (_most_ns(self.own, is_flash=True), self.own.likely_ns) if self.own else (0.0, 0.0)
        bounds_ns = zip(own_ns, (without.likely_ns, without.most_ns), strict=True)
        return Relief(
            Waiting.COMMITS, *(share * max(1 - own / each, 0.0) if each else share for own, each in bounds_ns)
        )

    @property
    def saved(self) -> Wait:
        """Seconds a day: its own commits, each by what the data disks would take longer for it."""
        own, disks = self.own, self.disks
        if own is None or disks is None:
            return NO_WAIT
        a_day = self.workload.writing_commits_per_day * self.workload.log_share
        each_ns = disks.low_ns - own.high_ns, disks.likely_ns - own.likely_ns, disks.high_ns - own.low_ns
        return Wait(*(a_day * max(each, 0.0) / 1e9 for each in each_ns))


def log_in_use(workload: Workload, facts: PoolFacts) -> LogInUse:
    """The log of a pool, as its devices were seen."""
    own, disks = (commit_time_of(workload.sample, facts.leaves_of(*classes)) for classes in (LOGS, DATA))
    return LogInUse(workload, own, disks)
