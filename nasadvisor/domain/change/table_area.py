"""The sectors of a disk that hold its partition table: reading them from a journal, and whether they are sound."""

import base64
import binascii
import zlib
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.runs import DiskImage
from nasadvisor.domain.storage.gaps import MAX_AREA_BYTES
from nasadvisor.domain.storage.gpt import SIGNATURE, GptEntry, GptUnreadable, parse_entries, parse_header
from nasadvisor.domain.storage.inventory import Disk

UNIT_BYTES: Final = 512
"""What is compared at a time: the smallest sector, so that no mix of written and unwritten ones is finer."""

SECTOR_BYTES: Final = tuple(512 << power for power in range(8))


class ImageDamaged(ValueError):  # noqa: N818 - named for what happened
    """The copy of a table area cannot be read, or holds a table whose checksums are wrong; the message says which."""


@dataclass(frozen=True)
class Area:
    """The bytes before the first and after the last usable sector of a disk."""

    head: bytes
    tail: bytes

    def units(self) -> list[bytes]:
        """Its pieces of 512 bytes, head first."""
        both = self.head + self.tail
        return [both[at : at + UNIT_BYTES] for at in range(0, len(both), UNIT_BYTES)]

    def is_like(self, other: "Area") -> bool:
        """Whether both cover the same places of a disk."""
        return len(self.head) == len(other.head) and len(self.tail) == len(other.tail)


def area_of(image: DiskImage) -> Area:
    """The sectors that a journal keeps of a disk.

    Raises:
        ImageDamaged: they are not what base64 makes.
    """
    try:
        head = base64.b64decode(image.head_base64, validate=True)
        return Area(head, base64.b64decode(image.tail_base64, validate=True))
    except (binascii.Error, ValueError) as error:
        raise ImageDamaged(f"it is not base64: {error}") from error


def image_of(disk: Disk, area: Area) -> DiskImage:
    """What a journal keeps of a disk's table area."""
    return DiskImage(disk.key, disk.table_uuid, _text(area.head), _text(area.tail))


def pack_area(area: Area) -> str:
    """Both parts as one short text: the lengths, then zlib in base64. Tables are nearly all zeros."""
    return f"{len(area.head)}:{len(area.tail)}:{_text(zlib.compress(area.head + area.tail))}"


def unpack_area(packed: str) -> Area:
    """The sectors of a packed text.

    Raises:
        ImageDamaged: it is not one, or larger than any table.
    """
    try:
        head, tail, data = packed.split(":")
        size = int(head) + int(tail)
        both = zlib.decompressobj().decompress(base64.b64decode(data, validate=True), 2 * MAX_AREA_BYTES + 1)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise ImageDamaged(f"it cannot be unpacked: {error}") from error
    if len(both) != size or int(head) < 0 or int(tail) < 0:
        raise ImageDamaged("it has another length than it says")
    return Area(both[: int(head)], both[int(head) :])


def check_area(area: Area) -> None:
    """See to it that the area holds a whole table with right checksums, or none at all.

    Raises:
        ImageDamaged: with what is wrong.
    """
    primary = _header_place(area.head)
    if primary is None:
        if any(_is_header(area.tail[-sector:], sector) for sector in SECTOR_BYTES if sector <= len(area.tail)):
            raise ImageDamaged("its first table is missing")
        return
    try:
        header = parse_header(area.head[primary:], primary)
        copy = parse_header(area.tail[len(area.tail) - primary :], primary)
    except GptUnreadable as error:
        raise ImageDamaged(str(error)) from error
    start = header.entries_start_bytes
    if not header.entries_match(area.head[start : start + header.entries_size_bytes]):
        raise ImageDamaged("the checksum of its partition entries is wrong")
    # The copy counts from the start of the disk; its own sector, the disk's last one, tells where the tail begins.
    start = copy.entries_start_bytes - (copy.this_header_bytes + primary - len(area.tail))
    if start < 0 or not copy.entries_match(area.tail[start : start + copy.entries_size_bytes]):
        raise ImageDamaged("the copy of its partition entries is missing or wrong")
    if copy.table_uuid != header.table_uuid:
        raise ImageDamaged("its two headers are of different tables")


def entries_of(area: Area) -> tuple[GptEntry, ...]:
    """The partitions that the first table of an area lists.

    Raises:
        ImageDamaged: it cannot be read.
    """
    sector = _header_place(area.head)
    if sector is None:
        return ()
    try:
        header = parse_header(area.head[sector:], sector)
        start = header.entries_start_bytes
        return parse_entries(area.head[start : start + header.entries_size_bytes], header, sector)
    except GptUnreadable as error:
        raise ImageDamaged(str(error)) from error


def disk_end_of(area: Area) -> int | None:
    """How long a disk was when its table was written, by the first header: the copy stands in the last sector."""
    sector = _header_place(area.head)
    if sector is None:
        return None
    try:
        return parse_header(area.head[sector:], sector).other_header_bytes + sector
    except GptUnreadable:
        return None


def _is_header(sector: bytes, sector_bytes: int) -> bool:
    """Whether a sector holds a sound header; what is left of a damaged one is no part of a table."""
    try:
        parse_header(sector, sector_bytes)
    except GptUnreadable:
        return False
    return True


def _header_place(head: bytes) -> int | None:
    """Where the first header stands: in sector 1, whatever the size of a sector."""
    return next((size for size in SECTOR_BYTES if head[size : size + len(SIGNATURE)] == SIGNATURE), None)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
