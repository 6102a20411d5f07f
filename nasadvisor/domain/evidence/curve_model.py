"""From single reads to a curve: what caches of many sizes would have served of the reads that miss the ARC.

The same reads go through nine models: one of all blocks that are followed, and one of each eighth of them. How far the
eighths are apart says how exact the whole is (`curve_bounds`).

The authors of SHARDS correct its curves by the reads that a sample has too few or too many of (SHARDS-adj): those are
of the hottest blocks, which never miss. A share of the misses has no such reads in it, so there is nothing to correct.

Nothing is counted before the ARC of the model is full, for it begins empty and the real one does not. Afterwards the
last half of the time counts, and up to three quarters of it: the caches of the model begin empty too. What one that
is not full yet does not hold, though it was read before and may be fed, it may hold later: that widens its bounds.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint, MemoryPoint, Traced
from nasadvisor.domain.evidence.curve_bounds import PARTS, ServedMisses, bounds_of
from nasadvisor.domain.evidence.curve_cache import LONGEST_BEHIND_S, ArcModel, FeedReach, Passes, RingModel
from nasadvisor.domain.evidence.curve_distances import (
    MOST_BLOCKS,
    SPACE,
    BlockRead,
    Distances,
    Shards,
    place_of,
)
from nasadvisor.domain.units import DAY_S, GIB, MIB, TIB

ROUND: Final = (1, 1.5, 2, 3, 5, 7)
SMALLEST_ARCS: Final = 0.25
LARGEST_ARCS: Final = 64
MEMORY_ARCS: Final = 4
FIRST_WINDOW_S: Final = 1.0
LONGEST_WINDOW_S: Final = float(DAY_S)
"""However long reads are followed, what was counted in the last one or two days is what counts."""

REMEMBERED: Final = 2
"""[policy] Where there are too many blocks, those are forgotten first that come back later than twice the largest size
would hold them."""

ROOM: Final = 7 / 8
"""How full the room for blocks may be after some were forgotten, so that it is not done for each."""

_WORD: Final = (1 << 64) - 1


def round_sizes(smallest_bytes: float, largest_bytes: float) -> tuple[int, ...]:
    """The sizes between two: 1, 1.5, 2, 3, 5, 7, 10 … MiB, GiB or TiB, six for each factor of ten."""
    tens = [(unit, ten) for unit in (MIB, GIB, TIB) for ten in (1, 10, 100)]
    sizes = {int(unit * ten * each) for unit, ten in tens for each in ROUND}
    return tuple(sorted(each for each in sizes if smallest_bytes <= each <= largest_bytes))


@dataclass(frozen=True)
class CacheRules:
    """The memory and the caches that are modelled. `feeds_ahead` and `serves_ahead`: blocks that are read ahead."""

    arc_bytes: int
    passes: Passes
    feeds_ahead: bool = False
    serves_ahead: bool = True

    @property
    def sizes(self) -> tuple[int, ...]:
        """From a quarter of the ARC to 64 of it."""
        return round_sizes(SMALLEST_ARCS * self.arc_bytes, LARGEST_ARCS * self.arc_bytes)

    @property
    def memory_steps(self) -> tuple[int, ...]:
        """How much more memory is looked at: up to four more ARCs."""
        return round_sizes(SMALLEST_ARCS * self.arc_bytes, MEMORY_ARCS * self.arc_bytes)


@dataclass
class Counts:
    """What was counted in some time, as of all blocks. Of the pool that is asked about only.

    `misses_of` is how often each block that is followed missed.
    """

    seconds: float = 0.0
    missed: float = 0.0
    missed_metadata: float = 0.0
    missed_bytes: float = 0.0
    missed_by_all_pools: float = 0.0
    served: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    served_metadata: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    written: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    too_early: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    distances: Distances = field(default_factory=Distances)
    misses_of: Counter[int] = field(default_factory=Counter)

    def plus(self, other: "Counts") -> "Counts":
        """Both together."""
        both = Counts(distances=self.distances.plus(other.distances), misses_of=self.misses_of + other.misses_of)
        for part in (self, other):
            for name in ("seconds", "missed", "missed_metadata", "missed_bytes", "missed_by_all_pools"):
                setattr(both, name, getattr(both, name) + getattr(part, name))
            for name in ("served", "served_metadata", "written", "too_early"):
                for key, value in getattr(part, name).items():
                    getattr(both, name)[key] += value
        return both

    def served_by(self, size: int) -> ServedMisses:
        """How many of the misses a cache would have served."""
        return ServedMisses(self.served[size], self.missed)

    def too_early_share(self, size: int) -> float:
        """The share of the misses that a cache may serve once it is full, and did not as long as it was not."""
        return self.too_early[size] / self.missed if self.missed else 0.0

    def served_by_memory(self, arc_bytes: int, more_bytes: int) -> ServedMisses:
        """How many of the misses so much more ARC would have served, both as LRU memories."""
        now = self.distances.misses(arc_bytes)
        return ServedMisses(now - self.distances.misses(arc_bytes + more_bytes), now)


class _Part:
    """The models of one share of the blocks."""

    def __init__(self, rules: CacheRules, share: float, threshold: int) -> None:
        self._rules = rules
        self.shards = Shards(threshold, share)
        rate = self.shards.rate
        self._arc = ArcModel(rules.arc_bytes * rate)
        self._reach = FeedReach(self._arc, feeds_ahead=rules.feeds_ahead)
        self._rings = {size: RingModel(size * rate, rules.passes.bytes_each * rate) for size in rules.sizes}
        self._looks, self._fed_s = 0, 0.0
        self._before, self._now = Counts(), Counts()
        self._reads_of: dict[int, BlockRead] = {}
        self._full_s: float | None = None
        self._window_ends_s, self._at_s = 0.0, 0.0
        self.own_bytes = 0.0

    @property
    def counts(self) -> Counts:
        """What counts."""
        return self._before.plus(self._now)

    def read(self, read: BlockRead) -> None:
        """One read of a block that this part follows."""
        self._pass_time(read.at_s)
        self._feed(read.at_s)
        weight = 1 / self.shards.rate
        distance = self.shards.read(read.block, read.size_bytes)
        if distance is None and read.is_own:
            self.own_bytes += read.size_bytes * weight
        if read.block not in self._reads_of or not read.is_prefetch:
            self._reads_of[read.block] = read
        hit = self._arc.read(read.block, read.size_bytes, is_prefetch=read.is_prefetch)
        counts = self._now
        if not hit:
            counts.missed_by_all_pools += weight
        if not read.is_own:
            return
        counts.distances.add(distance, weight)
        if not hit:
            self._miss(read, weight, was_read_before=distance is not None)

    def forget_oldest(self) -> None:
        """Forget what was read too long ago for any size that is looked at."""
        self.shards.forget_beyond(REMEMBERED * LARGEST_ARCS * self._rules.arc_bytes)
        self._reads_of = {
            block: read for block, read in self._reads_of.items() if block in self.shards or block in self._arc
        }
        for ring in self._rings.values():
            ring.forget_given_up()

    def forget(self, threshold: int) -> None:
        """Follow fewer blocks."""
        shrunk = threshold / self.shards.threshold
        self.shards.follow(threshold)
        self._reads_of = {block: read for block, read in self._reads_of.items() if place_of(block) < threshold}
        for counts in (self._before, self._now):
            kept = {block: count for block, count in counts.misses_of.items() if place_of(block) < threshold}
            counts.misses_of = Counter(kept)
        self._arc.forget(threshold, shrunk)
        self._reach.forget(threshold, shrunk)
        for ring in self._rings.values():
            ring.forget(threshold, shrunk)

    def _miss(self, read: BlockRead, weight: float, *, was_read_before: bool) -> None:
        counts = self._now
        was_fit = was_read_before and read.is_eligible and (self._rules.feeds_ahead or self._is_asked_for(read.block))
        counts.missed += weight
        counts.misses_of[read.block] += 1
        counts.missed_bytes += weight * read.size_bytes
        counts.missed_metadata += weight if read.is_metadata else 0
        if read.is_prefetch and not self._rules.serves_ahead:
            return
        for size, ring in self._rings.items():
            if ring.holds(read.block):
                counts.served[size] += weight
                if read.is_metadata:
                    counts.served_metadata[size] += weight
            elif was_fit and not ring.is_filled:
                counts.too_early[size] += weight

    def _is_asked_for(self, block: int) -> bool:
        """Whether any read of it was more than a read ahead."""
        return not self._reads_of[block].is_prefetch

    def _feed(self, at_s: float) -> None:
        """The passes of all rings since the last time. The ends of the lists change little in a second."""
        passes = self._rules.passes
        if at_s < self._fed_s + passes.idle_s:
            return
        looks, self._fed_s = (at_s - self._fed_s) / passes.idle_s if passes.idle_s else 1.0, at_s
        self._looks += 1
        sublists: list[list[tuple[int, int]]] = [[] for _ in range(passes.sublists)]
        chance = scattered(self._looks) / _WORD
        for block, size_bytes in self._reach.look(passes.reach_bytes * self.shards.rate, chance, looks):
            if self._may_be_fed(block):
                sublists[(block >> 8) % passes.sublists].append((block, size_bytes))
        for size, ring in self._rings.items():
            ring.due_s = max(ring.due_s, at_s - LONGEST_BEHIND_S)
            while ring.due_s <= at_s:
                wrote = ring.feed(sublists[scattered(ring.passes) % passes.sublists], passes)
                self._now.written[size] += wrote / self.shards.rate

    def _may_be_fed(self, block: int) -> bool:
        read = self._reads_of.get(block)
        return read is not None and read.is_own and read.is_eligible

    def _pass_time(self, at_s: float) -> None:
        """The last half of the time counts: from time to time the older half of what was counted is given up."""
        passed, self._at_s = max(at_s - self._at_s, 0.0), at_s
        if self._full_s is None:
            self._before, self._now = Counts(), Counts()
            self._full_s = at_s if self._arc.is_full else None
            self._window_ends_s = at_s + FIRST_WINDOW_S
            return
        self._now.seconds += passed
        if at_s >= self._window_ends_s:
            self._before, self._now = self._now, Counts()
            self._window_ends_s += min(self._window_ends_s - self._full_s, LONGEST_WINDOW_S)


def scattered(number: int) -> int:
    """A number without order, the same for the same, so that reads make one curve.

    SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). What multiplies only has an order still, and with it every other
    pass went to the part of the lists where the last one had been.
    """
    mixed = number * 0x9E3779B97F4A7C15 & _WORD
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _WORD
    return mixed ^ mixed >> 31


class CurveModel:
    """All nine models, and as few blocks as they need. `threshold` is below which hash blocks are followed."""

    def __init__(self, rules: CacheRules, threshold: int = SPACE, most_blocks: int = MOST_BLOCKS) -> None:
        self.rules = rules
        self.reads = 0
        self._most = most_blocks
        self._whole = _Part(rules, 1.0, threshold)
        self._parts = tuple(_Part(rules, 1 / PARTS, threshold) for _ in range(PARTS))

    @property
    def threshold(self) -> int:
        """Below which hash a block is followed."""
        return self._whole.shards.threshold

    def read(self, read: BlockRead) -> None:
        """One read; of a block that is not followed, nothing happens."""
        if place_of(read.block) >= self.threshold:
            return
        self.reads += 1
        self._whole.read(read)
        self._parts[read.block % PARTS].read(read)
        if len(self._whole.shards) > self._most:
            self._make_room()

    def _make_room(self) -> None:
        for part in (self._whole, *self._parts):
            part.forget_oldest()
        while len(self._whole.shards) > self._most * ROOM:
            self.follow(self.threshold // 2)

    def follow(self, threshold: int) -> None:
        """Follow only blocks below a threshold from now on."""
        if threshold < self.threshold:
            for part in (self._whole, *self._parts):
                part.forget(threshold)

    def curve(self, traced: Traced) -> CacheCurve:
        """What was found up to now."""
        counts, parts = self._whole.counts, tuple(part.counts for part in self._parts)
        seen = self._whole.own_bytes
        enough = next((size for size in self.rules.sizes if size >= seen), self.rules.sizes[-1])
        return CacheCurve(
            traced=traced,
            arc_bytes=self.rules.arc_bytes,
            followed_reads=self.reads,
            followed_share=self._whole.shards.rate,
            counted_s=counts.seconds,
            missed=round(counts.missed),
            missed_by_all_pools=round(counts.missed_by_all_pools),
            metadata_share=counts.missed_metadata / counts.missed if counts.missed else 0.0,
            first_share=counts.distances.first / counts.missed if counts.missed else 0.0,
            block_bytes=round(counts.missed_bytes / counts.missed) if counts.missed else 0,
            seen_bytes=round(seen),
            points=tuple(self._point(counts, parts, size) for size in self.rules.sizes if size <= enough),
            memory=tuple(self._memory(counts, parts, more) for more in self.rules.memory_steps),
        )

    def _point(self, counts: Counts, parts: tuple[Counts, ...], size: int) -> CurvePoint:
        served = counts.served_by(size)
        low, high = self._bounds(served, [each.served_by(size) for each in parts], counts)
        metadata = counts.served_metadata[size] / counts.missed_metadata if counts.missed_metadata else 0.0
        return CurvePoint(
            size_bytes=size,
            served=served.share,
            low=low,
            high=min(high + counts.too_early_share(size), 1.0),
            served_metadata=metadata,
            written_bytes_per_s=counts.written[size] / counts.seconds if counts.seconds else 0.0,
        )

    def _memory(self, counts: Counts, parts: tuple[Counts, ...], more: int) -> MemoryPoint:
        arc = self.rules.arc_bytes
        served = counts.served_by_memory(arc, more)
        low, high = self._bounds(served, [each.served_by_memory(arc, more) for each in parts], counts)
        return MemoryPoint(more, served.share, low, high)

    def _bounds(self, served: ServedMisses, parts: list[ServedMisses], counts: Counts) -> tuple[float, float]:
        return bounds_of(served, parts, self._whole.shards.rate, counts.misses_of.values())
