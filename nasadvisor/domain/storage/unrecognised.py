"""Data that no tool recognises: an encrypted volume without a header, a raw database, what a cleared pool left behind.

They are told from emptiness only by being something else than one byte over and over, as an SSD reads that was never
written, erased or trimmed. So the free space of a disk is looked at in a few places.
"""

from dataclasses import dataclass
from itertools import chain
from typing import Final

from nasadvisor.domain.storage.gaps import MIN_SLICE_BYTES, free_extents
from nasadvisor.domain.storage.inventory import Disk, TableKind
from nasadvisor.domain.units import KIB, MIB, align_down, align_up

BLOCK_BYTES: Final = 4 * KIB
"""What is looked at as one: it is empty, or data."""

PLACES: Final = 64
"""[policy] How many blocks are read between the first and the last MiB of a free extent: of what fills a sixteenth of
it in one go, four are read."""


@dataclass(frozen=True)
class Stretch:
    """A run of bytes to read."""

    start_bytes: int
    size_bytes: int


def has_free_space(disk: Disk) -> bool:
    """Whether a slice may go to this disk: nothing holds it as a whole, and its partition table, if any, is a GPT."""
    return not disk.holds and disk.table is not TableKind.OTHER


def stretches_to_read(disk: Disk) -> tuple[Stretch, ...]:
    """Where a disk is looked at, ascending: not where partition tables are, whose remains harm nobody, nor in
    partitions, which stay as they are."""
    if not disk.partitions:
        return _stretches_in(disk.usable_start_bytes, disk.usable_end_bytes)
    extents = (extent for extent in free_extents(disk) if extent.size_bytes >= MIN_SLICE_BYTES)
    return tuple(chain.from_iterable(_stretches_in(extent.start_bytes, extent.end_bytes) for extent in extents))


def _stretches_in(start_bytes: int, end_bytes: int) -> tuple[Stretch, ...]:
    edge = min(MIB, end_bytes - start_bytes)
    if edge <= 0:
        return ()
    between = _blocks_between(start_bytes + edge, end_bytes - edge)
    return (Stretch(start_bytes, edge), *between, Stretch(end_bytes - edge, edge))


def _blocks_between(start_bytes: int, end_bytes: int) -> tuple[Stretch, ...]:
    """The blocks to read there, evenly from the first whole one to the last; all where there are no more."""
    first, last = align_up(start_bytes, BLOCK_BYTES), align_down(end_bytes, BLOCK_BYTES) - BLOCK_BYTES
    if first > last:
        return ()
    even = (first + (last - first) * number // (PLACES - 1) for number in range(PLACES))
    return tuple(Stretch(place, BLOCK_BYTES) for place in sorted({align_down(place, BLOCK_BYTES) for place in even}))


def first_data(data: bytes, start_bytes: int) -> int | None:
    """Where on a disk the first block of these bytes begins that is not one byte over and over."""
    for place in range(0, len(data), BLOCK_BYTES):
        block = data[place : place + BLOCK_BYTES]
        if block != block[:1] * len(block):
            return start_bytes + place
    return None
