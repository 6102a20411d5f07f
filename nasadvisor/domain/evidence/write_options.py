"""The rows of doing nothing, of settings, and of a log."""

from collections.abc import Iterator
from typing import Final

from nasadvisor.domain.evidence.curve import YEAR_S
from nasadvisor.domain.evidence.log_verdict import Answer, SsdTime
from nasadvisor.domain.evidence.options import (
    AT_ANY_TIME,
    NOTHING_LOST,
    UNLESS_CHECKPOINT,
    Cost,
    KindOfSsd,
    Known,
    Option,
    OptionRow,
    Relief,
    Waiting,
    Waits,
    watch_longer,
)
from nasadvisor.domain.evidence.thresholds import NVME_COMMIT_NS, PROTECTED_COMMIT_NS, UNPROTECTED_COMMIT_NS
from nasadvisor.domain.evidence.workload import LOGS
from nasadvisor.domain.figures import duration
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import DAY_S

DAYS_PER_YEAR: Final = YEAR_S / DAY_S
LOG_SIDES: Final = 2
"""A log is mirrored by default."""

RISKS: Final = frozenset({"guests-at-risk"})

SETTINGS: Final = frozenset(
    {
        "raise-arc-limit",
        "logbias-throughput",
        "log-throughput",
        "kept-out",
        "kept-out-some",
        "metadata-little",
        "metadata-only",
        "nothing-eligible",
        "slice-budget",
        "no-budget",
        "guests-at-risk",
        "guests-unknown",
        "sync-disabled",
        "sync-disabled-too",
    }
)
"""The rules and remarks of the verdicts that name something to set."""

ARC_LIMIT: Final = "raise-arc-limit"

BANDWIDTH: Final = "bandwidth"

SSD_DECIDES: Final = frozenset({"depends-on-ssd", "slow-flash", BANDWIDTH})
"""Where the verdict on a log hangs on the SSD alone."""

PROBE_DECIDES: Final = frozenset({"flush-unknown", "log-slow"})
"""Where a measurement by writing tells how long the pool itself takes."""

WAITS_ALONE: Final = 2.5
WAITS_IN_LINE: Final = 6.5
"""[fitted] How many times as long as the SSD needs alone a commit waits for it at the most: for the slower of two SSDs,
and where several commit at once for the block that is under way. The most that was seen in the runs of docs/evidence.md
is 2.4 and, over NFS, 6.2. The second is for SSDs that were tested by one writer only.
"""

SEVERAL: Final = 1.5
"""[policy] More are under way at a time, on the mean of the busy time."""

KINDS: Final = (
    (Statement("ssd-nvme", _("NVMe with power-loss protection")), NVME_COMMIT_NS),
    (Statement("ssd-protected", _("SATA or SAS with power-loss protection")), PROTECTED_COMMIT_NS),
    (Statement("ssd-unprotected", _("without power-loss protection")), UNPROTECTED_COMMIT_NS),
)
"""The kinds of SSD that are bought for a log, and how long one write with flush takes on each."""

_LOST_LOG: Final = Statement(
    "option-lost-log",
    _(
        "Nothing while one side of the mirror works. If both sides and the host fail together, the last seconds of "
        "synchronous writes; with a single log, one failed SSD is enough for that."
    ),
)


def nothing_row(known: Known, waits: Waits) -> OptionRow:
    """What programs wait for today, and what is at risk."""
    values = {"commits": duration(waits.of(Waiting.COMMITS)), "reads": duration(waits.of(Waiting.READS))}
    template = (
        _("Programs wait {reads} a day for disk reads; the wait for synchronous writes is unknown.")
        if waits.commits is None
        else _("Programs wait {commits} a day for synchronous writes and {reads} for disk reads.")
    )
    at_risk = next((each for each in known.log.beside if each.code in RISKS), None)
    return OptionRow(
        Option.NOTHING,
        None,
        Statement("option-nothing", template, values),
        lost=at_risk or Statement("option-as-today", _("Nothing beyond today's risk.")),
        cost=Cost(),
    )


def property_row(known: Known, memory: OptionRow) -> OptionRow:
    """What the verdicts found that can be set; raising the limit of the ARC gives what more memory would give."""
    found = tuple(_settings(known))
    wait_s = max(known.log.wait_s, known.cache.wait_s)
    if not found:
        because = Statement(
            "option-no-setting",
            _("The verdicts name no ZFS property that holds this pool back."),
        )
        return OptionRow(
            Option.PROPERTY,
            Answer.CANNOT_TELL if wait_s else Answer.NO,
            because,
            lost=NOTHING_LOST,
            back=AT_ANY_TIME,
            cost=Cost(),
            missing=watch_longer(wait_s),
        )
    is_memory = found[0].code == ARC_LIMIT
    set_and_see = Statement(
        "option-set-and-see", _("The gain shows once it is set: collect data for a day, then compare.")
    )
    return OptionRow(
        Option.PROPERTY,
        memory.answer if is_memory else Answer.CANNOT_TELL,
        found[0],
        lost=NOTHING_LOST,
        back=AT_ANY_TIME,
        relief=memory.relief if is_memory else None,
        cost=memory.cost if is_memory else Cost(),
        beside=found[1:],
        missing=memory.missing if is_memory and (memory.missing or memory.relief) else (set_and_see,),
    )


def log_row(known: Known) -> OptionRow:
    """The verdict on a log, with what it would take away from the wait for synchronous writes."""
    verdict, is_there = known.log, bool(known.facts.leaves_of(*LOGS))
    relief = None if is_there else _log_relief(known)
    can_test = not known.ssd.is_measured and verdict.rule.code in {*SSD_DECIDES, "little-faster"}
    cost = Cost(0, known.log_size.size_bytes, LOG_SIDES, known.log_bytes_per_day * DAYS_PER_YEAR)
    return OptionRow(
        Option.LOG,
        verdict.answer,
        verdict.rule,
        lost=_LOST_LOG,
        back=UNLESS_CHECKPOINT,
        relief=relief,
        kinds=_kinds(known) if relief else (),
        cost=None if is_there or verdict.answer is Answer.NO else cost,
        beside=tuple(each for each in verdict.beside if each.code not in SETTINGS),
        missing=(
            *watch_longer(verdict.wait_s),
            *((_test_ssd(known),) if can_test else ()),
            *((_probe_pool(known),) if verdict.rule.code in PROBE_DECIDES else ()),
        ),
        is_there=is_there,
    )


def _settings(known: Known) -> Iterator[Statement]:
    """Each once, what costs nothing and is faster first."""
    verdicts = (known.log, known.cache)
    said = [*known.cache.before, *(each.rule for each in verdicts), *(each for one in verdicts for each in one.beside)]
    yield from {each.code: each for each in said if each.code in SETTINGS}.values()


def _log_relief(known: Known) -> Relief | None:
    commit_ns, verdict = known.commit_ns, known.log
    if commit_ns is None or not (verdict.answer is Answer.HELPS or verdict.rule.code in SSD_DECIDES):
        return None
    return _relief_by(known, commit_ns, known.ssd)


def _kinds(known: Known) -> tuple[KindOfSsd, ...]:
    """The relief by kinds of SSD where none was tested."""
    commit_ns = known.commit_ns
    if commit_ns is None or known.ssd.is_measured:
        return ()
    return tuple(KindOfSsd(name, _relief_by(known, commit_ns, SsdTime(*times, False))) for name, times in KINDS)


def _relief_by(known: Known, commit_ns: float, ssd: SsdTime) -> Relief:
    """What an SSD of this time takes away of the waiting for commits."""
    reach = known.workload.reachable_commits_share
    at_once = known.workload.commits_per_s * commit_ns / 1e9
    most_ns = _most_in_line_ns(ssd) if at_once > SEVERAL else ssd.high_ns * WAITS_ALONE
    low, high = (reach * max(1 - each / commit_ns, 0.0) for each in (most_ns, ssd.low_ns))
    return Relief(Waiting.COMMITS, 0.0 if known.log.rule.code == BANDWIDTH else low, high)


def _most_in_line_ns(ssd: SsdTime) -> float:
    """How long a commit waits for the SSD at the most where others are under way: never shorter than alone."""
    if ssd.many_ns is None:
        return ssd.high_ns * WAITS_IN_LINE
    return max(ssd.many_ns, ssd.high_ns * WAITS_ALONE)


def _probe_pool(known: Known) -> Statement:
    template = _("A measurement of the pool that takes a few minutes: `nasadvisor probe {pool}`.")
    return Statement("option-probe-pool", template, {"pool": known.facts.name})


def _test_ssd(known: Known) -> Statement:
    template = _("A test of the SSD that takes a few minutes: `nasadvisor probe {pool} --disk DISK`.")
    return Statement("option-test-ssd", template, {"pool": known.facts.name})
