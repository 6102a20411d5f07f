"""Cleaning up after a step that was cut off is a write like any other: its rules are asked."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import ClearSlice, RewindTable
from nasadvisor.domain.change.refusals import LABELS
from nasadvisor.domain.change.undo_checks import can_clean
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory
from tests.unit.domain.builders import code_of, disk_of, log_on, with_log
from tests.unit.machines import NVME1, NVME2, TANK, home_server, leaf_on, with_disk, with_pool

HOLDS = [kind for kind in HoldKind if kind is not HoldKind.UNREADABLE]


def rewind() -> RewindTable:
    return RewindTable(NVME1, disk_of(home_server(), NVME1).path)


def clear() -> tuple[Inventory, ClearSlice]:
    inventory, log = log_on(NVME1)
    return inventory, ClearSlice(log.sides[0], "tank", TANK)


def holding(inventory: Inventory, *holds: Hold) -> Inventory:
    part = disk_of(inventory, NVME1).partitions[0]
    return with_disk(inventory, NVME1, partitions=(replace(part, holds=holds),))


def test_a_table_that_was_cut_off_is_rewound_on_a_disk_that_is_there_and_free() -> None:
    assert code_of(can_clean(rewind(), home_server())) == ""
    unreadable = with_disk(home_server(), NVME1, holds=(Hold(HoldKind.UNREADABLE, "half a table"),))
    assert code_of(can_clean(rewind(), unreadable)) == "", "mending it is what this is for"


@pytest.mark.parametrize("kind", HOLDS)
def test_a_table_is_not_rewound_on_a_disk_that_holds_something(kind: HoldKind) -> None:
    held = with_disk(home_server(), NVME1, holds=(Hold(HoldKind.UNREADABLE, "x"), Hold(kind, "x")))
    assert code_of(can_clean(rewind(), held)) == f"disk-{kind}"


def test_a_table_is_not_rewound_on_another_disk_than_the_planned_one() -> None:
    gone = replace(home_server(), disks=())
    assert code_of(can_clean(rewind(), gone)) == "disk-gone"
    other = RewindTable(NVME1, disk_of(home_server(), NVME2).path)
    assert code_of(can_clean(other, home_server())) == "disk-changed"


def test_a_slice_is_cleared_for_the_pool_that_it_was_made_for() -> None:
    inventory, step = clear()
    assert code_of(can_clean(step, inventory)) == ""
    away = can_clean(step, with_pool(inventory, guid="99"))
    assert code_of(away) == "pool-away"
    assert f"`zpool import {TANK}`" in str(away)


def test_a_label_that_was_left_behind_does_not_keep_a_slice_from_being_cleared() -> None:
    """What the label says is read off the slice itself."""
    inventory, step = clear()
    assert code_of(can_clean(step, holding(inventory, Hold(HoldKind.EXPORTED_POOL, "tank")))) == ""


@pytest.mark.parametrize("kind", [kind for kind in HoldKind if kind not in LABELS])
def test_a_slice_that_holds_something_is_not_cleared(kind: HoldKind) -> None:
    inventory, step = clear()
    held = holding(inventory, Hold(HoldKind.EXPORTED_POOL, "tank"), Hold(kind, "x"))
    assert code_of(can_clean(step, held)) == "slice-held"


def test_a_slice_that_a_pool_names_is_not_cleared_whatever_udev_says() -> None:
    inventory, step = clear()
    used = holding(with_log(inventory, leaf_on(disk_of(inventory, NVME1), "31")))
    assert code_of(can_clean(step, used)) == "slice-held"


def test_a_slice_that_is_there_twice_or_otherwise_is_not_cleared() -> None:
    inventory, step = clear()
    part = disk_of(inventory, NVME1).partitions[0]
    twice = with_disk(inventory, NVME2, partitions=(part,))
    assert code_of(can_clean(step, twice)) == "slice-twice"
    labels = ", ".join(disk_of(inventory, key).label for key in (NVME1, NVME2))
    assert labels in str(can_clean(step, twice))
    assert code_of(can_clean(step, with_disk(inventory, NVME1, partitions=()))) == "slice-gone"
    moved = with_disk(inventory, NVME1, partitions=(replace(part, start_bytes=2**30),))
    assert code_of(can_clean(step, moved)) == "slice-gone"
    renamed = with_disk(inventory, NVME1, path="/dev/disk/by-id/other", links=())
    assert code_of(can_clean(step, renamed)) == "disk-changed"
