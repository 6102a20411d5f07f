"""What a console may ask of the evidence: counters, programs that wait, traces, a count of blocks, a measurement."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from nasadvisor.domain.evidence.commits import CommitTrace
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.fleet.permissions import Verbs
from nasadvisor.host import arguments
from nasadvisor.host.arguments import reads
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.long_job import LongJob
from nasadvisor.host.evidence.metadata import Counting, CountUnderWay
from nasadvisor.host.evidence.switch_tasks import Publish
from nasadvisor.host.evidence.trace_job import TraceJob, TraceUnderWay
from nasadvisor.stored.documents import to_document

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EvidenceTasks:
    """The verbs of one host. `require` raises HostError where a console may not ask for something."""

    sample: Callable[[], Reading]
    measure: Callable[[MeasureOrder, Callable[[MeasureProgress], None]], Measurement]
    watch_waiting: Callable[[], WaitingPrograms]
    curve: TraceJob[CacheCurve]
    commits: TraceJob[CommitTrace]
    count: Counting
    publish: Publish
    require: Callable[[Verbs], None]
    _sampling: Lock = field(default_factory=Lock)
    _tracing: Lock = field(default_factory=Lock)
    _counting: LongJob = field(default_factory=lambda: LongJob("count"))
    _said: list[str] = field(default_factory=list)

    @property
    def verbs(self) -> dict[str, Callable[..., None]]:
        """By the names of their tasks."""
        return {
            "host.sample": self.take_sample,
            "host.measure": self.take_measurement,
            "host.watch_waiting": self.take_waiting,
            "host.trace_curve": self.take_curve,
            "host.stop_curve": self.stop_curve,
            "host.trace_commits": self.take_commits,
            "host.stop_commits": self.stop_commits,
            "host.count_blocks": self.count_blocks,
        }

    @reads()
    def take_sample(self) -> None:
        """Read the counters and publish what happened since the last time; nothing, while that is being done."""
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
            self.publish("console.store_reading", to_document(reading))

    @reads()
    def take_waiting(self) -> None:
        """Trace which programs wait and publish them, or why not; nothing, while that is being done."""
        if not self._tracing.acquire(blocking=False):
            return
        try:
            found = self.watch_waiting()
        except HostError as error:
            log.warning("tracing: %s", error)
            self.publish("console.store_waiting_error", to_document(error.statement))
        else:
            self.publish("console.store_waiting", to_document(found))
        finally:
            self._tracing.release()

    @reads(arguments.pool_guid, arguments.trace_length)
    def take_curve(self, guid: str, seconds: int) -> None:
        """Begin to follow a pool's reads, and publish what comes of it after each part, or why not."""

        def failed(error: HostError) -> None:
            self.publish("console.store_curve_error", guid, to_document(error.statement))

        try:
            self.curve.start(guid, seconds, lambda it: self.publish("console.store_curve", to_document(it)), failed)
        except TraceUnderWay as error:
            failed(error)

    @reads()
    def stop_curve(self) -> None:
        """End the trace of reads after the part that is under way."""
        self.curve.stop()

    @reads(arguments.pool_guid, arguments.trace_length)
    def take_commits(self, guid: str, seconds: int) -> None:
        """Begin to follow what a pool's programs commit, and publish it after each part, or why not."""

        def failed(error: HostError) -> None:
            self.publish("console.store_commits_error", guid, to_document(error.statement))

        try:
            self.commits.start(guid, seconds, lambda it: self.publish("console.store_commits", to_document(it)), failed)
        except TraceUnderWay as error:
            failed(error)

    @reads()
    def stop_commits(self) -> None:
        """End the trace of commits after the part that is under way."""
        self.commits.stop()

    @reads(arguments.pool_guid, arguments.count_length)
    def count_blocks(self, guid: str, limit_s: int) -> None:
        """Begin to count a pool's blocks, and publish what it consists of, or why it is not counted."""

        def work() -> None:
            try:
                found = self.count(guid, limit_s)
            except HostError as error:
                log.warning("count of blocks: %s", error)
                self.publish("console.store_count_error", guid, to_document(error.statement))
            else:
                self.publish("console.store_count", to_document(found))

        if self._counting.take():
            self._counting.run(work)
        else:
            self.publish("console.store_count_error", guid, to_document(CountUnderWay().statement))

    @reads(arguments.measure_order)
    def take_measurement(self, order: MeasureOrder) -> None:
        """Probe a pool and test an SSD; publish what was measured, or why not."""
        try:
            self.require(Verbs.MEASURE)
            found = self.measure(order, self._publish_progress)
        except HostError as error:
            log.warning("measurement %s: %s", order.id, error)
            self.publish("console.store_measurement_error", order.id, to_document(error.statement))
        else:
            self.publish("console.store_measurement", to_document(found))

    def _publish_progress(self, progress: MeasureProgress) -> None:
        self.publish("console.store_measure_progress", to_document(progress))
