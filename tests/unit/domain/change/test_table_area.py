"""The sectors of a partition table: kept in a journal as they were, and only called sound where both copies are."""

import base64
import zlib
from dataclasses import replace

import pytest

from nasadvisor.domain.change.runs import DiskImage
from nasadvisor.domain.change.table_area import (
    Area,
    ImageDamaged,
    area_of,
    check_area,
    entries_of,
    image_of,
    pack_area,
    unpack_area,
)
from nasadvisor.domain.storage.gaps import MAX_AREA_BYTES
from nasadvisor.domain.storage.gpt import SIGNATURE
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import disk_of
from tests.unit.domain.change.sectors import (
    FIRST,
    GUID,
    RECORDED,
    SECOND,
    put,
    recording,
    with_first_header,
    with_headers,
    with_second_header,
)
from tests.unit.machines import NVME1, home_server, with_disk

AREA = Area(b"h" * 1024, b"t" * 512)
SGDISK = recording()


def packed(head: object, tail: object, both: bytes) -> str:
    return f"{head}:{tail}:{base64.b64encode(zlib.compress(both)).decode()}"


def test_its_pieces_are_the_smallest_sectors_there_are_the_head_first() -> None:
    area = Area(b"a" * 512 + b"b" * 512, b"c" * 512)
    assert area.units() == [b"a" * 512, b"b" * 512, b"c" * 512]


def test_two_areas_are_alike_if_both_parts_are_as_long() -> None:
    assert AREA.is_like(Area(b"x" * 1024, b"y" * 512))
    assert not AREA.is_like(Area(b"h" * 512, b"t" * 512))
    assert not AREA.is_like(Area(b"h" * 1024, b"t" * 1024))
    assert not AREA.is_like(Area(b"h" * 512, b"t" * 1024))


def test_what_a_journal_keeps_of_a_disk_is_what_was_read_off_it() -> None:
    inventory = with_disk(home_server(), NVME1, table_uuid=GUID)
    image = image_of(disk_of(inventory, NVME1), AREA)
    assert (image.disk_key, image.table_uuid) == (NVME1, GUID)
    assert area_of(image) == AREA


@pytest.mark.parametrize("text", ["a", "!!!!", "AAAA\nAAAA", "ä"])
def test_a_copy_that_is_not_base64_is_damaged_whichever_part_it_is(text: str) -> None:
    sound = base64.b64encode(AREA.head).decode()
    for image in (DiskImage("k", "", text, sound), DiskImage("k", "", sound, text)):
        with pytest.raises(ImageDamaged, match="not base64"):
            area_of(image)


@pytest.mark.parametrize("name", RECORDED)
def test_what_was_packed_is_unpacked_and_takes_little_room(name: str) -> None:
    for area in recording(name).states:
        assert unpack_area(pack_area(area)) == area
        assert len(pack_area(area)) < (len(area.head) + len(area.tail)) // 15


def test_what_was_packed_says_how_long_its_parts_are() -> None:
    assert pack_area(AREA).startswith("1024:512:")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1024:512",
        "1024:512:a:b",
        "x:512:" + packed(1, 1, b"").rpartition(":")[2],
        "1024:512:!!!!",
        "1024:512:\n" + packed(1024, 512, bytes(1536)).rpartition(":")[2],
        "1024:512:AAAA",
    ],
)
def test_a_text_that_is_no_packed_area_is_damaged(text: str) -> None:
    with pytest.raises(ImageDamaged, match="cannot be unpacked"):
        unpack_area(text)


@pytest.mark.parametrize(
    ("head", "tail", "length"), [(1024, 512, 1535), (1024, 512, 1537), (-1, 513, 512), (513, -1, 512), (0, 0, 1)]
)
def test_a_packed_area_of_another_length_than_it_says_is_damaged(head: int, tail: int, length: int) -> None:
    with pytest.raises(ImageDamaged, match="another length"):
        unpack_area(packed(head, tail, bytes(length)))


def test_a_packed_area_may_have_an_empty_part() -> None:
    assert unpack_area(packed(0, 512, bytes(512))) == Area(b"", bytes(512))
    assert unpack_area(packed(512, 0, bytes(512))) == Area(bytes(512), b"")
    assert unpack_area(packed(0, 0, b"")) == Area(b"", b"")


def test_a_packed_area_is_not_unpacked_beyond_the_largest_there_is() -> None:
    """A text of a few KiB can stand for gigabytes."""
    largest = bytes(2 * MAX_AREA_BYTES)
    assert unpack_area(packed(MAX_AREA_BYTES, MAX_AREA_BYTES, largest)).head == bytes(MAX_AREA_BYTES)
    with pytest.raises(ImageDamaged, match="another length"):
        unpack_area(packed(MAX_AREA_BYTES, MAX_AREA_BYTES + 2, largest + b"\0\0"))


@pytest.mark.parametrize("name", RECORDED)
def test_a_table_that_sgdisk_left_is_sound_and_so_is_a_disk_without_one(name: str) -> None:
    for area in recording(name).states:
        check_area(area)


@pytest.mark.parametrize("sector", [512, 4096])
def test_a_table_is_unsound_if_any_part_of_it_is(sector: int) -> None:
    area = recording(f"blank-{sector}").with_one
    head, tail = area.head, area.tail
    damaged = {
        Area(put(head, sector, bytes(8)), tail): "its first table is missing",
        Area(put(head, sector + 60, b"\xff"), tail): "the checksum of the GPT header is wrong",
        Area(put(head, 2 * sector, b"\xff"), tail): "the checksum of its partition entries is wrong",
        Area(put(head, 2 * sector + 16383, b"\xff"), tail): "the checksum of its partition entries is wrong",
        Area(head, put(tail, -sector, bytes(8))): "there is no GPT header",
        Area(head, put(tail, 60 - sector, b"\xff")): "the checksum of the GPT header is wrong",
        Area(head, put(tail, 0, b"\xff")): "the copy of its partition entries is missing or wrong",
        Area(head, put(tail, 16383, b"\xff")): "the copy of its partition entries is missing or wrong",
        with_headers(area, sector, entries_crc=7): "the checksum of its partition entries is wrong",
        with_second_header(area, sector, entries_crc=7): "the copy of its partition entries is missing or wrong",
        Area(head, b""): "there is no GPT header",
    }
    for each, why in damaged.items():
        with pytest.raises(ImageDamaged, match=why):
            check_area(each)


@pytest.mark.parametrize("sector", [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536])
def test_a_second_table_alone_is_found_whatever_the_size_of_a_sector(sector: int) -> None:
    header = recording().cleared.tail[-512:].ljust(sector, b"\0")
    for tail in (header, bytes(512) + header):
        with pytest.raises(ImageDamaged, match="its first table is missing"):
            check_area(Area(bytes(2 * sector), tail))


def test_what_is_left_of_a_second_header_is_no_table() -> None:
    """It lay there before the run as well, and is put back with all else."""
    check_area(Area(bytes(1024), SIGNATURE.ljust(512, b"\0")))
    check_area(Area(bytes(1024), put(recording().cleared.tail, -512 + 56, b"\1")))


def test_a_name_where_no_header_can_stand_is_no_table() -> None:
    check_area(Area(bytes(1024), SIGNATURE.ljust(1536, b"\0")))
    check_area(Area(SIGNATURE.ljust(1024, b"\0"), bytes(512)))


def test_a_copy_whose_entries_lie_before_the_area_is_missing() -> None:
    """They are at its very start in the tables that sgdisk makes."""
    area = SGDISK.with_one
    with pytest.raises(ImageDamaged, match="copy of its partition entries is missing"):
        check_area(replace(area, tail=area.tail[-512:]))
    first = (128 * GIB - len(area.tail)) // 512
    for before in (1, 33):  # as many sectors as the part has: counted from its end they would be found
        with pytest.raises(ImageDamaged, match="copy of its partition entries is missing"):
            check_area(with_second_header(area, 512, entries=first - before))


def test_two_headers_of_different_tables_are_unsound() -> None:
    other = recording("blank-512").with_one
    guid = put(other.tail, 56 - 512, bytes(16))
    renamed = with_second_header(replace(other, tail=guid), 512)
    with pytest.raises(ImageDamaged, match="different tables"):
        check_area(renamed)


@pytest.mark.parametrize("name", RECORDED)
def test_the_partitions_of_a_table_are_those_that_sgdisk_made(name: str) -> None:
    found = recording(name)
    one, two = (1, FIRST, MIB, MIB + GIB), (2, SECOND, MIB + GIB, MIB + 3 * GIB)
    listed = [
        [(each.number, each.partuuid, each.start_bytes, each.end_bytes) for each in entries_of(area)]
        for area in found.states
    ]
    assert listed == [[], [], [one], [one, two], [two]]


def test_partitions_are_not_read_off_a_damaged_table() -> None:
    area = SGDISK.with_two
    for place, why in ((512 + 60, "checksum of the GPT header"), (1024, "list of partitions")):
        with pytest.raises(ImageDamaged, match=why):
            entries_of(replace(area, head=put(area.head, place, b"\xff")))


def test_entries_that_stand_elsewhere_are_found() -> None:
    area = SGDISK.with_one
    moved = Area(area.head[:1024] + bytes(512) + area.head[1024:] + bytes(512), area.tail)
    moved = with_first_header(moved, 512, entries=3)
    assert [entry.partuuid for entry in entries_of(moved)] == [FIRST]
    check_area(moved)
