"""Tables that were copied from another disk, or say strange things, are refused with a sentence; images stay small."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.units import MIB
from nasadvisor.host.errors import HostError
from tests.devices.bench import Bench, codes, log_and_cache, told
from tests.devices.gpt import Fields, rewrite_both_headers
from tests.devices.loops import LoopDisk, tool
from tests.devices.machine import DISK_BYTES, LoopMachine

JOURNAL_BYTES = 1 * MIB


def refusals_of(bench: Bench, wish: PlanRequest) -> tuple[Refused, ...]:
    """Why nothing can be done, before or when it is applied; none if it can."""
    uuids = tuple(f"30000000-0000-4000-8000-{number:012d}" for number in range(PlanIds.uuids_needed(wish)))
    plan = make_plan(wish, bench.inventory(), PlanIds("run-1", "2026-08-25T20:00:00+00:00", uuids))
    if isinstance(plan, PlanRefused):
        return plan.refusals
    run = bench.apply(plan)
    assert run.state is RunState.REFUSED, told(run)
    return run.refusals


def copied(machine: LoopMachine, size_bytes: int) -> LoopDisk:
    """An SSD with the table of another of this size, by `dd`."""
    source, ssd = machine.add_disk(size_bytes=size_bytes), machine.add_disk()
    machine.sgdisk(source, "--new=3:300M:+20M")
    for at in range(0, min(size_bytes, DISK_BYTES), MIB):
        ssd.write(at, source.read(at, MIB))
    machine.pull(source)
    return ssd


def from_a_smaller_disk(machine: LoopMachine) -> LoopDisk:
    """The copy of the table is 16 MiB before the end, where this disk has free space."""
    return copied(machine, 496 * MIB)


def from_a_larger_disk(machine: LoopMachine) -> LoopDisk:
    """The table says that there are twice as many sectors."""
    return copied(machine, 2 * DISK_BYTES)


def with_header(machine: LoopMachine, fields: Fields) -> LoopDisk:
    ssd = machine.add_disk()
    machine.sgdisk(ssd, "--new=3:460M:+20M")
    rewrite_both_headers(ssd, fields)
    machine.udev.examine()
    return ssd


def with_far_first_sector(machine: LoopMachine) -> LoopDisk:
    """The first usable sector is at 20 MiB; nothing says what lies before it."""
    return with_header(machine, Fields(first_usable=20 * MIB // 512))


def with_near_last_sector(machine: LoopMachine) -> LoopDisk:
    return with_header(machine, Fields(last_usable=496 * MIB // 512))


def with_far_entries(machine: LoopMachine) -> LoopDisk:
    """As `sgdisk --move-main-table` leaves it."""
    ssd = machine.add_disk()
    machine.sgdisk(ssd, "--new=3:460M:+20M")
    tool("sgdisk", f"--move-main-table={20 * MIB // 512}", str(ssd.node))
    machine.udev.examine()
    return ssd


def with_entries_in_free_space(machine: LoopMachine) -> LoopDisk:
    """The entries lie where the table says that partitions may go."""
    return with_header(machine, Fields(entries=40 * MIB // 512))


TABLES: list[Callable[[LoopMachine], LoopDisk]] = [
    from_a_smaller_disk,
    from_a_larger_disk,
    with_far_first_sector,
    with_near_last_sector,
    with_far_entries,
    with_entries_in_free_space,
]


@pytest.mark.parametrize("make", TABLES)
def test_a_strange_table_is_refused_and_nothing_large_is_kept_of_it(
    machine: LoopMachine, bench: Bench, make: Callable[[LoopMachine], LoopDisk]
) -> None:
    ssd = make(machine)
    before = ssd.digest()
    refusals = refusals_of(bench, log_and_cache(ssd, use_free_extents=True))
    assert refusals
    assert all(str(refusal) for refusal in refusals)
    assert ssd.changed(before) == []
    assert sum(path.stat().st_size for path in bench.root.rglob("*") if path.is_file()) < JOURNAL_BYTES


def test_a_usual_journal_is_small(bench: Bench, ssds: tuple[LoopDisk, LoopDisk]) -> None:
    plan = bench.plan(log_and_cache(*ssds))
    assert bench.apply(plan).state is RunState.APPLIED
    assert bench.undo(plan).state is RunState.UNDONE
    assert journal(bench, plan).stat().st_size < JOURNAL_BYTES


def test_a_table_of_more_entries_than_usual_comes_back_whole(machine: LoopMachine, bench: Bench) -> None:
    ssd = machine.add_disk()
    machine.sgdisk(ssd, "--resize-table=512")
    machine.sgdisk(ssd, "--new=3:460M:+20M", "--new=200:490M:+10M")
    before = ssd.digest()
    plan = bench.plan(log_and_cache(ssd, use_free_extents=True))
    assert bench.apply(plan).state is RunState.APPLIED
    run = bench.undo(plan)
    assert run.state is RunState.UNDONE, told(run)
    assert ssd.changed(before) == []


def journal(bench: Bench, plan: Plan) -> Path:
    return bench.root / "runs" / plan.id / "journal.jsonl"


def flip(path: Path, field: str, offset: int) -> None:
    """Flip one bit of the byte at this offset of an image: another letter of base64 in its place."""
    text = path.read_bytes()
    start = next(re.finditer(rb'"%b": *"' % field.encode(), text)).end()
    place = start + offset * 4 // 3
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    flipped = letters[letters.index(text[place]) ^ 1]
    path.write_bytes(text[:place] + bytes((flipped,)) + text[place + 1 :])


@pytest.mark.parametrize(
    ("field", "offset"),
    [
        pytest.param("head_base64", 100, id="boot-code"),
        pytest.param("head_base64", 512 + 56, id="disk-uuid"),
        pytest.param("head_base64", 512 + 16, id="checksum"),
        pytest.param("head_base64", 1024 + 2 * 128 + 33, id="start-of-their-partition"),
        pytest.param("tail_base64", 2 * 128 + 33, id="start-in-the-copy"),
        pytest.param("tail_base64", 32 * 512 + 72, id="copy-of-the-header"),
    ],
)
def test_a_bit_that_flips_in_an_image_never_leads_to_a_corrupt_table(
    machine: LoopMachine, bench: Bench, field: str, offset: int
) -> None:
    ssd = machine.add_disk()
    machine.sgdisk(ssd, f"--new=3:{460 * MIB // 512}:+20M", "--change-name=3:data")
    before, theirs, boot = ssd.digest(), tool("sgdisk", "--info=3", str(ssd.node)), ssd.read(0, 446)
    plan = bench.plan(log_and_cache(ssd, use_free_extents=True))
    assert bench.apply(plan).state is RunState.APPLIED
    flip(journal(bench, plan), field, offset)
    with suppress(HostError):  # the journal is damaged, and nothing was done
        run = bench.undo(plan)
        assert "ssds-as-before" not in codes(run) or not ssd.changed(before), told(run)
    assert "No problems found" in tool("sgdisk", "--verify", str(ssd.node))
    assert tool("sgdisk", "--info=3", str(ssd.node)) == theirs
    assert ssd.read(0, 446) == boot
