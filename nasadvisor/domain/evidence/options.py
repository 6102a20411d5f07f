"""What can be done about a pool's waits, one row each: what it takes away, costs and risks, and how it goes back.

Log and cache carry the answers and rules of their verdicts as they are. The rows are made in `read_options` and
`metadata_options`, the others in `options_table`, where all are put together.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from nasadvisor.domain.evidence.cache_verdict import judge_cache
from nasadvisor.domain.evidence.commits import UNKNOWN_SSD, Commits, SsdTime, commits_of, log_in_use
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.log_verdict import judge_log
from nasadvisor.domain.evidence.metadata_size import Counted
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.reads import CACHES, cache_in_use
from nasadvisor.domain.evidence.recommendation import Recommendation, cache_size_by, recommend_cache, recommend_log
from nasadvisor.domain.evidence.thresholds import Span
from nasadvisor.domain.evidence.verdict import Answer, Relief, Verdict, Waiting
from nasadvisor.domain.evidence.waited import NO_WAIT, ProgramWaits, Wait, Waited
from nasadvisor.domain.evidence.workload import LOGS, Workload
from nasadvisor.domain.figures import duration
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import DAY_S

PROGRAMS_NAMED: Final = 5
"""[policy] Of those that wait, where there is room for few."""


SETTINGS: Final = frozenset(
    {
        "raise-arc-limit",
        "logbias-throughput",
        "log-throughput",
        "kept-out",
        "kept-out-some",
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


class Option(StrEnum):
    """What can be done, the cheapest first."""

    NOTHING = "nothing"
    PROPERTY = "property"
    MEMORY = "memory"
    LOG = "log"
    CACHE = "cache"
    METADATA = "metadata-cache"
    SPECIAL = "special"


NAMES: Final = {
    Option.NOTHING: _("Do nothing"),
    Option.PROPERTY: _("Set a property"),
    Option.MEMORY: _("More memory"),
    Option.LOG: _("Log (SLOG)"),
    Option.CACHE: _("Cache (L2ARC)"),
    Option.METADATA: _("Metadata-only cache"),
    Option.SPECIAL: _("Special vdevs"),
}


@dataclass(frozen=True)
class KindOfSsd:
    """What an SSD of one kind would take away, for whoever has not bought or tested one."""

    name: Statement
    relief: Relief


@dataclass(frozen=True)
class Cost:
    """What it takes: bytes of memory, of each SSD, how many SSDs, and what is written to each in a year."""

    memory_bytes: int = 0
    ssd_bytes: int = 0
    ssds: int = 0
    written_bytes_per_year: float = 0.0


@dataclass(frozen=True)
class OptionRow:
    """One row. `answer` is None where nothing is judged: of doing nothing, and of what is there and has no verdict.

    `because` is what is expected and why, `beside` what else was found out, `missing` what would tell more. `cost` is
    None where it is not known, or buys nothing. `back` is how it is taken back, None where there is nothing to. `kinds`
    says the relief by the kind of SSD, where that makes the range wide; the best first.
    """

    option: Option
    answer: Answer | None
    because: Statement
    lost: Statement
    back: Statement | None = None
    is_reversible: bool = True
    relief: Relief | None = None
    cost: Cost | None = None
    beside: tuple[Statement, ...] = ()
    missing: tuple[Statement, ...] = ()
    kinds: tuple[KindOfSsd, ...] = ()
    is_there: bool = False


@dataclass(frozen=True)
class Known:
    """All that was found out about one pool. Bytes a day are those to each side of a log and to each cache.

    `curve` is the newest cache curve, None without one; `has_raidz` whether a data vdev is raidz or draid; `counted`
    what a count of its blocks came to, None before the first. `waited` is what was traced of programs that wait, None
    where that is not enough for the time that was watched.
    """

    workload: Workload
    facts: PoolFacts
    span: Span
    log: Verdict
    cache: Verdict
    log_size: Recommendation
    cache_size: Recommendation | None
    log_bytes_per_day: float = 0.0
    cache_bytes_per_day: float = 0.0
    ssd: SsdTime = UNKNOWN_SSD
    curve: CacheCurve | None = None
    has_raidz: bool = False
    counted: Counted | None = None
    waited: Waited | None = None

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Both."""
        return (self.log, self.cache)

    @property
    def commits(self) -> Commits:
        """What programs wait for in commits: as it was traced, else as its devices take."""
        return commits_of(self.workload, self.waited)

    @property
    def readable_curve(self) -> CacheCurve | None:
        """The curve if anything can be read off it."""
        return self.curve if self.curve and self.curve.is_enough else None

    @property
    def recommended_cache(self) -> Recommendation | None:
        """The size of a cache, the same wherever it is said."""
        return cache_size_by(self.curve, self.workload.sample.levels.arc_most_bytes, self.cache_size)


def known_of(
    workload: Workload,
    facts: PoolFacts,
    span: Span,
    ssd: SsdTime = UNKNOWN_SSD,
    curve: CacheCurve | None = None,
    waited: Waited | None = None,
) -> Known:
    """What a workload tells; what only the pool as it is now tells is left out."""
    return Known(
        workload=workload,
        facts=facts,
        span=span,
        log=judge_log(workload, facts, span, ssd, waited),
        cache=judge_cache(workload, facts, span, curve),
        log_size=recommend_log(workload, facts),
        cache_size=recommend_cache(workload),
        ssd=ssd,
        curve=curve,
        waited=waited,
    )


def brought_by_devices(known: Known) -> dict[Option, Wait]:
    """By log and cache; only those that the pool has, whose verdict is given, and that are faster than the disks."""
    workload, facts = known.workload, known.facts
    found = {
        Option.LOG: (known.log, LOGS, log_in_use(workload, facts).saved),
        Option.CACHE: (known.cache, CACHES, cache_in_use(workload, facts).saved),
    }
    return {
        option: saved
        for option, (verdict, classes, saved) in found.items()
        if saved.high_s and facts.leaves_of(*classes) and verdict.answer is not Answer.CANNOT_TELL
    }


@dataclass(frozen=True)
class Waits:
    """What programs wait for in a day, on the average of what was watched. `commits` is None where the time of a commit
    is not known; `programs` are those that wait most for them, where that was traced.
    """

    commits: Wait | None
    reads: Wait
    programs: tuple[ProgramWaits, ...] = ()

    @property
    def total_s(self) -> float:
        """Both, as far as they are known."""
        return self.of(Waiting.COMMITS) + self.of(Waiting.READS)

    def of(self, waiting: Waiting) -> float:
        """The likely seconds of one of them; 0 where it is not known."""
        wait = self.commits if waiting is Waiting.COMMITS else self.reads
        return wait.likely_s if wait else 0.0


@dataclass(frozen=True)
class PoolWaiting:
    """How long programs wait for a pool, and what a log and a cache would take away of it, for pages of many pools.

    `log` and `cache` are None where the pool has one, where it would take nothing away, and where that is not known.
    """

    waits: Waits
    log: Relief | None
    cache: Relief | None


@dataclass(frozen=True)
class OptionsTable:
    """What programs wait for today, and what can be done about it."""

    waits: Waits
    rows: tuple[OptionRow, ...] = field(default=())

    def row(self, option: Option) -> OptionRow:
        """The row of an option; each has one."""
        return next(each for each in self.rows if each.option is option)

    @property
    def in_short(self) -> PoolWaiting:
        """What a page of many pools has room for."""
        return PoolWaiting(self.waits, self.row(Option.LOG).relief, self.row(Option.CACHE).relief)


NOTHING_LOST: Final = Statement("option-nothing-lost", _("Nothing."))
COPIES_ONLY: Final = Statement("option-copies-only", _("Nothing: it holds only copies."))
AT_ANY_TIME: Final = Statement("option-back", _("Yes, at any time."))
UNLESS_CHECKPOINT: Final = Statement("option-back-undo", _("Yes, except while the pool has a checkpoint."))


def waits_of(workload: Workload, waited: Waited | None = None) -> Waits:
    """Commits as they were traced, where they were; else from counts and the time of one, as `CommitTime` bounds it.

    Of reads that the ARC missed it is their mean, between the bounds of a histogram's buckets. OpenZFS has no counter
    for either. Misses are the host's, of which the pool has its share (`misses_share`).
    """
    commit, writing = workload.commit_time, workload.writing_commits_per_day
    bounds_ns = (commit.low_ns, commit.likely_ns, commit.high_ns) if commit else None
    commits = Wait(*(writing * each / 1e9 for each in bounds_ns)) if bounds_ns else None
    missed = workload.missed_reads_per_s * DAY_S
    reads = Wait(*(missed * each / 1e9 for each in workload.read_bounds_ns))
    if waited:
        return Waits(waited.total, reads, waited.named[:PROGRAMS_NAMED])
    return Waits(commits if writing else NO_WAIT, reads)


def waited_s(hour: Workload, commit_ns: float | None) -> float:
    """How long programs waited in an hour, in seconds, likely.

    `commit_ns` is how long a commit takes as it was traced over days, None where it was not: the spells of one hour are
    too few to say it.
    """
    waits = waits_of(hour)
    commits_s = waits.of(Waiting.COMMITS) if commit_ns is None else hour.writing_commits_per_day * commit_ns / 1e9
    return (commits_s + waits.of(Waiting.READS)) * hour.seconds / DAY_S


def watch_longer(wait_s: float) -> tuple[Statement, ...]:
    """That so much watching is missing; nothing where that is not what is."""
    if not wait_s:
        return ()
    template = _("{more} more data needed; the result will appear here automatically.")
    return (Statement("option-watch", template, {"more": duration(wait_s)}),)


def has_raidz(pool: Pool) -> bool:
    """Whether a data vdev is raidz or draid, so that no top-level vdev of data or special can be removed (zpool(8))."""
    return any(top.has_parity for top in pool.data)
