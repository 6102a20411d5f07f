"""What a probe measured before a change and after it, side by side. Apart from the pages that order one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.models import StoredMeasurement
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.evidence.measuring.measurement import Measurement
from nasadvisor.domain.evidence.measuring.prediction import Range


@dataclass(frozen=True)
class ProbedRow:
    """One kind of load, measured before and after a run, and what was predicted; 0 and None where there is nothing."""

    block_bytes: int
    writers: int
    before_per_s: float
    after_per_s: float
    before_p99_ns: float
    after_p99_ns: float
    predicted: Range | None

    @property
    def gain(self) -> float:
        """How many times as much is done."""
        return self.after_per_s / self.before_per_s if self.before_per_s else 0.0


def probed_rows(stored: StoredRun) -> tuple[ProbedRow, ...]:
    """The last measurement before a run beside the first one after it; nothing if one of them is missing."""
    found = [each.measurement for each in StoredMeasurement.objects.filter(pool_guid=stored.pool_guid)]
    measured = sorted((each for each in found if each), key=lambda each: each.probe.at)
    before, after = _around(stored.run, measured)
    return tuple(_rows(before, after)) if before and after else ()


def _around(run: Run, measured: Iterable[Measurement]) -> tuple[Measurement | None, Measurement | None]:
    """Times are all UTC in ISO 8601, so they sort as text."""
    before = after = None
    applied = max((step.ended_at for step in run.steps), default="")
    for each in measured:
        if each.probe.at < run.started_at and not each.probe.had_log:
            before = each
        elif applied and each.probe.at > applied and each.probe.had_log and after is None:
            after = each
    return before, after


def _rows(before: Measurement, after: Measurement) -> Iterator[ProbedRow]:
    later = {(each.block_bytes, each.writers): each for each in after.probe.figures}
    predicted = {(each.block_bytes, each.writers): each.after_per_s for each in before.predictions}
    for figures in before.probe.figures:
        key = (figures.block_bytes, figures.writers)
        if key in later:
            now = later[key]
            yield ProbedRow(
                *key,
                figures.operations_per_s,
                now.operations_per_s,
                figures.sync_p99_ns,
                now.sync_p99_ns,
                predicted.get(key),
            )
