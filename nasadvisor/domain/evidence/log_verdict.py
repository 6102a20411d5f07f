"""The verdict: would a log or a cache help this pool? With the rule that decided and the evidence for it.

One rule after another is asked; the first that has something to say decides. A rule that lacks data says so. The rules
for the cache are in `cache_verdict`; every number is in `thresholds`.
"""

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
    SLOW_SSD_COMMIT_NS,
    SLOW_SSD_IN_LINE_NS,
    WAITING_SHARE,
    Span,
)
from nasadvisor.domain.evidence.workload import LOGS, CommitTime, Workload
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
        beside=(*about_special(workload, facts), *about_guests(workload, facts)),
    )
    enough_s = span.yes_s if answer is Answer.HELPS else span.no_s
    have_s = workload.busy_seconds if answer is Answer.HELPS else workload.seconds
    return not_yet(verdict, enough_s - have_s)


def not_yet(verdict: Verdict, missing_s: float) -> Verdict:
    """The verdict, or that it is too early for one."""
    if missing_s <= 0 or verdict.answer is Answer.CANNOT_TELL:
        return verdict
    template = (
        _("Too little was seen so far: {seen} of the pool at work. What was seen speaks for it.")
        if verdict.answer is Answer.HELPS
        else _("Too little was seen so far: {seen} of the pool at work. What was seen speaks against it.")
    )
    rule = Statement("too-early", template, {"seen": duration(verdict.seconds)})
    return replace(verdict, answer=Answer.CANNOT_TELL, rule=rule, wait_s=missing_s)


def _decide_log(workload: Workload, facts: PoolFacts, ssd: SsdTime) -> tuple[Answer, Statement]:
    if facts.leaves_of(*LOGS):
        return _log_in_use(workload)
    found = _no_demand(workload) or _out_of_reach(workload) or _streams(workload)
    if found:
        return found
    if workload.commit_time is None:
        return Answer.CANNOT_TELL, Statement(
            "no-latency",
            _("Programs wait for synchronous writes, but no latency of the pool's disks could be read."),
        )
    return _seldom(workload, workload.commit_time) or _compare(workload, workload.commit_time, ssd)


def _log_in_use(workload: Workload) -> tuple[Answer, Statement]:
    values = {"share": percent(workload.log_share), "commits": rate(workload.busy_commits_per_s)}
    if not workload.commits or not workload.busy_seconds:
        return Answer.NO, Statement("log-idle", _("The pool has a log, but programs hardly write synchronously."))
    if workload.log_share >= MOST_SHARE:
        return Answer.HELPS, Statement(
            "log-in-use",
            _("The pool has a log, and it takes {share} of the log blocks, at {commits} commits/s in busy times."),
            values,
        )
    return Answer.LITTLE, Statement(
        "log-bypassed",
        _("The pool has a log, but only {share} of the log blocks go there: it is full, offline or not asked for."),
        values,
    )


def _no_demand(workload: Workload) -> tuple[Answer, Statement] | None:
    """Nobody waits: hardly any commits, or only such that OpenZFS does not count."""
    is_quiet = workload.busy_seconds < BUSY_SHARE * workload.seconds or not workload.busy_seconds
    if is_quiet and workload.hidden:
        names = ", ".join(each.name for each in workload.hidden[:3])
        return Answer.NO, Statement(
            "sync-disabled",
            _(
                "Nobody waits for synchronous writes: {datasets} have sync=disabled, so their programs are told "
                "“saved” at once, and lose up to some seconds of it in a crash. A log changes nothing about that. How "
                "much they would gain from a log with sync=standard cannot be seen, because OpenZFS does not count it."
            ),
            {"datasets": names},
        )
    if is_quiet and workload.bytes_per_commit < LARGE_COMMIT_BYTES:  # of large ones few keep a program waiting
        return Answer.NO, Statement(
            "no-commits",
            _("Hardly anybody waits for synchronous writes: {commits} commits/s on average. A log takes only those."),
            {"commits": rate(workload.commits / workload.seconds if workload.seconds else 0.0)},
        )
    return None


def _out_of_reach(workload: Workload) -> tuple[Answer, Statement] | None:
    """There is demand, but it would go past the log."""
    if workload.throughput_share >= MOST_SHARE:
        return Answer.NO, Statement(
            "logbias-throughput",
            _(
                "{share} of the commits are on datasets with logbias=throughput, which never use a log. With "
                "logbias=latency they would."
            ),
            {"share": percent(workload.throughput_share)},
        )
    if workload.direct_share >= MOST_SHARE:
        return Answer.NO, Statement(
            "direct-io",
            _("{share} of what is written is Direct I/O, which goes to the pool itself even where there is a log."),
            {"share": percent(workload.direct_share)},
        )
    return None


def _streams(workload: Workload) -> tuple[Answer, Statement] | None:
    if workload.bytes_per_commit < LARGE_COMMIT_BYTES:
        return None
    return Answer.LITTLE, Statement(
        "large-streams",
        _(
            "A commit carries {size} on average: a stream, which many disks take as fast as one log SSD, or faster. "
            "A log is for many small synchronous writes."
        ),
        {"size": size_text(int(workload.bytes_per_commit))},
    )


def _seldom(workload: Workload, commit: CommitTime) -> tuple[Answer, Statement] | None:
    share = workload.busy_commits_per_s * workload.reachable_commits_share * commit.likely_ns / 1e9
    if share >= WAITING_SHARE:
        return None
    return Answer.LITTLE, Statement(
        "seldom",
        _("Even in busy times programs wait for commits only {share} of the time, so there is little to win."),
        {"share": percent(share)},
    )


def _compare(workload: Workload, commit: CommitTime, ssd: SsdTime) -> tuple[Answer, Statement]:
    """The pool's commit against the SSD's; what must hold must hold for the SSD's slow end."""
    slow_gain, fast_gain = commit.likely_ns / ssd.high_ns, commit.likely_ns / ssd.low_ns
    values = {
        "pool": milliseconds(commit.likely_ns),
        "ssd": milliseconds_range(ssd.low_ns, ssd.high_ns),
        "commits": rate(workload.busy_commits_per_s),
    }
    if slow_gain >= GAIN_HELPS and workload.zil_is_flash and not ssd.is_measured:
        return Answer.CANNOT_TELL, Statement(
            "slow-flash",
            _(
                "The pool's own SSDs take about {pool} for a commit, at {commits} commits/s. Another SSD of their kind "
                "would take as long; only a faster one, with power-loss protection, would help. Test the SSD first."
            ),
            values,
        )
    if slow_gain >= GAIN_HELPS:
        return Answer.HELPS, Statement(
            "slow-commits",
            _("Programs wait for {commits} commits/s in busy times, about {pool} for each; an SSD needs {ssd}."),
            values,
        )
    if fast_gain < GAIN_LITTLE:
        return Answer.NO, Statement(
            "pool-as-fast",
            _("The pool's own disks commit in about {pool}, as fast as the SSD would ({ssd})."),
            values,
        )
    if ssd.is_measured or workload.zil_is_flash:
        return Answer.LITTLE, Statement(
            "little-faster",
            _(
                "The pool's own disks commit in about {pool}. An SSD needs {ssd}, so it would be faster by little, or "
                "only if it has power-loss protection. Test the SSD before you decide."
            ),
            values,
        )
    return Answer.CANNOT_TELL, Statement(
        "depends-on-ssd",
        _("The pool commits in about {pool}. Whether an SSD is much faster depends on the SSD ({ssd}): test it first."),
        values,
    )


def log_evidence(workload: Workload, ssd: SsdTime) -> tuple[Evidence, ...]:
    """What was measured about synchronous writes."""
    rows = [
        Evidence(_named(_("Watched")), duration(workload.seconds), ""),
        Evidence(
            _named(_("Of that with synchronous writes (5 commits/s or more)")), duration(workload.busy_seconds), "zil"
        ),
        Evidence(_named(_("Commits in that time")), f"{rate(workload.busy_commits_per_s)}/s", "zil_commit_count"),
        Evidence(
            _named(_("Written synchronously in that time")),
            f"{size_text(int(workload.busy_sync_bytes_per_s))}/s",
            "zil_itx_*_bytes",
        ),
        Evidence(_named(_("Commits that could go to a log")), percent(workload.reachable_commits_share), "zfs get"),
    ]
    commit = workload.commit_time
    if commit:
        flush = milliseconds(commit.flush_ns) if commit.flushes else "–"
        rows += [
            Evidence(
                _named(_("Writing on the disks that take them, median, without flush")),
                milliseconds(commit.write_ns),
                "zpool iostat -w",
            ),
            Evidence(_named(_("Flushing those disks' caches, mean")), flush, "/sys/block/*/stat"),
            Evidence(
                _named(_("So a commit takes about")),
                f"{milliseconds(commit.likely_ns)} ({milliseconds_range(commit.low_ns, commit.high_ns)})",
                "",
            ),
        ]
    held = workload.sample.busy.peak_log_bytes
    if held:
        rows.append(Evidence(_named(_("The most that the log held")), size_text(held), "zpool list -v"))
    what = _("The SSD, measured") if ssd.is_measured else _("An SSD that was not tested, assumed")
    rows.append(Evidence(_named(what), milliseconds_range(ssd.low_ns, ssd.high_ns), ""))
    return tuple(rows)


def _named(template: str) -> Statement:
    return Statement("evidence", template)
