"""What a plan expects of the machine after each step, and what is cleaned before a step runs again."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import (
    AddCache,
    AddLog,
    AttachLog,
    ClearSlice,
    CreateSlice,
    CreateTable,
    DropLogSide,
    OfflineCache,
    OnlineCache,
    Outcome,
    RewindTable,
    Role,
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.actions.base import PLANNED_GUID
from nasadvisor.domain.storage.gpt import SOLARIS_ZFS_TYPE
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory, Partition, TableKind, Vdev
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import (
    TABLE_UUID,
    attach_to_log,
    cache_on,
    disk_of,
    log_on,
    mirrored_log,
    slice_on,
    tank_of,
)
from tests.unit.machines import ARCHIVE, NVME1, NVME2, TANK, home_server, with_broken_log, with_cache, with_single_log

MACHINE = home_server()
PIECE = slice_on(disk_of(MACHINE, NVME1))
IN_TANK = (Hold(HoldKind.POOL, "tank"),)


def planned(piece: Slice) -> Vdev:
    """A device of a pool that OpenZFS has yet to make."""
    return Vdev(PLANNED_GUID, "disk", piece.path, "ONLINE", path=piece.path, ashift=12)


def holds_on(inventory: Inventory, key: str) -> list[tuple[Hold, ...]]:
    return [part.holds for part in disk_of(inventory, key).partitions]


def others(inventory: Inventory) -> list[object]:
    """The other pool, and all disks but the two that are planned on."""
    disks = [disk for disk in inventory.disks if disk.key not in (NVME1, NVME2)]
    return [inventory.pool(ARCHIVE), *disks]


class TestTablesAndSlices:
    def test_a_new_table_is_empty_and_says_what_of_the_disk_can_be_used(self) -> None:
        after = CreateTable(NVME1, "/dev/disk/by-id/x", TABLE_UUID, 7 * MIB, 9 * GIB).forwards(MACHINE)
        disk = disk_of(after, NVME1)
        assert (disk.table, disk.table_uuid, disk.partitions) == (TableKind.GPT, TABLE_UUID, ())
        assert (disk.usable_start_bytes, disk.usable_end_bytes) == (7 * MIB, 9 * GIB)
        assert after.disk(NVME2) == MACHINE.disk(NVME2)
        assert others(after) == others(MACHINE)

    def test_a_slice_shows_as_the_partition_that_was_planned(self) -> None:
        after = CreateSlice(PIECE, TANK).forwards(MACHINE)
        assert disk_of(after, NVME1).partitions == (
            Partition(
                number=1,
                partuuid=PIECE.partuuid,
                type_uuid=SOLARIS_ZFS_TYPE,
                name="",
                start_bytes=MIB,
                size_bytes=4 * GIB,
                kernel_name="",
                path=PIECE.partuuid_path,
                links=(PIECE.partuuid_path, f"{PIECE.disk_path}-part1"),
            ),
        )
        second = replace(PIECE, number=2, partuuid="another")
        assert [part.number for part in disk_of(CreateSlice(second, TANK).forwards(after), NVME1).partitions] == [1, 2]
        assert after.disk(NVME2) == MACHINE.disk(NVME2)

    def test_a_copy_of_a_table_changes_nothing(self) -> None:
        assert SaveTable(NVME1, "/dev/disk/by-id/x", TABLE_UUID, ()).forwards(MACHINE) is MACHINE


class TestLogsAndCaches:
    def test_a_mirrored_log_stands_on_all_its_slices_and_holds_them(self) -> None:
        inventory, add = log_on(NVME1, NVME2)
        after = add.forwards(inventory)
        sides = tuple(map(planned, add.sides))
        assert tank_of(after).logs == (Vdev(PLANNED_GUID, "mirror", "mirror", "ONLINE", ashift=12, children=sides),)
        assert holds_on(after, NVME1) == holds_on(after, NVME2) == [IN_TANK]
        assert others(after) == others(inventory)

    def test_a_single_log_is_its_slice_and_comes_behind_those_that_are_there(self) -> None:
        inventory, add = log_on(NVME2, inventory=with_single_log())
        assert tank_of(add.forwards(inventory)).logs == (*tank_of(inventory).logs, planned(add.sides[0]))

    def test_caches_come_behind_those_that_are_there_and_hold_their_slices(self) -> None:
        inventory = with_cache()
        piece = slice_on(disk_of(inventory, NVME1), Role.CACHE)
        after = AddCache("tank", TANK, 12, (piece,)).forwards(inventory)
        assert tank_of(after).caches == (*tank_of(inventory).caches, planned(piece))
        blank, add = cache_on(NVME1, NVME2)
        after = add.forwards(blank)
        assert tank_of(after).caches == tuple(map(planned, add.slices))
        assert holds_on(after, NVME1) == holds_on(after, NVME2) == [IN_TANK]
        assert others(after) == others(blank)

    def test_a_single_log_becomes_a_mirror_with_its_new_side(self) -> None:
        inventory, attach = attach_to_log()
        (old,) = tank_of(inventory).logs
        after = attach.forwards(inventory)
        sides = (old, planned(attach.side))
        assert tank_of(after).logs == (Vdev(PLANNED_GUID, "mirror", "mirror", "ONLINE", ashift=12, children=sides),)
        assert holds_on(after, NVME2) == [IN_TANK]

    def test_a_mirror_gets_a_further_side_and_another_log_none(self) -> None:
        inventory, sides = mirrored_log()
        (mirror,) = tank_of(inventory).logs
        beside = replace(
            mirror, guid="50", children=tuple(replace(side, guid=f"5{side.guid}") for side in mirror.children)
        )
        pool = replace(tank_of(inventory), logs=(beside, mirror))
        inventory = replace(inventory, pools=(pool,))
        attach = AttachLog("tank", TANK, 12, "32", "/dev/x", sides[0])
        after = tank_of(attach.forwards(inventory)).logs
        assert after == (beside, replace(mirror, children=(*mirror.children, planned(sides[0]))))

    def test_a_broken_side_goes_from_its_own_pool_only(self) -> None:
        inventory = with_broken_log()
        twin = replace(tank_of(inventory), name="twin", guid="99")
        inventory = replace(inventory, pools=(*inventory.pools, twin))
        after = DropLogSide("tank", TANK, "32", "").forwards(inventory)
        (single,) = tank_of(with_single_log()).logs
        assert tank_of(after).logs == (replace(single, guid=tank_of(inventory).logs[0].guid),)
        assert after.pool("99") == twin

    @pytest.mark.parametrize("state", ["ONLINE", "FAULTED"])
    def test_a_cache_that_is_taken_out_of_service_stays_and_no_other_changes(self, state: str) -> None:
        inventory = with_cache(state)
        (cache,) = tank_of(inventory).caches
        other = replace(cache, guid="other")
        inventory = replace(inventory, pools=(replace(tank_of(inventory), caches=(other, cache)),))
        after = OfflineCache("tank", TANK, cache.guid, "").forwards(inventory)
        assert tank_of(after).caches == (other, replace(cache, state="OFFLINE"))
        assert after.disks == inventory.disks

    @pytest.mark.parametrize(
        "step",
        [
            AddLog("tank", "99", 12, (PIECE,)),
            AddCache("tank", "99", 12, (PIECE,)),
            AttachLog("tank", "99", 12, "31", "/dev/x", PIECE),
            DropLogSide("tank", "99", "31", ""),
            OfflineCache("tank", "99", "41", ""),
        ],
        ids=lambda step: step.action,
    )
    def test_of_a_pool_that_is_not_imported_nothing_is_expected_and_nothing_known(
        self, step: AddLog | AddCache | AttachLog | DropLogSide | OfflineCache
    ) -> None:
        assert step.forwards(MACHINE) == MACHINE
        assert (step.landed(MACHINE), step.left(MACHINE)) == (None, None)


class TestOutOfService:
    def test_a_cache_is_out_of_service_when_its_pool_shows_it_so(self) -> None:
        (cache,) = tank_of(with_cache()).caches
        out, back = OfflineCache("tank", TANK, cache.guid, ""), OnlineCache("tank", TANK, cache.guid, "")
        assert (out.landed(with_cache()), back.gone(with_cache())) == (None, True)
        assert (out.landed(with_cache("OFFLINE")), back.gone(with_cache("OFFLINE"))) == (Outcome(), False)
        assert (out.landed(with_cache("FAULTED")), back.gone(with_cache("FAULTED"))) == (None, True)
        assert (out.landed(MACHINE), back.gone(MACHINE)) == (None, True)
        assert not replace(back, pool_guid="99").gone(with_cache())

    def test_it_is_put_back_by_the_guid_and_the_path_it_was_taken_out_by(self) -> None:
        out = OfflineCache("tank", TANK, "41", "/dev/x")
        assert out.undo(Outcome()) == (OnlineCache("tank", TANK, "41", "/dev/x"),)


class TestAgain:
    """A step that began and did not get through may run again once this is done."""

    def test_a_step_on_a_table_finds_it_as_it_was(self) -> None:
        rewind = (RewindTable(NVME1, PIECE.disk_path),)
        assert CreateSlice(PIECE, TANK).cleaning() == rewind
        assert CreateTable(NVME1, PIECE.disk_path, TABLE_UUID, 0, 0).cleaning() == rewind
        assert SaveTable(NVME1, PIECE.disk_path, TABLE_UUID, ()).cleaning() == ()

    def test_a_step_on_a_pool_finds_its_slices_clear(self) -> None:
        second = slice_on(disk_of(MACHINE, NVME2))
        cleared = (ClearSlice(PIECE, "tank", TANK), ClearSlice(second, "tank", TANK))
        assert AddLog("tank", TANK, 12, (PIECE, second)).cleaning() == cleared
        assert AddCache("tank", TANK, 12, (PIECE, second)).cleaning() == cleared
        assert AttachLog("tank", TANK, 12, "31", "/dev/x", PIECE).cleaning() == cleared[:1]
        assert DropLogSide("tank", TANK, "32", "").cleaning() == ()
        assert OfflineCache("tank", TANK, "41", "").cleaning() == ()

    def test_a_step_goes_by_what_its_pool_is_called_now_and_as_planned_where_that_is_not_known(self) -> None:
        pool = replace(tank_of(MACHINE), name="other", guid="99")
        assert CreateSlice(PIECE, TANK).at_pool(pool) == CreateSlice(PIECE, "99")
        add = AddLog("tank", TANK, 12, (PIECE,))
        assert add.at_pool(pool) == AddLog("other", "99", 12, (PIECE,))
        table = CreateTable(NVME1, "/dev/disk/by-id/x", TABLE_UUID, 0, 0)
        assert table.at_pool(pool) == table
        for step in (CreateSlice(PIECE, TANK), add, table):
            assert step.at_pool(None) == step
