"""The verdict: would a log or a cache help this pool? With the rule that decided and the evidence for it.

One rule after another is asked; the first that has something to say decides. A rule that lacks data says so. The rules
for the cache are in `cache_verdict`; every number is in `thresholds`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from nasadvisor.domain.evidence.guests import about_guests
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.special import about_special
from nasadvisor.domain.evidence.thresholds import (
    BUSY_SHARE,
    FAST_SSD_COMMIT_NS,
    GAIN_HELPS,
    GAIN_LITTLE,
    LARGE_COMMIT_BYTES,
    MOST_SHARE,
    SATA_LOG_BYTES_PER_S,
    SLOW_SSD_COMMIT_NS,
    SLOW_SSD_IN_LINE_NS,
    WAITING_SHARE,
    Span,
)
from nasadvisor.domain.evidence.workload import DATA, LOGS, CommitTime, Workload, commit_time_of
from nasadvisor.domain.figures import duration, milliseconds, milliseconds_range, percent, rate
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import size_text


class Device(StrEnum):
    """What is asked about."""

    LOG = "log"
    CACHE = "cache"


class Answer(StrEnum):
    """What is answered."""

    HELPS = "helps"
    LITTLE = "little"
    NO = "no"
    CANNOT_TELL = "cannot-tell"


@dataclass(frozen=True)
class Evidence:
    """One thing that was measured: what it is, its value with unit, and where it comes from."""

    what: Statement
    value: str
    source: str


@dataclass(frozen=True)
class Verdict:
    """The answer for one pool and one kind of device.

    `wait_s` is how much longer must be watched before there can be an answer, 0 where that is not what is missing.
    `before` are cheaper things to do first, `beside` what is to be known whatever the answer is.
    """

    device: Device
    answer: Answer
    rule: Statement
    evidence: tuple[Evidence, ...]
    seconds: float
    wait_s: float = 0.0
    before: tuple[Statement, ...] = ()
    beside: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class SsdTime:
    """How long a write with flush takes on the SSD in question, in ns: measured, or what an unknown one may need.

    `low_ns` to `high_ns` are of one writer. `many_ns` is what each of many at once may need, None after a test by one.
    """

    low_ns: float
    high_ns: float
    is_measured: bool
    many_ns: float | None = None


UNKNOWN_SSD = SsdTime(FAST_SSD_COMMIT_NS, SLOW_SSD_COMMIT_NS, False, SLOW_SSD_IN_LINE_NS)


def judge_log(workload: Workload, facts: PoolFacts, span: Span, ssd: SsdTime = UNKNOWN_SSD) -> Verdict:
    """Whether a separate log would help, or whether the one that is there does."""
    answer, rule = _decide_log(workload, facts, ssd)
    verdict = Verdict(
        device=Device.LOG,
        answer=answer,
        rule=rule,
        evidence=log_evidence(workload, ssd),
        seconds=workload.seconds,
        beside=(*_beside(workload, rule), *about_special(workload, facts), *about_guests(workload, facts)),
    )
    enough_s = span.yes_s if answer is Answer.HELPS else span.no_s
    have_s = (
        max(workload.busy_seconds, min(workload.waited_s, workload.seconds))
        if answer is Answer.HELPS
        else workload.seconds
    )
    return not_yet(verdict, enough_s - have_s)


def not_yet(verdict: Verdict, missing_s: float) -> Verdict:
    """The verdict, or that it is too early for one."""
    if missing_s <= 0 or verdict.answer is Answer.CANNOT_TELL:
        return verdict
    template = (
        _("Not enough data yet ({seen} of activity). So far it points to a benefit.")
        if verdict.answer is Answer.HELPS
        else _("Not enough data yet ({seen} of activity). So far it points to no benefit.")
    )
    rule = Statement("too-early", template, {"seen": duration(verdict.seconds)})
    return replace(verdict, answer=Answer.CANNOT_TELL, rule=rule, wait_s=missing_s)


def _beside(workload: Workload, rule: Statement) -> Iterator[Statement]:
    """That others are told “saved” before it is so, where that is not the answer itself."""
    if workload.hidden and rule.code != "sync-disabled":
        yield Statement(
            "sync-disabled-too",
            _(
                "{datasets} have sync=disabled: writes are acknowledged at once, and a crash can lose some seconds of "
                "them. No log changes that, and the time programs would otherwise wait is not counted."
            ),
            {"datasets": _names_of_hidden(workload)},
        )


def _names_of_hidden(workload: Workload) -> str:
    return ", ".join(each.name for each in workload.hidden[:3])


def _decide_log(workload: Workload, facts: PoolFacts, ssd: SsdTime) -> tuple[Answer, Statement]:
    if facts.leaves_of(*LOGS):
        return _log_in_use(workload, facts)
    found = _no_demand(workload) or _out_of_reach(workload) or _streams(workload)
    if found:
        return found
    if workload.commit_time is None:
        return Answer.CANNOT_TELL, Statement(
            "no-latency",
            _("Programs wait for synchronous writes, but the latency of the pool's disks could not be read."),
        )
    return _compare(workload, workload.commit_time, ssd)


def _log_in_use(workload: Workload, facts: PoolFacts) -> tuple[Answer, Statement]:
    """The log that is there, by its own time: that it takes the blocks is use, and no help yet."""
    values = {"share": percent(workload.log_share), "commits": rate(workload.busy_commits_per_s)}
    if not workload.commits or not workload.busy_seconds:
        return Answer.NO, Statement("log-idle", _("The pool has a log, but programs do hardly any synchronous writes."))
    if workload.throughput_share >= MOST_SHARE and not workload.is_felt:
        return Answer.LITTLE, Statement(
            "log-throughput",
            _(
                "{share} of commits are on datasets with logbias=throughput: the log takes their records, the disks "
                "take their data, and a commit waits for both. With logbias=latency, the log would take all of it."
            ),
            {"share": percent(workload.throughput_share)},
        )
    if workload.log_share < MOST_SHARE:
        return Answer.LITTLE, Statement(
            "log-bypassed",
            _("The pool has a log, but it takes only {share} of the log blocks: it is full, offline or bypassed."),
            values,
        )
    own, disks = (commit_time_of(workload.sample, facts.leaves_of(*classes)) for classes in (LOGS, DATA))
    if own and disks and own.likely_ns * GAIN_LITTLE >= disks.likely_ns:
        return Answer.LITTLE if disks.flush_is_known else Answer.CANNOT_TELL, Statement(
            "log-slow",
            _(
                "The pool has a log; it takes {share} of the log blocks, but about {log} per commit. The disks "
                "themselves take about {disks} per write. An SSD with power-loss protection takes far less."
            ),
            {**values, "log": milliseconds(own.likely_ns), "disks": milliseconds(disks.likely_ns)},
        )
    return Answer.HELPS, Statement(
        "log-in-use",
        _("The pool has a log; it takes {share} of the log blocks, at {commits} commits/s under load."),
        values,
    )


def _no_demand(workload: Workload) -> tuple[Answer, Statement] | None:
    """Nobody waits: hardly any commits, only such that wrote nothing, or such that OpenZFS does not count.

    Who waits is told by time and not by number: three commits a second that take 300 ms each keep a program waiting.
    """
    if workload.waiting_share >= WAITING_SHARE:
        return None
    is_quiet = workload.busy_seconds < BUSY_SHARE * workload.seconds or not workload.busy_seconds
    if is_quiet and workload.hidden:
        return Answer.NO, Statement(
            "sync-disabled",
            _(
                "No program waits for synchronous writes: {datasets} have sync=disabled, so writes are acknowledged "
                "at once, and a crash can lose some seconds of them. A log does not change that. What a log would "
                "gain with sync=standard is unknown, because OpenZFS does not count it."
            ),
            {"datasets": _names_of_hidden(workload)},
        )
    if workload.commits and not workload.writing_share:
        return Answer.NO, Statement(
            "clean-commits",
            _(
                "Programs request synchronous writes ({commits} commits/s) but have nothing to write: fsync on an "
                "unchanged file returns at once."
            ),
            {"commits": rate(workload.commits_per_s)},
        )
    if is_quiet and workload.busy_waiting_share >= WAITING_SHARE:
        return Answer.LITTLE, Statement(
            "rare-commits",
            _(
                "Programs rarely wait for synchronous writes: for {waited} out of {seen} monitored. A log would be "
                "noticeable only during that time."
            ),
            {"waited": duration(workload.busy_seconds), "seen": duration(workload.seconds)},
        )
    if is_quiet and workload.bytes_per_commit < LARGE_COMMIT_BYTES:  # of large ones few keep a program waiting
        return Answer.NO, Statement(
            "no-commits",
            _(
                "This pool does almost no synchronous writes ({commits} commits/s on average), and a log "
                "(SLOG) speeds up only those."
            ),
            {"commits": rate(workload.commits / workload.seconds if workload.seconds else 0.0)},
        )
    return None


def _out_of_reach(workload: Workload) -> tuple[Answer, Statement] | None:
    """There is demand, but it would go past the log."""
    if workload.throughput_share >= MOST_SHARE and not workload.is_felt:
        return Answer.NO, Statement(
            "logbias-throughput",
            _(
                "{share} of commits are on datasets with logbias=throughput, whose data goes to the disks with or "
                "without a log. With logbias=latency, a log would take it."
            ),
            {"share": percent(workload.throughput_share)},
        )
    if workload.direct_share >= MOST_SHARE and workload.indirect_share >= MOST_SHARE:
        return Answer.NO, Statement(
            "direct-io",
            _("{share} of writes are Direct I/O, which goes to the pool itself with or without a log."),
            {"share": percent(workload.direct_share)},
        )
    return None


def _streams(workload: Workload) -> tuple[Answer, Statement] | None:
    if workload.bytes_per_commit < LARGE_COMMIT_BYTES or workload.small_waiting_share >= WAITING_SHARE:
        return None
    return Answer.LITTLE, Statement(
        "large-streams",
        _(
            "Commits carry {size} on average. Many disks handle such streams as fast as one log SSD, or faster; a log "
            "is for many small synchronous writes."
        ),
        {"size": size_text(int(workload.bytes_per_commit))},
    )


def _compare(workload: Workload, commit: CommitTime, ssd: SsdTime) -> tuple[Answer, Statement]:
    """The pool's commit against the SSD's; what must hold must hold for the SSD's slow end.

    Where flushes are not counted, as by device mapper and old kernels, the time is a least one.
    """
    slow_gain, fast_gain = commit.likely_ns / ssd.high_ns, commit.likely_ns / ssd.low_ns
    values = {
        "pool": milliseconds(commit.likely_ns),
        "ssd": milliseconds_range(ssd.low_ns, ssd.high_ns),
        "commits": rate(workload.commits_per_s),
    }
    if not commit.flush_is_known and (not workload.is_felt or slow_gain < GAIN_HELPS):
        return Answer.CANNOT_TELL, Statement(
            "flush-unknown",
            _(
                "Programs wait for {commits} commits/s, but the time per commit is unknown: the disks write in about "
                "{pool}, but their cache flushes are not counted, for example behind disk encryption."
            ),
            values,
        )
    if fast_gain < GAIN_LITTLE:
        return Answer.NO, Statement(
            "pool-as-fast",
            _("The pool's own disks commit in about {pool}, as fast as the SSD would ({ssd})."),
            values,
        )
    if not workload.is_felt:
        return Answer.LITTLE, Statement(
            "seldom",
            _("Even under load, programs wait for commits only {share} of the time, so there is little to gain."),
            {"share": percent(workload.most_waiting_share)},
        )
    if fast_gain >= GAIN_HELPS and workload.zil_is_flash and not ssd.is_measured:
        return Answer.CANNOT_TELL, Statement(
            "slow-flash",
            _(
                "The pool's own SSDs take about {pool} per commit, at {commits} commits/s. Another SSD of the same "
                "kind would take as long; only a faster one with power-loss protection would help. Test the SSD first."
            ),
            values,
        )
    if slow_gain >= GAIN_HELPS:
        return _if_it_takes_the_stream(workload, values)
    if ssd.is_measured or workload.zil_is_flash:
        return Answer.LITTLE, Statement(
            "little-faster",
            _(
                "The pool's own disks commit in about {pool}; an SSD needs {ssd}. It would be only slightly faster, "
                "or faster only with power-loss protection. Test the SSD before you decide."
            ),
            values,
        )
    return Answer.CANNOT_TELL, Statement(
        "depends-on-ssd",
        _("The pool commits in about {pool}. Whether an SSD is much faster depends on the SSD ({ssd}). Test it first."),
        values,
    )


def _if_it_takes_the_stream(workload: Workload, values: Mapping[str, str]) -> tuple[Answer, Statement]:
    """A log is as quick as said only as long as it can take what comes."""
    if workload.busy_sync_bytes_per_s >= SATA_LOG_BYTES_PER_S:
        return Answer.CANNOT_TELL, Statement(
            "bandwidth",
            _(
                "Programs wait for {commits} commits/s, about {pool} each, and write {stream}/s this way: more than a "
                "SATA SSD can take. A log that cannot keep up makes the pool slower than its disks."
            ),
            {**values, "stream": size_text(int(workload.busy_sync_bytes_per_s))},
        )
    return Answer.HELPS, Statement(
        "slow-commits",
        _("Under load, programs wait for {commits} commits/s, about {pool} each; an SSD needs {ssd}."),
        values,
    )


def log_evidence(workload: Workload, ssd: SsdTime) -> tuple[Evidence, ...]:
    """What was measured about synchronous writes."""
    rows = [
        Evidence(_named(_("Monitored")), duration(workload.seconds), ""),
        Evidence(
            _named(_("Time with synchronous writes (5 commits/s or more)")), duration(workload.busy_seconds), "zil"
        ),
        Evidence(_named(_("Commits in that time")), f"{rate(workload.busy_commits_per_s)}/s", "zil_commit_count"),
        Evidence(
            _named(_("Written synchronously in that time")),
            f"{size_text(int(workload.busy_sync_bytes_per_s))}/s",
            "zil_itx_*_bytes",
        ),
        Evidence(_named(_("Commits that a log could take")), percent(workload.reachable_commits_share), "zfs get"),
    ]
    commit = workload.commit_time
    if commit:
        flush = milliseconds(commit.flush_ns) if commit.flushes else "–"
        rows += [
            Evidence(
                _named(_("Write latency of the disks that take them, median, without flush")),
                milliseconds(commit.write_ns),
                "zpool iostat -w",
            ),
            Evidence(_named(_("Cache flush latency of those disks, mean")), flush, "/sys/block/*/stat"),
            Evidence(
                _named(_("Resulting commit latency, about")),
                f"{milliseconds(commit.likely_ns)} ({milliseconds_range(commit.low_ns, commit.high_ns)})",
                "",
            ),
        ]
    held = workload.sample.busy.peak_log_bytes
    if held:
        rows.append(Evidence(_named(_("Peak log usage")), size_text(held), "zpool list -v"))
    what = _("SSD, measured") if ssd.is_measured else _("Untested SSD, assumed")
    rows.append(Evidence(_named(what), milliseconds_range(ssd.low_ns, ssd.high_ns), ""))
    return tuple(rows)


def _named(template: str) -> Statement:
    return Statement("evidence", template)
