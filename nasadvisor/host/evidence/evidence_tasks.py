"""What a host answers of the evidence: counters, programs that wait, traces, blocks, a measurement, switching."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.switch_words import not_back
from nasadvisor.domain.evidence.switched import SwitchOrder
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.fleet.questions import COUNT_BLOCKS, TRACE_COMMITS, TRACE_CURVE
from nasadvisor.domain.statements import Finding
from nasadvisor.host.console_link import ConsoleLink
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.metadata import Counting, CountUnderWay
from nasadvisor.host.evidence.switch_carrier import SwitchCarrier
from nasadvisor.host.evidence.switching import SwitchHost, end_before_undo, start_switching, stop_switching
from nasadvisor.host.evidence.trace_job import LongJob, TraceJob

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EvidenceTasks:
    """Who answers. Of each there is one at a time; `link` is where it is told."""

    sample: Callable[[], Reading]
    measure: Callable[[MeasureOrder, Callable[[MeasureProgress], None]], Measurement]
    watch_waiting: Callable[[], WaitingPrograms]
    curve: TraceJob[CacheCurve]
    commits: TraceJob[CommitTrace]
    count: Counting
    link: ConsoleLink
    _sampling: Lock = field(default_factory=Lock)
    _tracing: Lock = field(default_factory=Lock)
    _counting: LongJob = field(default_factory=lambda: LongJob("count"))
    _said: list[str] = field(default_factory=list)

    def take_sample(self) -> None:
        """Read the counters and tell what happened since the last time; nothing, while that is being done."""
        if not self._sampling.acquire(blocking=False):
            return
        try:
            reading = self.sample()
        except HostError as error:
            if str(error) not in self._said:  # not every ten seconds the same
                log.warning("sample: %s", error)
                self._said[:] = [str(error)]
            return
        finally:
            self._sampling.release()
        if reading.samples or reading.facts:
            self.link.tell(reading)

    def take_waiting(self) -> None:
        """Trace which programs wait; nothing, while that is being done."""
        if not self._tracing.acquire(blocking=False):
            return
        try:
            self.link.tell(self.watch_waiting())
        finally:
            self._tracing.release()

    def take_curve(self, guid: str, seconds: int) -> None:
        """Begin to follow a pool's reads, and tell what comes of it after each part, or why no more.

        Raises:
            TraceUnderWay: reads are followed already.
        """
        self.curve.start(guid, seconds, self.link.tell, partial(self.link.tell_error, TRACE_CURVE, guid))

    def take_commits(self, guid: str, seconds: int) -> None:
        """Begin to follow what a pool's programs commit, and tell it after each part, or why no more.

        Raises:
            TraceUnderWay: commits are followed already.
        """
        self.commits.start(guid, seconds, self.link.tell, partial(self.link.tell_error, TRACE_COMMITS, guid))

    def count_blocks(self, guid: str, limit_s: int) -> None:
        """Begin to count a pool's blocks, and tell what it consists of, or why it is not counted.

        Raises:
            CountUnderWay: blocks are counted already.
        """

        def work() -> None:
            try:
                self.link.tell(self.count(guid, limit_s))
            except HostError as error:
                self.link.tell_error(COUNT_BLOCKS, guid, error)

        if not self._counting.take():
            raise CountUnderWay
        self._counting.run(work)

    def take_measurement(self, order: MeasureOrder) -> None:
        """Probe a pool and test an SSD, and tell what is being done and what was measured."""
        self.link.tell(self.measure(order, self.link.tell))


@dataclass(frozen=True)
class SwitchTasks:
    """Who answers, and what the worker does by its own clock; `link` is where it is told."""

    host: SwitchHost
    link: ConsoleLink
    _carrier: SwitchCarrier = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_carrier", SwitchCarrier(self.host, self.link.tell, self.link.tell))

    def start(self, order: SwitchOrder, by: str) -> None:
        """Begin to switch the caches of a pool."""
        self.link.tell(start_switching(self.host, order, by))

    def stop(self, pool_guid: str, by: str) -> None:
        """Switch no more, and put back what is out."""
        self.link.tell(stop_switching(self.host, pool_guid, by, self.link.tell))

    def report(self, pool_guid: str) -> None:
        """Tell where the newest of a pool stands; nothing where there is none."""
        record = self.host.records.newest_of(pool_guid)
        if record:
            self.link.tell(record)

    def report_all(self) -> None:
        """Tell the newest of each pool."""
        for guid in sorted({each.pool_guid for each in self.host.records.all()}):
            self.report(guid)

    def carry_on(self) -> None:
        """Switch, count and put back what is due. Not a task: the worker does it by its own clock."""
        self._carrier.carry_on()

    def rest(self) -> None:
        """Put back what is out, as the worker ends."""
        self._carrier.rest()

    def end_before_undo(self, run_id: str) -> None:
        """End what switches the cache of a run that is about to be taken back.

        Raises:
            HostError: it could not be ended.
        """
        ended = end_before_undo(self.host, run_id, self.link.tell)
        if ended:
            self.link.tell(ended)

    def findings(self) -> tuple[Finding, ...]:
        """Caches that could not be put back."""
        return tuple(filter(None, map(not_back, self.host.records.all())))
