"""What a pool's programs make durable: the blocks of its ZIL, as they were traced, and as they were replayed on an SSD.

A commit writes blocks to the ZIL and flushes the disks that have them. How large these are, how they follow each other
and how many are under way at once is a pool's own; so is what an SSD makes of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Final

from nasadvisor.domain.units import KIB, MIB, YEAR_S

MOST_BLOCKS: Final = 4096
"""[policy] Of one sequence: enough for a 99th percentile, and under 100 KiB to send and to keep."""

FEWEST_BLOCKS: Final = 100
"""[policy] Of fewer there is no 99th percentile, so they are not replayed."""

MOST_AT_ONCE: Final = 64
"""[policy] More are never written at once in a replay."""

LARGEST_BLOCK: Final = 16 * MIB
"""No block of OpenZFS is larger."""

SECTOR_BYTES: Final = 4 * KIB
"""ZIL_MIN_BLKSZ (include/sys/zil.h): blocks are multiples of this."""

LAG_SHARE: Final = 0.05
LAG_S: Final = 0.5
"""[policy] A replay that takes so much longer than what was recorded did not keep up."""


@dataclass(frozen=True)
class LogBlocks:
    """Blocks of a ZIL, first issued first, in columns: microseconds after the one before, bytes, microseconds it took.

    What it took is its write and the flush after it, on the devices that the ZIL was on.

    Raises:
        ValueError: the columns differ in length, or hold what cannot be.
    """

    after_us: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    took_us: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.after_us) == len(self.sizes) == len(self.took_us) <= MOST_BLOCKS:
            raise ValueError("the columns of a sequence of blocks are of one length, and not too long")
        if any(each < 0 for each in (*self.after_us, *self.took_us)):
            raise ValueError("no time can be below zero")
        if any(not 0 < each <= LARGEST_BLOCK or each % SECTOR_BYTES for each in self.sizes):
            raise ValueError("a block has some sectors, and is not larger than OpenZFS makes them")

    @property
    def seconds(self) -> float:
        """From the first to the last."""
        return sum(self.after_us[1:]) / 1e6

    @property
    def bytes(self) -> int:
        """All of them."""
        return sum(self.sizes)

    @property
    def most_at_once(self) -> int:
        """How many were under way at most, as far as they are replayed."""
        begins = list(accumulate(self.after_us))
        ends = sorted(begin + took for begin, took in zip(begins, self.took_us, strict=True))
        most = ended = 0
        for number, begin in enumerate(begins, 1):
            while ends[ended] <= begin and ended < number - 1:
                ended += 1
            most = max(most, number - ended)
        return min(most, MOST_AT_ONCE)


@dataclass(frozen=True)
class CommitTrace:
    """What went to the ZILs of a pool in so many seconds; `at` is the end, in ISO 8601 with its offset from UTC.

    All blocks are counted; `busiest` are those of the busiest part of the trace, or its first ones if there were more.

    Raises:
        ValueError: `at` is not such a time, or a count is below zero.
    """

    pool_guid: str
    pool_name: str
    at: str
    seconds: int
    is_done: bool
    blocks: int
    written_bytes: int
    busiest: LogBlocks

    def __post_init__(self) -> None:
        if datetime.fromisoformat(self.at).tzinfo is None:
            raise ValueError("the time of a trace must say its offset from UTC")
        if min(self.seconds, self.blocks, self.written_bytes) < 0:
            raise ValueError("no count can be below zero")

    @property
    def is_enough(self) -> bool:
        """Whether it can be replayed."""
        return len(self.busiest.sizes) >= FEWEST_BLOCKS

    @property
    def blocks_per_s(self) -> float:
        """Over the whole trace."""
        return self.blocks / self.seconds if self.seconds else 0.0

    @property
    def bytes_per_year(self) -> float:
        """What would go to a log in a year like this."""
        return self.written_bytes / self.seconds * YEAR_S if self.seconds else 0.0

    @property
    def p50_ns(self) -> float:
        """What a block took on today's devices, its flush included: the median."""
        return percentile(self.busiest.took_us, 50) * 1e3

    @property
    def p99_ns(self) -> float:
        """The same, of the slowest hundredth the quickest."""
        return percentile(self.busiest.took_us, 99) * 1e3


@dataclass(frozen=True)
class Replayed:
    """The blocks of a trace, written to an SSD: each as large as it was and no earlier, and flushed before the next.

    `pool_p50_ns` and `pool_p99_ns` are what they took as they were traced. `recorded_s` is from the first to the
    last of them then, `played_s` now. `bytes_per_year` is what the whole trace would write in a year.
    """

    traced_at: str
    traced_s: int
    blocks: int
    most_at_once: int
    recorded_s: float
    played_s: float
    written_bytes: int
    p50_ns: float
    p99_ns: float
    pool_p50_ns: float
    pool_p99_ns: float
    bytes_per_year: float

    @property
    def kept_up(self) -> bool:
        """Whether the SSD took the blocks as fast as they came."""
        return self.played_s <= self.recorded_s * (1 + LAG_SHARE) + LAG_S


def replayed(trace: CommitTrace, took_ns: Sequence[int], played_s: float) -> Replayed:
    """What came of a replay that wrote the first of a trace's busiest blocks, in these times."""
    blocks = trace.busiest
    count = len(took_ns)
    before = blocks.took_us[:count]
    return Replayed(
        traced_at=trace.at,
        traced_s=trace.seconds,
        blocks=count,
        most_at_once=blocks.most_at_once,
        recorded_s=sum(blocks.after_us[1:count]) / 1e6,
        played_s=played_s,
        written_bytes=sum(blocks.sizes[:count]),
        p50_ns=percentile(took_ns, 50),
        p99_ns=percentile(took_ns, 99),
        pool_p50_ns=percentile(before, 50) * 1e3,
        pool_p99_ns=percentile(before, 99) * 1e3,
        bytes_per_year=trace.bytes_per_year,
    )


def percentile(values: Sequence[int], percent: int) -> float:
    """The smallest value that so many percent of them do not exceed; 0 if there are none."""
    if not values:
        return 0.0
    return float(sorted(values)[max(math.ceil(len(values) * percent / 100), 1) - 1])
