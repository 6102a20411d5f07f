"""Undo writes an old table only over what the run itself left: what somebody changed since stays, and it is said."""

from collections.abc import Callable

import pytest

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.units import MIB
from tests.devices.bench import Bench, codes, log_and_cache, told
from tests.devices.loops import LoopDisk, tool
from tests.devices.machine import LoopMachine

SAVED_AT = 460 * MIB
THEIRS = b"Somebody else wrote this. " * 40
Read = Callable[[LoopDisk], object]


@pytest.fixture
def used(machine: LoopMachine) -> LoopDisk:
    """An SSD with a GPT and one partition at its end."""
    ssd = machine.add_disk()
    machine.sgdisk(ssd, f"--new=3:{SAVED_AT // 512}:+20M", "--change-name=3:data")
    return ssd


@pytest.fixture
def applied(bench: Bench, used: LoopDisk) -> Plan:
    """A log and a cache beside that partition."""
    plan = bench.plan(log_and_cache(used, use_free_extents=True))
    run = bench.apply(plan)
    assert run.state is RunState.APPLIED, told(run)
    return plan


def undo_says_that_the_table_stays(bench: Bench, plan: Plan, state: RunState = RunState.UNDONE) -> None:
    run = bench.undo(plan)
    assert run.state is state, told(run)
    assert "ssds-as-before" not in codes(run), told(run)
    inventory = bench.inventory()
    assert not [piece for piece in plan.slices if inventory.partition(piece.partuuid)]


def boot_code(disk: LoopDisk) -> None:
    disk.write(0, THEIRS[:440])


def attributes(disk: LoopDisk) -> None:
    tool("sgdisk", "--attributes=3:set:2", "--attributes=3:set:60", str(disk.node))


def start_of(disk: LoopDisk) -> bytes:
    return disk.read(0, 440)


def entry_of_theirs(disk: LoopDisk) -> str:
    return tool("sgdisk", "--info=3", str(disk.node))


def disk_uuid(disk: LoopDisk) -> str:
    return tool("blkid", "--probe", "--output", "value", "--match-tag", "PTUUID", str(disk.node))


@pytest.mark.parametrize(
    ("change", "read"),
    [(boot_code, start_of), (attributes, entry_of_theirs)],
    ids=["boot-code", "attributes"],
)
def test_what_somebody_changed_in_the_table_stays_and_it_is_said(
    machine: LoopMachine, bench: Bench, used: LoopDisk, applied: Plan, change: Callable[[LoopDisk], None], read: Read
) -> None:
    change(used)
    machine.udev.examine()
    theirs = read(used)
    undo_says_that_the_table_stays(bench, applied)
    assert read(used) == theirs
    assert used.shown() == used.written() == {(3, SAVED_AT // 512, 20 * MIB // 512)}


@pytest.mark.parametrize(
    ("args", "read"),
    [
        (("--change-name=3:theirs",), entry_of_theirs),
        (("--typecode=3:8302",), entry_of_theirs),
        (("--disk-guid=5bf0f5c5-0000-4000-8000-00000000beef",), disk_uuid),
        (("--new=9:400M:+10M",), entry_of_theirs),
    ],
    ids=["name", "type", "disk-uuid", "partition"],
)
def test_what_somebody_changed_with_sgdisk_stays_and_it_is_said(
    machine: LoopMachine, bench: Bench, used: LoopDisk, applied: Plan, args: tuple[str, ...], read: Read
) -> None:
    machine.sgdisk(used, *args)
    theirs, table = read(used), used.written()
    undo_says_that_the_table_stays(bench, applied)
    assert read(used) == theirs
    ours = {piece.number for piece in applied.slices}
    assert used.shown() == used.written() == {place for place in table if place[0] not in ours}


def test_a_partition_that_came_and_went_leaves_nothing_in_the_way(
    machine: LoopMachine, bench: Bench, used: LoopDisk, applied: Plan
) -> None:
    before = entry_of_theirs(used)
    machine.sgdisk(used, "--new=9:400M:+10M")
    machine.sgdisk(used, "--delete=9")
    run = bench.undo(applied)
    assert run.state is RunState.UNDONE, told(run)
    assert entry_of_theirs(used) == before
    assert used.shown() == used.written() == {(3, SAVED_AT // 512, 20 * MIB // 512)}


def taken_out_by_hand(machine: LoopMachine, disk: LoopDisk) -> None:
    """Somebody removes log and cache with `zpool remove` and then the whole table."""
    for vdev in [*(log.vdev.guid for log in machine.tank.logs), *(str(leaf.guid) for leaf in machine.tank.caches)]:
        machine.pools.run(("remove", machine.tank.name, vdev))
    tool("sgdisk", "--zap-all", str(disk.node))
    machine.udev.examine()


@pytest.mark.parametrize("was", ["blank", "used"])
def test_an_ssd_that_was_taken_out_and_is_used_raw_keeps_every_byte(
    machine: LoopMachine, bench: Bench, was: str
) -> None:
    """A database, a guest or an initiator writes to it without any signature."""
    ssd = machine.add_disk()
    if was == "used":
        machine.sgdisk(ssd, f"--new=3:{SAVED_AT // 512}:+20M")
    plan = bench.plan(log_and_cache(ssd, use_free_extents=was == "used"))
    assert bench.apply(plan).state is RunState.APPLIED
    taken_out_by_hand(machine, ssd)
    ssd.write(0, THEIRS * 2000)
    ssd.write(ssd.size_bytes - len(THEIRS) * 100, THEIRS * 100)
    machine.udev.examine()
    before = ssd.digest()
    run = bench.undo(plan)
    assert ssd.changed(before) == []
    assert "ssds-as-before" not in codes(run), told(run)


def test_an_ssd_that_was_taken_out_and_zeroed_is_not_written_to_in_vain(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk]
) -> None:
    """The table was never more than zeros, and is again: nothing is left to take back."""
    before = [ssd.digest() for ssd in ssds]
    plan = bench.plan(log_and_cache(*ssds))
    assert bench.apply(plan).state is RunState.APPLIED
    taken_out_by_hand(machine, ssds[0])
    tool("blkdiscard", "--zeroout", str(ssds[0].node))
    machine.udev.examine()
    run = bench.undo(plan)
    assert run.state is RunState.UNDONE, told(run)
    assert [ssd.changed(was) for ssd, was in zip(ssds, before, strict=True)] == [[], []]


def test_a_new_table_of_somebody_else_without_partitions_stays(
    machine: LoopMachine, bench: Bench, ssds: tuple[LoopDisk, LoopDisk]
) -> None:
    plan = bench.plan(log_and_cache(*ssds))
    assert bench.apply(plan).state is RunState.APPLIED
    taken_out_by_hand(machine, ssds[0])
    tool("sgdisk", "--clear", f"--disk-guid={table_uuid(plan)}", str(ssds[0].node))
    ssds[0].write(0, THEIRS[:440])
    machine.udev.examine()
    before = ssds[0].digest()
    undo_says_that_the_table_stays(bench, plan)
    assert ssds[0].changed(before) == []


def table_uuid(plan: Plan) -> str:
    return next(action.table_uuid for action in plan.actions if hasattr(action, "table_uuid"))


@pytest.mark.parametrize("is_used", [True, False])
def test_an_ssd_that_has_grown_is_not_said_to_be_as_before(machine: LoopMachine, bench: Bench, is_used: bool) -> None:
    """The copy of the run's table stands where the SSD ended; sgdisk writes another one at the new end."""
    ssd = machine.add_disk()
    if is_used:
        machine.sgdisk(ssd, f"--new=3:{SAVED_AT // 512}:+20M")
    plan = bench.plan(log_and_cache(ssd, use_free_extents=is_used))
    assert bench.apply(plan).state is RunState.APPLIED
    machine.pull(ssd)
    with ssd.file.open("r+b") as opened:
        opened.truncate(ssd.size_bytes + 64 * MIB)
    machine.plug_in(ssd)
    undo_says_that_the_table_stays(bench, plan)
    assert {number for number, _start, _size in ssd.written()} == ({3} if is_used else set())
