"""The header of a GUID partition table (UEFI specification 2.10, chapter 5.3), read from raw sectors.

Offsets on the disk are in bytes here; the header itself counts in logical sectors (LBA).
"""

import struct
import uuid
import zlib
from dataclasses import dataclass
from typing import Final

SIGNATURE: Final = b"EFI PART"
HEADER_BYTES: Final = 92
_LAYOUT: Final = struct.Struct("<8sIIIIQQQQ16sQIII")  # table 5.5 of the specification
_CRC_OFFSET: Final = 16
_MIN_ENTRY_BYTES: Final = 128
_MAX_ENTRIES: Final = 65536  # far above the 128 that everybody writes; bounds what a broken header makes us read

_STANDARD_ENTRIES: Final = 128
"""What sgdisk writes; the specification demands room for 16 KiB of entries."""


class GptUnreadable(ValueError):  # noqa: N818 - named for what happened, like the errors of the host
    """The sector holds no sound GPT header; the message says what is wrong with it."""


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
    if first > last or entry_bytes < _MIN_ENTRY_BYTES or not 0 < count <= _MAX_ENTRIES:
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


def standard_area(size_bytes: int, sector_bytes: int) -> tuple[int, int]:
    """Start and end of the usable area where sgdisk makes a new table on a disk of this size.

    In front: protective MBR, header, 16 KiB of entries; behind: the copy of entries and header (with 512-byte sectors
    34 and 33 sectors). A disk too small for that has an empty area.
    """
    entries = -(-_STANDARD_ENTRIES * _MIN_ENTRY_BYTES // sector_bytes)
    start = (2 + entries) * sector_bytes
    end = (size_bytes // sector_bytes - 1 - entries) * sector_bytes
    return start, max(start, end)
