"""The curve of a pool's cache: which share of the reads that go to its disks a cache of each size would answer.

A prediction from reads that were followed for a while (`curve_model`), with its error, the memory for the headers, and
what would be written. Sizes are bytes, shares between 0 and 1.
"""

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from nasadvisor.domain.evidence.thresholds import HEADER_SHARE, L2_USEFUL
from nasadvisor.domain.figures import duration, percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.sizing import header_memory_bytes
from nasadvisor.domain.units import DAY_S, YEAR_S, size_text

SHORTEST_S: Final = 60
LONGEST_S: Final = DAY_S
"""How long reads may be followed."""

FEWEST_MISSES_FOLLOWED: Final = 500
"""[policy] From so few misses that were followed nothing is read off."""

FOLLOWED_S: Final = 55 * 60
"""[policy] A size to buy by is read off reads that were followed for about an hour, and off none shorter."""

KNEE_SHARE: Final = 0.25
"""[policy] A larger cache must bring at least this share, for each GiB, of what a GiB brought up to there."""

UNKNOWN_AT_MOST: Final = 1 / 3
"""[policy] Where more of the misses were first reads, or came before a cache of that size was full, a curve says what
a cache would serve at least, and no most."""

STILL_RISES: Final = 0.05
"""[policy] A curve that gains so much with its last doubling has not ended where the trace has."""


@dataclass(frozen=True)
class Traced:
    """Which reads a curve is made of. `at` is the end, in ISO 8601 with its offset from UTC; `seconds` were watched.

    `missed` is how many reads the ARC really missed in that time, of all pools, as its own counters say; 0 unknown.
    `is_done` is whether all of the time that was asked for has passed; where nobody asked and reads are followed all
    day (`is_all_day`), each curve is whole.

    Raises:
        ValueError: `at` is not such a time, or `seconds` is below zero.
    """

    pool_guid: str
    pool_name: str
    at: str
    seconds: int
    missed: int = 0
    is_done: bool = True
    is_all_day: bool = False

    def __post_init__(self) -> None:
        if datetime.fromisoformat(self.at).tzinfo is None:
            raise ValueError("the time of a curve must say its offset from UTC")
        if self.seconds < 0:
            raise ValueError("a trace cannot take less than no time")


@dataclass(frozen=True)
class CurvePoint:
    """A cache of one size: the share of the misses that it would serve, between which bounds, and what is written."""

    size_bytes: int
    served: float
    low: float
    high: float
    served_metadata: float
    written_bytes_per_s: float

    @property
    def written_bytes_per_year(self) -> float:
        """What would be written to it in a year like the time that was traced."""
        return self.written_bytes_per_s * YEAR_S


@dataclass(frozen=True)
class MemoryPoint:
    """So much more ARC, and the share of the misses that it would serve."""

    more_bytes: int
    served: float
    low: float
    high: float


@dataclass(frozen=True)
class CacheCurve:
    """The curve of one pool. Counts are of all blocks, worked out from those that were followed.

    `missed` is what the model's ARC missed of this pool in the `counted_s` that count, `first_share` how much of that
    were blocks that nobody had read before in the trace: they count as not served, and whether a cache would have held
    them, only a longer trace tells. `seen_bytes` is how much of the pool was read at all.
    """

    traced: Traced
    arc_bytes: int
    followed_reads: int
    followed_share: float
    counted_s: float
    missed: int
    missed_by_all_pools: int
    metadata_share: float
    first_share: float
    block_bytes: int
    seen_bytes: int
    points: tuple[CurvePoint, ...]
    memory: tuple[MemoryPoint, ...]

    @property
    def pool_guid(self) -> str:
        """Whose reads were followed."""
        return self.traced.pool_guid

    @property
    def is_done(self) -> bool:
        """Whether all of the time that was asked for has passed."""
        return self.traced.is_done

    @property
    def is_enough(self) -> bool:
        """Whether enough misses were followed to read anything off it."""
        return bool(self.points) and self.missed * self.followed_share >= FEWEST_MISSES_FOLLOWED

    @property
    def is_least(self) -> bool:
        """Whether so much was read for the first time that the curve is only what a cache would serve at least."""
        return self.first_share > UNKNOWN_AT_MOST

    def is_least_at(self, point: CurvePoint) -> bool:
        """Whether what is said of that size is only what a cache would serve at least."""
        return self.first_share + point.high - point.served > UNKNOWN_AT_MOST

    def at_most(self, point: CurvePoint) -> float:
        """The most that a cache of that size would serve: if little is known of it, with all that was read first."""
        return min(point.high + self.first_share, 1.0) if self.is_least_at(point) else point.high

    def point_near(self, size_bytes: int) -> CurvePoint | None:
        """The size that was looked at next to this one; None without any."""
        return min(self.points, key=lambda each: abs(each.size_bytes - size_bytes), default=None)

    @property
    def is_followed(self) -> bool:
        """Whether reads were followed long enough to decide by."""
        return self.is_enough and self.traced.seconds >= FOLLOWED_S

    @property
    def tells_size(self) -> bool:
        """Whether reads were followed long enough to tell how large a cache should be, and none larger."""
        return self.is_followed and not self.is_least and not self.unfilled

    @property
    def unfilled(self) -> CurvePoint | None:
        """The smallest cache, from the knee on, of which the trace was too short to tell the most; None without."""
        smallest = self.knee.size_bytes if self.knee else 0
        from_there = (each for each in self.points if each.size_bytes >= smallest)
        return next((each for each in from_there if each.high - each.served > UNKNOWN_AT_MOST), None)

    @property
    def most(self) -> CurvePoint | None:
        """The point that serves most; None without any."""
        return max(self.points, key=lambda each: each.served, default=None)

    @property
    def knee(self) -> CurvePoint | None:
        """The size above which each GiB more brings less than a quarter of what those below brought on the mean.

        None if nothing can be read off. It is looked for on the upper hull of the curve, so that a flat part before a
        cliff does not end the search, and on sizes, not on their logarithms: an SSD's price, its wear and the headers
        grow with the size.
        """
        best = self.most
        if not self.is_enough or best is None or best.served < L2_USEFUL:
            return None
        hull = _upper_hull(self.points)
        found = hull[0]
        for before, after in pairwise(hull):
            if _slope(before, after) < KNEE_SHARE * after.served / after.size_bytes:
                break
            found = after
        return found

    @property
    def still_rises(self) -> bool:
        """Whether the largest cache that could be looked at still gains: a longer trace would tell more."""
        if not self.points or self.points[-1].size_bytes >= self.seen_bytes:
            return False
        last = self.points[-1]
        half = [each for each in self.points if each.size_bytes <= last.size_bytes / 2]
        return bool(half) and last.served - half[-1].served >= STILL_RISES

    def header_bytes(self, size_bytes: int) -> int:
        """The memory for the headers of a full cache of that size."""
        return header_memory_bytes(size_bytes, self.block_bytes) if self.block_bytes else 0

    def memory_for(self, served: float) -> MemoryPoint | None:
        """The least memory that would serve at least so much; None if none of those looked at would."""
        return next((each for each in self.memory if each.served >= served), None)


def _slope(before: CurvePoint, after: CurvePoint) -> float:
    """What a byte between two sizes brings."""
    return (after.served - before.served) / (after.size_bytes - before.size_bytes)


def _upper_hull(points: tuple[CurvePoint, ...]) -> list[CurvePoint]:
    """The points from which, seen from below zero on, the curve falls off on both sides."""
    nothing = CurvePoint(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    hull = [nothing]
    for each in points:
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], each):
            hull.pop()
        hull.append(each)
    return hull[1:]


def curve_in_words(curve: CacheCurve) -> Statement:
    """The one sentence that a curve amounts to."""
    knee, best = curve.knee, curve.most
    values = {"time": duration(curve.traced.seconds)}
    if not curve.is_enough or best is None:
        return Statement(
            "curve-too-little",
            _(
                "In {time}, too few reads went to the disks to predict the effect of a cache. Trace again while the "
                "pool is in use."
            ),
            values,
        )
    if knee is None and curve.unfilled:
        return Statement(
            "curve-unfilled-nothing",
            _(
                "In {time}, no cache of {size} could fill up, so its effect cannot be predicted. Only a longer trace "
                "shows more."
            ),
            {**values, "size": size_text(curve.unfilled.size_bytes)},
        )
    if knee is None:
        return Statement(
            "curve-nothing",
            _(
                "No cache up to {size} would serve more than about {share} of the reads that now go to the disks: in "
                "{time}, hardly any data was read again."
            ),
            {**values, "size": size_text(curve.points[-1].size_bytes), "share": percent(best.high)},
        )
    if curve.is_least:
        return Statement(
            "curve-least",
            _(
                "A cache of {size} would serve at least about {share} of the reads that now go to the disks. {first} "
                "of them were first reads of a block within {time}; only a longer trace shows how many of those "
                "blocks are read again."
            ),
            {
                **values,
                "size": size_text(knee.size_bytes),
                "share": percent(knee.served),
                "first": percent(curve.first_share),
            },
        )
    if curve.unfilled:
        return Statement(
            "curve-unfilled",
            _(
                "A cache of {size} would serve at least about {share} of the reads that now go to the disks. In "
                "{time}, no cache of {unfilled} or more could fill up; only a longer trace shows how much those would "
                "serve."
            ),
            {
                **values,
                "size": size_text(knee.size_bytes),
                "share": percent(knee.served),
                "unfilled": size_text(curve.unfilled.size_bytes),
            },
        )
    return Statement(
        "curve-knee",
        _(
            "A cache of {size} would serve about {share} ({low} to {high}) of the reads that now go to the disks; a "
            "larger one gains less per GiB."
        ),
        {
            "size": size_text(knee.size_bytes),
            "share": percent(knee.served),
            "low": percent(knee.low),
            "high": percent(knee.high),
        },
    )


def size_from_curve(curve: CacheCurve, arc_most_bytes: int) -> CurvePoint | None:
    """The cache to recommend: the knee, or the largest below it whose headers take a tenth of the ARC at the most.

    None where the curve says that none is worth it, or does not know.
    """
    knee = curve.knee
    if knee is None or not curve.tells_size:
        return None
    most = arc_most_bytes * HEADER_SHARE
    fitting = [each for each in curve.points if each.size_bytes <= knee.size_bytes]
    fitting = [each for each in fitting if not most or curve.header_bytes(each.size_bytes) <= most]
    return fitting[-1] if fitting else None
