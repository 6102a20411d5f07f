"""The kinds of stored forms, each with its number.

A release reads every form of a kind up to its own, and refuses one that is newer. The number is one more than the
number of upgrades that lead from the first form to today's, so no number lacks its upgrade.
"""

from dataclasses import dataclass
from typing import Final, get_args

from nasadvisor import __version__
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Record, Run
from nasadvisor.domain.change.trial import TrialClock
from nasadvisor.domain.change.unreadable_runs import UnreadableRun
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress
from nasadvisor.domain.evidence.measuring.probing import CandidateRecord, ProbeRecord
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.evidence.options import PoolWaiting
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.spells import PoolSpells
from nasadvisor.domain.evidence.switched import CacheSwitching, SwitchOrder
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.fleet.joining import ConsoleAccess, JoinAnswer, JoinRequest
from nasadvisor.domain.fleet.platforms import Notice, NoticeAnswer, PlatformReport
from nasadvisor.domain.fleet.schema_versions import Releases, SchemaVersions
from nasadvisor.domain.health.scrub import ScrubStart
from nasadvisor.domain.health.smart.reading import SmartReading
from nasadvisor.domain.health.smart.wear import WearIndicator
from nasadvisor.domain.health.smart.written import ByteCounter
from nasadvisor.domain.health.sweep import Answers, SelfTestStart, SweepReport
from nasadvisor.domain.health.traffic_findings import PoolTraffic
from nasadvisor.domain.statements import Finding, Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.upgrades import Upgrade

FIRST: Final = 1


@dataclass(frozen=True)
class Kind:
    """A stored form. `of` is the dataclass, or the union of them; `upgrades` lead from number 1 to today's."""

    name: str
    of: object
    upgrades: tuple[Upgrade, ...] = ()

    @property
    def number(self) -> int:
        """The number of today's form."""
        return FIRST + len(self.upgrades)


INVENTORY: Final = Kind("inventory", Inventory)

_KINDS: Final = (
    Kind("record", Record),
    Kind("plan", Plan),
    Kind("run", Run),
    INVENTORY,
    Kind("unreadable-run", UnreadableRun),
    Kind("trial-clock", TrialClock),
    Kind("probe-record", ProbeRecord),
    Kind("candidate-record", CandidateRecord),
    Kind("measurement", Measurement),
    Kind("measure-order", MeasureOrder),
    Kind("measure-progress", MeasureProgress),
    Kind("reading", Reading),
    Kind("pool-facts", PoolFacts),
    Kind("pool-traffic", PoolTraffic),
    Kind("waiting-programs", WaitingPrograms),
    Kind("pool-spells", PoolSpells),
    Kind("pool-waiting", PoolWaiting),
    Kind("cache-curve", CacheCurve),
    Kind("commit-trace", CommitTrace),
    Kind("block-count", BlockCount),
    Kind("switch-order", SwitchOrder),
    Kind("cache-switching", CacheSwitching),
    Kind("answers", Answers),
    Kind("sweep-report", SweepReport),
    Kind("self-test-start", SelfTestStart),
    Kind("scrub-start", ScrubStart),
    Kind("smart-reading", SmartReading),
    Kind("wear-indicator", WearIndicator),
    Kind("byte-counter", ByteCounter),
    Kind("platform-report", PlatformReport),
    Kind("notice", Notice),
    Kind("notice-answer", NoticeAnswer),
    Kind("statement", Statement),
    Kind("finding", Finding),
    Kind("console-access", ConsoleAccess),
    Kind("join-request", JoinRequest),
    Kind("join-answer", JoinAnswer),
    Kind("schema-versions", SchemaVersions),
    Kind("releases", Releases),
)

_registry: dict[object, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind known to the codec; where its dataclass is defined, if that is above the domain."""
    for each in (kind.of, *get_args(kind.of)):
        _registry[each] = kind


def kind_of(thing: object) -> Kind | None:
    """The kind that a dataclass or union is; None for one that is only ever a part of another."""
    return _registry.get(thing)


def name_of(form: type) -> str:
    """What a form that crosses the wire is called there.

    Raises:
        KeyError: it has no number of its own, so it is only ever a part of another.
    """
    return _registry[form].name


def form_of(name: str) -> type:
    """The form of that name.

    Raises:
        StopIteration: there is none.
    """
    return next(form for form, kind in _registry.items() if kind.name == name and isinstance(form, type))


def all_kinds() -> tuple[Kind, ...]:
    """Every kind that is registered, each once."""
    return tuple(dict.fromkeys(_registry.values()))


def own_schema_versions(node: str = "") -> SchemaVersions:
    """What a host of this name speaks, or the console of this release: the numbers of the kinds that both know."""
    return SchemaVersions(node, __version__, {_registry[kind.of].name: _registry[kind.of].number for kind in _KINDS})


for _kind in _KINDS:
    register(_kind)
