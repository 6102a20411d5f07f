"""How well the bounds of a cache curve hold, on published traces: all blocks against samples of them.

The traces lie beside the repository (`tests/unit/data.py`) and are never copied into it. Of each the first reads are
played within an hour, behind an ARC of a tenth of their blocks, with feeds that reach over all of it, a quarter, and
less than one block of the smaller samples. Each sample is drawn several times, by other hashes.
"""

import gzip
import struct
from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from benchmarks.figure import Figure, Skipped
from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint, MemoryPoint, Traced
from nasadvisor.domain.evidence.curve_cache import Passes
from nasadvisor.domain.evidence.curve_distances import SPACE, BlockRead
from nasadvisor.domain.evidence.curve_model import CacheRules, CurveModel
from nasadvisor.domain.units import HOUR_S, KIB
from tests.unit.data import DATA
from tests.unit.domain.evidence.curve_reads import mixed

TRACES: Final = DATA / "traces"
READS: Final = 10_000
BLOCK: Final = 8 * KIB
ARC_SHARE: Final = 0.1
REACHES: Final = (float("inf"), 1 / 4, 1 / 32)
"""How much of the ARC a feed looks at, of each of its lists."""

SAMPLES: Final = {4: 1, 16: 3, 64: 6}
"""How often one block in so many is followed."""

LEAST: Final = 0.88
MOST: Final = 0.95
"""How many points the bounds should hold, which are said to hold 90 %."""

ODD: Final = 0x9E3779B97F4A7C15
HASHES_APART: Final = 0x517CC1B727

References = list[tuple[int, int]]
"""The blocks that are read, and their sizes."""


@dataclass
class Score:
    """How many points there were, of how many the bounds held, by how much they and the curve were off."""

    points: int = 0
    held: int = 0
    off: float = 0.0
    width: float = 0.0

    def add(self, true: CurvePoint | MemoryPoint, said: CurvePoint | MemoryPoint) -> None:
        """What all blocks say of a size, and what a sample said."""
        self.points += 1
        self.held += said.low - 1e-9 <= true.served <= said.high + 1e-9
        self.off += abs(said.served - true.served)
        self.width += said.high - said.low

    def __str__(self) -> str:
        held, off, width = self.held / self.points, self.off / self.points, self.width / self.points
        return f"{held:.1%} of {self.points}, off by {off * 100:.1f} points, {width * 100:.0f} between the bounds"


def figures() -> Iterator[Figure]:
    """The share of points that the bounds hold, for each rate and then for each trace."""
    if not TRACES.is_dir():
        raise Skipped(f"no traces in {TRACES}; NASADVISOR_DATA names the folder above it")
    scores: defaultdict[tuple[str, int], Score] = defaultdict(Score)
    for name, references in traces():
        for reach in REACHES:
            for rate, true, said in _samples(references[:READS], reach):
                for whole, part in _pairs(true, said):
                    scores["all", rate].add(whole, part)
                    scores[name, rate].add(whole, part)
    for rate in SAMPLES:
        score = scores.pop(("all", rate))
        is_met = LEAST <= score.held / score.points <= MOST
        yield Figure(f"one block in {rate} followed: held", f"{LEAST:.0%} to {MOST:.0%}", str(score), met=is_met)
    for (name, rate), score in scores.items():
        yield Figure(f"{name}, one in {rate}", "-", str(score))


def traces() -> Iterator[tuple[str, References]]:
    """The six, by the names of their publications; of those that tell no sizes, blocks of 8 KiB."""
    for name, file in (
        ("w106", "w106-first-million"),
        ("sprite", "sprite"),
        ("multi1", "multi1"),
        ("multi2", "multi2"),
    ):
        yield name, [(block, BLOCK) for block in array("I", gzip.decompress((TRACES / f"{file}.u32.gz").read_bytes()))]
    packed = gzip.decompress((TRACES / "cloudphysics.oracleGeneral.bin.gz").read_bytes())
    yield "CloudPhysics", [(block, size) for _, block, size, _ in struct.iter_unpack("<IQIq", packed)]
    rows = [line.split() for line in gzip.decompress((TRACES / "tpcc-small.txt.gz").read_bytes()).splitlines()]
    yield "TPC-C", [(int(row[1]) << 40 | int(row[2]), int(row[3]) * 512) for row in rows if row[4] == b"1"]


def _samples(references: References, reach: float) -> Iterator[tuple[int, CacheCurve, CacheCurve]]:
    """One block in how many, what all blocks say, and what so many of them do."""
    arc_bytes = int(ARC_SHARE * sum(dict(references).values()))
    rules = CacheRules(arc_bytes, Passes(arc_bytes / 8, busy_s=1.0, idle_s=5.0, reach_bytes=reach * arc_bytes))
    true = _curve(references, rules, SPACE, 0)
    for rate, times in SAMPLES.items():
        for number in range(1, times + 1):
            yield rate, true, _curve(references, rules, SPACE // rate, number)


def _curve(references: References, rules: CacheRules, threshold: int, number: int) -> CacheCurve:
    model = CurveModel(rules, threshold, most_blocks=len(references))
    for at, (block, size_bytes) in enumerate(references):
        hashed = mixed(block * ODD + number * HASHES_APART + 1)
        model.read(BlockRead(at * HOUR_S / len(references), hashed, size_bytes))
    return model.curve(Traced("1", "tank", "2026-11-27T12:00:00+00:00", HOUR_S))


def _pairs(true: CacheCurve, said: CacheCurve) -> Iterator[tuple[CurvePoint | MemoryPoint, CurvePoint | MemoryPoint]]:
    """Of each size that both looked at, in caches and in memory."""
    yield from zip(true.points, said.points, strict=False)
    yield from zip(true.memory, said.memory, strict=True)
