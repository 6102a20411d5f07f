"""sgdisk cut off in the middle of a table: an undo brings every byte back, and what others wrote meanwhile is kept.

sgdisk writes five times: the copy of the entries, that of the header, entries, header, protective MBR. It is killed at
each of them; and any of the sectors that it changed may be lost, as when the power goes before they are flushed.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.units import MIB
from tests.devices.bench import Bench, codes, log_and_cache, told
from tests.devices.cuts import mix_sectors, no_cut, tear_sgdisk
from tests.devices.loops import LoopDisk
from tests.devices.machine import LoopMachine
from tests.devices.runner import Killed

WRITES = range(1, 6)
BOOT_CODE = b"Somebody's boot code. " * 20


@contextmanager
def ssd_of(machine: LoopMachine, was: str) -> Iterator[LoopDisk]:
    """An SSD that was blank, or had a partition; gone again afterwards."""
    ssd = machine.add_disk()
    if was == "used":
        machine.sgdisk(ssd, f"--new=3:{460 * MIB // 512}:+20M", "--change-name=3:data")
    yield ssd
    machine.pull(ssd)
    machine.disks.remove(ssd)


def plan_on(bench: Bench, ssd: LoopDisk, number: int) -> Plan:
    return bench.plan(log_and_cache(ssd, use_free_extents=True), f"run-{number}")


def is_undone(bench: Bench, plan: Plan, ssd: LoopDisk, before: dict[int, str], where: str) -> None:
    run = bench.undo(plan)
    assert run.state is RunState.UNDONE, (where, told(run))
    assert ssd.changed(before) == [], (where, told(run))
    assert ssd.shown() == ssd.written(), where
    assert not bench.machine.tank.leaves, where


def is_put_back(bench: Bench, plan: Plan, ssd: LoopDisk, before: dict[int, str], where: str) -> None:
    """A table that nobody can read stops what is to come, but not what takes it back."""
    run = bench.show(plan)
    assert run.state is RunState.PUT_BACK, (where, told(run))
    assert ssd.changed(before) == [], (where, told(run))


@pytest.mark.parametrize("way", ["finish", "undo"])
@pytest.mark.parametrize(("was", "number"), [("blank", 1), ("blank", 2), ("blank", 3), ("used", 1)])
def test_an_apply_whose_sgdisk_is_killed_while_it_writes_can_be_ended(
    machine: LoopMachine, bench: Bench, was: str, number: int, way: str, every: int
) -> None:
    for write in WRITES[::every]:
        with ssd_of(machine, was) as ssd:
            before = ssd.digest()
            plan = plan_on(bench, ssd, write)
            tear_sgdisk(machine, number, write)
            with pytest.raises(Killed):
                bench.apply(plan)
            no_cut(machine)
            where = f"killed at write {write} of sgdisk {number}"
            if way == "finish" and bench.finish(plan).state is not RunState.APPLIED:
                is_put_back(bench, plan, ssd, before, where)
                continue
            is_undone(bench, plan, ssd, before, where)


@pytest.mark.parametrize(("was", "number"), [("blank", 1), ("blank", 2), ("used", 1)])
def test_an_undo_whose_sgdisk_is_killed_while_it_writes_can_be_asked_for_again(
    machine: LoopMachine, bench: Bench, was: str, number: int, every: int
) -> None:
    for write in WRITES[::every]:
        with ssd_of(machine, was) as ssd:
            before = ssd.digest()
            plan = plan_on(bench, ssd, write)
            assert bench.apply(plan).state is RunState.APPLIED
            tear_sgdisk(machine, number, write)
            with pytest.raises(Killed):
                bench.undo(plan)
            no_cut(machine)
            is_undone(bench, plan, ssd, before, f"killed at write {write} of sgdisk {number}")


def some(seed: int) -> Callable[[list[int]], set[int]]:
    """Loses some of the sectors, never all and never none of them where there are two."""

    def choose(changed: list[int]) -> set[int]:
        dice = random.Random(seed)
        return set(dice.sample(changed, dice.randint(1, max(1, len(changed) - 1))))

    return choose


@pytest.mark.parametrize("way", ["finish", "undo"])
@pytest.mark.parametrize(("was", "number"), [("blank", 1), ("blank", 3), ("used", 2)])
def test_any_sectors_that_an_apply_loses_do_not_keep_it_from_its_end(
    machine: LoopMachine, bench: Bench, was: str, number: int, way: str, every: int
) -> None:
    for seed in range(6)[::every]:
        with ssd_of(machine, was) as ssd:
            before = ssd.digest()
            plan = plan_on(bench, ssd, seed)
            mix_sectors(machine, ssd, number, some(seed))
            with pytest.raises(Killed):
                bench.apply(plan)
            no_cut(machine)
            where = f"mix {seed} of sgdisk {number}"
            if way == "finish" and bench.finish(plan).state is not RunState.APPLIED:
                is_put_back(bench, plan, ssd, before, where)
                continue
            is_undone(bench, plan, ssd, before, where)


@pytest.mark.parametrize(("was", "number"), [("blank", 2), ("used", 1)])
def test_any_sectors_that_an_undo_loses_do_not_keep_it_from_its_end(
    machine: LoopMachine, bench: Bench, was: str, number: int, every: int
) -> None:
    for seed in range(6)[::every]:
        with ssd_of(machine, was) as ssd:
            before = ssd.digest()
            plan = plan_on(bench, ssd, seed)
            assert bench.apply(plan).state is RunState.APPLIED
            mix_sectors(machine, ssd, number, some(seed))
            with pytest.raises(Killed):
                bench.undo(plan)
            no_cut(machine)
            is_undone(bench, plan, ssd, before, f"mix {seed} of sgdisk {number}")


@pytest.mark.parametrize("way", ["finish", "undo"])
@pytest.mark.parametrize("was", ["blank", "used"])
def test_boot_code_that_came_into_a_torn_table_is_kept(
    machine: LoopMachine, bench: Bench, was: str, way: str, every: int
) -> None:
    for write in WRITES[::every]:
        with ssd_of(machine, was) as ssd:
            plan = plan_on(bench, ssd, write)
            tear_sgdisk(machine, 1, write)
            with pytest.raises(Killed):
                bench.apply(plan)
            no_cut(machine)
            ssd.write(0, BOOT_CODE)
            machine.udev.examine()
            run = bench.finish(plan) if way == "finish" else bench.undo(plan)
            assert ssd.read(0, len(BOOT_CODE)) == BOOT_CODE, (write, told(run))
            assert "ssds-as-before" not in codes(run), (write, told(run))
