"""Reuse distances of a sample of blocks: what an LRU memory of any size would have served, from one pass over reads.

SHARDS (Waldspurger and others, "Efficient MRC Construction with SHARDS", FAST 2015): a block is followed if the hash
of its address is below a threshold, so all reads of it are seen or none. Distances between them, in bytes of other
blocks, grow by the share that is followed. Libraries were looked at: libCacheSim simulates whole traces from files,
and sortedcontainers cannot add up sizes by rank, which is all that is needed here.
"""

import math
from collections import defaultdict
from typing import Final, NamedTuple

SPACE: Final = 1 << 24
"""Hashes are compared as numbers below this; a threshold of so much follows every block."""

STEPS_A_DOUBLING: Final = 16
"""Distances are counted in steps of 4.4 %."""

MOST_BLOCKS: Final = 16_384
"""How many blocks are followed at once. The authors measured 8,192 to be exact to about 0.01 on the mean."""


class BlockRead(NamedTuple):
    """One read as `arc_read()` of OpenZFS was asked for it; blocks are told apart by a hash.

    `size_bytes` is the size after compression. `is_eligible` is whether its dataset lets it into a cache, `is_own`
    whether it is of the pool that is asked about: all pools share one ARC. A named tuple: there are millions.
    """

    at_s: float
    block: int
    size_bytes: int
    is_metadata: bool = False
    is_prefetch: bool = False
    is_eligible: bool = True
    is_own: bool = True


def place_of(block: int) -> int:
    """Where the hash of a block's address stands below `SPACE`: the 24 bits from bit 32 on (`arc_reads.bt`)."""
    return (block >> 32) & (SPACE - 1)


class Distances:
    """How many reads had which distance, in steps; `first` are those of blocks that were not read before."""

    def __init__(self) -> None:
        self.counts: defaultdict[int, float] = defaultdict(float)
        self.first = 0.0

    def add(self, distance_bytes: float | None, weight: float) -> None:
        """Count a read for as many as it stands for."""
        if distance_bytes is None:
            self.first += weight
        else:
            self.counts[step_of(distance_bytes)] += weight

    @property
    def reads(self) -> float:
        """All of them."""
        return self.first + sum(self.counts.values())

    def misses(self, size_bytes: int) -> float:
        """How many reads an LRU memory of so many bytes would not have served."""
        return self.first + sum(count for step, count in self.counts.items() if _largest(step) > size_bytes)

    def plus(self, other: "Distances") -> "Distances":
        """Both together."""
        both = Distances()
        for part in (self, other):
            both.first += part.first
            for step, count in part.counts.items():
                both.counts[step] += count
        return both


def step_of(distance_bytes: float) -> int:
    """The step in which a distance is counted."""
    return max(math.ceil(math.log2(distance_bytes) * STEPS_A_DOUBLING), 0) if distance_bytes > 1 else 0


def _largest(step: int) -> float:
    return 2.0 ** (step / STEPS_A_DOUBLING) if step else 0.0


class ReuseStack:
    """The blocks in the order of their last reads, with a Fenwick tree of their sizes over that order."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._tree = [0] * 1025
        self._next = 1
        self.total_bytes = 0

    def __len__(self) -> int:
        return len(self._places)

    def touch(self, block: int, size_bytes: int) -> int | None:
        """Read a block: the bytes of all blocks read since its last read, its own included; None the first time."""
        if self._next >= len(self._tree):
            self._renumber()
        place, distance = self._places.get(block), None
        if place is not None:
            distance = self.total_bytes - self._until(place) + size_bytes
            self._add(place, -self._sizes[block])
        self._places[block], self._sizes[block] = self._next, size_bytes
        self._add(self._next, size_bytes)
        self._next += 1
        return distance

    def __contains__(self, block: int) -> bool:
        """Whether it was read, and not forgotten since."""
        return block in self._places

    def forget_beyond(self, most_bytes: float) -> None:
        """Forget the blocks that were not read for longest, all beyond so many bytes."""
        kept, used = set[int](), 0
        for block in sorted(self._places, key=self._places.__getitem__, reverse=True):
            used += self._sizes[block]
            if used > most_bytes:
                break
            kept.add(block)
        self._keep(kept)

    def forget(self, threshold: int) -> None:
        """Follow only blocks below a threshold from now on."""
        self._keep({block for block in self._places if place_of(block) < threshold})

    def _keep(self, kept: set[int]) -> None:
        self._places = {block: place for block, place in self._places.items() if block in kept}
        self._sizes = {block: self._sizes[block] for block in self._places}
        self._renumber()

    def _until(self, place: int) -> int:
        """The bytes of the blocks up to and with this place."""
        tree, found = self._tree, 0
        while place:
            found += tree[place]
            place &= place - 1
        return found

    def _add(self, place: int, size_bytes: int) -> None:
        tree, end = self._tree, len(self._tree)
        self.total_bytes += size_bytes
        while place < end:
            tree[place] += size_bytes
            place += place & -place

    def _renumber(self) -> None:
        """Close the gaps that blocks left when they were read again; with as much room again before the next time."""
        ordered = sorted(self._places, key=self._places.__getitem__)
        self._tree = [0] * (2 * max(len(ordered), 512) + 1)
        self._places = {block: number for number, block in enumerate(ordered, 1)}
        self._next, self.total_bytes = len(ordered) + 1, 0
        for block, place in self._places.items():
            self._add(place, self._sizes[block])


class Shards:
    """SHARDS over a `ReuseStack`. `share` is which part of the blocks below the threshold are given to it."""

    def __init__(self, threshold: int = SPACE, share: float = 1.0) -> None:
        self.threshold = threshold
        self._share = share
        self._stack = ReuseStack()

    def __len__(self) -> int:
        return len(self._stack)

    @property
    def rate(self) -> float:
        """The share of all blocks that is followed."""
        return self.threshold / SPACE * self._share

    def read(self, block: int, size_bytes: int) -> float | None:
        """The distance of one read of a block that is followed, as of all blocks; None the first time."""
        distance = self._stack.touch(block, size_bytes)
        return None if distance is None else distance / self.rate

    def __contains__(self, block: int) -> bool:
        """Whether the distance of its next read will be known."""
        return block in self._stack

    def forget_beyond(self, distance_bytes: float) -> None:
        """Forget the blocks whose next read would be further than that from their last one."""
        self._stack.forget_beyond(distance_bytes * self.rate)

    def follow(self, threshold: int) -> None:
        """Follow only blocks below a threshold from now on: less of them, once they would be too many."""
        self.threshold = threshold
        self._stack.forget(threshold)
