"""What a sentence about a disk names to look at it or to clear it, done word for word on real devices."""

import os
import re
import subprocess
from collections.abc import Iterator

import pytest

from nasadvisor.domain.change.plan import Plan, PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.change.refusals import (
    DiskResized,
    TableImageDamaged,
    TableImageMissing,
    TableNotOurs,
    TableUnsound,
)
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.units import MIB
from tests.devices.bench import Bench, log_and_cache, told
from tests.devices.loops import LoopDisk, tool
from tests.devices.machine import LoopMachine
from tests.devices.test_blank import made, used
from tests.devices.test_lost_tables import of_a_smaller_disk
from tests.unit.domain.builders import ids_for

__all__ = ["used"]


def refusals_of(bench: Bench, wish: PlanRequest) -> dict[str, Refused]:
    """Why there is no plan, by code; empty if there is one."""
    plan = make_plan(wish, bench.inventory(), ids_for(wish))
    return {each.code: each for each in plan.refusals} if isinstance(plan, PlanRefused) else {}


def follow(machine: LoopMachine, refusal: Refused, start: str) -> None:
    """Have a shell run the one command that a sentence names that begins so; udev's links are not made for loops."""
    (command,) = {each for each in re.findall("`([^`]+)`", str(refusal)) if each.startswith(start)}
    for disk in machine.disks:
        for number, node in disk.partitions().items():
            for link in disk.links:
                command = command.replace(f"{link}-part{number}", str(node))
        for link in disk.links:
            command = command.replace(link, str(disk.node))
    subprocess.run(["/bin/sh", "-ec", command], check=True, capture_output=True, text=True, timeout=120)
    machine.udev.examine()


@pytest.mark.parametrize(("kind", "code"), [("lvm", "disk-lvm"), ("raid", "disk-raid")])
@pytest.mark.parametrize("is_partition", [True, False])
def test_what_was_taken_apart_is_cleared_where_it_stands(
    machine: LoopMachine, bench: Bench, kind: str, code: str, is_partition: bool
) -> None:
    ssd = machine.add_disk()
    at = MIB if is_partition else 0
    if is_partition:
        machine.sgdisk(ssd, "--new=1:2048:+40M", "--new=2:204800:+40M")
        machine.mkfs(ssd.part_node(2))
    for offset, data in made(kind, 40 * MIB).items():
        ssd.write(at + offset, data)
    machine.udev.examine()
    wish = log_and_cache(ssd)
    beside = ssd.read(100 * MIB, MIB)
    found = refusals_of(bench, wish)
    assert code in found, found
    follow(machine, found[code], "wipefs --all")
    assert code not in refusals_of(bench, wish)
    assert ssd.read(100 * MIB, MIB) == beside


def test_what_was_mounted_is_cleared_where_it_stands(machine: LoopMachine, bench: Bench) -> None:
    """As long as it is mounted wipefs refuses it."""
    ssd = machine.add_disk()
    machine.sgdisk(ssd, "--new=1:204800:+50M")
    machine.mkfs(ssd.part_node(1))
    wish = log_and_cache(ssd)
    with machine.mounted(ssd.part_node(1)):
        mounted = refusals_of(bench, wish)["disk-mount"]
        with pytest.raises(subprocess.CalledProcessError):
            follow(machine, mounted, "wipefs --all")
    follow(machine, mounted, "wipefs --all")
    assert set(refusals_of(bench, wish)) == {"disk-has-partitions"}


@pytest.mark.parametrize("start_bytes", [37 * MIB, 63 * 512])
def test_a_deleted_partition_that_is_not_needed_is_overwritten_as_told(
    machine: LoopMachine, bench: Bench, used: LoopDisk, start_bytes: int
) -> None:
    """A partition beside it stays mounted, and keeps every byte; so does what lies behind the slice."""
    machine.mkfs(used.part_node(3))
    wish = log_and_cache(used, use_free_extents=True)
    plan = bench.plan(wish)
    for at, data in made("ext4", 320 * MIB).items():
        if start_bytes + at < 460 * MIB:
            used.write(start_bytes + at, data)
    end = max(piece.start_bytes + piece.size_bytes for piece in plan.slices)
    used.write(end, os.urandom(MIB))
    beside = used.read(end, 460 * MIB - end)
    with machine.mounted(used.part_node(3)):
        run, met = cleared_as_told(machine, bench, plan)
    assert "hidden-content" in met
    assert run.state is RunState.APPLIED, told(run)
    assert used.read(end, 460 * MIB - end) == beside


CLEARS = {
    "hidden-content": "loop=$(losetup",
    "disk-not-empty": "wipefs --all",
    "erasure-not-agreed": "blkdiscard --zeroout",
}


def cleared_as_told(machine: LoopMachine, bench: Bench, plan: Plan) -> tuple[Run, list[str]]:
    """Plan and apply until nothing is in the way any more, clearing each time what is told: copies are found later."""
    met: list[str] = []
    for number in range(2, 8):
        run = bench.apply(plan)
        for refused in run.refusals:
            met.append(refused.code)
            if refused.code in CLEARS:
                follow(machine, refused, CLEARS[refused.code])
        if run.state is RunState.APPLIED:
            break
        machine.udev.examine()
        plan = bench.plan(plan.request, f"run-{number}")
    return run, met


def test_what_another_machine_wrote_is_cleared_as_told(machine: LoopMachine, bench: Bench) -> None:
    ssd = machine.add_disk()
    plan = bench.plan(log_and_cache(ssd))
    machine.udev.blind.add(ssd.serial)
    for at, data in made("ext4", 320 * MIB).items():
        ssd.write(at, data)
    run, met = cleared_as_told(machine, bench, plan)
    assert "disk-not-empty" in met
    assert run.state is RunState.APPLIED, told(run)


def test_a_table_of_a_smaller_disk_is_made_to_fit_as_told(machine: LoopMachine, bench: Bench) -> None:
    ssd = of_a_smaller_disk(machine)
    machine.udev.examine()
    wish = log_and_cache(ssd, use_free_extents=True)
    refused = refusals_of(bench, wish)
    written = ssd.written()
    follow(machine, refused["table-area-odd"], "sgdisk --move-second-header")
    assert "table-area-odd" not in refusals_of(bench, wish)
    assert ssd.written() == written


def tables(ssd: LoopDisk, bench: Bench) -> Iterator[tuple[Refused, str]]:
    (disk,) = [disk for disk in bench.inventory().disks if disk.key == ssd.key]
    yield TableNotOurs(disk), "sgdisk --print"
    yield TableImageMissing(disk), "sgdisk --print"
    yield TableImageDamaged(disk, "it is cut off"), "sgdisk --print"
    yield TableUnsound(disk, "the two disagree"), "sgdisk --verify"
    yield DiskResized(disk), "sgdisk --zap-all"


def test_a_table_is_shown_checked_and_cleared_as_told(machine: LoopMachine, bench: Bench) -> None:
    ssd = machine.add_disk()
    machine.sgdisk(ssd, "--new=1:2048:+40M", "--delete=1")
    for refused, start in tables(ssd, bench):
        follow(machine, refused, start)
    assert tool("blkid", "--probe", str(ssd.node), codes=(2,)) == ""
    assert refusals_of(bench, log_and_cache(ssd)) == {}
