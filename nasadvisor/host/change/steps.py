"""Doing a permitted step and keeping, in the journal, what it left of a partition table."""

from contextlib import suppress
from typing import Final

from nasadvisor.domain.change.actions import CreateSlice, CreateTable, DeleteSlice, RewindTable
from nasadvisor.domain.change.device_scan import Step
from nasadvisor.domain.change.runs import DiskImage, Goal, TableLeft
from nasadvisor.domain.change.table_area import Area, image_of, pack_area
from nasadvisor.domain.change.tables import OwnTable, disk_key_of, own_tables
from nasadvisor.host.change.gate import Gate, Permit, Ran
from nasadvisor.host.change.logbook import Logbook
from nasadvisor.host.errors import CommandFailed, CommandTimedOut, HostError

WRITES_TABLE: Final = (CreateTable, CreateSlice, DeleteSlice)


def own_table(book: Logbook, step: Step) -> OwnTable | None:
    """What the run's journal knows of the table of the disk that a step is on."""
    return own_tables(book.records).get(disk_key_of(step))


def image_before(permit: Permit) -> DiskImage | None:
    """What the journal must hold before the first step on a disk; the first image taken stays the valid one."""
    table = permit.look.table
    disk = permit.inventory.disk(disk_key_of(permit.step))
    return image_of(disk, table) if disk and table and permit.own is None else None


def image_met(permit: Permit) -> DiskImage | None:
    """The table that a slice is deleted from, if somebody else changed it: should the step be cut off, only this tells
    theirs from what the step has half written."""
    table, own = permit.look.table, permit.own
    disk = permit.inventory.disk(disk_key_of(permit.step))
    is_theirs = isinstance(permit.step, DeleteSlice) and table and own and not own.is_own(table)
    return image_of(disk, table) if is_theirs and disk and table else None


def run_permit(permit: Permit, book: Logbook, gate: Gate, goal: Goal, number: int) -> Ran:
    """Do a step whose intent is in the journal; then read what it left of the table, if all of that was ours before.

    What a program of ours wrote before it failed is ours as well, although nobody could have worked it out before.

    Raises:
        HostError: it could not be done, or only in part.
    """
    try:
        ran = gate.do(permit)
    except (CommandFailed, CommandTimedOut):
        now = None
        with suppress(HostError):  # a table that cannot be read is not known; the step has failed anyway
            now = _table_now(permit, book, gate)
        if now and now != permit.look.table:
            book.write(TableLeft(book.now(), goal, number, disk_key_of(permit.step), pack_area(now)))
        raise
    before, now, own = permit.look.table, _table_now(permit, book, gate), own_table(book, permit.step)
    if before and now and own and own.is_left_by(permit.step, before, now):
        book.write(TableLeft(book.now(), goal, number, disk_key_of(permit.step), pack_area(now)))
    return ran


def _table_now(permit: Permit, book: Logbook, gate: Gate) -> Area | None:
    """The table after a step that writes one; None for other steps, and where not all of it was ours before."""
    step, own = permit.step, own_table(book, permit.step)
    if not isinstance(step, WRITES_TABLE) or not own or not permit.look.table or not own.is_own(permit.look.table):
        return None
    place = step if isinstance(step, CreateTable) else step.slice
    # Of this step a look is a look at the table alone.
    return gate.look(RewindTable(place.disk_key, place.disk_path), permit.inventory, own).table
