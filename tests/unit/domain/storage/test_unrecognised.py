"""Data that no tool recognises: where is looked for it, and what counts as empty."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest

from nasadvisor.domain.storage.gaps import MIN_SLICE_BYTES
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, TableKind
from nasadvisor.domain.storage.unrecognised import first_data, has_free_space, stretches_to_read
from nasadvisor.domain.units import GIB, KIB, MIB, TIB, align_down
from tests.unit.domain.builders import disk_of
from tests.unit.machines import NVME1, SHARED_SSD, home_server

DISK = disk_of(home_server(), NVME1)
PART = disk_of(home_server(), SHARED_SSD).partitions[0]
START, TAIL = 17 * KIB, 33 * 512


def sized(size_bytes: int) -> Disk:
    identity = replace(DISK.identity, size_bytes=size_bytes)
    return replace(DISK, identity=identity, usable_start_bytes=START, usable_end_bytes=size_bytes - TAIL)


@pytest.mark.parametrize("size_bytes", [64 * MIB, 500 * GIB, 16 * TIB])
def test_both_ends_and_64_places_between_are_read_and_no_place_of_a_table(size_bytes: int) -> None:
    disk = sized(size_bytes)
    first, *middle, last = stretches_to_read(disk)
    assert (first.start_bytes, first.size_bytes) == (START, MIB)
    assert (last.start_bytes + last.size_bytes, last.size_bytes) == (size_bytes - TAIL, MIB)
    starts = [START + MIB, *(each.start_bytes for each in middle), size_bytes - TAIL - MIB]
    assert len(middle) == 64
    assert {each.size_bytes for each in middle} == {4 * KIB}
    assert not any(each.start_bytes % (4 * KIB) for each in middle)
    assert max(right - left for left, right in pairwise(starts)) <= size_bytes // 63
    assert starts == sorted(starts)


@pytest.mark.parametrize("start", [4 * KIB, START])
@pytest.mark.parametrize(
    ("blocks", "read"),
    [
        (0, []),
        (1, [0]),
        (2, [0, 1]),
        (64, range(64)),
        (65, [*range(63), 64]),
        (190, range(0, 190, 3)),
    ],
)
def test_whole_blocks_between_the_ends_are_read_evenly_from_the_first_to_the_last(
    start: int, blocks: int, read: Iterable[int]
) -> None:
    odd = start % (4 * KIB)
    end = start + 2 * MIB + blocks * 4 * KIB + 2 * (4 * KIB - odd if odd else 0)
    _, *middle, _ = stretches_to_read(replace(DISK, usable_start_bytes=start, usable_end_bytes=end))
    first = start + MIB + (4 * KIB - odd if odd else 0)
    assert [(each.start_bytes - first) // (4 * KIB) for each in middle] == list(read)
    assert all(isinstance(each.start_bytes, int) for each in middle), "what pread(2) is given"
    assert all(start + MIB <= each.start_bytes and each.start_bytes + 4 * KIB <= end - MIB for each in middle)


def test_beside_partitions_each_free_extent_that_takes_a_slice_is_read_and_no_partition() -> None:
    first = replace(PART, start_bytes=MIB, size_bytes=100 * MIB)
    second = replace(PART, number=2, start_bytes=first.end_bytes + MIN_SLICE_BYTES - MIB, size_bytes=GIB)
    third = replace(PART, number=3, start_bytes=second.end_bytes + MIN_SLICE_BYTES, size_bytes=GIB)
    disk = replace(sized(16 * GIB), table=TableKind.GPT, partitions=(first, second, third))
    ends = (third.start_bytes, align_down(16 * GIB - TAIL))
    starts = (second.end_bytes, third.end_bytes)
    found = stretches_to_read(disk)
    assert len(found) == 2 * 66
    assert [each.start_bytes for each in found] == sorted(each.start_bytes for each in found)
    for start, end, read in zip(starts, ends, (found[:66], found[66:]), strict=True):
        assert (read[0].start_bytes, read[0].size_bytes) == (start, MIB)
        assert (read[-1].start_bytes, read[-1].size_bytes) == (end - MIB, MIB)


@pytest.mark.parametrize("usable", [3 * MIB // 2, 100 * KIB, 1])
def test_a_small_disk_is_read_as_a_whole(usable: int) -> None:
    found = stretches_to_read(replace(DISK, usable_start_bytes=START, usable_end_bytes=START + usable))
    edge = min(MIB, usable)
    assert [(each.start_bytes, each.size_bytes) for each in (found[0], found[-1])] == [
        (START, edge),
        (START + usable - edge, edge),
    ]


@pytest.mark.parametrize("end", [START, 0])
def test_of_a_disk_without_room_nothing_is_read(end: int) -> None:
    assert stretches_to_read(replace(DISK, usable_start_bytes=START, usable_end_bytes=end)) == ()


@pytest.mark.parametrize("byte", [b"\0", b"\xff", b"\x5a"])
def test_one_byte_over_and_over_is_empty_block_by_block(byte: bytes) -> None:
    assert first_data(byte * MIB, 5) is None
    assert first_data(byte * 4096 + bytes(4096) + byte * 100, 5) is None


@pytest.mark.parametrize(("at", "block"), [(0, 0), (4095, 0), (4096, 4096), (8195, 8192)])
def test_the_block_with_another_byte_is_told_by_where_on_the_disk_it_is(at: int, block: int) -> None:
    data = bytearray(8200)
    data[at] = 1
    assert first_data(bytes(data), START) == START + block


def test_nothing_is_empty() -> None:
    assert first_data(b"", 0) is None


@pytest.mark.parametrize(
    ("disk", "may_go"),
    [
        (DISK, True),
        (replace(DISK, table=TableKind.GPT), True),
        (replace(DISK, table=TableKind.OTHER), False),
        (replace(DISK, holds=(Hold(HoldKind.SWAP, "x"),)), False),
        (replace(DISK, table=TableKind.GPT, partitions=(PART,)), True),
    ],
)
def test_only_where_a_slice_may_go_is_looked_at(disk: Disk, may_go: bool) -> None:
    assert has_free_space(disk) is may_go
