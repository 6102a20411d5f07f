"""What synchronous writes will be like with a log on a tested SSD, as a range; and what was measured beside it later.

The model: a commit takes the time of the device plus a remainder for the rest of the machine (OpenZFS, the kernel, the
processor). The remainder is what the pool's own commits took beyond its disks, and stays. The device's share is
replaced by what was measured on the SSD. Several writers slow each other down by the same factor as before, because
they still share one ZIL.
"""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.probing import CandidateResult, FioFigures, ProbeResult, figure_of
from nasadvisor.domain.thresholds import US
from nasadvisor.domain.units import KIB
from nasadvisor.domain.workload import CommitTime

SMALLEST_REST_NS: Final = 50 * US
"""[policy] No machine does a commit in less beside its device."""

REST_SPREAD: Final = (0.7, 1.5)
"""[policy] How far off the remainder may be: it comes from the difference of two measurements."""

DEVICE_SPREAD: Final = (0.85, 1.15)
"""[policy] How far the SSD's median may shift between the test and the real load."""

BLOCK_OVERHEAD_BYTES: Final = 4 * KIB
"""A log block is the write and a record around it, so an SSD is looked up at the next larger block."""


@dataclass(frozen=True)
class Range:
    """Between what and what, and what is most likely."""

    low: float
    likely: float
    high: float

    def covers(self, value: float) -> bool:
        """Whether a measured value lies in it."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Prediction:
    """For one kind of load: the time of a commit in ns and operations a second, before (measured) and after."""

    block_bytes: int
    writers: int
    before_ns: float
    before_per_s: float
    after_ns: Range
    after_per_s: Range


def predict(probe: ProbeResult, pool: CommitTime, candidate: CandidateResult) -> tuple[Prediction, ...]:
    """One prediction for each job of the probe; `pool` is what the pool's disks took while it was probed.

    Jobs that measured nothing, or of a block size that was not tested on the SSD, are left out.
    """
    found = []
    for figures in probe.figures:
        alone = figure_of(probe.figures, figures.block_bytes, 1)
        device = _device(candidate, figures.block_bytes)
        if alone and device and figures.operations_per_s and alone.operations_per_s:
            found.append(_predict(figures, alone, pool, device))
    return tuple(found)


def _predict(figures: FioFigures, alone: FioFigures, pool: CommitTime, device: FioFigures) -> Prediction:
    before_ns = figures.writers / figures.operations_per_s * 1e9
    alone_ns = 1e9 / alone.operations_per_s
    crowding = max(before_ns / alone_ns, 1.0)
    rest_ns = max(alone_ns - pool.likely_ns, SMALLEST_REST_NS)
    device_ns = device.commit_p50_ns
    low = REST_SPREAD[0] * rest_ns + DEVICE_SPREAD[0] * device_ns
    high = REST_SPREAD[1] * rest_ns + DEVICE_SPREAD[1] * max(device_ns, device.write_p50_ns + device.sync_mean_ns)
    after = Range(low * crowding, (rest_ns + device_ns) * crowding, high * crowding)
    per_s = Range(*(figures.writers * 1e9 / each for each in (after.high, after.likely, after.low)))
    return Prediction(figures.block_bytes, figures.writers, before_ns, figures.operations_per_s, after, per_s)


def _device(candidate: CandidateResult, block_bytes: int) -> FioFigures | None:
    """What the SSD does with one writer, at the block that a log block of this write needs."""
    wanted = block_bytes + BLOCK_OVERHEAD_BYTES
    alone = sorted((each for each in candidate.figures if each.writers == 1), key=lambda each: each.block_bytes)
    return next((each for each in alone if each.block_bytes >= wanted), alone[-1] if alone else None)
