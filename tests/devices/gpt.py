"""Writing a GPT as nobody's tool would: with any field of its header changed, and its checksum right."""

import struct
import zlib
from dataclasses import dataclass
from typing import Final

from tests.devices.loops import LoopDisk

_HEADER: Final = struct.Struct("<8sIIIIQQQQ16sQIII")
"""Table 5.5 of the UEFI specification 2.10."""


@dataclass(frozen=True)
class Fields:
    """What of a header is changed, in logical sectors; None is left as it is."""

    first_usable: int | None = None
    last_usable: int | None = None
    entries: int | None = None
    entry_count: int | None = None


def rewrite_header(disk: LoopDisk, sector: int, fields: Fields) -> None:
    """Change the header in this sector. Its entries are written where it says they are."""
    size = disk.sector_bytes
    head = list(_HEADER.unpack_from(disk.read(sector * size, size)))
    count = head[11] if fields.entry_count is None else fields.entry_count
    array = disk.read(head[10] * size, head[11] * head[12]).ljust(count * head[12], b"\0")[: count * head[12]]
    for place, value in ((7, fields.first_usable), (8, fields.last_usable), (10, fields.entries), (11, count)):
        head[place] = head[place] if value is None else value
    head[13], head[3] = zlib.crc32(array), 0
    head[3] = zlib.crc32(_HEADER.pack(*head))
    disk.write(head[10] * size, array)
    disk.write(sector * size, _HEADER.pack(*head))


def rewrite_both_headers(disk: LoopDisk, fields: Fields) -> None:
    """Change the header and its copy; the copy's entries stay where they are."""
    rewrite_header(disk, 1, fields)
    copy = Fields(fields.first_usable, fields.last_usable, None, fields.entry_count)
    rewrite_header(disk, disk.size_bytes // disk.sector_bytes - 1, copy)
