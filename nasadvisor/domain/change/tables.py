"""The partition tables of a run's disks as its journal knows them: as they were before, and as each step left them.

A table is written back only over sectors that the run, or the disk before it, put there: whatever else stands in one
of them is somebody else's.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from nasadvisor.domain.change.actions import (
    Action,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    RestoreTable,
    RewindTable,
    SaveTable,
    UndoAction,
)
from nasadvisor.domain.change.runs import Continued, DiskImage, Done, Failed, Intent, Record, Started, TableLeft
from nasadvisor.domain.change.table_area import Area, ImageDamaged, area_of, disk_end_of, unpack_area
from nasadvisor.domain.change.table_steps import has_other_headers, is_protective_mbr, predict


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
