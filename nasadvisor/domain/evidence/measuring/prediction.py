"""What synchronous writes will be like with a log on a tested SSD, as a range; and what was measured beside it later.

The model: a commit takes the time of the SSD, which was tested, and the time of OpenZFS and the kernel on this machine.
The latter cannot be had by taking the disks' time from that of a commit: both are large and waver, their difference is
small. A write without its fsync is the same software without a disk, so it measures how fast this machine is; a commit
costs a multiple of it, and so does each writer that shares the one ZIL. The multiples were fitted to measurements of
`make evidence` (docs/explanation/evidence.md), on one kind of machine, hence the wide ranges.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.measuring.probing import CandidateResult, FioFigures, ProbeResult
from nasadvisor.domain.evidence.thresholds import US
from nasadvisor.domain.units import KIB

SOFTWARE_OF_A_COMMIT: Final = 3.5
"""[fitted] A commit costs the machine so many times what the write before it cost."""

SOFTWARE_OF_A_WRITER: Final = 2.5
"""[fitted] Each further writer adds so many times what a write costs: log blocks are filled one after the other."""

WAIT_FOR_ANOTHER: Final = 0.25
"""[fitted] A writer that is not alone waits for a commit under way: a quarter of one, for several are in flight."""

SMALLEST_WRITE_NS: Final = 3 * US
"""[policy] No machine does a write in less."""

SOFTWARE_SPREAD: Final = (0.5, 2.0)
"""[fitted] How far off the share of the software may be."""

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


def predict(probe: ProbeResult, candidate: CandidateResult) -> tuple[Prediction, ...]:
    """One prediction for each job of the probe.

    Jobs that measured nothing, or of a block size that was not tested on the SSD, are left out.
    """
    found = []
    for figures in probe.figures:
        device = _device(candidate, figures.block_bytes)
        if figures.operations_per_s and device and device.operations_per_s:
            found.append(_predict(figures, _write_ns(probe.figures, figures.block_bytes), device))
    return tuple(found)


def _predict(figures: FioFigures, write_ns: float, device: FioFigures) -> Prediction:
    software_ns = min(SOFTWARE_OF_A_COMMIT * write_ns, figures.mean_ns)
    others_ns = SOFTWARE_OF_A_WRITER * write_ns * (figures.writers - 1)
    times = (device.commit_p50_ns, device.mean_ns)

    def after_ns(device_ns: float, spread: float) -> float:
        alone_ns = device_ns + spread * software_ns
        return alone_ns if figures.writers == 1 else (1 + WAIT_FOR_ANOTHER) * alone_ns + spread * others_ns

    after = Range(
        after_ns(DEVICE_SPREAD[0] * min(times), SOFTWARE_SPREAD[0]),
        after_ns(device.mean_ns, 1),
        after_ns(DEVICE_SPREAD[1] * max(times), SOFTWARE_SPREAD[1]),
    )
    per_s = Range(*(figures.writers * 1e9 / each for each in (after.high, after.likely, after.low)))
    return Prediction(figures.block_bytes, figures.writers, figures.mean_ns, figures.operations_per_s, after, per_s)


def _write_ns(figures: Iterable[FioFigures], block_bytes: int) -> float:
    """What a write of this size without its sync costs: the best of the jobs, for the others waited for something."""
    found = (each.write_p50_ns for each in figures if each.block_bytes == block_bytes)
    return max(min(found), SMALLEST_WRITE_NS)


def _device(candidate: CandidateResult, block_bytes: int) -> FioFigures | None:
    """What the SSD does with one writer, at the block that a log block of this write needs."""
    wanted = block_bytes + BLOCK_OVERHEAD_BYTES
    alone = sorted((each for each in candidate.figures if each.writers == 1), key=lambda each: each.block_bytes)
    return next((each for each in alone if each.block_bytes >= wanted), alone[-1] if alone else None)
