"""Carrying out what was begun: the worker looks every few seconds what is to be switched, counted or put back."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from nasadvisor.domain.evidence.switch_words import CACHE_LOST, CARRIED_OUT
from nasadvisor.domain.evidence.switched import CacheSwitching, PeriodSeen, period_seen
from nasadvisor.domain.evidence.switching import Period
from nasadvisor.domain.units import MINUTE_S
from nasadvisor.host.change.lock import HostBusy
from nasadvisor.host.change.logbook import Observer
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.switch_records import SwitchingUnreadable
from nasadvisor.host.evidence.switch_steps import SwitchRuns, ids_of, ids_of_unreadable
from nasadvisor.host.evidence.switching import CounterReader, SwitchHost, over, settle

log = logging.getLogger(__name__)

TRY_AGAIN_S: Final = 5 * MINUTE_S
"""[policy] What a rule forbids, or a command could not do, is tried again after so long."""

REST_S: Final = 15 * MINUTE_S
"""[policy] Less than systemd gives the worker to end (TimeoutStopSec in nasadvisor-host.service)."""

LATE_S: Final = MINUTE_S
"""[policy] A period whose end is looked at later is not counted: what came after it would count with it."""


@dataclass(frozen=True)
class Counting:
    """A period that is being counted. It is lost with the worker, and then the period does not count."""

    record_id: str
    number: int
    period: Period
    counters: CounterReader


@dataclass
class SwitchCarrier:
    """Carries out the records of one host. `told` is given a record whenever it has changed, whoever changed it, and
    `observe` each run.
    """

    host: SwitchHost
    told: Callable[[CacheSwitching], None]
    observe: Observer
    _over: set[str] = field(default_factory=set)
    _seqs: dict[str, int] = field(default_factory=dict)
    _looked_at: set[str] = field(default_factory=set)
    _passed: tuple[str, int] = ("", -1)
    _counting: Counting | None = None
    _not_before: dict[str, float] = field(default_factory=dict)

    def carry_on(self) -> None:
        """Do what is due now. Whatever one record meets keeps no other from its turn."""
        for record_id in self.host.records.ids():
            try:
                self._carry_on(self.host.records.read(record_id))
            except SwitchingUnreadable as error:
                self._put_back_unreadable(record_id, error)
            except HostBusy as error:
                log.info("switching waits: %s", error)
            except HostError as error:
                log.warning("switching: %s", error)

    def rest(self) -> None:
        """The worker ends: nobody would put back what is out of service, so that is done now.

        What was begun goes on with the next worker, from the next period on. A run that is under way comes to its end
        first: the worker waits for that as well.
        """
        until = monotonic() + REST_S
        for record in self.host.records.all():
            try:
                while self._may_be_out(record) and monotonic() < until:
                    if self._tell(settle(self.host, record, self._runs)).problem:
                        break
            except HostError as error:
                log.warning("switching: %s", error)

    @property
    def _runs(self) -> SwitchRuns:
        return SwitchRuns(self.host.runs, self.observe, self._over)

    def _carry_on(self, record: CacheSwitching) -> None:
        now = self.host.now_s()
        self._tell(record)
        if record.ended_at and record.id in self._looked_at:
            return
        if record.is_under_way:
            record = self._count(record, now)
        if record.is_under_way and now >= record.plan.end:
            record = self._tell(over(self.host, record, CARRIED_OUT))
        if record.wants_out(now):
            record = self._take_out(record, now)
        if not record.wants_out(now):
            record = self._put_back(record, now)
        if record.ended_at and record.problem is None:
            self._looked_at.add(record.id)

    def _take_out(self, record: CacheSwitching, now: float) -> CacheSwitching:
        """As it is afterwards: somebody may have stopped it while the command ran."""
        current = record.period_at(now)
        if current is None or self._waits("out", record.id, now) or self._may_be_out(record):
            return record
        if record.is_lost(self.host.look()):
            return self._tell(over(self.host, record, CACHE_LOST))
        try:
            self._runs.take_out(record, current[0])
        except HostBusy:
            raise
        except HostError as error:
            log.warning("switching: %s", error)
            self._try_again("out", record.id, now)
            self._put_back(record, now)
        return self.host.records.read(record.id)

    def _put_back(self, record: CacheSwitching, now: float) -> CacheSwitching:
        is_noted = record.problem is None and bool(record.is_under_way or record.ended_at)
        if (is_noted and not self._may_be_out(record)) or self._waits("back", record.id, now):
            return record
        after = self._tell(settle(self.host, record, self._runs))
        if after.problem:
            self._try_again("back", record.id, now)
        return after

    def _may_be_out(self, record: CacheSwitching) -> bool:
        """Whether a cache is out of service by it, as far as its journals can be read."""
        try:
            return bool(self._runs.in_place(ids_of(record)))
        except HostError:
            return True

    def _put_back_unreadable(self, record_id: str, error: SwitchingUnreadable) -> None:
        now = self.host.now_s()
        if self._waits("back", record_id, now):
            return
        log.warning("%s", error)
        try:
            problem = self._runs.put_back(ids_of_unreadable(record_id), "nasadvisor-host")
        except HostBusy:
            return
        self._try_again("back", record_id, now)
        if problem:
            log.warning("switching: %s", problem)

    def _count(self, record: CacheSwitching, now: float) -> CacheSwitching:
        """End to count the period that is over, and begin with the one that is there."""
        current, counting = record.period_at(now), self._counting
        number = current[0] if current else -1
        if counting and (counting.record_id, counting.number) != (record.id, number):
            self._counting = None
            seen = self._seen_of(record, counting, now) if counting.record_id == record.id else None
            if seen:
                record = self._tell(self.host.records.change(record.id, lambda it: it.with_period(seen)))
        if current and self._counting is None and self._passed != (record.id, number):
            self._begin_count(record, number, current[1], now)
        return record

    def _begin_count(self, record: CacheSwitching, number: int, period: Period, now: float) -> None:
        """Once a period, and only while more than half of what counts of it is left."""
        if now < period.counts_from:
            return
        self._passed = (record.id, number)
        if (period.end - now) * 2 < period.end - period.counts_from or not self._is_as_planned(record, period):
            return
        counters = self.host.counters()
        counters.sample()
        self._counting = Counting(record.id, number, period, counters)

    def _seen_of(self, record: CacheSwitching, counting: Counting, now: float) -> PeriodSeen | None:
        if now > counting.period.end + LATE_S or not self._is_as_planned(record, counting.period):
            return None
        samples = counting.counters.sample().samples
        sample = next((each for each in samples if each.pool_guid == record.pool_guid), None)
        return period_seen(counting.number, sample) if sample else None

    def _is_as_planned(self, record: CacheSwitching, period: Period) -> bool:
        return record.is_as_planned(period, self.host.look())

    def _waits(self, what: str, record_id: str, now: float) -> bool:
        return now < self._not_before.get(f"{what} {record_id}", 0.0)

    def _try_again(self, what: str, record_id: str, now: float) -> None:
        self._not_before[f"{what} {record_id}"] = now + TRY_AGAIN_S

    def _tell(self, record: CacheSwitching) -> CacheSwitching:
        if self._seqs.get(record.id) != record.seq:
            self._seqs[record.id] = record.seq
            self.told(record)
        return record
