"""Rule 10: undo by guid, class looked at again, only what this run added; delete only our PARTUUIDs; restore the
table only if nothing else changed."""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.change.actions import (
    CreateSlice,
    DeleteSlice,
    DetachLog,
    Outcome,
    RemoveVdev,
    RestoreTable,
    Role,
    SaveTable,
)
from nasadvisor.domain.change.checks import can
from nasadvisor.domain.change.device_scan import ACTIVE, DESTROYED, EXPORTED, L2CACHE, DeviceScan, Signature, SliceLabel
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.refusals import LABELS
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.change.undo import cannot_be_undone
from nasadvisor.domain.change.undo_checks import can_undo
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import NAMELESS_POOL, Hold, HoldKind, TableKind, Vdev
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.change.gate import Gate, Permit
from tests.unit.domain.builders import (
    LOG_GUID,
    MIRROR_GUID,
    TABLE_UUID,
    cache_on,
    change_vdev,
    code_of,
    disk_of,
    made,
    mirrored_log,
    slice_on,
    tank_of,
    with_log,
)
from tests.unit.domain.change.never.wishes import every_undo
from tests.unit.machines import (
    ARCHIVE,
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    SHARED_SSD,
    TANK,
    home_server,
    leaf_on,
    partition,
    plan_for,
    with_disk,
    with_pool,
)
from tests.unit.permits import AREA, OWN, InOrder


def test_vdevs_are_named_by_guid_and_slices_by_partuuid() -> None:
    for step in every_undo():
        for argv in step.commands():
            if argv[:2] in (("zpool", "remove"), ("zpool", "detach")):
                assert argv[2:] in (("tank", "17"), ("tank", "18"))
            if isinstance(step, DeleteSlice) and argv[0] != "sgdisk":
                assert argv[-1] == step.slice.partuuid_path
            if isinstance(step, DeleteSlice) and argv[0] == "sgdisk":
                assert argv == ("sgdisk", f"--delete={step.slice.number}", step.slice.disk_path)


def test_what_takes_a_vdev_out_is_remove_for_a_whole_one_and_detach_for_a_side() -> None:
    _, sides = mirrored_log()
    assert RemoveVdev("tank", TANK, Role.LOG, "17", sides).commands() == (("zpool", "remove", "tank", "17"),)
    assert DetachLog("tank", TANK, "17", sides[0]).commands() == (("zpool", "detach", "tank", "17"),)


def test_labels_are_cleared_before_the_slice_is_deleted() -> None:
    step = next(step for step in every_undo() if isinstance(step, DeleteSlice))
    assert step.commands()[0][:2] == ("zpool", "labelclear")
    assert step.commands()[-1][0] == "sgdisk"


def test_the_class_of_a_guid_is_looked_at_again() -> None:
    inventory, sides = mirrored_log()
    removal = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, sides)
    assert code_of(can_undo(removal, inventory)) == ""
    log = tank_of(inventory).logs
    for other_class in ("data", "caches", "specials", "dedups", "spares"):
        moved = with_pool(inventory, logs=(), **{other_class: (*getattr(tank_of(inventory), other_class), *log)})
        assert code_of(can_undo(removal, moved)) == "vdev-gone"
    assert code_of(can_undo(replace(removal, role=Role.CACHE), inventory)) == "vdev-gone"


def test_neither_a_side_nor_a_data_vdev_is_removed() -> None:
    inventory, sides = mirrored_log()
    for guid in (LOG_GUID, "32", "10", "101", ""):
        assert code_of(can_undo(RemoveVdev("tank", TANK, Role.LOG, guid, sides), inventory)) == "vdev-gone"
        assert code_of(can_undo(RemoveVdev("tank", TANK, Role.CACHE, guid, sides), inventory)) == "vdev-gone"


def test_of_several_logs_the_one_with_the_guid_is_looked_at() -> None:
    inventory, sides = mirrored_log()
    other = Vdev("55", "disk", "x", "ONLINE", write_errors=9)
    removal = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, sides)
    for tops in ((other, *tank_of(inventory).logs), (*tank_of(inventory).logs, other)):
        both = with_pool(inventory, logs=tops)
        assert code_of(can_undo(removal, both)) == ""
        assert code_of(can_undo(replace(removal, vdev_guid="55", slices=()), both)) == "log-has-errors"


def test_only_a_side_of_a_mirrored_log_is_detached() -> None:
    inventory, sides = mirrored_log()
    assert code_of(can_undo(DetachLog("tank", TANK, "32", sides[1]), inventory)) == ""
    for guid in (MIRROR_GUID, "101", "102", ""):
        assert code_of(can_undo(DetachLog("tank", TANK, guid, sides[1]), inventory)) == "vdev-gone"
    single = with_log(inventory, leaf_on(disk_of(inventory, NVME1), LOG_GUID))
    assert code_of(can_undo(DetachLog("tank", TANK, LOG_GUID, sides[0]), single)) == "vdev-gone"


def test_a_side_is_not_detached_from_a_mirror_that_would_then_be_dead() -> None:
    inventory, sides = mirrored_log()
    detach = DetachLog("tank", TANK, "32", sides[1])
    assert code_of(can_undo(detach, change_vdev(inventory, LOG_GUID, state="FAULTED"))) == "last-good-side"
    assert code_of(can_undo(detach, change_vdev(inventory, "32", state="FAULTED"))) == ""
    third = Vdev("33", "disk", "x", "ONLINE")
    sides_of_three = (*tank_of(inventory).logs[0].children, third)
    of_three = change_vdev(inventory, MIRROR_GUID, children=sides_of_three)
    assert code_of(can_undo(detach, change_vdev(of_three, LOG_GUID, state="FAULTED"))) == ""


def test_a_vdev_that_somebody_added_a_side_to_is_left_alone() -> None:
    inventory, sides = mirrored_log()
    ours = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, sides[:1])
    assert code_of(can_undo(ours, inventory)) == "vdev-changed"
    whole_disk = change_vdev(inventory, "32", path=disk_of(inventory, SHARED_SSD).path)
    assert code_of(can_undo(replace(ours, slices=sides), whole_disk)) == "vdev-changed"
    vanished = change_vdev(inventory, "32", path="/dev/disk/by-partuuid/gone", state="UNAVAIL")
    assert code_of(can_undo(replace(ours, slices=sides), vanished)) == ""


def test_a_single_log_that_somebody_mirrored_is_left_alone() -> None:
    inventory, sides = mirrored_log()
    answer = can_undo(RemoveVdev("tank", TANK, Role.LOG, LOG_GUID, sides[:1]), inventory)
    assert code_of(answer) == "vdev-changed"
    assert "First undo the run that added that device" in str(answer)


def test_caches_are_taken_out_even_if_sick() -> None:
    inventory, action = cache_on(NVME1)
    sick = replace(leaf_on(disk_of(inventory, NVME1), "61"), state="FAULTED", write_errors=9)
    removal = RemoveVdev("tank", TANK, Role.CACHE, "61", action.slices)
    assert code_of(can_undo(removal, with_pool(inventory, caches=(sick,)))) == ""


@pytest.mark.parametrize(
    ("hold", "code"),
    [
        *((Hold(kind, "tank"), "slice-held") for kind in HoldKind if kind not in LABELS),
        (Hold(HoldKind.LEFTOVER_LABEL, "tank"), ""),
        (Hold(HoldKind.EXPORTED_POOL, "tank"), ""),  # what the label says is read off the slice, see below
        (Hold(HoldKind.EXPORTED_POOL, NAMELESS_POOL), ""),
    ],
)
def test_a_slice_that_somebody_uses_is_not_deleted(hold: Hold, code: str) -> None:
    piece = slice_on(disk_of(home_server(), NVME1))
    inventory = made(home_server(), piece, holds=(hold,))
    assert code_of(can_undo(DeleteSlice(piece, TANK), inventory)) == code


def asked_with(label: SliceLabel, *, pool_guid: str = TANK, imported: bool = True) -> str:
    """What the gate says of deleting a slice that carries this label."""
    piece = slice_on(disk_of(home_server(), NVME1))
    inventory = made(home_server(), piece, holds=(Hold(HoldKind.EXPORTED_POOL, label.pool_name),))
    inventory = inventory if imported else replace(inventory, pools=())
    seen = DeviceScan((Signature("zfs_member"),), ((piece.partuuid, label),), AREA)
    answer = Gate(InOrder(inventory, seen)).ask(DeleteSlice(piece, pool_guid), inventory, OWN)
    return answer.code if isinstance(answer, Refused) else ""


LIVE = SliceLabel(ACTIVE, 15, "tank", TANK, "777")


@pytest.mark.parametrize("state", [ACTIVE, EXPORTED])
def test_the_gate_asks_whether_a_pool_that_is_away_needs_the_slice(state: int) -> None:
    """The pool may be away, and the slice hold the last writes that it acknowledged."""
    assert asked_with(replace(LIVE, state=state), imported=False) == "slice-needed"
    assert asked_with(replace(LIVE, state=state)) == ""


def test_the_gate_asks_for_the_guid_of_the_pool_and_not_for_its_name() -> None:
    """Another pool that is called tank as well, or that was renamed since."""
    assert asked_with(replace(LIVE, pool_guid="99")) == "slice-needed"
    assert asked_with(replace(LIVE, pool_name="other")) == ""


def test_the_gate_asks_whether_the_pool_does_without_the_slice() -> None:
    leaf = next(leaf for pool in home_server().pools if pool.guid == TANK for top in pool.data for leaf in top.leaves())
    assert asked_with(replace(LIVE, vdev_guid=leaf.guid)) == "slice-needed"


@pytest.mark.parametrize(
    "label",
    [
        pytest.param(replace(LIVE, state=DESTROYED), id="its pool was destroyed"),
        pytest.param(replace(LIVE, txg=0), id="it was removed from its pool"),
        pytest.param(SliceLabel(L2CACHE, 0, "", "", "777"), id="it was a cache"),
    ],
)
def test_a_slice_that_no_pool_can_need_is_deleted_whether_its_pool_is_there_or_not(label: SliceLabel) -> None:
    assert asked_with(label) == ""
    assert asked_with(label, imported=False) == ""


def test_a_slice_without_a_label_is_deleted_and_one_with_a_file_system_is_not() -> None:
    piece = slice_on(disk_of(home_server(), NVME1))
    inventory = replace(made(home_server(), piece), pools=())
    step = DeleteSlice(piece, TANK)
    assert isinstance(Gate(InOrder(inventory)).ask(step, inventory, OWN), Permit)
    filled = InOrder(inventory, DeviceScan((Signature("ext4"),), (), AREA))
    assert [refused.code for refused in Gate(filled).against(step, inventory, OWN)] == ["slice-held"]


def test_a_slice_that_any_pool_names_as_its_device_is_not_deleted() -> None:
    piece = slice_on(disk_of(home_server(), NVME1))
    inventory = made(home_server(), piece)
    for path in (piece.partuuid_path, f"{piece.disk_path}-part1"):
        leaf = Vdev("77", "disk", "x", "ONLINE", path=path)
        pools = tuple(replace(pool, spares=(leaf,)) if pool.guid == ARCHIVE else pool for pool in inventory.pools)
        in_use = replace(inventory, pools=pools)
        assert code_of(can_undo(DeleteSlice(piece, TANK), in_use)) == "slice-held"


def test_a_slice_is_deleted_by_a_name_of_its_own_disk() -> None:
    piece = slice_on(disk_of(home_server(), NVME1))
    inventory = made(home_server(), piece)
    wrong = replace(piece, disk_path=disk_of(inventory, NVME2).path)
    assert code_of(can_undo(DeleteSlice(wrong, TANK), inventory)) == "disk-changed"


def test_whose_a_table_of_another_kind_is_tell_its_sectors() -> None:
    """udev calls a table so of which only the protective MBR is whole; and one that somebody else made."""
    restore = RestoreTable(NVME1, disk_of(home_server(), NVME1).path, TABLE_UUID, ())
    other = with_disk(home_server(), NVME1, table=TableKind.OTHER, table_uuid="")
    theirs = Area(b"somebody's table".ljust(1024), b"")
    own = OwnTable(Area(bytes(1024), b""), Area(bytes(1024), b""), (Area(bytes(1024), b""),))
    seen = {
        area: Gate(InOrder(other, DeviceScan(table=area))).against(restore, other, own) for area in (theirs, own.before)
    }
    assert [refused.code for refused in seen[theirs]] == ["table-changed"]
    assert seen[own.before] == ()


def test_the_old_table_comes_back_if_nothing_else_changed() -> None:
    inventory = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID)
    path = disk_of(inventory, NVME1).path
    restore = RestoreTable(NVME1, path, TABLE_UUID, ())
    assert code_of(can_undo(restore, inventory)) == ""
    assert code_of(can_undo(restore, with_disk(inventory, NVME1, table_uuid="other"))) == "table-changed"
    torn = with_disk(inventory, NVME1, table=TableKind.NONE, table_uuid="")
    assert code_of(can_undo(restore, torn)) == ""
    assert code_of(can_undo(restore, with_disk(torn, NVME1, holds=(Hold(HoldKind.LVM, "vg"),)))) == "disk-lvm"
    assert code_of(can_undo(replace(restore, disk_key="gone"), inventory)) == "disk-gone"


@pytest.mark.parametrize(
    "changes",
    [
        {"size_bytes": 101 * GIB},
        {"start_bytes": 2 * MIB},
        {"number": 7},
        {"name": "mine"},
        {"type_uuid": "0fc63daf-8483-4772-8e79-3d69d8477de4"},
        {"partuuid": "11111111-0000-4000-8000-000000000000"},
    ],
)
def test_the_old_table_stays_away_if_a_partition_that_was_there_changed(changes: dict[str, Any]) -> None:
    inventory = home_server()
    disk = disk_of(inventory, SHARED_SSD)
    restore = RestoreTable(SHARED_SSD, disk.path, disk.table_uuid, disk.places)
    assert code_of(can_undo(restore, inventory)) == ""
    part = replace(disk.partitions[0], **changes)
    assert code_of(can_undo(restore, with_disk(inventory, SHARED_SSD, partitions=(part,)))) == "table-changed"
    more = (*disk.partitions, partition(disk, 9, 300 * GIB, GIB))
    assert code_of(can_undo(restore, with_disk(inventory, SHARED_SSD, partitions=more))) == "table-changed"
    assert code_of(can_undo(restore, with_disk(inventory, SHARED_SSD, partitions=()))) == "table-changed"


def test_the_table_that_comes_back_is_the_one_that_was_there() -> None:
    disk = disk_of(home_server(), SHARED_SSD)
    plan = plan_for(PlanRequest(TANK, cache_disks=(SHARED_SSD,), use_free_extents=True), home_server())
    assert plan.actions[0] == SaveTable(SHARED_SSD, disk.path, disk.table_uuid, disk.places)
    assert plan.actions[0].undo(Outcome()) == (RestoreTable(SHARED_SSD, disk.path, disk.table_uuid, disk.places),)


def test_a_saved_table_must_be_the_one_on_the_disk() -> None:
    disk = disk_of(home_server(), SHARED_SSD)
    assert code_of(can(SaveTable(SHARED_SSD, disk.path, disk.table_uuid, ()), home_server())) == ""
    assert code_of(can(SaveTable(SHARED_SSD, disk.path, "other", ()), home_server())) == "table-missing"
    bare = disk_of(home_server(), NVME1)
    assert code_of(can(SaveTable(NVME1, bare.path, "", ()), home_server())) == "table-missing"
    assert code_of(can(CreateSlice(slice_on(bare), TANK), home_server())) == "table-missing"


def test_what_stays_is_said_before() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    assert {finding.code for finding in cannot_be_undone(plan)} >= {"log-leaves-hole", "history-stays"}
