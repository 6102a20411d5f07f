"""Table areas as sgdisk 1.0.9 left them (tests/fixtures/sgdisk), and small changes of them."""

import json
import struct
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.actions import CreateSlice, CreateTable, DeleteSlice, Naming, Role, Slice
from nasadvisor.domain.change.table_area import Area, unpack_area
from nasadvisor.domain.storage.gpt import HEADER_BYTES, standard_area
from nasadvisor.domain.units import GIB, MIB

FOLDER: Final = Path(__file__).parents[3] / "fixtures/sgdisk"
RECORDED: Final = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
SIZE_BYTES: Final = 128 * GIB
KEY: Final = "disk-1"
GUID: Final = "5d0e7c9e-1111-4000-8000-00000000a001"
FIRST: Final = "10000000-aaaa-4000-8000-000000000001"
SECOND: Final = "20000000-bbbb-4000-8000-000000000002"


@dataclass(frozen=True)
class Recording:
    """What lay in the table area of a disk of 128 GiB before each of four steps, and what after the last one."""

    sector_bytes: int
    blank: Area
    cleared: Area
    with_one: Area
    with_two: Area
    without_first: Area

    @property
    def create(self) -> CreateTable:
        """The step that made the table."""
        start, end = standard_area(SIZE_BYTES, self.sector_bytes)
        return CreateTable(KEY, "/dev/x", GUID, start, end)

    def piece(self, number: int = 1, partuuid: str = FIRST, start_bytes: int = MIB, size_bytes: int = GIB) -> Slice:
        """A slice of this disk; the first one unless told otherwise."""
        sector = self.sector_bytes
        return Slice(KEY, "/dev/x", number, start_bytes, size_bytes, sector, partuuid, Role.LOG, Naming.PARTUUID)

    @property
    def steps(self) -> tuple[CreateTable, CreateSlice, CreateSlice, DeleteSlice]:
        """What was done, each with sgdisk."""
        first, second = self.piece(), self.piece(2, SECOND, MIB + GIB, 2 * GIB)
        return (self.create, CreateSlice(first, ""), CreateSlice(second, ""), DeleteSlice(first, ""))

    @property
    def states(self) -> tuple[Area, ...]:
        """Before the first step, and after each."""
        return (self.blank, self.cleared, self.with_one, self.with_two, self.without_first)


def recording(name: str = "blank-512") -> Recording:
    """One of RECORDED."""
    document = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Recording(document["sector_bytes"], *map(unpack_area, document["states"]))


def put(data: bytes, place: int, new: bytes) -> bytes:
    """The bytes with others at this place."""
    place = place if place >= 0 else len(data) + place
    return data[:place] + new + data[place + len(new) :]


def header_with(sector: bytes, **fields: int) -> bytes:
    """A header with fields changed and its checksum right; sizes and places in sectors, as in the table itself."""
    raw = bytearray(sector)
    places = {
        "revision": (8, "<I"),
        "size": (12, "<I"),
        "reserved": (20, "<I"),
        "this": (24, "<Q"),
        "last_usable": (48, "<Q"),
        "guid_low": (56, "<Q"),
        "entries": (72, "<Q"),
        "count": (80, "<I"),
        "entry_bytes": (84, "<I"),
        "entries_crc": (88, "<I"),
    }
    for name, value in fields.items():
        place, form = places[name]
        struct.pack_into(form, raw, place, value)
    size = fields.get("size", HEADER_BYTES)
    struct.pack_into("<I", raw, 16, 0)
    struct.pack_into("<I", raw, 16, zlib.crc32(raw[:size]))
    return bytes(raw)


def with_first_header(area: Area, sector_bytes: int, **fields: int) -> Area:
    """The area with its first header changed."""
    header = area.head[sector_bytes : 2 * sector_bytes]
    return replace(area, head=put(area.head, sector_bytes, header_with(header, **fields)))


def with_second_header(area: Area, sector_bytes: int, **fields: int) -> Area:
    """The area with its second header changed."""
    header = area.tail[-sector_bytes:]
    return replace(area, tail=put(area.tail, -sector_bytes, header_with(header, **fields)))


def with_headers(area: Area, sector_bytes: int, **fields: int) -> Area:
    """The area with both headers changed alike."""
    return with_second_header(with_first_header(area, sector_bytes, **fields), sector_bytes, **fields)
