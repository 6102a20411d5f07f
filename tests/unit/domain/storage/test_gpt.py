"""The GPT header: written here as the specification says, read back, and never believed when damaged."""

import struct
import uuid
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.storage.gpt import (
    GptEntry,
    GptUnreadable,
    HeaderPlace,
    header_places,
    is_protected,
    parse_entries,
    parse_header,
    standard_area,
)
from nasadvisor.domain.units import GIB, MIB

SECTORS = st.sampled_from([512, 4096])
LBAS = st.integers(0, 2**50)
"""Of disks up to 2^62 bytes; 2^63 is more than a kernel can read of one."""


def write_header(
    guid: uuid.UUID,
    first: int,
    last: int,
    count: int = 128,
    entry_bytes: int = 128,
    entries: bytes = b"",
    size: int = 92,
    places: tuple[int, int | None, int] = (1, None, 2),
) -> bytes:
    """`places` are those of this header, of the other one, and of the entries."""
    this, other, entries_at = places

    def header(crc: int) -> bytes:
        head = struct.pack("<8sIIII", b"EFI PART", 0x10000, size, crc, 0)
        beyond = last + 34 if other is None else other
        lbas = struct.pack("<QQQQ16sQ", this, beyond, first, last, guid.bytes_le, entries_at)
        return head + lbas + struct.pack("<III", count, entry_bytes, zlib.crc32(entries)) + bytes(max(size - 92, 0))

    return header(zlib.crc32(header(0)))


@given(st.uuids(), LBAS, LBAS, SECTORS, st.integers(92, 512))
def test_what_was_written_is_read(guid: uuid.UUID, low: int, high: int, sector_bytes: int, size: int) -> None:
    first, last = sorted((low, high))
    entries = bytes(16384)
    sector = write_header(guid, first, last, entries=entries, size=size).ljust(sector_bytes, b"\0")
    header = parse_header(sector, sector_bytes)
    assert header.table_uuid == str(guid)
    assert (header.usable_start_bytes, header.usable_end_bytes) == (first * sector_bytes, (last + 1) * sector_bytes)
    assert header.entries_start_bytes == 2 * sector_bytes
    assert header.this_header_bytes == sector_bytes
    assert header.other_header_bytes == (last + 34) * sector_bytes
    assert header.entries_match(entries)
    assert not header.entries_match(b"\1" + entries[1:])


@given(st.integers(0, 92 * 8 - 1))
def test_no_flipped_bit_goes_unnoticed(bit: int) -> None:
    sector = bytearray(write_header(uuid.UUID(int=7), 34, 1000).ljust(512, b"\0"))
    sector[bit // 8] ^= 1 << bit % 8
    with pytest.raises(GptUnreadable):
        parse_header(bytes(sector), 512)


@given(st.binary(max_size=600), SECTORS)
def test_garbage_is_refused_with_a_reason(sector: bytes, sector_bytes: int) -> None:
    for candidate in (sector, b"EFI PART" + sector):
        with pytest.raises(GptUnreadable, match="GPT header"):
            parse_header(candidate, sector_bytes)


def test_a_header_may_fill_its_sector_and_no_more() -> None:
    longest = write_header(uuid.UUID(int=7), 34, 1000, size=512)
    assert parse_header(longest, 512).usable_start_bytes == 34 * 512
    for sector in (longest[:511], write_header(uuid.UUID(int=7), 34, 1000, size=513)):
        with pytest.raises(GptUnreadable, match="bytes long"):
            parse_header(sector, 512)
    assert parse_header(write_header(uuid.UUID(int=7), 34, 1000), 512).usable_end_bytes == 1001 * 512


def test_a_wrong_checksum_is_said_to_be_one() -> None:
    sector = write_header(uuid.UUID(int=7), 34, 1000)
    with pytest.raises(GptUnreadable, match="checksum"):
        parse_header(sector[:-1] + b"\1", 512)


@pytest.mark.parametrize(
    "sector",
    [
        write_header(uuid.UUID(int=7), 1000, 34),
        write_header(uuid.UUID(int=7), 34, 1000, entry_bytes=64),
        write_header(uuid.UUID(int=7), 34, 1000, entry_bytes=127),
        write_header(uuid.UUID(int=7), 34, 1000, count=0),
        write_header(uuid.UUID(int=7), 34, 1000, count=65537),
        write_header(uuid.UUID(int=7), 34, 1000, count=32769),
        write_header(uuid.UUID(int=7), 34, 2**54),
        write_header(uuid.UUID(int=7), 34, 1000, count=60_000, entry_bytes=128 << 20),
    ],
)
def test_sound_checksum_does_not_make_nonsense_true(sector: bytes) -> None:
    with pytest.raises(GptUnreadable, match="contradicts itself"):
        parse_header(sector.ljust(512, b"\0"), 512)


NO_LBA = 2**63 // 512


@pytest.mark.parametrize(
    ("last", "places"),
    [
        (NO_LBA - 1, (1, 34, 2)),
        (1000, (NO_LBA, 34, 2)),
        (1000, (1, NO_LBA, 2)),
        (1000, (1, 34, NO_LBA)),
    ],
)
def test_what_lies_beyond_the_last_offset_that_can_be_read_is_refused(last: int, places: tuple[int, int, int]) -> None:
    sector = write_header(uuid.UUID(int=7), 34, last, places=places).ljust(512, b"\0")
    with pytest.raises(GptUnreadable, match="contradicts itself"):
        parse_header(sector, 512)
    nearer = tuple(min(place, NO_LBA - 1) for place in places)
    this, other, entries = nearer
    sector = write_header(uuid.UUID(int=7), 34, min(last, NO_LBA - 2), places=(this, other, entries))
    assert parse_header(sector.ljust(512, b"\0"), 512).this_header_bytes == this * 512


@pytest.mark.parametrize(
    ("first", "count", "entry_bytes"),
    [(1000, 128, 128), (34, 1, 128), (34, 32768, 128), (34, 128, 4096)],
)
def test_the_smallest_and_the_largest_that_make_sense_are_read(first: int, count: int, entry_bytes: int) -> None:
    sector = write_header(uuid.UUID(int=7), first, 1000, count=count, entry_bytes=entry_bytes)
    header = parse_header(sector, 512)
    assert header.usable_end_bytes - header.usable_start_bytes == (1001 - first) * 512
    assert header.entries_size_bytes == count * entry_bytes


def test_standard_area_is_where_sgdisk_puts_it() -> None:
    assert standard_area(GIB, 512) == (34 * 512, GIB - 33 * 512)
    assert standard_area(GIB, 4096) == (6 * 4096, GIB - 5 * 4096)
    assert standard_area(GIB + 100, 512) == (34 * 512, GIB - 33 * 512)
    assert standard_area(520 * 1000, 520) == (34 * 520, (1000 - 33) * 520)  # 16 KiB are no whole number of these
    assert standard_area(4096, 512) == (34 * 512, 34 * 512)
    assert standard_area(8 * MIB, 512)[1] % 512 == 0


ENTRIES = st.dictionaries(
    st.integers(1, 128),
    st.tuples(
        st.uuids(version=4), st.uuids(version=4), LBAS, LBAS, st.integers(0, 2**64 - 1), st.text("aé漢", max_size=36)
    ),
    max_size=8,
)


def write_entries(entries: dict[int, tuple[uuid.UUID, uuid.UUID, int, int, int, str]], entry_bytes: int) -> bytes:
    array = bytearray(128 * entry_bytes)
    for number, (kind, guid, first, last, attributes, name) in entries.items():
        entry = kind.bytes_le + guid.bytes_le + struct.pack("<QQQ", first, last, attributes) + name.encode("utf-16-le")
        array[(number - 1) * entry_bytes : (number - 1) * entry_bytes + len(entry)] = entry
    return bytes(array)


@given(ENTRIES, SECTORS, st.sampled_from([128, 256]))
def test_the_entries_that_were_written_are_read_and_no_others(
    entries: dict[int, tuple[uuid.UUID, uuid.UUID, int, int, int, str]], sector_bytes: int, entry_bytes: int
) -> None:
    array = write_entries(entries, entry_bytes)
    sector = write_header(uuid.UUID(int=7), 34, 1000, entry_bytes=entry_bytes, entries=array)
    header = parse_header(sector.ljust(sector_bytes, b"\0"), sector_bytes)
    assert parse_entries(array, header, sector_bytes) == tuple(
        GptEntry(number, str(kind), str(guid), first * sector_bytes, (last + 1) * sector_bytes, attributes, name)
        for number, (kind, guid, first, last, attributes, name) in sorted(entries.items())
    )


@pytest.mark.parametrize("array", [b"", bytes(16383), bytes(16385), b"\1" + bytes(16383)])
def test_an_array_of_entries_that_is_not_the_headers_own_is_refused(array: bytes) -> None:
    header = parse_header(write_header(uuid.UUID(int=7), 34, 1000, entries=bytes(16384)).ljust(512, b"\0"), 512)
    with pytest.raises(GptUnreadable, match="checksum of the GPT's list of partitions"):
        parse_entries(array, header, 512)


def test_a_name_that_is_no_text_does_not_hide_the_partition() -> None:
    entry = struct.pack("<16s16sQQQ72s", b"\1" * 16, b"\2" * 16, 34, 99, 0, b"a\0" + b"\x00\xd8" + b"b\0")
    array = entry.ljust(128 * 128, b"\0")
    header = parse_header(write_header(uuid.UUID(int=7), 34, 1000, entries=array), 512)
    assert [each.name for each in parse_entries(array, header, 512)] == ["a\ufffdb"]


@pytest.mark.parametrize("sector_bytes", [512, 4096])
@pytest.mark.parametrize("lba", [1, 7, 2**20])
def test_a_header_is_found_where_it_says_that_it_stands(sector_bytes: int, lba: int) -> None:
    sector = write_header(uuid.UUID(int=7), 34, 1000, places=(lba, 1, 2)).ljust(sector_bytes, b"\0")
    start = (lba - 1) * sector_bytes
    found = HeaderPlace((lba + 1) * sector_bytes, sector_bytes)
    assert list(header_places(bytes(sector_bytes) + sector + bytes(8192), start)) == [found]
    assert list(header_places(sector, start + sector_bytes)) == [found]
    assert list(header_places(bytes(sector_bytes) + sector, start + sector_bytes)) == []


def test_of_two_headers_each_is_found_and_of_a_damaged_one_none() -> None:
    first = write_header(uuid.UUID(int=7), 34, 1000).ljust(512, b"\0")
    second = write_header(uuid.UUID(int=7), 34, 1000, places=(3, 1, 2)).ljust(512, b"\0")
    data = bytes(512) + first + bytes(512) + second
    assert list(header_places(data, 0)) == [HeaderPlace(1024, 512), HeaderPlace(2048, 512)]
    assert list(header_places(data.replace(first[:40], first[:39] + b"\7"), 0)) == [HeaderPlace(2048, 512)]
    assert list(header_places(data[:-430], 0)) == [HeaderPlace(1024, 512)]
    assert list(header_places(b"EFI PART" * 999, 0)) == []


@pytest.mark.parametrize("entry", range(4))
def test_a_protective_mbr_is_known_by_its_type_in_any_entry(entry: int) -> None:
    sector = bytearray(512)
    sector[510:] = b"\x55\xaa"
    assert not is_protected(bytes(sector))
    sector[450 + 16 * entry] = 0xEE
    assert is_protected(bytes(sector))
    assert not is_protected(bytes(sector[:511]))
    sector[511] = 0
    assert not is_protected(bytes(sector))
    assert not is_protected(b"")
