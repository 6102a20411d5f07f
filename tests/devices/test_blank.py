"""Blank is read off the disk: what udev does not know, and what begins inside a planned slice, is not overwritten.

udev learns of a signature only when somebody on this machine closes the device after writing. What a guest, an
initiator or another host wrote it does not know.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.units import MIB
from tests.devices.bench import Bench, log_and_cache, told
from tests.devices.loops import LoopDisk, tool
from tests.devices.machine import LoopMachine
from tests.devices.signatures import MAKERS, made_by


def made(kind: str, size_bytes: int) -> dict[int, bytes]:
    program = {"xfs": "mkfs.xfs", "btrfs": "mkfs.btrfs"}.get(kind)
    if program and not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    return MAKERS[kind](size_bytes)


@contextmanager
def refused(bench: Bench, wish: PlanRequest, *disks: LoopDisk) -> Iterator[None]:
    """A plan made before is refused after the body has run, and not one byte of the disks changes."""
    plan = bench.plan(wish)
    yield
    before = [disk.digest() for disk in disks]
    run = bench.apply(plan)
    assert run.state is RunState.REFUSED, told(run)
    assert run.refusals
    assert not bench.machine.runner.hooks.changed
    assert [disk.changed(was) for disk, was in zip(disks, before, strict=True)] == [[] for _ in disks]


@pytest.mark.parametrize("sector_bytes", [512, 4096])
@pytest.mark.parametrize("kind", MAKERS)
def test_what_udev_does_not_know_on_a_whole_disk_is_kept(
    machine: LoopMachine, bench: Bench, kind: str, sector_bytes: int
) -> None:
    ssd = machine.add_disk(sector_bytes)
    with refused(bench, log_and_cache(ssd), ssd):
        machine.udev.blind.add(ssd.serial)
        for at, data in made(kind, ssd.size_bytes).items():
            ssd.write(at, data)


@pytest.mark.parametrize("label", ["gpt", "dos"])
def test_a_partition_table_that_udev_does_not_know_is_kept(machine: LoopMachine, bench: Bench, label: str) -> None:
    ssd = machine.add_disk()
    with refused(bench, log_and_cache(ssd), ssd):
        machine.udev.blind.add(ssd.serial)
        tool(
            "sfdisk",
            "--quiet",
            "--no-reread",
            "--no-tell-kernel",
            "--label",
            label,
            str(ssd.node),
            answer="4MiB,80MiB\n",
        )


@pytest.fixture
def used(machine: LoopMachine) -> LoopDisk:
    """An SSD with one partition at its end, and room in front of it."""
    ssd = machine.add_disk()
    machine.sgdisk(ssd, f"--new=3:{460 * MIB // 512}:+20M")
    return ssd


@pytest.mark.parametrize(
    ("kind", "start_mib"),
    [*((kind, 37) for kind in MAKERS if kind != "zfs-end"), ("ext4", 2), ("ext4", 64), ("ext4", 66), ("ext4", 143)],
)
def test_a_deleted_partition_that_began_inside_a_planned_slice_is_kept(
    bench: Bench, used: LoopDisk, kind: str, start_mib: int
) -> None:
    """Somebody deleted it from the table and may want it back. The slices go from 1 to 145 MiB."""
    wish = log_and_cache(used, use_free_extents=True)
    with refused(bench, wish, used):
        for at, data in made(kind, 320 * MIB).items():
            if start_mib * MIB + at < 460 * MIB:
                used.write(start_mib * MIB + at, data)


@pytest.mark.parametrize("start_bytes", [34 * 512, 63 * 512, 256 * 512, 3 * 16065 * 512, (3 * 16065 + 63) * 512])
def test_a_deleted_partition_of_an_old_tool_is_kept(bench: Bench, used: LoopDisk, start_bytes: int) -> None:
    """They began in sector 63 and at cylinders, before the first slice or inside it."""
    with refused(bench, log_and_cache(used, use_free_extents=True), used):
        for at, data in made("ext4", 320 * MIB).items():
            used.write(start_bytes + at, data)


@pytest.mark.parametrize("sector_bytes", [512, 4096])
def test_a_file_system_of_an_old_tool_on_a_disk_without_a_table_is_kept(
    machine: LoopMachine, bench: Bench, sector_bytes: int
) -> None:
    ssd = machine.add_disk(sector_bytes)
    with refused(bench, log_and_cache(ssd), ssd):
        for at, data in made("ext4", 320 * MIB).items():
            ssd.write(64 * 512 + at, data)


@pytest.mark.parametrize("kind", ["btrfs", "ext4"])
def test_a_copy_of_a_superblock_is_enough(bench: Bench, used: LoopDisk, kind: str) -> None:
    """The first one is overwritten, or lies before what is looked at."""
    behind = {"btrfs": 64 * MIB, "ext4": 128 * MIB}[kind]
    with refused(bench, log_and_cache(used, use_free_extents=True), used):
        content = made(kind, 400 * MIB) if kind == "btrfs" else of_4_kib_blocks(400 * MIB)
        used.write(5 * MIB + behind, content[behind][:4096])


def of_4_kib_blocks(size_bytes: int) -> dict[int, bytes]:
    """An ext4 with the blocks of a usual one: copies of its superblock at 128 MiB, 384 MiB, …"""
    return made_by("mkfs.ext4", "-q", "-F", "-b", "4096")(size_bytes)


def test_a_deleted_partition_that_began_where_a_slice_begins_is_kept(bench: Bench, used: LoopDisk) -> None:
    with refused(bench, log_and_cache(used, use_free_extents=True), used):
        for at, data in made("ext4", 320 * MIB).items():
            used.write(MIB + at, data)


def test_a_signature_that_udev_knows_is_refused_before_there_is_a_plan(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk]
) -> None:
    machine.mkfs(ssds[0].node)
    with pytest.raises(AssertionError, match="it contains a filesystem"):
        bench.plan(log_and_cache(*ssds))
