"""A cache that is switched: what is asked for, what was seen of each period, and the record of both.

What is compared is how long the devices of the pool read for one read that a program asks for: of data vdevs and cache
together, so a cache that answers slowly counts for no more than it is. It asks for no more than counters of every
release, and a load that grows or shrinks grows or shrinks both.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID, uuid5

from nasadvisor.domain.change.actions.inventory_queries import cache_of
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.switch_effect import FEWEST_PAIRS
from nasadvisor.domain.evidence.switching import USUAL_PAIRS, USUAL_PERIOD_S, USUAL_SETTLE_S, Period, Switching
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.storage.logs import OFFLINE
from nasadvisor.domain.storage.names import UUID as UUID_TEXT
from nasadvisor.domain.units import DAY_S, MINUTE_S

SHORTEST_PERIOD_S: Final = MINUTE_S
LONGEST_PERIOD_S: Final = DAY_S
MOST_PAIRS: Final = 240
"""[policy] Ten days and nights of an hour each: what is not found by then is too little to matter."""

MOST_CACHES: Final = 16
"""[policy] Caches of one pool. All of them are switched together: what one of two brings is no question of anybody."""

FEWEST_READS: Final = 100
"""[policy] A period in which programs read less says nothing of reads."""


@dataclass(frozen=True)
class SwitchOrder:
    """What is asked for. The id is a UUID; it is the record's, and the seed of the coins."""

    id: str
    pool_guid: str
    pairs: int = USUAL_PAIRS
    period_s: int = USUAL_PERIOD_S
    settle_s: int = USUAL_SETTLE_S

    @property
    def is_possible(self) -> bool:
        """Whether something can be found in this time, and it ends."""
        return (
            re.fullmatch(UUID_TEXT, self.id) is not None
            and FEWEST_PAIRS <= self.pairs <= MOST_PAIRS
            and SHORTEST_PERIOD_S <= self.period_s <= LONGEST_PERIOD_S
            and 0 <= self.settle_s <= self.period_s // 2
        )

    def plan(self, start: int) -> Switching:
        """The plan that begins at a moment, in seconds since 1970.

        Raises:
            ValueError: it is not possible.
        """
        return Switching(self.id, start, self.pairs, self.period_s, self.settle_s)


@dataclass(frozen=True)
class SwitchedCache:
    """A cache device, by guid, and the path that its pool knows it by."""

    guid: str
    path: str


@dataclass(frozen=True)
class PeriodSeen:
    """What was counted in one period of the plan, by its number: reads of programs, and how long the devices read."""

    number: int
    reads: int
    device_ns: float

    def __post_init__(self) -> None:
        if self.reads < 1 or self.device_ns <= 0:
            raise ValueError("a period in which nobody read is none that counts")

    @property
    def value(self) -> float:
        """Nanoseconds for one read of a program; the fewer the better."""
        return self.device_ns / self.reads


@dataclass(frozen=True)
class CacheSwitching:
    """The record of a cache that is switched, as its host keeps it. Times are UTC in ISO 8601, "" for not yet.

    From `over_at` on it is taken out no more; `why_over` says why. At `ended_at` no cache was out of service by it any
    more. `problem` is what keeps a cache out of service that should be in it. `seq` counts what was changed.

    Raises:
        ValueError: it is none that a host would make.
    """

    id: str
    node: str
    pool_guid: str
    pool_name: str
    caches: tuple[SwitchedCache, ...]
    by: str
    plan: Switching
    seen: tuple[PeriodSeen, ...] = ()
    over_at: str = ""
    why_over: Statement | None = None
    ended_at: str = ""
    problem: Statement | None = None
    seq: int = 1

    def __post_init__(self) -> None:
        plan = self.plan
        order = SwitchOrder(self.id, self.pool_guid, plan.pairs, plan.period_s, plan.settle_s)
        numbers = {each.number for each in self.seen}
        if not order.is_possible or not 0 < len(self.caches) <= MOST_CACHES:
            raise ValueError("no cache is switched in this way")
        if len(numbers) < len(self.seen) or not numbers <= set(range(2 * plan.pairs)):
            raise ValueError("it tells of periods that are not in its plan")

    @property
    def is_under_way(self) -> bool:
        """Whether it goes on."""
        return not self.over_at

    def wants_out(self, moment: float) -> bool:
        """Whether its caches are to be out of service at a moment, in seconds since 1970."""
        return self.is_under_way and not self.plan.in_service_at(int(moment))

    def period_at(self, moment: float) -> tuple[int, Period] | None:
        """The period of a moment, with its number."""
        numbered = enumerate(self.plan.periods())
        return next((each for each in numbered if each[1].start <= moment < each[1].end), None)

    def is_as_planned(self, period: Period, inventory: Inventory) -> bool:
        """Whether a host shows every cache of it as it should be in a period."""
        wanted = "ONLINE" if period.in_service else OFFLINE
        found = [cache_of(self.pool_guid, each.guid, inventory) for each in self.caches]
        return all(cache is not None and cache.state == wanted for cache in found)

    def is_lost(self, inventory: Inventory) -> bool:
        """Whether the pool is there, and one of the caches is not in it any more."""
        pool = inventory.pool(self.pool_guid)
        if pool is None or pool.problem:
            return False
        return any(cache_of(self.pool_guid, each.guid, inventory) is None for each in self.caches)

    def with_period(self, seen: PeriodSeen) -> "CacheSwitching":
        """The same, with what was seen of one more period."""
        others = tuple(each for each in self.seen if each.number != seen.number)
        return replace(self, seen=(*others, seen))

    def over(self, at: str, why: Statement) -> "CacheSwitching":
        """The same, taken out no more. Why it was over first stays."""
        return self if self.over_at else replace(self, over_at=at, why_over=why)

    @property
    def values(self) -> Mapping[Period, float]:
        """The figure of each period of which there is one."""
        periods = list(self.plan.periods())
        return {periods[each.number]: each.value for each in self.seen}


UUID_OF_A_NAME: Final = 5
"""What uuid5() makes (RFC 9562)."""

Change = Callable[[CacheSwitching], CacheSwitching]


def period_seen(number: int, sample: Sample) -> PeriodSeen | None:
    """What a sample says of a period; None where hardly anybody read, or the devices did not."""
    reads = sum(each.reads for each in sample.datasets)
    device_ns = sum(each.reads.mean_ns * each.reads.total for each in sample.vdevs)
    return PeriodSeen(number, reads, device_ns) if reads >= FEWEST_READS and device_ns else None


def run_id(record_id: str, number: int, place: int) -> str:
    """The id of the run that takes a cache out in a period; always the same, so that it is done once at the most.

    `place` is that of the cache among those of the record.
    """
    return str(uuid5(UUID(record_id), f"{number}/{place}"))


def is_run_of_switching(run: UUID) -> bool:
    """Whether a run takes a cache out for a period: only their ids follow from a record, all others are chance."""
    return run.version == UUID_OF_A_NAME


def ids_in(record: CacheSwitching) -> Iterator[tuple[int, str]]:
    """Every id that a run of a record can have, with the place of its cache."""
    return run_ids_of(record.id, len(record.caches), 2 * record.plan.pairs)


def run_ids_of(record_id: str, caches: int, periods: int) -> Iterator[tuple[int, str]]:
    """The same where only the id of the record is known, for so many caches and periods."""
    for number in range(periods):
        for place in range(caches):
            yield place, run_id(record_id, number, place)
