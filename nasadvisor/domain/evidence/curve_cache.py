"""What a cache (L2ARC) is: a ring that is written at a limited rate from the ends of the ARC's lists, and never sorted.

A thread looks at the end of each list from which the ARC drops, as far as `reach_bytes`, and copies what is not on the
cache (l2arc_write_buffers(), module/zfs/arc.c). So what lies there is on both, and a cache that is smaller than that
is written over and over with what the ARC holds anyway.

A model in small (Waldspurger and others, "Cache Modeling and Optimization using Miniature Simulations", ATC 2017): the
blocks that are followed are a share of all, so a memory and rings of that share of their sizes behave alike.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from nasadvisor.domain.evidence.curve_distances import place_of

FLOW_SHARE: Final = 1 / 256
"""How much the newest look counts in how fast a list is dropped from."""

Blocks = Iterable[tuple[int, int]]
"""Blocks and their sizes."""

LONGEST_BEHIND_S: Final = 10.0
"""After a time without reads, as many passes are made up for as fit into this; then there is nothing left to write."""


@dataclass(frozen=True)
class Passes:
    """How a cache is written: so many bytes in a pass at the most, the next one after `idle_s`, or after `busy_s` if it
    wrote more than half of that.

    Each list of the ARC is in `sublists` parts; a pass looks at one of them, chosen by chance, so far that in all of
    them together `reach_bytes` lie there.
    """

    bytes_each: float
    busy_s: float = 0.2
    idle_s: float = 1.0
    reach_bytes: float = float("inf")
    sublists: int = 4


class Dropped(NamedTuple):
    """A block that the ARC dropped."""

    block: int
    size_bytes: int
    was_only_read_ahead: bool = False


class End(NamedTuple):
    """The end of a list of the ARC as far as a pass looks: whole blocks, what is left of the reach beyond them, and
    what was dropped from there since the last look. Nothing is left where the list has no more blocks.
    """

    blocks: Sequence[tuple[int, int]]
    left_bytes: float
    dropped: Sequence[Dropped]


def _end_of(found: OrderedDict[int, int], reach_bytes: float, dropped: list[Dropped]) -> End:
    blocks, left = list[tuple[int, int]](), reach_bytes
    for block, size_bytes in found.items():
        if size_bytes > left:
            return End(blocks, left, dropped)
        left -= size_bytes
        blocks.append((block, size_bytes))
    return End(blocks, 0.0, dropped)


class ArcModel:
    """The ARC in bytes, as OpenZFS has it since 2.2 (arc_access(), arc_evict(), arc_evict_adj(), module/zfs/arc.c).

    Blocks read once and blocks read more often have a list each; reads of blocks that were just dropped from one move
    the balance towards it. A list remembers as many of those as half of what the other holds, so what was dropped from
    the larger list is soon forgotten, and read once again when it comes back. What was only read ahead does not count
    as read. Data and metadata are not told apart.
    """

    def __init__(self, capacity: float) -> None:
        self.capacity = capacity
        self.is_full = False
        self._once: OrderedDict[int, int] = OrderedDict()
        self._often: OrderedDict[int, int] = OrderedDict()
        self._once_ghosts: OrderedDict[int, int] = OrderedDict()
        self._often_ghosts: OrderedDict[int, int] = OrderedDict()
        self._bytes = {id(each): 0 for each in self._lists}
        self._dropped: dict[int, list[Dropped]] = {id(each): [] for each in (self._often, self._once)}
        self._ahead: set[int] = set()
        self._once_share = 0.5

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

    def __contains__(self, block: int) -> bool:
        """Whether a read of it would be served."""
        return block in self._once or block in self._often

    def was_only_read_ahead(self, block: int) -> bool:
        """Whether nobody has asked for it since it was read ahead."""
        return block in self._ahead

    def ends(self, reach_bytes: float) -> tuple[End, End]:
        """The blocks of each list that would be dropped next, as many as so many bytes; of those read often first.

        With what was dropped since this was asked last.
        """
        often = _end_of(self._often, reach_bytes, self._dropped[id(self._often)])
        once = _end_of(self._once, reach_bytes, self._dropped[id(self._once)])
        self._dropped = {number: [] for number in self._dropped}
        return often, once

    def forget(self, threshold: int, shrunk: float) -> None:
        """Follow fewer blocks: `shrunk` is how many of them remain for each one before."""
        self.capacity *= shrunk
        for each in self._lists:
            for block in [block for block in each if place_of(block) >= threshold]:
                self._take(each, block)
        self._ahead = {block for block in self._ahead if place_of(block) < threshold}
        for number, dropped in self._dropped.items():
            self._dropped[number] = [one for one in dropped if place_of(one.block) < threshold]

    def _read_again(self, block: int, *, is_prefetch: bool) -> None:
        if block in self._ahead or is_prefetch:
            if not is_prefetch:
                self._ahead.discard(block)
            self._once.move_to_end(block)
            return
        self._put(self._often, block, self._take(self._once, block))

    def _list_for(self, block: int, size_bytes: int) -> OrderedDict[int, int]:
        """Where a block goes that was not there; one that was dropped lately moves the balance."""
        if block in self._once_ghosts:
            self._move_balance(size_bytes)
            self._take(self._once_ghosts, block)
            return self._often
        if block in self._often_ghosts:
            self._move_balance(-size_bytes)
            self._take(self._often_ghosts, block)
            return self._often
        return self._once

    def _move_balance(self, size_bytes: int) -> None:
        """By how much of all that is remembered was asked for; more slowly towards an end that is near."""
        ahead = 1 - self._once_share if size_bytes > 0 else self._once_share
        behind = 1 - ahead
        slower = behind / (2 * ahead) if 0 < 4 * ahead <= behind else 1.0
        remembered = max((self._bytes[id(self._once)] + self._bytes[id(self._often)]) / 2, 1.0)
        self._once_share = min(max(self._once_share + size_bytes / slower / remembered, 0.0), 1.0)

    def _make_room(self, size_bytes: int) -> None:
        bytes_, once, often = self._bytes, id(self._once), id(self._often)
        while bytes_[once] + bytes_[often] + size_bytes > self.capacity and (self._once or self._often):
            self.is_full = True
            wanted_once = self._once_share * self.capacity
            from_once = bool(self._once) and (bytes_[once] > wanted_once or not self._often)
            self._drop(*((self._once, self._once_ghosts) if from_once else (self._often, self._often_ghosts)))
        self._forget_ghosts(self._once_ghosts, bytes_[often] / 2)
        self._forget_ghosts(self._often_ghosts, bytes_[once] / 2)

    def _drop(self, found: OrderedDict[int, int], ghosts: OrderedDict[int, int]) -> None:
        block = next(iter(found))
        size_bytes = self._take(found, block)
        self._dropped[id(found)].append(Dropped(block, size_bytes, was_only_read_ahead=block in self._ahead))
        self._ahead.discard(block)
        self._put(ghosts, block, size_bytes)

    def _forget_ghosts(self, ghosts: OrderedDict[int, int], most_bytes: float) -> None:
        while self._bytes[id(ghosts)] > most_bytes:
            self._take(ghosts, next(iter(ghosts)))

    def _put(self, into: OrderedDict[int, int], block: int, size_bytes: int) -> None:
        into[block] = size_bytes
        self._bytes[id(into)] += size_bytes

    def _take(self, out: OrderedDict[int, int], block: int) -> int:
        size_bytes = out.pop(block)
        self._bytes[id(out)] -= size_bytes
        return size_bytes


class FeedReach:
    """What a pass may copy of the ends of the lists, where few blocks are followed.

    The reach may hold two of them and a half, or a quarter of one. Whole ones are at the end of their list. For the
    rest, a block stays within reach after it was dropped, for as many looks as it takes to drop that much: the lists of
    all blocks move on evenly, and those of few by jerks.
    """

    def __init__(self, arc: ArcModel, *, feeds_ahead: bool) -> None:
        self._arc = arc
        self._feeds_ahead = feeds_ahead
        self._asked = 0
        self._dropped_a_look = [0.0, 0.0]
        self._still: list[tuple[float, int, int]] = []

    def look(self, reach_bytes: float, chance: float, looks: float = 1.0) -> list[tuple[int, int]]:
        """The blocks within reach. `chance`, between 0 and 1, decides of those that are for less than another look.

        `looks` is for how many this stands: few reads are followed, and nothing happens between them.
        """
        self._asked += 1
        found = list[tuple[int, int]]()
        for number, end in enumerate(self._arc.ends(reach_bytes)):
            stays = self._looks_for(number, end, looks)
            self._still += [(stays, each.block, each.size_bytes) for each in end.dropped if self._is_fed(each)]
            found += [each for each in end.blocks if self._feeds_ahead or not self._arc.was_only_read_ahead(each[0])]
        found += [(block, size_bytes) for stays, block, size_bytes in self._still if stays > chance]
        self._still = [(stays - looks, block, size) for stays, block, size in self._still if stays > looks]
        return found

    def forget(self, threshold: int, shrunk: float) -> None:
        """Follow fewer blocks."""
        self._dropped_a_look = [each * shrunk for each in self._dropped_a_look]
        self._still = [each for each in self._still if place_of(each[1]) < threshold]

    def _is_fed(self, dropped: Dropped) -> bool:
        return self._feeds_ahead or not dropped.was_only_read_ahead

    def _looks_for(self, number: int, end: End, looks: float) -> float:
        """For how many looks a block of a list stays within reach after it was dropped."""
        newest = max(1 / self._asked, FLOW_SHARE)
        dropped = sum(each.size_bytes for each in end.dropped) / looks
        self._dropped_a_look[number] += newest * (dropped - self._dropped_a_look[number])
        return end.left_bytes / self._dropped_a_look[number] if self._dropped_a_look[number] else 0.0


class RingModel:
    """One cache: written from its beginning to its end and over again, whatever was read how often.

    What lies where the next pass may write is given up before (l2arc_evict()). A block that is on it is not written
    again (l2arc_write_eligible()).
    """

    def __init__(self, capacity: float, pass_bytes: float) -> None:
        self.written = 0.0
        self.due_s = 0.0
        self.passes = 0
        self._capacity = capacity
        self._pass_bytes = pass_bytes
        self._owed = 0.0
        self._places: dict[int, float] = {}

    @property
    def is_filled(self) -> bool:
        """Whether it was written to its end: from then on it holds as much as it ever will."""
        return self.written >= self._capacity - self._pass_bytes

    def holds(self, block: int) -> bool:
        """Whether it was written and not yet given up."""
        place = self._places.get(block)
        return place is not None and self.written - place <= self._capacity - self._pass_bytes

    def feed(self, blocks: Blocks, passes: Passes) -> float:
        """One pass: write of these blocks what is not there, up to the limit; the bytes that were written.

        What went beyond the limit with the last block, of which only a share of all is followed, the next passes make
        up for.
        """
        self.passes += 1
        before, most = self.written, self._pass_bytes - self._owed
        for block, size_bytes in blocks:
            if self.written - before >= most:
                break
            if size_bytes <= self._capacity and not self.holds(block):
                self._places[block] = self.written
                self.written += size_bytes
        wrote = self.written - before
        self._owed = max(wrote - most, 0.0)
        self.due_s += passes.busy_s if wrote > most / 2 else passes.idle_s
        return wrote

    def forget_given_up(self) -> None:
        """Forget the places of blocks that were written over."""
        self._places = {block: place for block, place in self._places.items() if self.holds(block)}

    def forget(self, threshold: int, shrunk: float) -> None:
        """Follow fewer blocks."""
        self._capacity *= shrunk
        self._pass_bytes *= shrunk
        self._owed *= shrunk
        self.written *= shrunk
        self._places = {block: place * shrunk for block, place in self._places.items() if place_of(block) < threshold}
