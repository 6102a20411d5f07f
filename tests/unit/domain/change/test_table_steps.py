"""What sgdisk leaves of a table is worked out beforehand: the very sectors that sgdisk 1.0.9 left."""

import struct
from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import CreateSlice, DeleteSlice, SaveTable
from nasadvisor.domain.change.table_area import Area, check_area, entries_of
from nasadvisor.domain.change.tables import has_other_headers, is_protective_mbr, predict
from nasadvisor.domain.storage.gpt import parse_header
from nasadvisor.domain.units import MIB
from tests.unit.domain.change.sectors import (
    KEY,
    RECORDED,
    put,
    recording,
    with_first_header,
    with_headers,
    with_second_header,
)

SGDISK = recording()
MBR = SGDISK.cleared.head[:512]
CHS_PLACE = 447
"""Where the entry's first sector stands in cylinders, heads and sectors, which no disk has."""


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("number", range(4))
def test_it_is_what_sgdisk_really_left(name: str, number: int) -> None:
    found = recording(name)
    predicted = predict(found.states[number], found.steps[number])
    assert predicted == found.states[number + 1]


def test_of_a_step_that_writes_no_table_nothing_is_told() -> None:
    assert predict(SGDISK.cleared, SaveTable(KEY, "/dev/x", "", ())) is None
    assert predict(SGDISK.cleared, None) is None


@pytest.mark.parametrize("sector", [512, 4096])
def test_of_a_table_that_cannot_be_read_nothing_is_told(sector: int) -> None:
    found = recording(f"blank-{sector}")
    step = CreateSlice(found.piece(), "")
    no_first = replace(found.cleared, head=put(found.cleared.head, sector, b"\0"))
    no_second = replace(found.cleared, tail=put(found.cleared.tail, -sector, b"\0"))
    assert predict(found.blank, step) is None
    assert predict(no_first, step) is None
    assert predict(no_second, step) is None


def test_the_last_entry_of_a_table_can_be_made_and_none_beyond_it() -> None:
    for step in (CreateSlice, DeleteSlice):
        assert predict(SGDISK.cleared, step(SGDISK.piece(number=128), "")) is not None
        assert predict(SGDISK.cleared, step(SGDISK.piece(number=129), "")) is None
        assert predict(SGDISK.cleared, step(SGDISK.piece(number=0), "")) is None
    last = predict(SGDISK.cleared, CreateSlice(SGDISK.piece(number=128), ""))
    assert last
    check_area(last)
    assert [entry.number for entry in entries_of(last)] == [128]


def test_of_a_table_with_longer_entries_nothing_is_told() -> None:
    step = CreateSlice(SGDISK.piece(), "")
    assert predict(with_headers(SGDISK.cleared, 512, entry_bytes=256, count=64), step) is None


def test_of_a_table_whose_entries_are_not_in_its_area_nothing_is_told() -> None:
    step = CreateSlice(SGDISK.piece(), "")
    assert predict(with_first_header(SGDISK.cleared, 512, entries=3), step) is None
    first_of_tail = parse_header(SGDISK.cleared.tail[-512:], 512).entries_start_bytes // 512
    assert predict(with_second_header(SGDISK.cleared, 512, entries=first_of_tail - 1), step) is None


@pytest.mark.parametrize("sector", [512, 4096])
def test_entries_are_changed_where_the_headers_say_they_are(sector: int) -> None:
    """A table with free sectors before its entries in front, and behind them at the end, as other tools make it."""
    found = recording(f"blank-{sector}")
    area = found.cleared
    header, count = parse_header(area.head[sector:], sector), 16 * 1024 // sector
    start = header.entries_start_bytes
    head = area.head[:start] + bytes(2 * sector) + area.head[start:]
    tail = area.tail[:-sector] + bytes(3 * sector) + area.tail[-sector:]
    size = parse_header(area.tail[-sector:], sector).this_header_bytes // sector + 3
    moved = with_first_header(Area(head, tail), sector, entries=start // sector + 2)
    moved = with_second_header(moved, sector, this=size, entries=size - 3 - count)
    check_area(moved)
    step = CreateSlice(found.piece(number=3), "")
    left = predict(moved, step)
    assert left
    check_area(left)
    assert [entry.number for entry in entries_of(left)] == [3]
    assert left.head[: start + 2 * sector][2 * sector :] == moved.head[: start + 2 * sector][2 * sector :]
    assert left.tail[-4 * sector : -sector] == bytes(3 * sector)
    assert predict(left, DeleteSlice(found.piece(number=3), "")) == moved


def test_a_header_that_is_longer_keeps_its_length_and_what_stands_in_it() -> None:
    area = with_headers(SGDISK.cleared, 512, size=512, reserved=7)
    left = predict(area, CreateSlice(SGDISK.piece(), ""))
    assert left
    check_area(left)
    assert struct.unpack_from("<II", left.head, 512 + 12)[0] == 512
    assert struct.unpack_from("<I", left.head, 512 + 20) == (7,)
    assert struct.unpack_from("<I", left.tail, len(left.tail) - 512 + 20) == (7,)


def test_a_table_is_only_foretold_where_sgdisk_would_make_it() -> None:
    create = SGDISK.create
    assert predict(SGDISK.blank, replace(create, usable_start_bytes=MIB)) is None
    longer = replace(SGDISK.blank, head=SGDISK.blank.head + bytes(512))
    assert predict(longer, create) is None
    assert predict(longer, replace(create, usable_start_bytes=len(longer.head))) is None


@pytest.mark.parametrize("sector", [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536])
def test_where_the_usable_area_begins_tells_the_size_of_a_sector(sector: int) -> None:
    start = (2 + -(-16384 // sector)) * sector
    end = 1000 * sector
    tail = bytes((1 + -(-16384 // sector)) * sector)
    step = replace(SGDISK.create, usable_start_bytes=start, usable_end_bytes=end)
    left = predict(Area(bytes(start), tail), step)
    assert left
    check_area(left)
    assert (len(left.head), len(left.tail)) == (start, len(tail))
    assert not any((*left.head[2 * sector :], *left.tail[:-sector]))
    first, second = parse_header(left.head[sector:], sector), parse_header(left.tail[-sector:], sector)
    assert (first.usable_start_bytes, first.usable_end_bytes) == (start, end)
    assert (first.entries_start_bytes, second.entries_start_bytes) == (2 * sector, end)
    assert (first.this_header_bytes, first.other_header_bytes) == (sector, end + len(tail) - sector)
    assert (second.this_header_bytes, second.other_header_bytes) == (end + len(tail) - sector, sector)


def test_space_between_the_entries_and_the_last_sector_stays_empty() -> None:
    create = replace(SGDISK.create, usable_end_bytes=SGDISK.create.usable_end_bytes - 8 * 512)
    left = predict(replace(SGDISK.blank, tail=SGDISK.blank.tail + bytes(8 * 512)), create)
    assert left
    check_area(left)
    assert parse_header(left.tail[-512:], 512).entries_start_bytes == create.usable_end_bytes


@pytest.mark.parametrize(
    ("sectors", "said"), [(0xFFFFFFFF, 0xFFFFFFFE), (2**32, 0xFFFFFFFF), (2**32 + 1, 0xFFFFFFFF), (2**33, 0xFFFFFFFF)]
)
def test_a_protective_mbr_says_no_more_than_its_field_holds(sectors: int, said: int) -> None:
    """The whole disk but the first sector, or the largest number there is (UEFI specification 2.10, table 5.4)."""
    create = replace(SGDISK.create, usable_end_bytes=(sectors - 33) * 512)
    left = predict(SGDISK.blank, create)
    assert left
    assert struct.unpack_from("<II", left.head, 446 + 8) == (1, said)


@pytest.mark.parametrize("sector", [512, 4096])
def test_headers_that_another_tool_wrote_are_told_from_another_table(sector: int) -> None:
    """parted and fdisk fill what sgdisk leaves empty; the table is the same."""
    expected = recording(f"blank-{sector}").with_one
    for found in (with_headers(expected, sector, size=96), with_first_header(expected, sector, reserved=9)):
        assert found != expected
        assert has_other_headers(expected, found)
        assert has_other_headers(found, expected)


@pytest.mark.parametrize("sector", [512, 4096])
def test_a_table_that_differs_in_more_than_its_headers_is_another(sector: int) -> None:
    expected = recording(f"blank-{sector}").with_one
    other = with_headers(expected, sector, size=96)
    head, tail = other.head, other.tail
    different = {
        "a first header that is not sound": Area(put(head, sector + 40, b"\xff"), tail),
        "a second header that is not sound": Area(head, put(tail, 40 - sector, b"\xff")),
        "no first header": Area(put(head, sector, bytes(8)), tail),
        "another end of the usable area": with_headers(other, sector, last_usable=9999),
        "another end in the second header only": with_second_header(other, sector, last_usable=9999),
        "boot code": Area(put(head, 0, b"\xeb"), tail),
        "a byte behind the MBR": Area(put(head, 512, b"\xff") if sector > 512 else b"", tail),
        "another entry in front": Area(put(head, 2 * sector, b"\xff"), tail),
        "the last byte before the usable area": Area(put(head, -1, b"\xff"), tail),
        "another entry behind": Area(head, put(tail, 0, b"\xff")),
        "the last byte before the second header": Area(head, put(tail, -sector - 1, b"\xff")),
        "another place in front": Area(head + bytes(512), tail),
        "another place behind": Area(head, bytes(512) + tail),
    }
    assert [name for name, found in different.items() if has_other_headers(expected, found)] == []


def test_headers_are_compared_behind_any_mbr_that_stayed_as_it_was() -> None:
    """A hybrid one protects no more than a part of the disk."""
    hybrid = put(SGDISK.with_one.head, 450, b"\x83")
    expected = replace(SGDISK.with_one, head=hybrid)
    found = with_headers(expected, 512, size=96)
    assert has_other_headers(expected, found)
    assert not has_other_headers(expected, replace(found, head=put(hybrid, 0, b"\xeb")))


def test_headers_are_compared_behind_a_protective_mbr_of_another_release() -> None:
    expected = SGDISK.with_one
    found = with_headers(expected, 512, size=96)
    assert has_other_headers(expected, replace(found, head=put(found.head, CHS_PLACE, b"\7")))
    assert not has_other_headers(expected, replace(found, head=put(found.head, 510, b"\0")))


def test_releases_of_sgdisk_may_differ_in_the_address_of_the_protective_entry() -> None:
    assert is_protective_mbr(MBR, (MBR,))
    assert is_protective_mbr(put(MBR, CHS_PLACE, b"\7\7\7"), (MBR,))
    assert is_protective_mbr(put(MBR, CHS_PLACE, b"\7\7\7"), (bytes(512), MBR))


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (MBR[:-1], "it is no whole sector"),
        (MBR + b"\0", "it is more than one"),
        (put(MBR, 0, b"\xeb"), "its boot code is nobody's"),
        (put(MBR, 445, b"\xeb"), "its boot code ends otherwise"),
        (put(MBR, 450, b"\x83"), "its entry protects nothing"),
        (put(MBR, 462, b"\1"), "it has a second entry"),
        (put(MBR, 509, b"\1"), "it has a fourth entry"),
        (put(MBR, 510, b"\0"), "it is not signed"),
        (put(MBR, 511, b"\0"), "it is half signed"),
    ],
)
def test_what_is_no_protective_mbr_of_ours_is_somebodys(found: bytes, why: str) -> None:
    assert not is_protective_mbr(found, (MBR,)), why


def test_a_protective_mbr_where_none_was_is_somebodys() -> None:
    assert not is_protective_mbr(MBR, (bytes(512),))
    assert not is_protective_mbr(MBR, ())


def test_the_boot_code_may_be_that_of_any_of_the_known_ones() -> None:
    booting = put(MBR, 0, b"\xeb")
    assert is_protective_mbr(booting, (MBR, put(bytes(512), 0, b"\xeb")))
