"""One measurement by writing, as it is ordered and as it is told: a probe of a pool, and if asked a test of an SSD."""

from dataclasses import dataclass

from nasadvisor.domain.prediction import Prediction, predict
from nasadvisor.domain.probing import CandidateResult, ProbeResult
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.suitability import suitability


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
