"""One trace of reads at a time, beside what the worker has to do."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.curve import PoolNotThere
from nasadvisor.host.evidence.long_job import LongJob

log = logging.getLogger(__name__)

Tracing = Callable[[str, int, Callable[[CacheCurve], None], Callable[[], bool]], CacheCurve]
"""`CurveTracer.trace`: which pool, for how many seconds, whom to tell, and whether to stop."""


class TraceUnderWay(HostError):  # noqa: N818 - named for what happened
    """Reads are followed already."""

    def __init__(self) -> None:
        template = _(
            "The reads of a pool on this host are being followed already, and only one trace runs at a time. Nothing "
            "was begun. Try again when it has ended, or stop it."
        )
        super().__init__(template)


def nobody_follows(
    guid: str, _seconds: int, _told: Callable[[CacheCurve], None], _stopped: Callable[[], bool]
) -> CacheCurve:
    """What a host without a tracer answers.

    Raises:
        PoolNotThere: always.
    """
    raise PoolNotThere(guid)


@dataclass
class CurveJob:
    """The trace that is under way."""

    trace: Tracing
    _stop: Event = field(default_factory=Event)
    _job: LongJob = field(default_factory=lambda: LongJob("curve"))

    def start(
        self, guid: str, seconds: int, told: Callable[[CacheCurve], None], failed: Callable[[HostError], None]
    ) -> None:
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

    def wait(self, timeout_s: float) -> None:
        """Until it has ended."""
        self._job.wait(timeout_s)

    def _run(
        self, guid: str, seconds: int, told: Callable[[CacheCurve], None], failed: Callable[[HostError], None]
    ) -> None:
        try:
            told(self.trace(guid, seconds, told, self._stop.is_set))
        except HostError as error:
            log.warning("trace of reads: %s", error)
            failed(error)
