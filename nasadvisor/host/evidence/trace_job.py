"""Work that takes hours, in a thread of its own beside what the worker has to do: one of a kind at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Generic, NoReturn, TypeVar

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.curve import PoolNotThere

T = TypeVar("T")

Tracing = Callable[[str, int, Callable[[T], None], Callable[[], bool]], T]
"""`CurveTracer.trace` and `CommitTracer.trace`: which pool, for how many seconds, whom to tell, and whether to stop."""


class TraceUnderWay(HostError):  # noqa: N818 - named for what happened
    """What is asked for is followed already."""

    def __init__(self) -> None:
        template = _(
            "A trace of this kind is already running on this host, and only one can run at a time. Nothing was "
            "started. Try again when it has ended, or stop it."
        )
        super().__init__(template)


def nobody_follows(guid: str, _seconds: int, _told: object, _stopped: object) -> NoReturn:
    """What a host without a tracer answers.

    Raises:
        PoolNotThere: always.
    """
    raise PoolNotThere(guid)


@dataclass
class LongJob:
    """The work that is under way. The thread ends with the process: what was told by then stays."""

    name: str
    _one: Lock = field(default_factory=Lock)
    _thread: Thread | None = None

    def take(self) -> bool:
        """Make it one's own; False while another has it. Whoever has it must `run`."""
        return self._one.acquire(blocking=False)

    @property
    def is_taken(self) -> bool:
        """Whether somebody has it."""
        return self._one.locked()

    def run(self, work: Callable[[], None]) -> None:
        """Begin the work; the next may have its turn when it ends."""
        self._thread = Thread(target=self._run, args=(work,), name=self.name, daemon=True)
        self._thread.start()

    def wait(self, timeout_s: float) -> None:
        """Until it has ended."""
        if self._thread:
            self._thread.join(timeout_s)

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            self._one.release()


@dataclass
class TraceJob(Generic[T]):
    """The trace that is under way."""

    trace: Tracing[T]
    _stop: Event = field(default_factory=Event)
    _job: LongJob = field(default_factory=lambda: LongJob("trace"))

    def start(self, guid: str, seconds: int, told: Callable[[T], None], failed: Callable[[HostError], None]) -> None:
        """Begin, and hear of each part and of what went wrong.

        Raises:
            TraceUnderWay: another trace is.
        """
        if not self._job.take():
            raise TraceUnderWay
        self._stop.clear()
        self._job.run(lambda: self._run(guid, seconds, told, failed))

    def stop(self) -> None:
        """End it after the part that is being traced."""
        self._stop.set()

    @property
    def is_under_way(self) -> bool:
        """Whether somebody has asked for a trace that has not ended."""
        return self._job.is_taken

    def wait(self, timeout_s: float) -> None:
        """Until it has ended."""
        self._job.wait(timeout_s)

    def _run(self, guid: str, seconds: int, told: Callable[[T], None], failed: Callable[[HostError], None]) -> None:
        try:
            told(self.trace(guid, seconds, told, self._stop.is_set))
        except HostError as error:
            failed(error)
