"""Would a log help, or does the one that is there? Read off what it takes away (`commits`), with what bounds that."""

from collections.abc import Iterator
from typing import Final

from nasadvisor.domain.evidence.commits import UNKNOWN_SSD, Commits, LogInUse, SsdTime, commits_of, log_in_use
from nasadvisor.domain.evidence.guests import about_guests
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.thresholds import MOST_SHARE, Span
from nasadvisor.domain.evidence.verdict import (
    FELT_SHARE,
    GOOD_LOG_SHARE,
    LEAST_WAITED,
    Answer,
    Device,
    Evidence,
    Verdict,
    in_time,
    measured,
    read_off,
)
from nasadvisor.domain.evidence.waited import Waited
from nasadvisor.domain.evidence.workload import LOGS, Reach, Workload
from nasadvisor.domain.figures import duration, milliseconds, milliseconds_range, percent, rate
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import DAY_S, size_text

NO_LATENCY: Final = Statement(
    "no-latency",
    _("Programs wait for synchronous writes, but the latency of the pool's disks could not be read."),
)


def judge_log(
    workload: Workload, facts: PoolFacts, span: Span, ssd: SsdTime = UNKNOWN_SSD, waited: Waited | None = None
) -> Verdict:
    """Whether a separate log would help, or whether the one that is there does.

    `waited` is what was traced of programs that wait, None where it does not speak for all that was watched.
    """
    commits = commits_of(workload, waited)
    is_there = bool(facts.leaves_of(*LOGS))
    answer, rule = _of_log_in_use(log_in_use(workload, facts)) if is_there else _of_new_log(commits, ssd)
    waited_s = max(workload.busy_seconds, min(commits.demand.likely, 1.0) * workload.seconds)
    seen_s = waited_s if answer is Answer.HELPS else workload.seconds
    judged = in_time(answer, rule, workload.seconds, span.missing_s(answer, seen_s))
    return Verdict(
        device=Device.LOG,
        answer=judged.answer,
        rule=judged.because,
        evidence=tuple(_evidence(workload, ssd)),
        seconds=workload.seconds,
        wait_s=judged.wait_s,
        beside=(*_beside(workload, rule), *_about_special(workload, facts), *about_guests(workload, facts)),
    )


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


def _about_special(workload: Workload, facts: PoolFacts) -> Iterator[Statement]:
    """What special vdevs do for those who wait; nothing where there is a log, which goes before them."""
    if not facts.leaves_of(VdevClass.SPECIAL) or facts.leaves_of(VdevClass.LOG) or not workload.busy_seconds:
        return
    synchronous = sum(each.sync_bytes_per_s for each in workload.datasets if each.reach is Reach.LOG)
    values = {"day": size_text(int(synchronous * workload.block_overhead * DAY_S))}
    if facts.tunables.zil_on_special:
        template = _(
            "Without a log, this OpenZFS writes the ZIL to the special vdevs, so they already do the work of a log. A "
            "log would relieve them of {day} of writes a day."
        )
        yield Statement("special-takes-zil", template, values)
        return
    template = _(
        "With this OpenZFS, the special vdevs do not take the ZIL. From 2.4 on, they do if there is no log: an update "
        "may do the work of a log, and writes {day} a day to them."
    )
    yield Statement("special-later", template, values)


def _names_of_hidden(workload: Workload) -> str:
    return ", ".join(each.name for each in workload.hidden[:3])


def _of_new_log(commits: Commits, ssd: SsdTime) -> tuple[Answer, Statement]:
    relief, demand = commits.relief(ssd), commits.demand
    answer = read_off(demand, relief)
    if demand.ever < LEAST_WAITED or (demand.most < FELT_SHARE and relief.at_best):
        return answer, _hardly_waited(commits, answer)
    if answer is Answer.CANNOT_TELL and ssd.is_measured and not (commits.is_much_for(ssd) or commits.is_least):
        answer = Answer.LITTLE
    return answer, _of_ssd(commits, answer, ssd)


def _hardly_waited(commits: Commits, answer: Answer) -> Statement:
    """Why nobody waits for what a log makes quicker, or hardly anybody does."""
    workload = commits.workload
    values = {"datasets": _names_of_hidden(workload), "commits": rate(workload.commits / max(workload.seconds, 1e-9))}
    if answer is Answer.NO and workload.hidden:
        template = _(
            "No program waits for synchronous writes: {datasets} have sync=disabled, so writes are acknowledged at "
            "once, and a crash can lose some seconds of them. A log does not change that. What a log would gain with "
            "sync=standard is unknown, because OpenZFS does not count it."
        )
        return Statement("sync-disabled", template, values)
    if workload.commits and not workload.writing_share:
        template = _(
            "Programs request synchronous writes ({commits} commits/s) but have nothing to write: fsync on an "
            "unchanged file returns at once."
        )
        return Statement("clean-commits", template, values)
    if not workload.commits:
        template = _("No program asked for synchronous writes, and a log (SLOG) speeds up only those.")
        return Statement("no-commits", template)
    template = _(
        "Programs wait only {waited} a day for synchronous writes ({commits} commits/s on average), and a log (SLOG) "
        "speeds up only those."
    )
    waited = duration(commits.waiting_all_day * DAY_S)
    code = "no-commits" if answer is Answer.NO else "seldom"
    return _past_a_log(workload) or Statement(code, template, {**values, "waited": waited})


def _past_a_log(workload: Workload) -> Statement | None:
    """There is demand, but most of it would go past a log, or might as well."""
    if workload.throughput_share >= MOST_SHARE:
        template = _(
            "{share} of commits are on datasets with logbias=throughput, whose data goes to the disks with or without "
            "a log. With logbias=latency, a log would take it."
        )
        return Statement("logbias-throughput", template, {"share": percent(workload.throughput_share)})
    if min(workload.direct_share, workload.indirect_share) >= MOST_SHARE:
        template = _("{share} of writes are Direct I/O, which goes to the pool itself with or without a log.")
        return Statement("direct-io", template, {"share": percent(workload.direct_share)})
    if workload.stream_share >= MOST_SHARE:
        template = _(
            "Commits carry {size} on average. Many disks handle such streams as fast as one log SSD, or faster; a log "
            "is for many small synchronous writes."
        )
        return Statement("large-streams", template, {"size": size_text(int(workload.bytes_per_commit))})
    return None


def _of_ssd(commits: Commits, answer: Answer, ssd: SsdTime) -> Statement:
    """Somebody waits, and all hangs on what the pool and the SSD take for a commit."""
    workload, pool_ns = commits.workload, commits.likely_ns
    if pool_ns is None:
        return NO_LATENCY
    values = {
        "pool": milliseconds(pool_ns),
        "ssd": milliseconds_range(*commits.needs_ns(ssd)),
        "commits": rate(workload.commits_per_s),
        "stream": size_text(int(workload.log_bytes_per_s)),
    }
    if answer is Answer.CANNOT_TELL:
        return _open(commits, ssd, values)
    if answer is Answer.HELPS:
        template = _("Under load, programs wait for {commits} commits/s, about {pool} each; an SSD needs {ssd}.")
        return Statement("slow-commits", template, values)
    template = _(
        "The pool's own disks commit in about {pool}; an SSD needs {ssd}, which is not always faster, or not by enough "
        "to notice."
    )
    return Statement("pool-as-fast" if answer is Answer.NO else "little-faster", template, values)


def _open(commits: Commits, ssd: SsdTime, values: dict[str, str]) -> Statement:
    """What would have to be known of the pool or of the SSD."""
    if commits.is_least:
        template = _(
            "Programs wait for {commits} commits/s, but the time per commit is unknown: the disks write in about "
            "{pool}, but their cache flushes are not counted, for example behind disk encryption."
        )
        return Statement("flush-unknown", template, values)
    if commits.may_be_as_slow(ssd):
        template = _(
            "The pool's own SSDs take about {pool} per commit, at {commits} commits/s. Another SSD of the same kind "
            "would take as long; only a faster one with power-loss protection would help. Test the SSD first."
        )
        return Statement("slow-flash", template, values)
    if commits.is_much_for(ssd):
        template = _(
            "Programs wait for {commits} commits/s, about {pool} each, and write {stream}/s this way. An SSD may take "
            "no more than {most}/s, and a log that cannot keep up makes the pool slower than its disks."
        )
        return Statement("bandwidth", template, {**values, "most": size_text(int(ssd.least_per_s))})
    template = _(
        "The pool commits in about {pool}. Whether an SSD is much faster depends on the SSD ({ssd}). Test it first."
    )
    return Statement("depends-on-ssd", template, values)


def _of_log_in_use(log: LogInUse) -> tuple[Answer, Statement]:
    """The log that is there, by its own time: that it takes the blocks is use, and no help yet."""
    workload, demand = log.workload, log.without.demand
    answer = read_off(demand, log.relief)
    values = {"share": percent(workload.log_share), "commits": rate(workload.busy_commits_per_s)}
    if demand.most < FELT_SHARE and workload.throughput_share < MOST_SHARE:
        return answer, Statement(
            "log-idle", _("The pool has a log, but programs do hardly any synchronous writes."), values
        )
    if answer is Answer.HELPS:
        template = _("The pool has a log; it takes {share} of the log blocks, at {commits} commits/s under load.")
        return answer, Statement("log-in-use", template, values)
    if answer is Answer.CANNOT_TELL:
        return answer, _unknown_times(log)
    return Answer.LITTLE, _too_slow(log, values)


def _unknown_times(log: LogInUse) -> Statement:
    """What is known of the times of a log and of the disks, where that does not tell which is quicker."""
    if log.own is None or log.disks is None:
        return NO_LATENCY
    template = _(
        "The pool has a log, but whether it is faster than the disks is unknown: it writes in about {log}, the disks "
        "in about {disks}, but the cache flushes of one or both are not counted, for example behind disk encryption."
    )
    times = {"log": milliseconds(log.own.write_ns), "disks": milliseconds(log.disks.write_ns)}
    return Statement("log-flush-unknown", template, times)


def _too_slow(log: LogInUse, values: dict[str, str]) -> Statement:
    """Why those who wait have little of the log."""
    workload = log.workload
    if workload.throughput_share >= MOST_SHARE:
        template = _(
            "{share} of commits are on datasets with logbias=throughput: the log takes their records, the disks take "
            "their data, and a commit waits for both. With logbias=latency, the log would take all of it."
        )
        return Statement("log-throughput", template, {"share": percent(workload.throughput_share)})
    if workload.log_share < GOOD_LOG_SHARE:
        template = _(
            "The pool has a log, but it takes only {share} of the log blocks: it is full, offline or bypassed."
        )
        return Statement("log-bypassed", template, values)
    if log.own is None or log.disks is None:
        return NO_LATENCY
    template = _(
        "The pool has a log; it takes {share} of the log blocks, but about {log} per commit. The disks themselves take "
        "about {disks} per write. An SSD with power-loss protection takes far less."
    )
    times = {"log": milliseconds(log.own.likely_ns), "disks": milliseconds(log.disks.likely_ns)}
    return Statement("log-slow", template, {**values, **times})


def _evidence(workload: Workload, ssd: SsdTime) -> Iterator[Evidence]:
    """What was measured about synchronous writes."""
    commit, held = workload.commit_time, workload.sample.busy.peak_log_bytes
    busy, stream = duration(workload.busy_seconds), size_text(int(workload.busy_sync_bytes_per_s))
    yield measured(_("Monitored"), duration(workload.seconds))
    yield measured(_("Time with synchronous writes (5 commits/s or more)"), busy, "zil")
    yield measured(_("Commits in that time"), f"{rate(workload.busy_commits_per_s)}/s", "zil_commit_count")
    yield measured(_("Written synchronously in that time"), f"{stream}/s", "zil_itx_*_bytes")
    yield measured(_("Commits that a log could take"), percent(workload.reachable_commits_share), "zfs get")
    if commit:
        written, flush = milliseconds(commit.write_ns), milliseconds(commit.flush_ns) if commit.flushes else "–"
        took = f"{milliseconds(commit.likely_ns)} ({milliseconds_range(commit.low_ns, commit.high_ns)})"
        what = _("Write latency of the disks that take them, median, without flush")
        yield measured(what, written, "zpool iostat -w")
        yield measured(_("Cache flush latency of those disks, mean"), flush, "/sys/block/*/stat")
        yield measured(_("Resulting commit latency, about"), took)
    if held:
        yield measured(_("Peak log usage"), size_text(held), "zpool list -v")
    what = _("SSD, measured") if ssd.is_measured else _("Untested SSD, assumed")
    yield measured(what, milliseconds_range(ssd.low_ns, ssd.high_ns))
