"""The picture of before and after: how long synchronous writes took, side by side on one scale. Drawn as SVG by us.

The same heat map as that of a pool's page, but without a script: reports that are printed have it too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from math import log2, log10
from typing import Final

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext

from nasadvisor.console.charts.svg import NARROW, WIDE
from nasadvisor.domain.evidence.comparison import with_departed
from nasadvisor.domain.evidence.histogram import BUCKETS, EMPTY, Histogram, merged
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.samples import Sample, VdevActivity
from nasadvisor.domain.evidence.workload import zil_leaves

LEFT: Final = 56
RIGHT: Final = 8
GAP: Final = 16
TOP: Final = 24
BOTTOM: Final = 24
ROW: Final = 15
LEAST_COLUMN: Final = 6
"""Narrower ones cannot be told apart on paper."""

LEVELS: Final = 8
"""Colours from few to many."""

DECADES: Final = 4
"""Between the first and the last colour: from one write to ten thousand in the same time."""

FIRSTS: Final = (1, 2, 5)
UNITS: Final = ((10**9, "s"), (10**6, "ms"), (10**3, "µs"), (1, "ns"))
LARGEST_NS: Final = 10**12
SHORT: Final = timedelta(days=1)
ROOM_FOR_BOTH: Final = 200


@dataclass(frozen=True)
class Label:
    """Words at a place."""

    at: float
    words: str


@dataclass(frozen=True)
class Cells:
    """All the cells of one colour, 0 for the fewest writes."""

    level: int
    path: str


@dataclass(frozen=True)
class LatencyMap:
    """One of the two maps, from when to when. `middle` is the height of the median."""

    left: float
    right: float
    cells: tuple[Cells, ...]
    middle: float
    median_ns: float
    begin: str
    end: str

    @property
    def width(self) -> float:
        """From its left to its right edge."""
        return round(self.right - self.left, 1)


@dataclass(frozen=True)
class LatencyPair:
    """All that the template draws; lengths are units of the view box. `most` writes a second have the last colour."""

    width: int
    height: int
    top: int
    bottom: int
    before: LatencyMap
    after: LatencyMap
    times: tuple[Label, ...]
    most: float

    @property
    def sides(self) -> tuple[LatencyMap, LatencyMap]:
        """Both, the older one first."""
        return (self.before, self.after)

    @property
    def inner(self) -> int:
        """The height of the maps."""
        return self.bottom - self.top


@dataclass(frozen=True)
class _Writes:
    """The synchronous writes of one side: histograms by the end of their sample, in order."""

    found: tuple[tuple[int, float, Histogram], ...]

    @property
    def begin(self) -> int:
        at, seconds, _ = self.found[0]
        return at - int(seconds)

    @property
    def end(self) -> int:
        return self.found[-1][0]

    @property
    def all(self) -> Histogram:
        return merged([each for _, _, each in self.found])

    def columns(self, count: int) -> dict[int, list[float]]:
        """Writes a second of each bucket in so many columns of the same length, those left out that nobody watched."""
        length = max(self.end - self.begin, 1)

        def place(row: tuple[int, float, Histogram]) -> int:
            return min(int((row[0] - row[1] / 2 - self.begin) / length * count), count - 1)

        columns = {at: list(rows) for at, rows in groupby(self.found, key=place)}
        return {
            at: [number / seconds for number in merged([each for _, _, each in rows]).counts]
            for at, rows in columns.items()
            if (seconds := sum(each for _, each, _ in rows))
        }


def latency_pairs(before: Sequence[Sample], after: Sequence[Sample], facts: PoolFacts) -> tuple[LatencyPair, ...]:
    """Draw it for wide and for narrow screens; nothing where one side has nothing to show."""
    facts = with_departed(facts, [*before, *after])
    sides = _writes(before, facts), _writes(after, facts)
    if not all(side.found and side.all.total for side in sides):
        return ()
    return tuple(_pair(sides, width) for width in (WIDE, NARROW))


def _pair(sides: "tuple[_Writes, _Writes]", width: int) -> LatencyPair:
    counts = [bucket for side in sides for bucket, count in enumerate(side.all.counts) if count]
    low, high = max(min(counts) - 1, 0), min(max(counts) + 2, BUCKETS)
    bottom = TOP + (high - low) * ROW
    half = (width - LEFT - RIGHT - GAP) / 2
    number = min(int(half / LEAST_COLUMN), *(len(side.found) for side in sides))
    columns = [side.columns(number) for side in sides]
    most = max(max(rates) for found in columns for rates in found.values() if rates)
    lefts = (LEFT, LEFT + half + GAP)
    before, after = (
        _side(side, found, CellFrame(left, half / number, bottom, low, most), half)
        for side, found, left in zip(sides, columns, lefts, strict=True)
    )
    times = tuple(_round_times(low, high, bottom))
    return LatencyPair(width, bottom + BOTTOM, TOP, bottom, before, after, times, most)


@dataclass(frozen=True)
class CellFrame:
    """Where the cells of a side are, how wide one is, and how many writes a second have the last colour."""

    left: float
    column: float
    bottom: float
    low: int
    most: float

    def y(self, ns: float) -> float:
        """The height of a time."""
        return round(self.bottom - (log2(max(ns, 1)) - self.low) * ROW, 1)

    def cell(self, column: int, bucket: int) -> str:
        """A path around one bucket of one column; a little wider than it is, so that no gap shows between two."""
        x, y, wide = self.left + column * self.column, self.bottom - (bucket + 1 - self.low) * ROW, self.column + 0.2
        return f"M{x:.1f} {y}h{wide:.1f}v{ROW}h-{wide:.1f}z"

    def level(self, rate: float) -> int:
        """The colour of a rate; the scale is a logarithm, as rates are spread over orders of magnitude."""
        share = 1 - log10(self.most / rate) / DECADES
        return min(max(int(share * LEVELS), 0), LEVELS - 1)


def _side(writes: _Writes, columns: dict[int, list[float]], frame: CellFrame, width: float) -> LatencyMap:
    cells: dict[int, list[str]] = {}
    for column, rates in columns.items():
        for bucket, rate in enumerate(rates):
            if rate:
                cells.setdefault(frame.level(rate), []).append(frame.cell(column, bucket))
    median = writes.all.quantile_ns(0.5)
    length = writes.end - writes.begin
    return LatencyMap(
        left=round(frame.left, 1),
        right=round(frame.left + width, 1),
        cells=tuple(Cells(level, "".join(found)) for level, found in sorted(cells.items())),
        middle=frame.y(median),
        median_ns=median,
        begin=_clock(writes.begin, length, width),
        end=_clock(writes.end, length, width),
    )


def _writes(samples: Iterable[Sample], facts: PoolFacts) -> _Writes:
    """What the devices did that took most of the synchronous writes."""
    ordered = sorted(samples, key=lambda each: each.at)
    sums: dict[str, int] = {}
    for sample in ordered:
        for vdev in sample.vdevs:
            sums[vdev.guid] = sums.get(vdev.guid, 0) + vdev.sync_writes
    whole = Sample("", "", 0, 0.0, vdevs=tuple(VdevActivity(guid, sync_writes=count) for guid, count in sums.items()))
    guids = {leaf.guid for leaf in zil_leaves(whole, facts)}
    return _Writes(tuple((each.at, each.seconds, _of(each, guids)) for each in ordered))


def _of(sample: Sample, guids: set[str]) -> Histogram:
    found = EMPTY
    for vdev in sample.vdevs:
        if vdev.guid in guids:
            found = found + vdev.writes
    return found


def _round_times(low: int, high: int, bottom: float) -> Iterable[Label]:
    """1, 2 and 5 of each power of ten."""
    power = 1
    while power < LARGEST_NS:
        for ns in (first * power for first in FIRSTS):
            if 2**low < ns < 2**high:
                yield Label(round(bottom - (log2(ns) - low) * ROW, 1), _time(ns))
        power *= 10


def _time(ns: int) -> str:
    per, unit = next((per, unit) for per, unit in UNITS if ns >= per)
    return f"{number_format(ns // per)} {unit}"


def _clock(seconds: int, length: float, width: float) -> str:
    """Day and time where there is room for both, else what tells the two ends apart."""
    at = timezone.localtime(datetime.fromtimestamp(seconds, timezone.get_current_timezone()))
    if width >= ROOM_FOR_BOTH:
        return date_format(at, gettext("j M H:i"))
    return date_format(at, "H:i" if length <= SHORT.total_seconds() else gettext("j M"))
