"""The partition tables of a run's disks as its journal knows them: as they were before, and as each step left them.

A table is written back only over sectors that the run, or the disk before it, put there: whatever else stands in one
of them is somebody else's. What sgdisk(8) makes of a table is worked out here, before or after it ran: needed to tell a
table whose writing was cut off, a mix of old and new sectors, from one that somebody else wrote.
"""

import struct
import uuid
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from nasadvisor.domain.change.actions import (
    Action,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    RestoreTable,
    RewindTable,
    SaveTable,
    Slice,
    UndoAction,
)
from nasadvisor.domain.change.runs import Continued, DiskImage, Done, Failed, Intent, Record, Started, TableLeft
from nasadvisor.domain.change.table_area import (
    SECTOR_BYTES,
    UNIT_BYTES,
    Area,
    ImageDamaged,
    area_of,
    disk_end_of,
    unpack_area,
)
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


@dataclass(frozen=True)
class OwnTable:
    """What a run knows of one disk's table area.

    `before` is what lay there before the run, `last` what its last finished step left, `own` every state that the run
    or the disk before it put there, that of a step which was cut off included. `met` is a table that somebody else had
    changed when a step of ours began on it, and what that step makes of it; empty where there is none.
    """

    before: Area
    last: Area
    own: tuple[Area, ...]
    met: tuple[Area, ...] = ()

    @property
    def disk_bytes(self) -> int | None:
        """How long the disk was during the run, as far as one of its tables tells."""
        return next((end for end in map(disk_end_of, self.own) if end), None)

    def rewound(self, now: Area) -> Area | None:
        """What a step found that was cut off and left this; None where somebody else wrote there meanwhile."""
        if self.is_own(now):
            return self.last
        return self.met[0] if self.met and replace(self, own=self.met).is_own(now) else None

    def is_left_by(self, step: object, before: Area, now: Area) -> bool:
        """Whether a table is what this step leaves of the one before, and nobody else wrote in it meanwhile.

        Where that cannot be worked out, as for a table that another tool made in its own way, the step is believed.
        """
        new = predict(before, step)
        return new is None or replace(self, own=(before, new)).is_own(now) or has_other_headers(new, now)

    def is_own(self, now: Area) -> bool:
        """Whether every sector of the area is one that this run, or the disk before it, put there."""
        first = [(unit, known) for unit, known in self._places(now)[:1] if not is_own_mbr(unit, known)]
        return not first and self.is_own_behind_mbr(now)

    def is_own_behind_mbr(self, now: Area) -> bool:
        """The same of all but the first sector, which holds boot code as well."""
        is_known = any(area.is_like(now) for area in self.own)
        return is_known and all(unit in known for unit, known in self._places(now)[1:])

    def is_own_before_growth(self, now: Area) -> bool:
        """Whether the first table is the run's and the disk is blank where the copy of it would stand now."""
        return not any(now.tail) and self.is_own_behind_mbr(replace(now, tail=self.last.tail))

    def _places(self, now: Area) -> list[tuple[bytes, tuple[bytes, ...]]]:
        """Each sector, with what this run or the disk before it put in its place."""
        alike = [area.units() for area in self.own if area.is_like(now)]
        return list(zip(now.units(), zip(*alike, strict=True), strict=True)) if alike else []


def is_own_mbr(unit: bytes, known: tuple[bytes, ...]) -> bool:
    """Whether the first sector is a known one, or a protective MBR with boot code that is known."""
    return unit in known or is_protective_mbr(unit, known)


def own_tables(records: Iterable[Record]) -> Mapping[str, OwnTable]:
    """What a journal knows of the table areas, by disk key; a copy in it that cannot be read is none."""
    reading = _Reading()
    for record in records:
        match record:
            case Started():
                reading.steps = record.plan.actions
            case Continued():
                reading.undo = record.undo or reading.undo
            case Intent():
                reading.begin(record)
            case TableLeft():
                with suppress(ImageDamaged):
                    reading.leave(record.disk_key, unpack_area(record.packed))
            case Done():
                reading.end(record)
            case Failed():
                reading.fail(record)
            case _:
                pass
    return reading.known


def table_of_steps(image: DiskImage, steps: Iterable[Action]) -> OwnTable | None:
    """What is known of a table of which only the copy from before is kept: that, and what each step can have left."""
    try:
        area = area_of(image)
    except ImageDamaged:
        return None
    own = OwnTable(area, area, (area,))
    for step in (step for step in steps if disk_key_of(step) == image.disk_key):
        new = predict(own.last, step)
        own = replace(own, last=new, own=(*own.own, new)) if new else own
    return own


def disk_key_of(step: object) -> str:
    """The disk whose table a step is about, "" for none."""
    match step:
        case CreateTable() | SaveTable() | RestoreTable() | RewindTable():
            return step.disk_key
        case CreateSlice(slice=piece) | DeleteSlice(slice=piece):
            return piece.disk_key
    return ""


@dataclass
class _Reading:
    """A journal being read. `begun` are steps of which only the intent is known, with what they would leave; `found` is
    what the last step on each disk began with."""

    steps: tuple[Action, ...] = ()
    undo: tuple[UndoAction, ...] = ()
    known: dict[str, OwnTable] = field(default_factory=dict)
    begun: dict[str, Area] = field(default_factory=dict)
    found: dict[str, Area] = field(default_factory=dict)

    def begin(self, record: Intent) -> None:
        """A step is about to run: what it would leave is ours from now on, even if only part of it is written."""
        image = record.image
        if image and image.disk_key not in self.known:
            with suppress(ImageDamaged):
                area = area_of(image)
                self.known[image.disk_key] = OwnTable(area, area, (area,))
        step = self._step(record)
        key = disk_key_of(step)
        self._meet(key, image, step)
        if key in self.known:
            self.found[key] = self.known[key].last
        new = predict(self.known[key].last, step) if key in self.known else None
        if new:
            self.begun[key] = new
            self.known[key] = replace(self.known[key], own=(*self.known[key].own, new))

    def _meet(self, key: str, image: DiskImage | None, step: object) -> None:
        """A slice is deleted from a table that others may have changed; that one is kept with the intent."""
        met: tuple[Area, ...] = ()
        if image and isinstance(step, DeleteSlice):
            with suppress(ImageDamaged):
                area = area_of(image)
                new = predict(area, step)
                met = (area, new) if new else ()
        if key in self.known:
            self.known[key] = replace(self.known[key], met=met)

    def leave(self, key: str, area: Area) -> None:
        """The step was seen to leave this."""
        self.begun.pop(key, None)
        if key in self.known:
            self.known[key] = replace(self.known[key], last=area, own=(*self.known[key].own, area), met=())

    def end(self, record: Done) -> None:
        """A step got through. Journals of the first release do not hold what their steps left."""
        step = self._step(record)
        key = disk_key_of(step)
        self.found.pop(key, None)
        if key in self.known:
            self.known[key] = replace(self.known[key], met=())
        if isinstance(step, RestoreTable) and key in self.known and not record.found:
            self.known[key] = replace(self.known[key], last=self.known[key].before)
        elif key in self.begun:
            self.known[key] = replace(self.known[key], last=self.begun.pop(key))

    def fail(self, record: Failed) -> None:
        """What a step left that failed is ours, but nothing to go back to."""
        key = disk_key_of(self._step(record))
        if key in self.found:
            self.known[key] = replace(self.known[key], last=self.found.pop(key))

    def _step(self, record: Intent | Done | Failed) -> Action | UndoAction | None:
        steps: tuple[Action | UndoAction, ...] = self.steps if record.goal.is_forwards else self.undo
        return steps[record.step] if 0 <= record.step < len(steps) else None
