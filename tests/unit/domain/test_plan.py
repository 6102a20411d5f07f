"""The wish, and what a plan says of itself."""

from dataclasses import replace

from nasadvisor.domain.actions import AttachLog, Naming, Role
from nasadvisor.domain.inventory import VdevClass
from nasadvisor.domain.plan import PlanIds, PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.units import GIB
from tests.unit.domain.builders import LOG_GUID, ids_for, tank_of
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    TANK,
    home_server,
    plan_for,
    with_pool,
    with_single_log,
)


def test_a_wish_leaves_a_tenth_free_uses_partuuids_and_touches_no_partitioned_disk() -> None:
    wish = PlanRequest(TANK)
    assert (wish.reserve_percent, wish.naming, wish.use_free_extents) == (10, Naming.PARTUUID, False)
    assert (wish.log_disks, wish.log_size_bytes, wish.cache_disks, wish.cache_size_bytes) == ((), 0, (), None)


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
    assert (attach.existing_guid, attach.leg.size_bytes) == (LOG_GUID, 4 * GIB)
    tank = tank_of(plan.after(with_single_log()))
    assert [top.kind for top in tank.logs] == ["mirror"]
    assert len(tank.caches) == 1


def test_a_third_leg_joins_the_mirror() -> None:
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
    assert said[1] == f"Create a 4G log slice (partition 1) on {plan.slices[0].disk_path}"
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
