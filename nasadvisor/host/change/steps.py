"""Doing a permitted step and keeping, in the journal, what it left of a partition table."""

from typing import Final

from nasadvisor.domain.change.actions import CreateSlice, CreateTable, DeleteSlice, RewindTable
from nasadvisor.domain.change.looks import Step
from nasadvisor.domain.change.runs import DiskImage, Goal, TableLeft
from nasadvisor.domain.change.table_area import image_of, pack_area
from nasadvisor.domain.change.tables import OwnTable, disk_key_of, own_tables
from nasadvisor.host.change.gate import Gate, Permit, Ran
from nasadvisor.host.change.logbook import Logbook

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

    Raises:
        HostError: it could not be done, or only in part.
    """
    ran = gate.do(permit)
    own = own_table(book, permit.step)
    if isinstance(permit.step, WRITES_TABLE) and own and permit.look.table and own.is_own(permit.look.table):
        now = gate.look(_table_of(permit.step), permit.inventory, own).table
        if now and own.is_left_by(permit.step, permit.look.table, now):
            book.write(TableLeft(book.now(), goal, number, disk_key_of(permit.step), pack_area(now)))
    return ran


def _table_of(step: CreateTable | CreateSlice | DeleteSlice) -> RewindTable:
    """A step of which a look is a look at the table alone."""
    if isinstance(step, CreateTable):
        return RewindTable(step.disk_key, step.disk_path)
    return RewindTable(step.slice.disk_key, step.slice.disk_path)
