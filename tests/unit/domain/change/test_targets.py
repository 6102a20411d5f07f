"""Which disks are offered for a slice at all, and what is said of the others."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.refusals import DiskHeld, SectorTooLarge, TooSmall
from nasadvisor.domain.change.targets import can_be_target, can_have_slice
from nasadvisor.domain.statements import Allowed, Answer
from nasadvisor.domain.storage.gaps import MIN_SLICE_BYTES
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, TableKind
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import disk_of, tank_of
from tests.unit.machines import NVME1, home_server, partition, with_partitions

MACHINE = home_server()
BLANK = disk_of(MACHINE, NVME1)
MOUNTED = Hold(HoldKind.MOUNT, "/srv")


def for_slice(disk: Disk) -> Answer:
    """The answer for any pool, which is that for a pool that takes such sectors too."""
    answer = can_have_slice(disk, MACHINE.host)
    assert can_be_target(disk, tank_of(MACHINE), MACHINE.host) == answer
    return answer


def filled(disk: Disk, left_bytes: int, *holds: Hold) -> Disk:
    """The disk with one partition that leaves so much room behind it, and what the host wants free at the end."""
    start, end = MIB, disk.usable_end_bytes // MIB * MIB - MACHINE.host.tail_bytes - left_bytes
    return with_partitions(disk, partition(disk, 1, start, end - start, *holds))


def test_a_blank_ssd_and_one_with_just_enough_room_beside_its_partitions_can_have_a_slice() -> None:
    assert for_slice(BLANK) == Allowed()
    assert for_slice(filled(BLANK, MIN_SLICE_BYTES, MOUNTED)) == Allowed()


def test_a_disk_that_may_not_be_used_at_all_is_refused_for_that() -> None:
    foreign = replace(BLANK, holds=(MOUNTED,))
    assert for_slice(foreign) == DiskHeld(foreign, MOUNTED)
    other = replace(filled(BLANK, GIB), table=TableKind.OTHER)
    assert getattr(for_slice(other), "code", "") == "foreign-table"


def test_a_disk_without_room_is_refused_for_what_holds_it_and_else_for_being_too_small() -> None:
    full = filled(BLANK, MIN_SLICE_BYTES - MIB, MOUNTED, Hold(HoldKind.SWAP, "swap"))
    assert for_slice(full) == DiskHeld(full, MOUNTED)
    idle = filled(BLANK, MIN_SLICE_BYTES - MIB)
    assert for_slice(idle) == TooSmall(idle, Role.LOG, MIN_SLICE_BYTES, MIN_SLICE_BYTES - MIB)


@pytest.mark.parametrize(
    ("ashift", "sector_bytes", "fits"), [(12, 4096, True), (9, 512, True), (11, 4096, False), (9, 4096, False)]
)
def test_a_disk_whose_sectors_are_larger_than_a_block_of_the_pool_is_refused_to_that_pool(
    ashift: int, sector_bytes: int, *, fits: bool
) -> None:
    disk = replace(BLANK, identity=replace(BLANK.identity, logical_sector_bytes=sector_bytes))
    pool = replace(tank_of(MACHINE), ashift=ashift)
    expected = Allowed() if fits else SectorTooLarge(disk, pool)
    assert can_be_target(disk, pool, MACHINE.host) == expected
    assert can_have_slice(disk, MACHINE.host) == Allowed()


def test_of_a_disk_with_larger_sectors_that_may_not_be_used_at_all_that_is_said() -> None:
    disk = replace(BLANK, identity=replace(BLANK.identity, logical_sector_bytes=4096), holds=(MOUNTED,))
    assert can_be_target(disk, replace(tank_of(MACHINE), ashift=9), MACHINE.host) == DiskHeld(disk, MOUNTED)


@pytest.mark.parametrize("ashift", [0, -1, 17])
def test_a_pool_whose_blocks_are_not_known_does_not_speak_against_a_disk(ashift: int) -> None:
    """That is refused by itself when a plan is made."""
    disk = replace(BLANK, identity=replace(BLANK.identity, logical_sector_bytes=4096))
    assert can_be_target(disk, replace(tank_of(MACHINE), ashift=ashift), MACHINE.host) == Allowed()
