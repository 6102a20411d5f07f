"""Where a run can be cut off: after a record, after a command, at a write of our own, inside sgdisk's writes."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from nasadvisor.domain.change.runs import Run
from nasadvisor.host.adapters.process import Command, Tool
from tests.devices.loops import LoopDisk
from tests.devices.machine import LoopMachine
from tests.devices.runner import Killed, nothing

TABLE_SECTORS: Final = 34
"""Protective MBR, header and 32 sectors of entries of 512 bytes; one less at the end."""


@dataclass
class Events:
    """Counts everything that happens in a stretch of a run, and ends it at the one at `end_at` (counted from 1)."""

    end_at: int = 0
    seen: list[str] = field(default_factory=list)

    def note(self, what: str) -> None:
        self.seen.append(what)
        if len(self.seen) == self.end_at:
            raise Killed

    def record(self, run: Run) -> None:
        """An observer."""
        self.note(f"record {run.seq} of {run.state}")


@contextmanager
def counted(machine: LoopMachine, end_at: int = 0) -> Iterator[Events]:
    """Records, changing commands and writes of our own to disks, each as it is done."""
    events = Events(end_at)
    hooks, real = machine.runner.hooks, os.pwrite
    in_command = False

    def before(_command: Command) -> None:
        nonlocal in_command
        in_command = True

    def after(command: Command) -> None:
        nonlocal in_command
        in_command = False
        if command.mutates:
            events.note(f"command {command}")

    def pwrite(descriptor: int, data: Any, offset: int) -> int:
        written = real(descriptor, data, offset)
        if not in_command and os.major(os.fstat(descriptor).st_rdev):
            events.note(f"write of {written} bytes at {offset}")
        return written

    hooks.before, hooks.after = before, after
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "pwrite", pwrite)
        try:
            yield events
        finally:
            hooks.before = hooks.after = nothing


def tear_sgdisk(machine: LoopMachine, number: int, write: int) -> None:
    """Kill the so-manieth sgdisk from now at one of its writes, and the product with it."""
    left = number

    def before(command: Command) -> None:
        nonlocal left
        if command.tool is Tool.SGDISK and command.mutates:
            left -= 1
            machine.runner.hooks.torn_write = write if left == 0 else 0

    machine.runner.hooks.before = before


@dataclass(frozen=True)
class Table:
    """The sectors of both copies of a partition table."""

    sectors: tuple[bytes, ...]

    @staticmethod
    def of(disk: LoopDisk) -> "Table":
        size = disk.sector_bytes
        head = disk.read(0, TABLE_SECTORS * size)
        tail = disk.read(disk.size_bytes - TABLE_SECTORS * size, TABLE_SECTORS * size)
        return Table(tuple((head + tail)[at : at + size] for at in range(0, 2 * TABLE_SECTORS * size, size)))

    def differs_in(self, other: "Table") -> list[int]:
        pairs = enumerate(zip(self.sectors, other.sectors, strict=True))
        return [number for number, (mine, its) in pairs if mine != its]

    def put(self, disk: LoopDisk) -> None:
        data, half = b"".join(self.sectors), TABLE_SECTORS * disk.sector_bytes
        disk.write(0, data[:half])
        disk.write(disk.size_bytes - half, data[half:])


def mix_sectors(machine: LoopMachine, disk: LoopDisk, number: int, choose: Callable[[list[int]], set[int]]) -> None:
    """Lose some of what the so-manieth sgdisk from now writes, as a power cut does with what was not flushed.

    `choose` is given the numbers of the sectors that it changed and tells which of them are lost.
    """
    left, old = number, Table(())

    def before(command: Command) -> None:
        nonlocal left, old
        if command.tool is Tool.SGDISK and command.mutates:
            left -= 1
            old = Table.of(disk)

    def after(command: Command) -> None:
        if command.tool is not Tool.SGDISK or not command.mutates or left:
            return
        new = Table.of(disk)
        lost = choose(new.differs_in(old))
        Table(tuple((old if at in lost else new).sectors[at] for at in range(len(new.sectors)))).put(disk)
        machine.udev.examine()
        raise Killed

    machine.runner.hooks.before, machine.runner.hooks.after = before, after


def no_cut(machine: LoopMachine) -> None:
    """Nothing is cut off any more."""
    machine.runner.hooks.before = machine.runner.hooks.after = nothing
    machine.runner.hooks.torn_write = 0
