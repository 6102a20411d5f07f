"""One trace of reads at a time, in a thread of its own: it takes hours, and the worker has other things to do."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.curve import PoolNotThere

log = logging.getLogger(__name__)

Tracing = Callable[[str, int, Callable[[CacheCurve], None], Callable[[], bool]], CacheCurve]
"""`CurveTracer.trace`: which pool, for how many seconds, whom to tell, and whether to stop."""


def nobody_follows(
    guid: str, _seconds: int, _told: Callable[[CacheCurve], None], _is_stopped: Callable[[], bool]
) -> CacheCurve:
    """What a host without a tracer answers.

    Raises:
        PoolNotThere: always.
    """
    raise PoolNotThere(guid)


@dataclass
class CurveJob:
    """The trace that is under way. The thread ends with the process: what was told by then stays."""

    trace: Tracing
    _one: Lock = field(default_factory=Lock)
    _stop: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def start(
        self, guid: str, seconds: int, told: Callable[[CacheCurve], None], failed: Callable[[HostError], None]
    ) -> bool:
        """Begin, and hear of each part and of what went wrong; False while another trace is under way."""
        if not self._one.acquire(blocking=False):
            log.info("a trace of reads is under way already")
            return False
        self._stop.clear()
        self._thread = Thread(target=self._run, args=(guid, seconds, told, failed), name="curve", daemon=True)
        self._thread.start()
        return True

    def stop(self) -> None:
        """End it after the part that is being traced."""
        self._stop.set()

    def wait(self, timeout_s: float) -> None:
        """Until it has ended."""
        if self._thread:
            self._thread.join(timeout_s)

    def _run(
        self, guid: str, seconds: int, told: Callable[[CacheCurve], None], failed: Callable[[HostError], None]
    ) -> None:
        try:
            told(self.trace(guid, seconds, told, self._stop.is_set))
        except HostError as error:
            log.warning("trace of reads: %s", error)
            failed(error)
        finally:
            self._one.release()
