"""One measurement by writing, as it is ordered and as it is told: a probe of a pool, and if asked a test of an SSD."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from nasadvisor.domain.evidence.commits import UNKNOWN_SSD, SsdTime
from nasadvisor.domain.evidence.measuring.prediction import Prediction, predict
from nasadvisor.domain.evidence.measuring.probing import CandidateResult, ProbeResult
from nasadvisor.domain.evidence.measuring.suitability import ssd_time, suitability
from nasadvisor.domain.statements import Finding


@dataclass(frozen=True)
class MeasureOrder:
    """What somebody wants measured. `id` names dataset and record; `disk_key` is "" without an SSD.

    `seconds` is for each job; `test_bytes` is how much of the SSD is used, 0 for our own choice.
    """

    id: str
    pool_guid: str
    disk_key: str = ""
    seconds: int = 10
    test_bytes: int = 0


class Stage(StrEnum):
    """What a measurement does, in this order; the last three only where an SSD is tested."""

    LOOK = "look"  # whether the pool is quiet
    PROBE = "probe"  # the pool is written to
    FILL = "fill"  # the SSD's fast cache is filled
    TEST = "test"  # the SSD is written to as a log is
    REPLAY = "replay"  # the pool's own commits are written to the SSD


Begin = Callable[[Stage, int, int], None]
"""Told of each part of a measurement as it begins: the stage, its number in the stage (from 1), how many there are."""


@dataclass(frozen=True)
class MeasureProgress:
    """How far a measurement is. `at` is when this part began (UTC), `left_s` how long it and what follows will take.

    Both lengths are those of the loads; to make and to remove what they write to takes some seconds more.
    """

    order_id: str
    stage: Stage
    number: int
    count: int
    at: str
    left_s: float
    total_s: float

    def left_at(self, now: datetime) -> timedelta:
        """How long it will still take at a later time."""
        passed = (now - datetime.fromisoformat(self.at)).total_seconds()
        return timedelta(seconds=max(self.left_s - passed, 0.0))


@dataclass(frozen=True)
class Measurement:
    """What was measured."""

    order: MeasureOrder
    probe: ProbeResult
    candidate: CandidateResult | None = None

    @property
    def suitability(self) -> Finding | None:
        """What to think of the tested SSD as a log."""
        return suitability(self.candidate) if self.candidate else None

    @property
    def predictions(self) -> tuple[Prediction, ...]:
        """What a log on the tested SSD would do; nothing without one."""
        if self.candidate is None:
            return ()
        return predict(self.probe, self.candidate)


def tested_ssd(newest_first: Iterable[Measurement]) -> SsdTime:
    """The time of the SSD that was tested last; what an untested one may need where none was."""
    times = (ssd_time(each.candidate) for each in newest_first if each.candidate)
    return next(filter(None, times), UNKNOWN_SSD)
