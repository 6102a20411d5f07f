"""Data that no tool recognises: seen on the disk itself, erased only with a plan that says so."""

import random
import re
import shlex
import time
from collections.abc import Callable

import pytest

from nasadvisor.domain.change.proposal import is_free_ssd
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.change.warnings import warnings_for
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.gpt import standard_area
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.domain.units import GIB, KIB, MIB
from tests.devices.bench import Bench, codes, log_and_cache, told
from tests.devices.loops import LoopDisk, tool
from tests.devices.machine import LoopMachine

Filled = Callable[[LoopMachine, LoopDisk], None]
CHANCE = random.Random(11)


def fill(ssd: LoopDisk, start: int, end: int, data: Callable[[int], bytes] = CHANCE.randbytes) -> None:
    for at in range(start, end, MIB):
        ssd.write(at, data(min(MIB, end - at)))


def at_random(machine: LoopMachine, ssd: LoopDisk) -> None:
    """A VeraCrypt volume, or a disk that was shredded."""
    fill(ssd, 0, ssd.size_bytes)


def in_the_middle(machine: LoopMachine, ssd: LoopDisk) -> None:
    """Both ends were cleared with dd, as many pages advise; a tenth of what was there is left."""
    fill(ssd, ssd.size_bytes // 2, ssd.size_bytes * 6 // 10)


def in_the_last_mib(machine: LoopMachine, ssd: LoopDisk) -> None:
    fill(ssd, ssd.size_bytes - MIB, ssd.size_bytes - 512 * KIB)


def behind_the_table(machine: LoopMachine, ssd: LoopDisk) -> None:
    """What a boot loader left in the gap before the first partition."""
    ssd.write(40 * KIB, b"GRUB " * 100)


def of_a_cleared_pool(machine: LoopMachine, ssd: LoopDisk) -> None:
    """The labels are cleared, the data stay."""
    fill(ssd, 4 * MIB, 100 * MIB)


def of_a_cleared_file_system(machine: LoopMachine, ssd: LoopDisk) -> None:
    machine.mkfs(ssd.node)
    fill(ssd, 100 * MIB, 200 * MIB)
    tool("wipefs", "--all", "--force", str(ssd.node))


def in_an_empty_table(machine: LoopMachine, ssd: LoopDisk) -> None:
    """All partitions were deleted, and the table stays."""
    machine.sgdisk(ssd, "--clear")
    fill(ssd, 100 * MIB, 200 * MIB)


def beside_a_partition(machine: LoopMachine, ssd: LoopDisk) -> None:
    """A partition was deleted, or made shorter; its neighbour is in use."""
    machine.sgdisk(ssd, "--new=1:0:+80M")
    machine.mkfs(ssd.part_node(1))
    fill(ssd, 100 * MIB, 200 * MIB)


def trimmed(machine: LoopMachine, ssd: LoopDisk) -> None:
    at_random(machine, ssd)
    tool("blkdiscard", str(ssd.node))


def of_ones(machine: LoopMachine, ssd: LoopDisk) -> None:
    """What a secure erase leaves on many SSDs."""
    fill(ssd, 0, ssd.size_bytes, lambda size: b"\xff" * size)


def with_remains_of_a_table(machine: LoopMachine, ssd: LoopDisk) -> None:
    """wipefs takes two bytes of an MBR, and sgdisk --zap-all leaves the boot code."""
    ssd.write(0, CHANCE.randbytes(510))


def disk_of(bench: Bench, ssd: LoopDisk) -> Disk:
    return next(disk for disk in bench.inventory().disks if disk.kernel_name == ssd.name)


@pytest.mark.parametrize(
    ("left", "sector_bytes"),
    [
        (at_random, 512),
        (in_the_middle, 4096),
        (in_the_last_mib, 512),
        (behind_the_table, 4096),
        (of_a_cleared_pool, 512),
        (of_a_cleared_file_system, 512),
        (in_an_empty_table, 512),
        (in_an_empty_table, 4096),
        (beside_a_partition, 512),
        (beside_a_partition, 4096),
    ],
)
def test_it_is_told_and_erased_with_a_plan_that_says_so_and_proposed_to_nobody(
    machine: LoopMachine, bench: Bench, left: Filled, sector_bytes: int
) -> None:
    ssd = machine.add_disk(sector_bytes)
    left(machine, ssd)
    machine.udev.examine()
    disk = disk_of(bench, ssd)
    assert disk.unrecognised_at is not None
    assert not is_free_ssd(disk)
    plan = bench.plan(log_and_cache(ssd, use_free_extents=bool(disk.partitions)))
    assert [step.unrecognised_at for step in plan.erasures] == [disk.unrecognised_at]
    told_before = {finding.code: finding for finding in warnings_for(plan, bench.inventory())}
    assert told_before["unrecognised-data"].level is Level.CRITICAL
    assert str(disk.unrecognised_at) in str(told_before["unrecognised-data"])
    run = bench.apply(plan)
    assert run.state is RunState.APPLIED, told(run)


@pytest.mark.parametrize(
    ("left", "sector_bytes"),
    [(trimmed, 512), (of_ones, 4096), *((with_remains_of_a_table, size) for size in (512, 4096))],
)
def test_an_empty_ssd_is_free(machine: LoopMachine, bench: Bench, left: Filled, sector_bytes: int) -> None:
    ssd = machine.add_disk(sector_bytes)
    left(machine, ssd)
    machine.udev.examine()
    assert disk_of(bench, ssd).unrecognised_at is None
    assert is_free_ssd(disk_of(bench, ssd))
    plan = bench.plan(log_and_cache(ssd))
    assert not plan.erasures
    run = bench.apply(plan)
    assert run.state is RunState.APPLIED, told(run)


def test_the_first_place_is_told(machine: LoopMachine, bench: Bench) -> None:
    ssd = machine.add_disk()
    fill(ssd, 0, ssd.size_bytes)
    assert disk_of(bench, ssd).unrecognised_at == standard_area(ssd.size_bytes, 512)[0]


@pytest.mark.parametrize("table", [(), ("--clear",)], ids=["blank", "empty table"])
def test_what_was_written_after_the_plan_is_kept(machine: LoopMachine, bench: Bench, table: tuple[str, ...]) -> None:
    """The plan says nothing of it, so nobody agreed to it."""
    ssd = machine.add_disk()
    if table:
        machine.sgdisk(ssd, *table)
    plan = bench.plan(log_and_cache(ssd))
    in_the_middle(machine, ssd)
    before = ssd.digest()
    run = bench.apply(plan)
    assert run.state is RunState.REFUSED, told(run)
    assert not ssd.changed(before)


def test_a_hard_disk_is_left_asleep_and_looked_at_right_before_it_is_written_to(
    machine: LoopMachine, bench: Bench
) -> None:
    disk = machine.add_disk()
    machine.udev.turning.add(disk.name)
    in_the_middle(machine, disk)
    assert disk_of(bench, disk).unrecognised_at is None
    before, run = disk.digest(), bench.apply(bench.plan(log_and_cache(disk)))
    assert (run.state, codes(run)) == (RunState.REFUSED, {"erasure-not-agreed"}), told(run)
    assert not disk.changed(before)
    (command,) = re.findall(r"`(.+?)`", str(run.refusals[0]))
    tool(*shlex.split(command))
    run = bench.apply(bench.plan(log_and_cache(disk), "run-2"))
    assert run.state is RunState.APPLIED, told(run)


def test_an_ssd_that_was_used_and_given_back_is_empty_again(machine: LoopMachine, bench: Bench) -> None:
    """An undo discards the slices, so what stood in them asks for no tick the next time."""
    ssd = machine.add_disk()
    plan = bench.plan(log_and_cache(ssd))
    assert bench.apply(plan).state is RunState.APPLIED
    for number, part in enumerate(plan.slices, 1):
        with ssd.part_node(number).open("r+b") as opened:
            opened.seek(8 * MIB)
            opened.write(CHANCE.randbytes(part.size_bytes - 16 * MIB))
    assert bench.undo(plan).state is RunState.UNDONE
    assert is_free_ssd(disk_of(bench, ssd))


def test_looking_takes_no_longer_than_reading_two_mib(machine: LoopMachine, bench: Bench) -> None:
    """An empty one is looked at everywhere. The budget is 0.3 s a disk."""
    ssds = [machine.add_disk(size_bytes=64 * GIB) for _ in range(4)]
    began = time.perf_counter()
    found = bench.inventory()
    took_s = time.perf_counter() - began
    assert all(disk.unrecognised_at is None for disk in found.disks)
    assert took_s / len(ssds) < 0.3
