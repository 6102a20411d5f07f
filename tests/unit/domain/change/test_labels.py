"""What is said of a disk with a ZFS label: what takes the label off, and never at the cost of a pool."""

import re
from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import DeleteSlice
from nasadvisor.domain.change.checks import can_use_disk
from nasadvisor.domain.change.refusals import DiskHeld
from nasadvisor.domain.change.undo_checks import can_undo
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import NAMELESS_POOL, Hold, HoldKind, ZfsLabel
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import code_of, disk_of, made, slice_on
from tests.unit.machines import NVME1, TANK, home_server, partition, with_disk, with_partitions

EXPORTED = Hold(HoldKind.EXPORTED_POOL, "tank")
LEFTOVER = Hold(HoldKind.LEFTOVER_LABEL, "tank")


def refused(hold: Hold, label: ZfsLabel) -> Refused:
    disk = disk_of(home_server(), NVME1)
    answer = can_use_disk(replace(disk, holds=(hold,), zfs_label=label))
    assert isinstance(answer, Refused)
    return answer


def commands(refusal: Refused) -> list[str]:
    return re.findall("`([^`]+)`", str(refusal))


def test_a_label_left_behind_is_taken_off_by_one_command_and_no_pool_is_named_in_it() -> None:
    path = disk_of(home_server(), NVME1).path
    assert commands(refused(LEFTOVER, ZfsLabel("tank", TANK, "31"))) == [f"zpool labelclear {path}"]


def test_one_left_behind_under_an_earlier_name_needs_to_be_forced() -> None:
    """zpool looks for the pool by the name in the label, and finds none."""
    refusal = refused(LEFTOVER, ZfsLabel("old", TANK, "31"))
    assert commands(refusal) == [f"zpool labelclear -f {disk_of(home_server(), NVME1).path}"]
    assert refusal.values["old"] == "old"


@pytest.mark.parametrize("name", ["tank", "archive", "elsewhere"])
def test_no_command_for_the_label_of_a_pool_that_is_away_can_meet_one_that_is_imported(name: str) -> None:
    """tank and archive are imported, the label is of another pool of that name: the same words hold for each."""
    refusal = refused(Hold(HoldKind.EXPORTED_POOL, name), ZfsLabel(name, "77", "31"))
    (imported,) = [command for command in commands(refusal) if command.startswith("zpool import -N")]
    (destroyed,) = [command for command in commands(refusal) if command.startswith("zpool destroy")]
    assert imported == "zpool import -N 77 old-77"
    assert destroyed == "zpool destroy old-77"


def test_the_label_of_a_cache_or_spare_names_no_pool_and_nothing_is_imported_for_it() -> None:
    refusal = refused(Hold(HoldKind.EXPORTED_POOL, NAMELESS_POOL), ZfsLabel("", "", "31"))
    assert commands(refusal) == [f"zpool labelclear {disk_of(home_server(), NVME1).path}"]


@pytest.mark.parametrize("kind", [HoldKind.EXPORTED_POOL, HoldKind.LEFTOVER_LABEL])
def test_a_label_that_is_known_only_by_hearsay_destroys_nothing(kind: HoldKind) -> None:
    answer = can_use_disk(replace(disk_of(home_server(), NVME1), holds=(Hold(kind, "tank"),)))
    assert isinstance(answer, Refused)
    assert commands(answer) == []


def test_the_path_is_that_of_the_partition_with_the_label() -> None:
    disk = disk_of(home_server(), NVME1)
    part = replace(partition(disk, 1, MIB, GIB, LEFTOVER), zfs_label=ZfsLabel("tank", TANK, "31"))
    assert commands(DiskHeld(with_partitions(disk, part), LEFTOVER)) == [f"zpool labelclear {part.path}"]


def test_what_a_removed_log_left_on_a_slice_of_ours_keeps_no_undo_from_it() -> None:
    inventory = home_server()
    piece = slice_on(disk_of(inventory, NVME1))
    inventory = made(with_disk(inventory, NVME1), piece, holds=(LEFTOVER,))
    assert code_of(can_undo(DeleteSlice(piece, TANK), inventory)) == ""
