"""What sgdisk(8) makes of a partition table: the sectors that a step of ours leaves, worked out before or after it ran.

Needed to tell a table whose writing was cut off, a mix of old and new sectors, from one that somebody else wrote.
"""

import struct
import uuid
import zlib
from dataclasses import replace
from typing import Final

from nasadvisor.domain.change.actions import CreateSlice, CreateTable, DeleteSlice, Slice
from nasadvisor.domain.change.table_area import SECTOR_BYTES, UNIT_BYTES, Area
from nasadvisor.domain.storage.gpt import SIGNATURE, SOLARIS_ZFS_TYPE, GptHeader, GptUnreadable, parse_header

_BOOT_CODE_BYTES: Final = 440
"""What sgdisk takes over of a first sector that is no protective MBR. The disk signature behind it and the two bytes
after that become zeros (MBRData::MakeProtectiveMBR() in mbr.cc of gptfdisk 1.0.9)."""
_MBR_ENTRIES_OFFSET: Final = 446
_PROTECTIVE_TYPE_OFFSET: Final = _MBR_ENTRIES_OFFSET + 4
_PROTECTIVE_TYPE: Final = 0xEE
_MBR_SIGNATURE: Final = b"\x55\xaa"
_ENTRY: Final = struct.Struct("<16s16sQQQ72s")  # table 5.6 of the UEFI specification 2.10
_HEADER: Final = struct.Struct("<8sIIIIQQQQ16sQIII")
_CRC: Final = slice(16, 20)
_ENTRIES_CRC_OFFSET: Final = 88


def predict(area: Area, step: object) -> Area | None:
    """What sgdisk(8) leaves of a table area when it does this step; None where that cannot be told."""
    try:
        match step:
            case CreateTable():
                return _cleared(area, step)
            case CreateSlice(slice=piece):
                return _with_entry(area, piece, _entry(piece))
            case DeleteSlice(slice=piece):
                return _with_entry(area, piece, bytes(_ENTRY.size))
    except GptUnreadable:
        return None
    return None


def has_other_headers(expected: Area, found: Area) -> bool:
    """Whether a table is as expected but for its two headers, which are sound and of the same table.

    sgdisk writes a header of its own over one that another tool made in a different way.
    """
    return any(_has_other_headers(expected, found, sector) for sector in SECTOR_BYTES)


def _has_other_headers(expected: Area, found: Area, sector: int) -> bool:
    """The same with sectors of this size."""
    try:
        headers, others = (
            (parse_header(area.head[sector:], sector), parse_header(area.tail[len(area.tail) - sector :], sector))
            for area in (expected, found)
        )
    except GptUnreadable:
        return False
    known, mbr = expected.head[:UNIT_BYTES], found.head[:UNIT_BYTES]
    rest, other_rest = (
        (area.head[UNIT_BYTES:sector], area.head[2 * sector :], area.tail[:-sector]) for area in (expected, found)
    )
    return headers == others and rest == other_rest and (mbr == known or is_protective_mbr(mbr, (known,)))


def is_protective_mbr(unit: bytes, places: tuple[bytes, ...]) -> bool:
    """Whether a first sector is a protective MBR as one of these is, with boot code and disk signature of one of them.

    Releases of sgdisk differ in the CHS fields of its one entry.
    """
    codes = {place[:_MBR_ENTRIES_OFFSET] for place in places}
    return (
        len(unit) == UNIT_BYTES
        and unit[:_MBR_ENTRIES_OFFSET] in codes
        and unit[_PROTECTIVE_TYPE_OFFSET] == _PROTECTIVE_TYPE
        and not any(unit[_MBR_ENTRIES_OFFSET + 16 : 510])
        and any(place[_PROTECTIVE_TYPE_OFFSET] == _PROTECTIVE_TYPE for place in places)
        and unit[510:] == _MBR_SIGNATURE
    )


def _cleared(area: Area, step: CreateTable) -> Area | None:
    """An empty table as `sgdisk --clear --disk-guid=…` makes it."""
    count, size = 128, _ENTRY.size
    places = {(2 + -(-count * size // sector)) * sector: sector for sector in SECTOR_BYTES}
    sector = places.get(step.usable_start_bytes)
    if sector is None or len(area.head) != step.usable_start_bytes:
        return None
    total = (step.usable_end_bytes + len(area.tail)) // sector
    entries = bytes(count * size)
    header = GptHeader(
        table_uuid=step.table_uuid,
        usable_start_bytes=step.usable_start_bytes,
        usable_end_bytes=step.usable_end_bytes,
        this_header_bytes=sector,
        other_header_bytes=(total - 1) * sector,
        entries_start_bytes=2 * sector,
        entry_count=count,
        entry_bytes=size,
        entries_crc=zlib.crc32(entries),
    )
    copy = replace(
        header,
        this_header_bytes=header.other_header_bytes,
        other_header_bytes=sector,
        entries_start_bytes=step.usable_end_bytes,
    )
    code = area.head[:_BOOT_CODE_BYTES].ljust(_MBR_ENTRIES_OFFSET, b"\0")
    mbr = code + _protective(total) + _MBR_SIGNATURE
    head = mbr.ljust(sector, b"\0") + _sector(header, sector) + entries
    tail = entries.ljust(len(area.tail) - sector, b"\0") + _sector(copy, sector)
    return Area(head.ljust(len(area.head), b"\0"), tail)


def _protective(sectors: int) -> bytes:
    """The four entries of a protective MBR (UEFI specification 2.10, table 5.4)."""
    first = struct.pack("<B3sB3sII", 0, b"\0\x02\0", _PROTECTIVE_TYPE, b"\xff\xff\xff", 1, min(sectors - 1, 0xFFFFFFFF))
    return first.ljust(64, b"\0")


def _sector(header: GptHeader, sector_bytes: int) -> bytes:
    """A header as it is written, its own checksum included."""

    def lba(offset: int) -> int:
        return offset // sector_bytes

    raw = bytearray(
        _HEADER.pack(
            SIGNATURE,
            0x00010000,
            92,
            0,
            0,
            lba(header.this_header_bytes),
            lba(header.other_header_bytes),
            lba(header.usable_start_bytes),
            lba(header.usable_end_bytes) - 1,
            uuid.UUID(header.table_uuid).bytes_le,
            lba(header.entries_start_bytes),
            header.entry_count,
            header.entry_bytes,
            header.entries_crc,
        )
    )
    return _signed(raw).ljust(sector_bytes, b"\0")


def _signed(raw: bytearray) -> bytes:
    raw[_CRC] = bytes(4)
    raw[_CRC] = struct.pack("<I", zlib.crc32(raw))
    return bytes(raw)


def _entry(piece: Slice) -> bytes:
    first = piece.start_bytes // piece.sector_bytes
    last = (piece.start_bytes + piece.size_bytes) // piece.sector_bytes - 1
    kind, unique = uuid.UUID(SOLARIS_ZFS_TYPE).bytes_le, uuid.UUID(piece.partuuid).bytes_le
    return _ENTRY.pack(kind, unique, first, last, 0, b"")


def _with_entry(area: Area, piece: Slice, entry: bytes) -> Area | None:
    """The area with one entry changed in both copies, and the checksums that follow from it."""
    sector = piece.sector_bytes
    header = parse_header(area.head[sector:], sector)
    copy = parse_header(area.tail[len(area.tail) - sector :], sector)
    if header.entry_bytes != len(entry) or not 1 <= piece.number <= header.entry_count:
        return None
    start = copy.entries_start_bytes - (copy.this_header_bytes + sector - len(area.tail))
    if start < 0 or header.entries_start_bytes + header.entries_size_bytes > len(area.head):
        return None
    head = _changed(area.head, header.entries_start_bytes, sector, header, piece.number, entry)
    tail = _changed(area.tail, start, len(area.tail) - sector, header, piece.number, entry)
    return Area(head, tail)


def _changed(data: bytes, entries_at: int, header_at: int, header: GptHeader, number: int, entry: bytes) -> bytes:
    raw = bytearray(data)
    at = entries_at + (number - 1) * header.entry_bytes
    raw[at : at + len(entry)] = entry
    crc = zlib.crc32(raw[entries_at : entries_at + header.entries_size_bytes])
    (size,) = struct.unpack_from("<I", raw, header_at + 12)
    head = raw[header_at : header_at + size]
    head[_ENTRIES_CRC_OFFSET : _ENTRIES_CRC_OFFSET + 4] = struct.pack("<I", crc)
    raw[header_at : header_at + size] = _signed(head)
    return bytes(raw)
