"""What a cache (L2ARC) is: a ring that is written at a limited rate with what the ARC drops, and never sorted.

A model in small (Waldspurger and others, "Cache Modeling and Optimization using Miniature Simulations", ATC 2017): the
blocks that are followed are a share of all, so a memory and rings of that share of their sizes behave alike.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from nasadvisor.domain.evidence.curve_distances import place_of

LONGEST_BURST_S: Final = 1.0
"""What the feed thread may catch up with: l2arc_feed_secs, the time between two of its passes (zfs(4))."""

Dropped = Callable[[int, int], None]
"""Told of each block that leaves the memory, and its size."""


class ArcModel:
    """The ARC of Megiddo and Modha (FAST 2003) in bytes, which is what OpenZFS builds on (module/zfs/arc.c).

    Blocks read once and blocks read more often have a list each; reads of blocks that were just dropped from one move
    the balance towards it. What was only read ahead does not count as read.
    """

    def __init__(self, capacity: float, dropped: Dropped) -> None:
        self.capacity = capacity
        self.is_full = False
        self._dropped = dropped
        self._once: OrderedDict[int, int] = OrderedDict()
        self._often: OrderedDict[int, int] = OrderedDict()
        self._once_ghosts: OrderedDict[int, int] = OrderedDict()
        self._often_ghosts: OrderedDict[int, int] = OrderedDict()
        self._bytes = {id(each): 0 for each in self._lists}
        self._ahead: set[int] = set()
        self._wanted_once = capacity / 2

    @property
    def _lists(self) -> tuple[OrderedDict[int, int], ...]:
        return self._once, self._often, self._once_ghosts, self._often_ghosts

    def read(self, block: int, size_bytes: int, *, is_prefetch: bool = False) -> bool:
        """Read a block; whether it was there."""
        if block in self._often:
            self._often.move_to_end(block)
            return True
        if block in self._once:
            self._read_again(block, is_prefetch=is_prefetch)
            return True
        if is_prefetch:
            self._ahead.add(block)
        into = self._list_for(block, size_bytes)
        self._make_room(size_bytes)
        self._put(into, block, size_bytes)
        return False

    def was_only_read_ahead(self, block: int) -> bool:
        """Whether nobody has asked for it since it was read ahead; asked while it is dropped."""
        return block in self._ahead

    def forget(self, threshold: int, shrunk: float) -> None:
        """Follow fewer blocks: `shrunk` is how many of them remain for each one before."""
        self.capacity *= shrunk
        self._wanted_once *= shrunk
        for each in self._lists:
            for block in [block for block in each if place_of(block) >= threshold]:
                self._take(each, block)
        self._ahead = {block for block in self._ahead if place_of(block) < threshold}

    def _read_again(self, block: int, *, is_prefetch: bool) -> None:
        if block in self._ahead or is_prefetch:
            if not is_prefetch:
                self._ahead.discard(block)
            self._once.move_to_end(block)
            return
        self._put(self._often, block, self._take(self._once, block))

    def _list_for(self, block: int, size_bytes: int) -> OrderedDict[int, int]:
        """Where a block goes that was not there; one that was dropped lately moves the balance."""
        once, often = (max(self._bytes[id(each)], 1) for each in (self._once_ghosts, self._often_ghosts))
        if block in self._once_ghosts:
            self._wanted_once = min(self._wanted_once + max(often / once, 1) * size_bytes, self.capacity)
            self._take(self._once_ghosts, block)
            return self._often
        if block in self._often_ghosts:
            self._wanted_once = max(self._wanted_once - max(once / often, 1) * size_bytes, 0)
            self._take(self._often_ghosts, block)
            return self._often
        return self._once

    def _make_room(self, size_bytes: int) -> None:
        bytes_, once, often = self._bytes, id(self._once), id(self._often)
        while bytes_[once] + bytes_[often] + size_bytes > self.capacity and (self._once or self._often):
            self.is_full = True
            from_once = bool(self._once) and (bytes_[once] > self._wanted_once or not self._often)
            self._drop(*((self._once, self._once_ghosts) if from_once else (self._often, self._often_ghosts)))

    def _drop(self, found: OrderedDict[int, int], ghosts: OrderedDict[int, int]) -> None:
        block = next(iter(found))
        size_bytes = self._take(found, block)
        self._dropped(block, size_bytes)
        self._ahead.discard(block)
        self._put(ghosts, block, size_bytes)
        while self._bytes[id(ghosts)] > self.capacity:
            self._take(ghosts, next(iter(ghosts)))

    def _put(self, into: OrderedDict[int, int], block: int, size_bytes: int) -> None:
        into[block] = size_bytes
        self._bytes[id(into)] += size_bytes

    def _take(self, out: OrderedDict[int, int], block: int) -> int:
        size_bytes = out.pop(block)
        self._bytes[id(out)] -= size_bytes
        return size_bytes


class RingModel:
    """One cache: written from its beginning to its end and over again, whatever was read how often (l2arc_evict()).

    A block that is still on it is not written again when the ARC drops it another time (l2arc_write_eligible()).
    """

    def __init__(self, capacity: float, bytes_per_s: float) -> None:
        self.written = 0.0
        self._capacity = capacity
        self._bytes_per_s = bytes_per_s
        self._may_write = bytes_per_s * LONGEST_BURST_S
        self._fed_s = 0.0
        self._places: dict[int, float] = {}

    def holds(self, block: int) -> bool:
        """Whether it was written and not yet written over."""
        place = self._places.get(block)
        return place is not None and self.written - place <= self._capacity

    def feed(self, block: int, size_bytes: int, at_s: float) -> bool:
        """Write a block unless it is there, or the limit is reached; whether it was written."""
        if self.holds(block):
            return False
        allowed = self._may_write + max(at_s - self._fed_s, 0.0) * self._bytes_per_s
        self._may_write, self._fed_s = min(allowed, self._bytes_per_s * LONGEST_BURST_S), at_s
        if self._may_write <= 0 or size_bytes > self._capacity:
            return False
        self._may_write -= size_bytes
        self._places[block] = self.written
        self.written += size_bytes
        return True

    def forget(self, threshold: int, shrunk: float) -> None:
        """Follow fewer blocks."""
        self._capacity *= shrunk
        self._bytes_per_s *= shrunk
        self._may_write *= shrunk
        self.written *= shrunk
        self._places = {block: place * shrunk for block, place in self._places.items() if place_of(block) < threshold}
