"""Rule 4: identity is looked at again right before every step that destroys.

What the domain adds to the host's own look: names and slices must still belong to the disk that was meant.
"""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.change.actions import (
    CreateSlice,
    CreateTable,
    DeleteSlice,
    RestoreTable,
    SaveTable,
)
from nasadvisor.domain.change.checks import can
from nasadvisor.domain.change.undo_checks import can_undo
from nasadvisor.domain.storage.inventory import Partition, TableKind, Vdev
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import (
    TABLE_UUID,
    code_of,
    disk_of,
    log_on,
    slice_on,
)
from tests.unit.domain.change.never.wishes import SINGLE, refused
from tests.unit.machines import MIRROR_AND_CACHES, NVME1, NVME2, TANK, home_server, plan_for, with_disk, with_pool


def test_a_name_that_now_leads_to_another_disk_is_refused() -> None:
    inventory = home_server()
    other = disk_of(inventory, NVME2).path
    for action in (
        CreateTable(NVME1, other, TABLE_UUID, MIB, GIB),
        SaveTable(NVME1, other, TABLE_UUID, ()),
        CreateSlice(slice_on(disk_of(inventory, NVME1), disk_path=other), TANK),
    ):
        assert code_of(can(action, inventory)) == "disk-changed"
    assert code_of(can_undo(RestoreTable(NVME1, other, TABLE_UUID, ()), inventory)) == "disk-changed"


def test_any_of_its_persistent_names_will_do() -> None:
    inventory = home_server()
    table = CreateTable(NVME1, disk_of(inventory, NVME1).links[1], TABLE_UUID, MIB, GIB)
    assert code_of(can(table, inventory)) == ""
    only_name = with_disk(inventory, NVME1, links=())
    assert code_of(can(replace(table, disk_path=disk_of(inventory, NVME1).path), only_name)) == ""


def test_a_disk_that_is_gone_or_swapped_for_another_is_refused() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    swapped = with_disk(home_server(), NVME1, identity=replace(disk_of(home_server(), NVME1).identity, wwn="eui.other"))
    for action in plan.actions[:2]:
        assert code_of(can(action, swapped)) == "disk-gone"
    assert refused(SINGLE, swapped) == {"disk-gone"}


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 2},
        {"start_bytes": 2 * MIB},
        {"size_bytes": 5 * GIB},
        {"type_uuid": "0fc63daf-8483-4772-8e79-3d69d8477de4"},
        {"partuuid": "11111111-0000-4000-8000-000000000000"},
    ],
)
def test_a_partition_that_differs_in_anything_is_not_our_slice(changes: dict[str, Any]) -> None:
    inventory, action = log_on(NVME1)
    part = replace(disk_of(inventory, NVME1).partitions[0], **changes)
    assert not action.sides[0].is_on(disk_of(inventory, NVME1), part)
    changed = with_disk(inventory, NVME1, partitions=(part,))
    assert code_of(can(action, changed)) == "slice-gone"
    assert code_of(can_undo(DeleteSlice(action.sides[0], TANK), changed)) == "slice-gone"


def test_a_slice_that_moved_to_another_disk_is_not_our_slice() -> None:
    inventory, action = log_on(NVME1)
    part = disk_of(inventory, NVME1).partitions[0]
    moved = with_disk(with_disk(inventory, NVME1, partitions=()), NVME2, partitions=(part,))
    assert code_of(can(action, moved)) == "slice-gone"
    assert code_of(can_undo(DeleteSlice(action.sides[0], TANK), moved)) == "slice-gone"


def test_a_partuuid_that_is_there_twice_names_nothing() -> None:
    inventory, action = log_on(NVME1)
    cloned = with_disk(inventory, NVME2, partitions=disk_of(inventory, NVME1).partitions)
    assert code_of(can(action, cloned)) == "slice-gone"
    assert code_of(can_undo(DeleteSlice(action.sides[0], TANK), cloned)) == "slice-twice"


def test_a_path_that_is_not_known_matches_no_disk_and_no_partition() -> None:
    nameless = Partition(1, "", "", "", MIB, GIB, "", "")
    inventory = with_disk(home_server(), NVME1, path="", partitions=(nameless,))
    assert inventory.partition_at("") is None
    assert inventory.disk_at("") is None
    inventory, action = log_on(NVME1)
    part = replace(disk_of(inventory, NVME1).partitions[0], path="", kernel_name="")
    inventory = with_pool(with_disk(inventory, NVME1, partitions=(part,)), spares=(Vdev("7", "disk", "x", "UNAVAIL"),))
    assert code_of(can(action, inventory)) == ""


def test_sectors_are_counted_in_the_size_that_the_disk_has_now() -> None:
    inventory = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID)
    piece = slice_on(disk_of(inventory, NVME1), sector_bytes=4096)
    assert code_of(can(CreateSlice(piece, TANK), inventory)) == "sectors-differ"
