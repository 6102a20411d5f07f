"""Replacing the broken side of a mirrored log: taken out first, then a new one is attached."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import AttachLog, DropLogSide
from nasadvisor.domain.change.checks import can
from nasadvisor.domain.change.consequences import losses_of
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.undo import cannot_be_undone, undo_preview
from nasadvisor.domain.storage.inventory import Inventory, TableKind
from nasadvisor.domain.storage.logs import broken_log_sides, without_log_side
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import change_vdev, code_of, disk_of, tank_of
from tests.unit.domain.change.never.wishes import CACHE, REPLACE, SINGLE, refused
from tests.unit.machines import (
    SATA_SSD,
    TANK,
    partition,
    plan_for,
    with_broken_log,
    with_disk,
    with_pool,
    with_single_log,
)

DROP = DropLogSide("tank", TANK, "32", "/dev/disk/by-partuuid/00000000-0000-4000-8000-00000000dead")


def test_the_slice_is_made_before_the_broken_side_goes_and_the_new_one_comes_last() -> None:
    plan = plan_for(REPLACE, with_broken_log())
    assert [action.action for action in plan.actions] == ["create-table", "create-slice", "drop-log-side", "attach-log"]
    assert plan.actions[2].commands() == (("zpool", "detach", "tank", "32"),)


def test_the_side_that_stays_is_attached_to_by_the_guid_it_takes_from_the_mirror() -> None:
    attach = plan_for(REPLACE, with_broken_log()).actions[-1]
    assert isinstance(attach, AttachLog)
    assert attach.existing_guid == "30"
    side = tank_of(with_single_log()).logs[0]
    assert attach.existing_path == side.path


def test_afterwards_the_log_is_a_mirror_of_two_sides_and_the_pool_is_well() -> None:
    inventory = with_broken_log()
    pool = tank_of(plan_for(REPLACE, inventory).after(inventory))
    assert pool.state == "ONLINE"
    assert [(top.kind, len(top.children)) for top in pool.logs] == [("mirror", 2)]
    assert broken_log_sides(pool) == ()


def test_of_three_sides_the_two_that_stay_keep_their_mirror_and_guids() -> None:
    inventory = with_broken_log()
    mirror = tank_of(inventory).logs[0]
    third = replace(mirror.children[0], guid="33")
    pool = replace(tank_of(inventory), logs=(replace(mirror, children=(*mirror.children, third)),))
    left = without_log_side(pool, "32")
    assert [(top.guid, [side.guid for side in top.children]) for top in left.logs] == [("30", ["31", "33"])]
    assert (left.state, left.logs[0].state) == ("ONLINE", "ONLINE")


def test_the_undo_takes_the_new_side_out_and_says_that_the_broken_one_does_not_come_back() -> None:
    plan = plan_for(REPLACE, with_broken_log())
    assert undo_preview(plan)[0] == ("zpool", "detach", "tank", "<guid of the new log side>")
    said = {finding.code: str(finding) for finding in cannot_be_undone(plan)}
    assert "which then consists of" in said["broken-side-stays-out"]


def test_what_happens_if_a_device_dies_is_told_of_both_sides_and_not_of_the_dead_one() -> None:
    inventory = with_broken_log()
    assert len(losses_of(plan_for(REPLACE, inventory), inventory)) == 2


def _with_broken_data() -> Inventory:
    inventory = with_broken_log()
    data = tank_of(inventory).data
    sick = replace(data[0], state="DEGRADED", children=(replace(data[0].children[0], state="UNAVAIL"),))
    return with_pool(inventory, data=(sick, *data[1:]))


@pytest.mark.parametrize(
    ("inventory", "code"),
    [
        (change_vdev(with_broken_log(), "32", state="ONLINE"), "log-side-works"),
        (change_vdev(with_broken_log(), "31", state="DEGRADED"), "last-good-side"),
        (_with_broken_data(), "pool-not-online"),
        (with_pool(with_broken_log(), checkpoint="1.2G"), "pool-checkpoint"),
        (with_pool(with_broken_log(), suspended=True), "pool-suspended"),
        (with_pool(with_broken_log(), read_only=True), "pool-read-only"),
        (with_pool(with_broken_log(), state="FAULTED"), "pool-not-online"),
        (with_pool(with_broken_log(), name="renamed"), "pool-renamed"),
        (with_pool(with_broken_log(), guid="99"), "pool-gone"),
        (with_single_log(), "log-side-gone"),
        (with_broken_log(), ""),
    ],
)
def test_a_side_is_taken_out_only_if_it_is_all_that_ails_the_pool(inventory: Inventory, code: str) -> None:
    assert code_of(can(DROP, inventory)) == code


def test_in_a_pool_with_a_broken_side_nothing_else_is_added() -> None:
    for request in (SINGLE, CACHE, replace(REPLACE, replaces="")):
        assert "pool-not-online" in refused(request, with_broken_log())


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (replace(REPLACE, replaces="31", attach_to="32"), "pool-not-online"),
        (replace(REPLACE, attach_to=""), "log-side-gone"),
        (replace(REPLACE, replaces="99"), "log-side-gone"),
        (replace(REPLACE, log_disks=()), "one-side-for-attach"),
    ],
)
def test_a_wish_that_names_the_wrong_sides_is_refused(request_: PlanRequest, code: str) -> None:
    assert code in refused(request_, with_broken_log())


def test_the_new_side_is_as_long_as_those_that_stay_and_not_as_the_one_that_goes() -> None:
    """The broken side is still shown, on an SSD that lost half of its slice."""
    inventory = with_broken_log()
    disk = disk_of(inventory, SATA_SSD)
    dead = replace(partition(disk, 1, MIB, 2 * GIB), path=DROP.vdev_path, links=(DROP.vdev_path,))
    inventory = with_disk(inventory, SATA_SSD, table=TableKind.GPT, table_uuid="x", partitions=(dead,))
    (piece,) = plan_for(REPLACE, inventory).slices
    assert piece.size_bytes == 4 * GIB
