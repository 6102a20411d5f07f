"""The table of options of one pool, the same on the page and on the command line; with its rows about writes."""

from collections.abc import Iterator
from typing import Final

from nasadvisor.domain.evidence.commits import KINDS
from nasadvisor.domain.evidence.metadata_options import metadata_row, special_row
from nasadvisor.domain.evidence.options import (
    AT_ANY_TIME,
    NOTHING_LOST,
    SETTINGS,
    UNLESS_CHECKPOINT,
    Cost,
    KindOfSsd,
    Known,
    Option,
    OptionRow,
    OptionsTable,
    Waits,
    waits_of,
    watch_longer,
)
from nasadvisor.domain.evidence.read_options import cache_row, memory_row
from nasadvisor.domain.evidence.verdict import Answer, Relief, Waiting
from nasadvisor.domain.evidence.workload import LOGS
from nasadvisor.domain.figures import duration
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import DAYS_PER_YEAR

LOG_SIDES: Final = 2
"""A log is mirrored by default."""

RISKS: Final = frozenset({"guests-at-risk"})

ARC_LIMIT: Final = "raise-arc-limit"

SSD_DECIDES: Final = frozenset({"depends-on-ssd", "slow-flash", "bandwidth", "little-faster"})
"""Where the verdict on a log hangs on the SSD alone."""

PROBE_DECIDES: Final = frozenset({"flush-unknown", "no-latency", "log-slow", "log-flush-unknown"})
"""Where a measurement by writing tells how long the pool itself takes."""

_LOST_LOG: Final = Statement(
    "option-lost-log",
    _(
        "Nothing while one side of the mirror works. If both sides and the host fail together, the last seconds of "
        "synchronous writes; with a single log, one failed SSD is enough for that."
    ),
)


def options_of(known: Known) -> OptionsTable:
    """Every option has its row, whatever is known."""
    waits, memory = waits_of(known.workload, known.waited), memory_row(known)
    rows = (
        nothing_row(known, waits),
        property_row(known, memory),
        memory,
        log_row(known),
        cache_row(known),
        metadata_row(known),
        special_row(known),
    )
    return OptionsTable(waits, rows)


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
    can_test = not known.ssd.is_measured and verdict.rule.code in SSD_DECIDES
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


def _log_relief(known: Known) -> Relief | None:
    """What a log takes away, where it does and how long a commit takes is known."""
    commits, verdict = known.commits, known.log
    is_open = verdict.answer is Answer.CANNOT_TELL and verdict.rule.code in SSD_DECIDES
    return commits.of_all(commits.relief(known.ssd)) if verdict.answer is Answer.HELPS or is_open else None


def _kinds(known: Known) -> tuple[KindOfSsd, ...]:
    """The relief by kinds of SSD where none was tested."""
    commits = known.commits
    if known.ssd.is_measured:
        return ()
    return tuple(KindOfSsd(name, commits.of_all(commits.relief_by(ssd))) for name, ssd in KINDS)


def _settings(known: Known) -> Iterator[Statement]:
    """Each once, what costs nothing and is faster first."""
    verdicts = (known.log, known.cache)
    said = [*known.cache.before, *(each.rule for each in verdicts), *(each for one in verdicts for each in one.beside)]
    yield from {each.code: each for each in said if each.code in SETTINGS}.values()


def _probe_pool(known: Known) -> Statement:
    template = _("A measurement of the pool that takes a few minutes: `nasadvisor probe {pool}`.")
    return Statement("option-probe-pool", template, {"pool": known.facts.name})


def _test_ssd(known: Known) -> Statement:
    template = _("A test of the SSD that takes a few minutes: `nasadvisor probe {pool} --disk DISK`.")
    return Statement("option-test-ssd", template, {"pool": known.facts.name})
