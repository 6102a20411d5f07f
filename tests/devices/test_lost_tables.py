"""A disk whose first sectors were overwritten is not blank while a table can be brought back, and told how to do so.

What each sentence says is done here word for word.
"""

import os
import re
from collections.abc import Callable

import pytest

from nasadvisor.domain.change.plan import PlanIds, PlanRefused, make_plan
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.process import Command
from nasadvisor.host.errors import CommandFailed
from tests.devices.bench import Bench, codes, log_and_cache, told
from tests.devices.loops import LoopDisk, tool
from tests.devices.machine import DISK_BYTES, LoopMachine
from tests.devices.runner import nothing

Lose = Callable[[LoopMachine, LoopDisk], None]
PARTITION = frozenset({(1, 2048, 400 * MIB // 512)})


def first_mib_lost(_machine: LoopMachine, ssd: LoopDisk) -> None:
    ssd.write(0, bytes(MIB))


def first_mib_overwritten(_machine: LoopMachine, ssd: LoopDisk) -> None:
    ssd.write(0, os.urandom(MIB - 512) + b"\0" * 512)


def first_sector_lost(_machine: LoopMachine, ssd: LoopDisk) -> None:
    ssd.write(0, bytes(512))


LOSSES: list[Lose] = [first_mib_lost, first_mib_overwritten, first_sector_lost]


def partitioned(machine: LoopMachine, sector_bytes: int) -> LoopDisk:
    ssd = machine.add_disk(sector_bytes)
    machine.sgdisk(ssd, f"--new=1:{MIB // sector_bytes}:+400M", "--change-name=1:photos")
    return ssd


def sentence_of(bench: Bench, ssd: LoopDisk) -> str:
    """Why the disk is refused before there is a plan; nothing on it changes."""
    wish = log_and_cache(ssd)
    ids = tuple(f"30000000-0000-4000-8000-{number:012d}" for number in range(PlanIds.uuids_needed(wish)))
    refused = make_plan(wish, bench.inventory(), PlanIds("run-1", "2026-08-25T20:00:00+00:00", ids))
    assert isinstance(refused, PlanRefused), refused
    return str(refused)


def refusal_at_the_gate(machine: LoopMachine, bench: Bench, ssd: LoopDisk, lose: Lose) -> str:
    """Why a plan for a blank disk is refused when the table turns up later, as with a disk that udev knows as blank."""
    content = {at: ssd.read(at, MIB) for at in range(0, ssd.size_bytes, MIB)}
    for at in content:
        ssd.write(at, bytes(MIB))
    machine.udev.examine()
    plan = bench.plan(log_and_cache(ssd))
    machine.udev.blind.add(ssd.serial)
    for at, data in content.items():
        ssd.write(at, data)
    lose(machine, ssd)
    before = ssd.digest()
    run = bench.apply(plan)
    assert run.state is RunState.REFUSED, told(run)
    assert ssd.changed(before) == []
    return str(run.refusals[0])


def do_as_told(machine: LoopMachine, sentence: str, ssd: LoopDisk) -> None:
    """Bring the partitions back with the commands that the sentence names."""
    (losetup,) = re.findall(r"`(losetup [^`]+)`", sentence) or [""]
    answers = "1\nw\ny\n" if "1, w and y" in sentence else "w\ny\n"
    node = tool(*in_kernel_names(machine, losetup)).strip() if losetup else str(ssd.node)
    assert "completed successfully" in tool("gdisk", node, answer=answers)
    if losetup:
        tool("losetup", "--detach", node)
    machine.udev.examine()


def clear_as_told(machine: LoopMachine, sentence: str) -> None:
    (command,) = re.findall(r"`((?:sgdisk --zap-all|blkdiscard --zeroout) [^`]+)`", sentence)
    tool(*in_kernel_names(machine, command), codes=(0, 2))  # sgdisk ends with 2 for what it found before it cleared it
    machine.udev.examine()


def in_kernel_names(machine: LoopMachine, command: str) -> tuple[str, ...]:
    """udev's links are not made for loop disks."""
    nodes = {link: str(disk.node) for disk in machine.disks for link in disk.links}
    return tuple(nodes.get(word, word) for word in command.split())


@pytest.mark.parametrize("sector_bytes", [512, 4096])
@pytest.mark.parametrize("lose", LOSSES)
def test_a_table_that_can_be_brought_back_is_not_written_over_and_is_brought_back_as_told(
    machine: LoopMachine, bench: Bench, lose: Lose, sector_bytes: int
) -> None:
    ssd = partitioned(machine, sector_bytes)
    lose(machine, ssd)
    machine.udev.examine()
    do_as_told(machine, sentence_of(bench, ssd), ssd)
    assert ssd.shown() == ssd.written() == PARTITION
    assert tool("sgdisk", "--info=1", str(ssd.node)).count("'photos'") == 1


@pytest.mark.parametrize("sector_bytes", [512, 4096])
@pytest.mark.parametrize("lose", LOSSES)
def test_it_is_also_seen_at_the_gate(machine: LoopMachine, bench: Bench, lose: Lose, sector_bytes: int) -> None:
    ssd = partitioned(machine, sector_bytes)
    do_as_told(machine, refusal_at_the_gate(machine, bench, ssd, lose), ssd)
    assert ssd.written() == PARTITION


@pytest.mark.parametrize("sector_bytes", [512, 4096])
@pytest.mark.parametrize("lose", LOSSES)
def test_cleared_as_told_the_disk_is_used(machine: LoopMachine, bench: Bench, lose: Lose, sector_bytes: int) -> None:
    ssd = partitioned(machine, sector_bytes)
    lose(machine, ssd)
    machine.udev.examine()
    clear_as_told(machine, sentence_of(bench, ssd))
    run = bench.apply(bench.plan(log_and_cache(ssd)))
    assert run.state is RunState.APPLIED, told(run)


def of_a_smaller_disk(machine: LoopMachine) -> LoopDisk:
    """An SSD to which a smaller one was copied, with `dd`: the copy of the table stands 8 MiB before the end."""
    small, ssd = machine.add_disk(size_bytes=DISK_BYTES - 8 * MIB), machine.add_disk()
    machine.sgdisk(small, "--new=1:2048:+400M", "--change-name=1:photos")
    for at in range(0, small.size_bytes, MIB):
        ssd.write(at, small.read(at, MIB))
    machine.pull(small)
    machine.disks.remove(small)
    return ssd


def of_other_sectors(machine: LoopMachine) -> LoopDisk:
    """An SSD that was partitioned behind an adapter which showed sectors of 4 KiB."""
    ssd = partitioned(machine, 4096)
    machine.pull(ssd)
    ssd.sector_bytes = 512
    machine.plug_in(ssd)
    return ssd


@pytest.mark.parametrize("make", [of_a_smaller_disk, of_other_sectors])
def test_a_copy_that_stands_elsewhere_is_found_at_the_gate(
    machine: LoopMachine, bench: Bench, make: Callable[[LoopMachine], LoopDisk]
) -> None:
    ssd = make(machine)
    sentence = refusal_at_the_gate(machine, bench, ssd, first_mib_lost)
    assert "losetup --find --show" in sentence
    do_as_told(machine, sentence, ssd)
    assert ssd.read(4096 if make is of_other_sectors else 512, 8) == b"EFI PART"
    first_mib_lost(machine, ssd)
    clear_as_told(machine, sentence)
    run = bench.apply(bench.plan(log_and_cache(ssd), "run-2"))
    assert run.state is RunState.APPLIED, told(run)


def test_a_header_of_which_a_bit_is_wrong_brings_nothing_back_and_is_no_reason(
    machine: LoopMachine, bench: Bench
) -> None:
    ssd = partitioned(machine, 512)
    first_mib_lost(machine, ssd)
    ssd.write(ssd.size_bytes - 512 + 56, b"\1")
    machine.udev.examine()
    plan = bench.plan(log_and_cache(ssd))
    run = bench.apply(plan)
    assert run.state is RunState.APPLIED, told(run)
    run = bench.undo(plan)
    assert "ssds-as-before" in codes(run), told(run)


@pytest.mark.parametrize("start", ["sgdisk --clear", "sgdisk --new=1", "sgdisk --new=2"])
def test_what_sgdisk_wrote_before_it_failed_is_taken_back(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk], start: str
) -> None:
    before = [ssd.digest() for ssd in ssds]

    def fail(command: Command) -> None:
        if str(command).startswith(start):
            ssds[0].write(ssds[0].size_bytes - 9 * 512, b"This cannot be worked out beforehand.".ljust(512))
            raise CommandFailed(str(command), 2, "Invalid partition data!", mutates=True)

    plan = bench.plan(log_and_cache(*ssds))
    machine.runner.hooks.after = fail
    run = bench.apply(plan)
    assert run.state is RunState.PUT_BACK, told(run)
    assert "ssds-as-before" in codes(run), told(run)
    assert [ssd.changed(was) for ssd, was in zip(ssds, before, strict=True)] == [[], []]


def test_it_is_never_put_back_while_the_old_table_is_not_there(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk]
) -> None:
    """Somebody writes to the table between two steps; that is theirs and stays, and the run is left for people."""
    plan = bench.plan(log_and_cache(*ssds))

    def meddle(command: Command) -> None:
        if str(command).startswith("sgdisk --new=1"):
            ssds[0].write(0, b"Somebody's boot code.")

    machine.runner.hooks.after = meddle
    run = bench.apply(plan)
    assert run.state is RunState.ATTENTION, told(run)
    assert "no-slice-left" in codes(run), told(run)
    machine.runner.hooks.after = nothing
    run = bench.undo(plan)
    assert run.state is RunState.UNDONE, told(run)
    assert "no-slice-left" in codes(run), told(run)
    assert ssds[0].read(0, 21) == b"Somebody's boot code."
