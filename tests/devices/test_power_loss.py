"""Power fails: what an SSD had not been told to make durable is lost, wholly or in part; every journal record stays.

A journal is synchronised with each record. So the states that a power cut can leave are, for each moment of a run, the
SSD as it was then, and the SSD without what was written since it was last told to flush. The first are those of
`test_kills`; here are the others.
"""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product

import pytest

from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.process import Command, Tool
from tests.devices.bench import Bench, log_and_cache, told
from tests.devices.cuts import Events, Table, counted
from tests.devices.loops import CHUNK_BYTES, LoopDisk
from tests.devices.machine import LoopMachine
from tests.devices.runner import Killed

FLUSHES = (Tool.SGDISK, Tool.ZPOOL)
"""Programs that end with a flush: sgdisk synchronises the disk, OpenZFS its labels. blkdiscard does not."""

OLD_DATA = random.Random(1).randbytes(2 * MIB)

Lose = Callable[[list[int]], list[int]]


def everything(places: list[int]) -> list[int]:
    return places


def every_second(places: list[int]) -> list[int]:
    return places[::2]


LOSSES = (everything, every_second)


@dataclass
class Cache:
    """What an SSD was last told to make durable, and after which events of a run it had more to lose."""

    ssd: LoopDisk
    durable: dict[int, bytes] = field(default_factory=dict)
    lossy: list[int] = field(default_factory=list)
    is_looking: bool = False

    def flush(self) -> None:
        self.durable = self._content()

    def _content(self) -> dict[int, bytes]:
        """Looking flushes the page cache of the kernel, which is not what is meant here."""
        self.is_looking = True
        content = self.ssd.content()
        self.is_looking = False
        return content

    def lost(self) -> list[int]:
        """Where the SSD holds what a power cut would take."""
        now = self._content()
        return sorted(at for at in self.durable.keys() | now.keys() if self.durable.get(at) != now.get(at))

    def fail(self, lose: Lose) -> None:
        """The power is gone."""
        for at in lose(self.lost()):
            self.ssd.write(at, self.durable.get(at, bytes(CHUNK_BYTES)))


@contextmanager
def cached(machine: LoopMachine, ssd: LoopDisk, end_at: int = 0) -> Iterator[tuple[Events, Cache]]:
    """A stretch of a run on an SSD with a cache that a power cut empties."""
    cache, real = Cache(ssd), os.fsync
    cache.flush()

    def fsync(descriptor: int) -> None:
        real(descriptor)
        if not cache.is_looking and is_ssd(ssd, descriptor):
            cache.flush()

    with counted(machine, end_at) as events, pytest.MonkeyPatch.context() as patch:
        note, after = events.note, machine.runner.hooks.after

        def flush_after(command: Command) -> None:
            if command.mutates and command.tool in FLUSHES:
                cache.flush()
            after(command)

        def look_and_note(what: str) -> None:
            if not end_at and cache.lost():
                cache.lossy.append(len(events.seen) + 1)
            note(what)

        machine.runner.hooks.after = flush_after
        patch.setattr(events, "note", look_and_note)
        patch.setattr(os, "fsync", fsync)
        yield events, cache


def is_ssd(ssd: LoopDisk, descriptor: int) -> bool:
    """Whether this is the SSD or a partition of it."""
    nodes = (ssd.node, *(ssd.part_node(part) for part in ssd.partitions()))
    return os.fstat(descriptor).st_rdev in {node.stat().st_rdev for node in nodes}


@contextmanager
def worn(machine: LoopMachine) -> Iterator[LoopDisk]:
    """An SSD with old data that nobody recognises where the slices will be, so that writing zeros there counts."""
    ssd = machine.add_disk()
    ssd.write(MIB, OLD_DATA)
    ssd.write(65 * MIB, OLD_DATA)
    yield ssd
    machine.pull(ssd)
    machine.disks.remove(ssd)


def moments(bench: Bench) -> tuple[tuple[int, list[int]], tuple[int, list[int]]]:
    """Of an apply and its undo: how much happens, and after what of it a power cut takes something."""
    with worn(bench.machine) as ssd:
        plan = bench.plan(log_and_cache(ssd), "run-0")
        with cached(bench.machine, ssd) as (applying, first):
            assert bench.apply(plan, applying.record).state is RunState.APPLIED
        with cached(bench.machine, ssd) as (undoing, second):
            assert bench.undo(plan, undoing.record).state is RunState.UNDONE
    return (len(applying.seen), first.lossy), (len(undoing.seen), second.lossy)


def test_an_apply_that_a_power_cut_ended_can_be_ended_both_ways(machine: LoopMachine, bench: Bench, every: int) -> None:
    (count, lossy), _ = moments(bench)
    assert lossy
    for number, (point, lose, way) in enumerate(tuple(product(lossy, LOSSES, ("finish", "undo")))[::every]):
        with worn(machine) as ssd:
            before, plan = Table.of(ssd), bench.plan(log_and_cache(ssd), f"run-{number + 1}")
            with cached(machine, ssd, point) as (events, cache), pytest.raises(Killed):
                bench.apply(plan, events.record)
            cache.fail(lose)
            machine.udev.examine()
            where = f"power lost after: {events.seen[-1]}"
            assert bench.show(plan).state is RunState.INTERRUPTED, where
            if way == "finish":
                run = bench.finish(plan)
                assert run.state is RunState.APPLIED, (where, told(run))
            run = bench.undo(plan)
            assert run.state is RunState.UNDONE, (where, told(run))
            assert Table.of(ssd) == before, where
    print(f"apply: {count} moments, {len(lossy)} with writes to lose, in {len(LOSSES)} ways")


def test_an_undo_that_a_power_cut_ended_can_be_asked_for_again(machine: LoopMachine, bench: Bench, every: int) -> None:
    _, (count, lossy) = moments(bench)
    assert lossy
    for number, (point, lose) in enumerate(tuple(product(lossy, LOSSES))[::every]):
        with worn(machine) as ssd:
            before, plan = Table.of(ssd), bench.plan(log_and_cache(ssd), f"run-{number + 1}")
            assert bench.apply(plan).state is RunState.APPLIED
            with cached(machine, ssd, point) as (events, cache), pytest.raises(Killed):
                bench.undo(plan, events.record)
            cache.fail(lose)
            machine.udev.examine()
            where = f"power lost after: {events.seen[-1]}"
            run = bench.undo(plan)
            assert run.state is RunState.UNDONE, (where, told(run))
            assert Table.of(ssd) == before, where
    print(f"undo: {count} moments, {len(lossy)} with writes to lose, in {len(LOSSES)} ways")
