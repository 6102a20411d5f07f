"""Doing a permitted step, and what the journal is told of the table that it left."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nasadvisor.domain.change.actions import Action, RemoveVdev, RestoreTable, RewindTable, Role, UndoAction
from nasadvisor.domain.change.device_scan import DeviceScan, Step
from nasadvisor.domain.change.runs import CommandRan, Continued, Failed, Goal, Intent, Record, Run, Started, TableLeft
from nasadvisor.domain.change.table_area import Area, image_of, pack_area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.adapters.blockdev import DeviceBusy
from nasadvisor.host.change import gate as gate_module
from nasadvisor.host.change.gate import Gate, Permit, Ran
from nasadvisor.host.change.journal import Journal
from nasadvisor.host.change.logbook import Logbook
from nasadvisor.host.change.steps import image_before, image_met, own_table, run_permit
from nasadvisor.host.errors import CommandFailed, CommandTimedOut, HostError
from tests.unit.domain.builders import disk_of
from tests.unit.domain.change.sectors import put, recording
from tests.unit.machines import MIRROR_AND_CACHES, NVME1, home_server, plan_for

SGDISK = recording()
_CREATE, _FIRST, _SECOND, _DELETE = SGDISK.steps
CREATE = replace(_CREATE, disk_key=NVME1)
FIRST = replace(_FIRST, slice=replace(_FIRST.slice, disk_key=NVME1))
SECOND = replace(_SECOND, slice=replace(_SECOND.slice, disk_key=NVME1))
DELETE = replace(_DELETE, slice=FIRST.slice)
MACHINE = home_server()
DISK = disk_of(MACHINE, NVME1)
IMAGE = image_of(DISK, SGDISK.blank)
RAN = (CommandRan(("sgdisk",), 0, "done", "", 0.1),)
AT = "2026-08-25T20:00:00+00:00"
NOW = datetime(2026, 8, 25, 21, tzinfo=UTC)


@dataclass(frozen=True)
class Bench:
    """An executor that shows one table after the step, and keeps what it was asked. `error` is how the step ends."""

    now: Area | None
    error: HostError | None = None
    unreadable: HostError | None = None
    asked: list[tuple[Step, Inventory, OwnTable | None]] = field(default_factory=list)
    did: list[Permit] = field(default_factory=list)

    def inventory(self) -> Inventory:
        raise AssertionError

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        assert self.did, "the look comes after the step"
        self.asked.append((step, inventory, own))
        if self.unreadable:
            raise self.unreadable
        return DeviceScan(table=self.now)

    def do(self, permit: Permit) -> Ran:
        self.did.append(permit)
        if self.error:
            raise self.error
        return RAN


class Book(Logbook):
    """A logbook that keeps its records in memory."""

    def write(self, record: Record) -> Run:
        self.records.append(record)
        return self.run


def book_of(*records: Record) -> Book:
    return Book(Journal(Path("/nowhere")), "nas", lambda: NOW, lambda run: None, list(records))


def begun(*actions: Action, step: int = 0) -> Book:
    """A run of which this step is begun, on a disk that had no table."""
    plan = replace(plan_for(MIRROR_AND_CACHES, MACHINE), actions=actions)
    return book_of(Started(AT, Goal.APPLY, plan, "root"), Intent(AT, Goal.APPLY, step, IMAGE))


def permit(step: Step, before: Area | None, own: OwnTable | None = None) -> Permit:
    return Permit(step, MACHINE, DeviceScan(table=before), own, gate_module._SEAL)


def written(book: Book) -> list[TableLeft]:
    return [record for record in book.records if isinstance(record, TableLeft)]


def test_what_a_step_left_of_a_table_is_written_down_with_its_place() -> None:
    bench, book = Bench(SGDISK.cleared), begun(CREATE)
    allowed = permit(CREATE, SGDISK.blank)
    assert run_permit(allowed, book, Gate(bench), Goal.APPLY, 0) == RAN
    assert bench.did == [allowed]
    known = OwnTable(SGDISK.blank, SGDISK.blank, (SGDISK.blank, SGDISK.cleared))
    assert bench.asked == [(RewindTable(NVME1, CREATE.disk_path), MACHINE, known)]
    at = "2026-08-25T21:00:00.000+00:00"
    assert written(book) == [TableLeft(at, Goal.APPLY, 0, NVME1, pack_area(SGDISK.cleared))]


def test_so_is_what_a_step_of_an_undo_left() -> None:
    undo: tuple[UndoAction, ...] = (RestoreTable(NVME1, "/dev/x", "", ()), DELETE)
    book = begun(CREATE, FIRST, SECOND)
    book.records += [
        TableLeft(AT, Goal.APPLY, 2, NVME1, pack_area(SGDISK.with_two)),
        Continued(AT, Goal.UNDO, "root", undo),
        Intent(AT, Goal.UNDO, 1),
    ]
    bench = Bench(SGDISK.without_first)
    run_permit(permit(DELETE, SGDISK.with_two), book, Gate(bench), Goal.UNDO, 1)
    left = written(book)[-1]
    assert (left.goal, left.step, left.packed) == (Goal.UNDO, 1, pack_area(SGDISK.without_first))
    assert [step for step, _, _ in bench.asked] == [RewindTable(NVME1, "/dev/x")]


def test_a_slice_is_made_in_the_table_of_its_own_disk() -> None:
    book = begun(CREATE, FIRST)
    book.records += [TableLeft(AT, Goal.APPLY, 0, NVME1, pack_area(SGDISK.cleared)), Intent(AT, Goal.APPLY, 1)]
    bench = Bench(SGDISK.with_one)
    run_permit(permit(FIRST, SGDISK.cleared), book, Gate(bench), Goal.APPLY, 1)
    assert written(book)[-1].packed == pack_area(SGDISK.with_one)
    assert [step for step, _, _ in bench.asked] == [RewindTable(NVME1, "/dev/x")]


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        (SGDISK.blank, SGDISK.with_two, "somebody wrote in it meanwhile"),
        (SGDISK.with_two, SGDISK.cleared, "it was not ours before"),
        (None, SGDISK.cleared, "nobody looked at it before"),
        (SGDISK.blank, None, "it cannot be looked at now"),
    ],
)
def test_a_table_that_is_not_all_ours_is_not_written_down(before: Area | None, now: Area | None, why: str) -> None:
    book = begun(CREATE)
    assert run_permit(permit(CREATE, before), book, Gate(Bench(now)), Goal.APPLY, 0) == RAN
    assert written(book) == [], why


FAILED = CommandFailed("sgdisk --clear /dev/x", 2, "Invalid partition data!", mutates=True)
TIMED_OUT = CommandTimedOut("sgdisk --clear /dev/x", 60.0, mutates=True, still_running=False)
HALF = replace(SGDISK.blank, tail=put(SGDISK.cleared.tail, 0, b"nobody could have foretold this"))


@pytest.mark.parametrize("error", [FAILED, TIMED_OUT])
def test_what_a_program_of_ours_wrote_before_it_failed_is_ours(error: HostError) -> None:
    book = begun(CREATE)
    with pytest.raises(type(error)):
        run_permit(permit(CREATE, SGDISK.blank), book, Gate(Bench(HALF, error)), Goal.APPLY, 0)
    assert written(book) == [TableLeft("2026-08-25T21:00:00.000+00:00", Goal.APPLY, 0, NVME1, pack_area(HALF))]
    book.records.append(Failed(AT, Goal.APPLY, 0, error.statement))
    own = own_table(book, CREATE)
    assert own
    assert own.is_own(HALF)
    assert own.last == own.before == SGDISK.blank


@pytest.mark.parametrize(
    ("bench", "before", "why"),
    [
        (Bench(SGDISK.blank, FAILED), SGDISK.blank, "nothing was written"),
        (Bench(HALF, FAILED), SGDISK.with_two, "it was not ours before"),
        (Bench(HALF, FAILED), None, "nobody looked at it before"),
        (Bench(None, FAILED), SGDISK.blank, "it is not there any more"),
        (Bench(HALF, FAILED, DeviceBusy("/dev/x")), SGDISK.blank, "it cannot be read"),
        (Bench(HALF, DeviceBusy("/dev/x")), SGDISK.blank, "no program of ours was started"),
    ],
)
def test_of_a_step_that_failed_nothing_else_is_ours(bench: Bench, before: Area | None, why: str) -> None:
    book = begun(CREATE)
    assert bench.error
    with pytest.raises(type(bench.error)):
        run_permit(permit(CREATE, before), book, Gate(bench), Goal.APPLY, 0)
    assert written(book) == [], why


def test_a_table_of_which_the_run_knows_nothing_is_not_written_down() -> None:
    book = book_of(Started(AT, Goal.APPLY, plan_for(MIRROR_AND_CACHES, MACHINE), "root"))
    assert run_permit(permit(CREATE, SGDISK.blank), book, Gate(Bench(SGDISK.cleared)), Goal.APPLY, 0) == RAN
    assert written(book) == []


def test_steps_that_write_no_table_of_their_own_are_followed_by_no_look() -> None:
    steps: tuple[Step, ...] = (
        RestoreTable(NVME1, "/dev/x", "", ()),
        RewindTable(NVME1, "/dev/x"),
        RemoveVdev("tank", "1", Role.LOG, "30", ()),
    )
    for step in steps:
        bench, book = Bench(SGDISK.blank), begun(CREATE)
        assert run_permit(permit(step, SGDISK.blank), book, Gate(bench), Goal.UNDO, 0) == RAN
        assert (bench.asked, written(book)) == ([], [])


def test_what_the_journal_knows_goes_by_the_disk_of_the_step() -> None:
    known = OwnTable(SGDISK.blank, SGDISK.blank, (SGDISK.blank, SGDISK.cleared))
    assert own_table(begun(CREATE), FIRST) == known
    assert own_table(begun(CREATE), replace(CREATE, disk_key="other")) is None
    assert own_table(begun(CREATE), RemoveVdev("tank", "1", Role.LOG, "30", ())) is None


def test_a_copy_is_taken_before_the_first_step_on_a_disk_and_only_then() -> None:
    assert image_before(permit(CREATE, SGDISK.blank)) == IMAGE
    own = OwnTable(SGDISK.blank, SGDISK.blank, (SGDISK.blank,))
    assert image_before(permit(CREATE, SGDISK.blank, own)) is None
    assert image_before(permit(CREATE, None)) is None
    assert image_before(permit(replace(CREATE, disk_key="gone"), SGDISK.blank)) is None
    assert image_before(permit(RemoveVdev("tank", "1", Role.LOG, "30", ()), SGDISK.blank)) is None


def test_a_table_that_somebody_changed_is_copied_before_a_slice_is_deleted_from_it() -> None:
    ours = OwnTable(SGDISK.blank, SGDISK.blank, (SGDISK.blank, SGDISK.cleared))
    assert image_met(permit(DELETE, SGDISK.with_two, ours)) == image_of(DISK, SGDISK.with_two)
    assert image_met(permit(DELETE, SGDISK.cleared, ours)) is None, "it is ours"
    assert image_met(permit(DELETE, SGDISK.with_two)) is None, "nobody knows what was ours"
    assert image_met(permit(DELETE, None, ours)) is None, "nobody looked at it"
    gone = replace(DELETE, slice=replace(DELETE.slice, disk_key="gone"))
    assert image_met(permit(gone, SGDISK.with_two, ours)) is None


@pytest.mark.parametrize("step", [CREATE, FIRST, RestoreTable(NVME1, "/dev/x", "", ())])
def test_before_another_step_it_is_not(step: Step) -> None:
    ours = OwnTable(SGDISK.blank, SGDISK.blank, (SGDISK.blank, SGDISK.cleared))
    assert image_met(permit(step, SGDISK.with_two, ours)) is None
