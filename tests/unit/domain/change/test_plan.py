"""The wish, and what a plan says of itself."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.change.actions import AttachLog, CreateSlice, DropLogSide, Naming, Role
from nasadvisor.domain.change.plan import PlanIds, PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory, TableKind, Vdev, VdevClass
from nasadvisor.domain.units import GIB, MIB, align_down, size_text
from tests.unit.domain.builders import LOG_GUID, ids_for, tank_of
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    SATA_SSD,
    SHARED_SSD,
    TANK,
    home_server,
    leaf_on,
    partition,
    plan_for,
    with_broken_log,
    with_disk,
    with_partitions,
    with_pool,
    with_single_log,
)


def test_a_wish_leaves_a_tenth_free_uses_partuuids_and_touches_no_partitioned_disk() -> None:
    wish = PlanRequest(TANK)
    assert (wish.reserve_percent, wish.naming, wish.use_free_extents) == (10, Naming.PARTUUID, False)
    assert (wish.log_disks, wish.log_size_bytes, wish.cache_disks, wish.cache_size_bytes) == ((), 0, (), None)


def test_each_identifier_of_a_plan_is_drawn_anew_and_its_time_is_told_to_the_second() -> None:
    now = datetime(2026, 8, 25, 20, 1, 2, 345678, UTC)
    request = PlanRequest(TANK, (NVME1, NVME2), GIB)
    numbers = count(1)
    ids = PlanIds.fresh(request, lambda: UUID(int=next(numbers)), now)
    assert ids.uuids == tuple(str(UUID(int=number)) for number in range(1, PlanIds.uuids_needed(request) + 1))
    assert ids.plan_id == str(UUID(int=len(ids.uuids) + 1))
    assert ids.created_at == "2026-08-25T20:01:02+00:00"
    assert PlanIds.fresh(request, lambda: UUID(int=next(numbers)), now, "known").plan_id == "known"


def test_a_wish_names_every_disk_once_log_disks_first() -> None:
    assert PlanRequest(TANK, (NVME2,), GIB, (NVME1, NVME2)).disks == (NVME2, NVME1)


def test_identifiers_are_needed_for_each_table_and_each_slice() -> None:
    assert PlanIds.uuids_needed(MIRROR_AND_CACHES) == 2 + 2 + 2
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    used = {piece.partuuid for piece in plan.slices} | {plan.ids.uuids[0], plan.ids.uuids[3]}
    assert used == set(plan.ids.uuids)


def test_a_refused_wish_reads_as_its_reasons_line_by_line() -> None:
    wish = PlanRequest(TANK, (NVME1,), GIB, reserve_percent=95)
    refused = make_plan(wish, with_pool(home_server(), checkpoint="1G"), ids_for(wish))
    assert isinstance(refused, PlanRefused)
    assert len(str(refused).splitlines()) == len(refused.refusals) == 2


def test_the_pool_afterwards_has_the_mirrored_log_and_the_caches() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    tank = tank_of(plan.after(home_server()))
    assert [(top.kind, len(top.children)) for top in tank.logs] == [("mirror", 2)]
    assert [top.path for top in tank.caches] == [piece.path for piece in plan.slices if piece.role is Role.CACHE]
    assert tank.by_class()[VdevClass.LOG] == tank.logs
    assert tank.data == tank_of(home_server()).data


def test_a_second_ssd_makes_the_log_a_mirror_and_adds_a_second_cache() -> None:
    wish = PlanRequest(TANK, (NVME2,), cache_disks=(NVME2,), attach_to=LOG_GUID)
    plan = plan_for(wish, with_single_log())
    assert [action.action for action in plan.actions] == [
        *("create-table", "create-slice", "create-slice", "attach-log", "add-cache"),
    ]
    attach = plan.actions[3]
    assert isinstance(attach, AttachLog)
    assert (attach.existing_guid, attach.side.size_bytes) == (LOG_GUID, 4 * GIB)
    tank = tank_of(plan.after(with_single_log()))
    assert [top.kind for top in tank.logs] == ["mirror"]
    assert len(tank.caches) == 1


def test_a_third_side_joins_the_mirror() -> None:
    mirrored = plan_for(PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID), with_single_log()).after(with_single_log())
    third = plan_for(MIRROR_AND_CACHES, home_server()).slices[0]
    after = AttachLog("tank", TANK, 12, LOG_GUID, "", third).forwards(mirrored)
    assert [len(top.children) for top in tank_of(after).logs] == [3]


def test_an_action_for_a_pool_or_a_disk_that_is_not_there_changes_nothing() -> None:
    nothing = with_pool(home_server(), guid="99")
    for action in plan_for(MIRROR_AND_CACHES, home_server()).actions[-2:]:
        assert action.forwards(nothing) == nothing
    slice_step = plan_for(MIRROR_AND_CACHES, home_server()).actions[1]
    bare = plan_for(MIRROR_AND_CACHES, home_server()).after(home_server())
    without = type(bare)(bare.host, (), bare.pools, bare.read_at)
    assert slice_step.forwards(without) == without


def test_every_action_says_what_it_does_to_what() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    said = [str(action.describe()) for action in plan.actions]
    assert said[0] == f"Write an empty GPT on {plan.slices[0].disk_path}"
    assert said[1] == f"Create a 4 GiB log slice (partition 1) on {plan.slices[0].disk_path}"
    assert said[-2:] == ["Add a mirror of 2 slices as log to pool tank", "Add 2 cache slices to pool tank"]
    attach = plan_for(PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID), with_single_log()).actions[-1]
    assert str(attach.describe()).startswith("Mirror the log of pool tank: attach a slice on /dev/disk/by-id/")


def test_a_changed_inventory_finds_its_own_disks_and_none_that_two_devices_claim_to_be() -> None:
    inventory = home_server()
    disk = inventory.disk(NVME1)
    assert disk
    assert replace(inventory, disks=()).disk(NVME1) is None
    assert replace(inventory, disks=(*inventory.disks, disk)).disk(NVME1) is None
    assert inventory == home_server()


def with_whole_disk_log() -> Inventory:
    """The home server with a log that somebody made of a whole SSD: OpenZFS keeps 8 MiB at its end as partition 9
    (EFI_MIN_RESV_SIZE in lib/libefi/rdwr_efi.c)."""
    inventory = with_single_log()
    disk = inventory.disk(NVME1)
    assert disk
    end = align_down(disk.usable_end_bytes - 8 * MIB)
    log = replace(disk.partitions[0], size_bytes=end - MIB + 512)
    return with_disk(inventory, NVME1, partitions=(log, partition(disk, 9, end + 512, 8 * MIB)))


MIRROR_WHOLE = PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID)


def test_a_whole_disk_log_and_an_equal_ssd_name_the_reserve_beside_which_they_fit() -> None:
    refused = make_plan(MIRROR_WHOLE, with_whole_disk_log(), ids_for(MIRROR_WHOLE))
    assert isinstance(refused, PlanRefused)
    (refusal,) = refused.refusals
    assert refusal.code == "side-beside-reserve"
    assert (refusal.values["reserve"], refusal.values["fitting"]) == ("10", "0")
    plan = plan_for(replace(MIRROR_WHOLE, reserve_percent=int(str(refusal.values["fitting"]))), with_whole_disk_log())
    (piece,) = plan.slices
    (log,) = tank_of(with_whole_disk_log()).logs
    found = with_whole_disk_log().partition_at(log.path)
    assert found
    assert 0 <= piece.size_bytes - found[1].size_bytes < MIB


@given(st.integers(1, 460), st.integers(0, 90))
def test_the_reserve_that_is_named_is_the_largest_that_fits(log_gib: int, reserve: int) -> None:
    inventory = with_single_log()
    disk = inventory.disk(NVME1)
    assert disk
    inventory = with_disk(inventory, NVME1, partitions=(replace(disk.partitions[0], size_bytes=log_gib * GIB),))
    wish = replace(MIRROR_WHOLE, reserve_percent=reserve)
    made = make_plan(wish, inventory, ids_for(wish))
    if isinstance(made, PlanRefused):
        (refusal,) = made.refusals
        fitting = int(str(refusal.values["fitting"]))
        assert fitting < reserve
        assert not isinstance(plan_for(replace(wish, reserve_percent=fitting), inventory), PlanRefused)
        assert isinstance(make_plan(replace(wish, reserve_percent=fitting + 1), inventory, ids_for(wish)), PlanRefused)


def test_where_no_reserve_is_small_enough_a_larger_ssd_is_asked_for() -> None:
    inventory = with_whole_disk_log()
    inventory = replace(inventory, host=replace(inventory.host, tail_bytes=2 * GIB + MIB))
    refused = make_plan(MIRROR_WHOLE, inventory, ids_for(MIRROR_WHOLE))
    assert isinstance(refused, PlanRefused)
    assert [refusal.code for refusal in refused.refusals] == ["side-too-large"]


def test_a_third_side_of_a_log_with_unequal_sides_is_as_long_as_the_shorter_one() -> None:
    inventory = with_single_log()
    first, second = inventory.disk(NVME1), inventory.disk(SHARED_SSD)
    assert first
    assert second
    longer = with_partitions(second, partition(second, 1, MIB, 6 * GIB, Hold(HoldKind.POOL, "tank")))
    disks = tuple(longer if disk.key == SHARED_SSD else disk for disk in inventory.disks)
    sides = (leaf_on(first, "41"), leaf_on(longer, "42"))
    mirror = Vdev("40", "mirror", "mirror-2", "ONLINE", ashift=12, children=sides)
    unequal = with_pool(replace(inventory, disks=disks), logs=(mirror,))
    for side in sides:
        plan = plan_for(PlanRequest(TANK, (NVME2,), attach_to=side.guid), unequal)
        assert [piece.size_bytes for piece in plan.slices] == [4 * GIB]


def reasons(wish: PlanRequest, inventory: Inventory) -> list[Refused]:
    """Why a wish becomes no plan."""
    refused = make_plan(wish, inventory, ids_for(wish))
    assert isinstance(refused, PlanRefused)
    assert str(refused) == "\n".join(map(str, refused.refusals))
    assert not [value for refusal in refused.refusals for value in refusal.values.values() if value in (None, "None")]
    return list(refused.refusals)


def small(inventory: Inventory, key: str, size_bytes: int) -> Inventory:
    """The machine with an SSD of this size."""
    disk = inventory.disk(key)
    assert disk
    identity = replace(disk.identity, size_bytes=size_bytes + 2 * MIB)
    return with_disk(inventory, key, identity=identity, usable_end_bytes=size_bytes + MIB)


def test_every_disk_that_is_gone_or_too_small_is_named() -> None:
    wish = PlanRequest(TANK, ("one", "two"), GIB)
    assert [refusal.values["key"] for refusal in reasons(wish, home_server()) if refusal.code == "disk-gone"] == [
        "one",
        "two",
    ]
    both = small(small(home_server(), NVME1, GIB), NVME2, GIB)
    wish = PlanRequest(TANK, (NVME1, NVME2), 2 * GIB)
    assert [refusal.code for refusal in reasons(wish, both)] == ["too-small", "too-small"]
    wish = PlanRequest(TANK, (NVME2,), cache_disks=(SATA_SSD,), cache_size_bytes=900 * GIB, attach_to=LOG_GUID)
    codes = [
        refusal.code for refusal in reasons(wish, with_disk(small(with_single_log(), NVME2, GIB), SATA_SSD, holds=()))
    ]
    assert codes == ["side-too-large", "cache-too-large"]


def test_a_missing_feature_is_told_together_with_everything_else() -> None:
    wish = PlanRequest(TANK, ("gone",), GIB)
    codes = {refusal.code for refusal in reasons(wish, with_pool(home_server(), features=()))}
    assert codes == {"feature-missing", "disk-gone"}


def test_a_side_to_be_replaced_that_is_not_there_is_named() -> None:
    wish = PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID, replaces="77")
    assert [refusal.values["guid"] for refusal in reasons(wish, with_single_log())] == ["77"]


def test_a_full_disk_has_no_room_at_all() -> None:
    disk = home_server().disk(NVME1)
    assert disk
    full = with_disk(
        home_server(),
        NVME1,
        table=TableKind.GPT,
        table_uuid="5d0e7c9e-0000-4000-8000-000000000001",
        partitions=(partition(disk, 1, MIB, disk.usable_end_bytes - MIB),),
    )
    (refusal,) = reasons(PlanRequest(TANK, (NVME1,), GIB, use_free_extents=True), full)
    assert (refusal.code, refusal.values["room"]) == ("too-small", size_text(0))


def test_a_second_side_that_fits_to_the_last_byte_is_made() -> None:
    inventory = small(with_single_log(), NVME2, 4 * GIB)
    inventory = replace(inventory, host=replace(inventory.host, tail_bytes=0))
    wish = PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID, reserve_percent=0)
    (piece,) = plan_for(wish, inventory).slices
    assert (piece.start_bytes, piece.size_bytes) == (MIB, 4 * GIB)


def test_the_reserve_that_is_told_is_the_largest_beside_which_the_second_side_fits() -> None:
    """Half of an SSD of 8,196 MiB are 4,098; less 1 MiB at either end there are the 4 GiB of the log left."""
    inventory = small(with_single_log(), NVME2, 8194 * MIB)
    inventory = replace(inventory, host=replace(inventory.host, tail_bytes=0))
    wish = PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID, reserve_percent=60)
    (refusal,) = reasons(wish, inventory)
    assert (refusal.code, refusal.values["fitting"]) == ("side-beside-reserve", "50")
    assert plan_for(replace(wish, reserve_percent=50), inventory).slices[0].size_bytes == 4 * GIB
    assert reasons(replace(wish, reserve_percent=51), inventory)


def test_a_plan_names_its_pool_and_the_side_that_it_takes_out() -> None:
    plan = plan_for(PlanRequest(TANK, (NVME2,), attach_to=LOG_GUID, replaces="32"), with_broken_log())
    assert plan.pool_name == "tank"
    assert {action.pool_guid for action in plan.actions if isinstance(action, CreateSlice)} == {TANK}
    (drop,) = (action for action in plan.actions if isinstance(action, DropLogSide))
    assert drop.vdev_path == "/dev/disk/by-partuuid/00000000-0000-4000-8000-00000000dead"


def test_sizes_are_whole_bytes() -> None:
    plan = plan_for(PlanRequest(TANK, cache_disks=(NVME1,)), home_server())
    assert [type(piece.size_bytes) for piece in plan.slices] == [int]


def test_of_all_that_holds_the_partitions_of_a_disk_the_strongest_is_named() -> None:
    disk = home_server().disk(NVME1)
    assert disk
    parts = tuple(
        partition(disk, number, number * GIB, GIB, hold)
        for number, hold in enumerate((Hold(HoldKind.FILESYSTEM, "ext4"), Hold(HoldKind.MOUNT, "/srv")), 1)
    )
    held = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid="x", partitions=parts)
    found = reasons(PlanRequest(TANK, (NVME1,), GIB), held)
    assert [refusal.values.get("what") for refusal in found] == ["/srv", None]
    free = with_disk(held, NVME1, partitions=(replace(parts[0], holds=()),))
    assert [refusal.code for refusal in reasons(PlanRequest(TANK, (NVME1,), GIB), free)] == ["disk-has-partitions"]
