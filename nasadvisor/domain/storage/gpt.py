"""A GUID partition table (UEFI specification 2.10, chapter 5.3), read from raw sectors: its header and its entries.

Offsets on the disk are in bytes here; the table itself counts in logical sectors (LBA).
"""

import struct
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

SOLARIS_ZFS_TYPE: Final = "6a898cc3-1dd2-11b2-99a6-080020736631"
"""sgdisk's BF01, "Solaris /usr & Mac ZFS": what OpenZFS and the platforms built on it take for a ZFS partition."""

EFI_SYSTEM_TYPE: Final = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
BIOS_BOOT_TYPE: Final = "21686148-6449-6e6f-744e-656564454649"


SIGNATURE: Final = b"EFI PART"
HEADER_BYTES: Final = 92
SECTOR_BYTES: Final = (512, 4096)
"""Sectors in which tables are counted, whatever the disk has now: adapters show 4,096 as 512 and the reverse."""
_LAYOUT: Final = struct.Struct("<8sIIIIQQQQ16sQIII")  # table 5.5 of the specification
_CRC_OFFSET: Final = 16
_MIN_ENTRY_BYTES: Final = 128
_MAX_ARRAY_BYTES: Final = 4 * 1024 * 1024
"""The kernel takes no longer array of entries: KMALLOC_MAX_SIZE in is_gpt_valid(), block/partitions/efi.c. It bounds
what a broken header makes us read; everybody writes 16 KiB."""

_NO_OFFSET: Final = 2**63
"""No disk is as long: the kernel's offsets are signed (loff_t), and nothing there can be read or kept in a document."""

_ENTRY: Final = struct.Struct("<16s16sQQQ72s")  # table 5.6 of the specification
_MBR_TYPES: Final = (450, 466, 482, 498)
_PROTECTIVE_TYPE: Final = 0xEE
_UNUSED_TYPE: Final = bytes(16)

_STANDARD_ENTRIES: Final = 128
"""What sgdisk writes; the specification demands room for 16 KiB of entries."""


class GptUnreadable(ValueError):  # noqa: N818 - named for what happened, like the errors of the host
    """What was read is no sound GPT; the message says what is wrong with it."""


@dataclass(frozen=True)
class GptHeader:
    """What a sound header says. `usable_end_bytes` is the first byte after the usable area."""

    table_uuid: str
    usable_start_bytes: int
    usable_end_bytes: int
    this_header_bytes: int
    other_header_bytes: int
    entries_start_bytes: int
    entry_count: int
    entry_bytes: int
    entries_crc: int

    @property
    def entries_size_bytes(self) -> int:
        """The length of the array of partition entries."""
        return self.entry_count * self.entry_bytes

    def entries_match(self, entries: bytes) -> bool:
        """Whether these bytes are the array of entries that the header was written for."""
        return len(entries) == self.entries_size_bytes and zlib.crc32(entries) == self.entries_crc


@dataclass(frozen=True)
class HeaderPlace:
    """Where on a disk the sector with a sound header ends, and how long the sectors are that its table counts in."""

    end_bytes: int
    sector_bytes: int


@dataclass(frozen=True)
class GptEntry:
    """A partition as the table on the disk lists it. `end_bytes` is the first byte after it; UUIDs in lower case."""

    number: int
    type_uuid: str
    partuuid: str
    start_bytes: int
    end_bytes: int
    attributes: int
    name: str


def parse_header(sector: bytes, sector_bytes: int) -> GptHeader:
    """Read the header from the logical sector it is in: sector 1, or the disk's last one for its copy.

    Raises:
        GptUnreadable: there is no header, or it is damaged.
    """
    if len(sector) < HEADER_BYTES or sector[: len(SIGNATURE)] != SIGNATURE:
        raise GptUnreadable("there is no GPT header")
    fields = _LAYOUT.unpack_from(sector)
    _, _, size, crc, _, this, other, first, last, guid, entries, count, entry_bytes, entries_crc = fields
    if not HEADER_BYTES <= size <= min(len(sector), sector_bytes):
        raise GptUnreadable(f"the GPT header says it is {size} bytes long")
    if zlib.crc32(sector[:_CRC_OFFSET] + bytes(4) + sector[_CRC_OFFSET + 4 : size]) != crc:
        raise GptUnreadable("the checksum of the GPT header is wrong")
    is_beyond = max(this, other, last + 1, entries) * sector_bytes >= _NO_OFFSET
    if first > last or is_beyond or entry_bytes < _MIN_ENTRY_BYTES or not 0 < count * entry_bytes <= _MAX_ARRAY_BYTES:
        raise GptUnreadable("the GPT header contradicts itself")
    return GptHeader(
        table_uuid=str(uuid.UUID(bytes_le=guid)),
        usable_start_bytes=first * sector_bytes,
        usable_end_bytes=(last + 1) * sector_bytes,
        this_header_bytes=this * sector_bytes,
        other_header_bytes=other * sector_bytes,
        entries_start_bytes=entries * sector_bytes,
        entry_count=count,
        entry_bytes=entry_bytes,
        entries_crc=entries_crc,
    )


def is_protected(first_sector: bytes) -> bool:
    """Whether a first sector is an MBR that protects a GPT: without, neither the kernel nor libblkid looks for one."""
    kinds = (first_sector[offset] for offset in _MBR_TYPES if offset < len(first_sector))
    return first_sector[510:512] == b"\x55\xaa" and _PROTECTIVE_TYPE in kinds


def header_places(data: bytes, start_bytes: int) -> Iterator[HeaderPlace]:
    """The sound headers in bytes that begin there on a disk.

    A header vouches for its place: one in the image of another disk, inside a file, stands elsewhere than it says.
    """
    at = data.find(SIGNATURE)
    while at >= 0:
        for sector_bytes in SECTOR_BYTES:
            try:
                header = parse_header(data[at : at + sector_bytes], sector_bytes)
            except GptUnreadable:
                continue
            if header.this_header_bytes == start_bytes + at:
                yield HeaderPlace(start_bytes + at + sector_bytes, sector_bytes)
        at = data.find(SIGNATURE, at + 1)


def parse_entries(array: bytes, header: GptHeader, sector_bytes: int) -> tuple[GptEntry, ...]:
    """The partitions in the array of entries that lies where the header says, by number. Unused entries are left out.

    Raises:
        GptUnreadable: it is not the array that the header was written for.
    """
    if not header.entries_match(array):
        raise GptUnreadable("the checksum of the GPT's list of partitions is wrong")
    places = range(0, header.entries_size_bytes, header.entry_bytes)
    entries = ((number, _ENTRY.unpack_from(array, place)) for number, place in enumerate(places, 1))
    return tuple(
        GptEntry(
            number=number,
            type_uuid=str(uuid.UUID(bytes_le=kind)),
            partuuid=str(uuid.UUID(bytes_le=guid)),
            start_bytes=first * sector_bytes,
            end_bytes=(last + 1) * sector_bytes,
            attributes=attributes,
            name=name.decode("utf-16-le", errors="replace").partition("\0")[0],
        )
        for number, (kind, guid, first, last, attributes, name) in entries
        if kind != _UNUSED_TYPE
    )


def standard_area(size_bytes: int, sector_bytes: int) -> tuple[int, int]:
    """Start and end of the usable area where sgdisk makes a new table on a disk of this size.

    In front: protective MBR, header, 16 KiB of entries; behind: the copy of entries and header (with 512-byte sectors
    34 and 33 sectors). A disk too small for that has an empty area.
    """
    entries = -(-_STANDARD_ENTRIES * _MIN_ENTRY_BYTES // sector_bytes)
    start = (2 + entries) * sector_bytes
    end = (size_bytes // sector_bytes - 1 - entries) * sector_bytes
    return start, max(start, end)
