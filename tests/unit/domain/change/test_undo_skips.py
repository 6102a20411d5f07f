"""Which steps of an undo have nothing to act on any more, and what is said of them."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import (
    DeleteSlice,
    DetachLog,
    OnlineCache,
    RemoveVdev,
    RestoreTable,
    Role,
    UndoAction,
)
from nasadvisor.domain.change.device_scan import ACTIVE, DESTROYED, DeviceScan, SliceLabel
from nasadvisor.domain.change.undo import GONE_WITH_DISK
from nasadvisor.domain.change.undo_checks import why_skipped
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from tests.unit.domain.builders import disk_of, made, mirrored_log, slice_on, tank_of
from tests.unit.machines import CACHE_GUID, NVME1, NVME2, TANK, home_server, with_cache

MACHINE = home_server()
DISK = disk_of(MACHINE, NVME1)
PIECE = slice_on(DISK)
DELETE, RESTORE = DeleteSlice(PIECE, TANK), RestoreTable(NVME1, DISK.path, "t", ())
INVENTORY, SIDES = mirrored_log()
REMOVE = RemoveVdev("tank", TANK, Role.LOG, "30", SIDES)
DETACH = DetachLog("tank", TANK, "32", SIDES[1])
NEEDED = SliceLabel(ACTIVE, 15, "tank", TANK, "30")


def without(inventory: Inventory, key: str) -> Inventory:
    return replace(inventory, disks=tuple(disk for disk in inventory.disks if disk.key != key))


def said(action: UndoAction, inventory: Inventory, look: DeviceScan | None = None) -> Statement | None:
    return why_skipped(action, inventory, look or DeviceScan())


@pytest.mark.parametrize("step", [DELETE, RESTORE])
def test_a_step_on_a_disk_that_is_away_is_skipped_and_the_disk_named(step: UndoAction) -> None:
    away = without(MACHINE, NVME1)
    assert step.away_from(away) == DISK.path
    why = said(step, away)
    assert why
    assert (why.code, why.values) == (GONE_WITH_DISK, {"disk": DISK.path})
    assert str(why).startswith(f"{DISK.path} is not on this host")


@pytest.mark.parametrize("step", [DELETE, RESTORE])
def test_a_step_on_a_disk_that_is_there_is_not_skipped(step: UndoAction) -> None:
    assert (step.away_from(MACHINE), said(step, MACHINE)) == ("", None)
    assert (step.away_from(without(MACHINE, NVME2)), said(step, without(MACHINE, NVME2))) == ("", None)


def test_a_slice_that_is_on_another_disk_now_is_not_called_away() -> None:
    """A copy of the SSD, or the SSD behind another bridge: whose it is the rules have to tell."""
    moved = made(MACHINE, replace(PIECE, disk_key=NVME2))
    assert DELETE.away_from(without(moved, NVME1)) == ""
    assert said(DELETE, without(moved, NVME1)) is None


@pytest.mark.parametrize("step", [REMOVE, DETACH])
def test_a_step_on_a_vdev_is_on_no_single_disk(step: UndoAction) -> None:
    assert step.away_from(replace(INVENTORY, disks=())) == ""
    assert said(step, replace(INVENTORY, disks=())) is None


@pytest.mark.parametrize("step", [REMOVE, DETACH])
def test_a_vdev_of_a_pool_that_was_destroyed_is_skipped_and_the_pool_named(step: UndoAction) -> None:
    gone = replace(INVENTORY, pools=())
    destroyed = DeviceScan(labels=(("a", replace(NEEDED, state=DESTROYED)), ("b", replace(NEEDED, txg=0))))
    for look in (DeviceScan(), destroyed):
        why = said(step, gone, look)
        assert why
        assert (why.code, why.values) == ("gone-with-pool", {"pool": "tank"})
        assert str(why).startswith("Pool tank is not on this host")


def test_a_cache_of_a_pool_that_is_not_there_is_not_said_to_be_that_of_a_destroyed_one() -> None:
    """Its label names no pool: the pool may be exported, and will miss the cache when it is imported."""
    why = said(RemoveVdev("tank", TANK, Role.CACHE, "40", SIDES), replace(INVENTORY, pools=()))
    assert why
    assert (why.code, why.values) == ("cache-of-absent-pool", {"pool": "tank", "guid": "40"})
    assert "destroyed" not in str(why)
    assert "`zpool remove tank 40`" in str(why)


@pytest.mark.parametrize("step", [REMOVE, DETACH])
def test_a_vdev_that_a_pool_which_is_away_may_need_is_not_skipped(step: UndoAction) -> None:
    labels = (("a", replace(NEEDED, txg=0)), ("b", NEEDED))
    assert said(step, replace(INVENTORY, pools=()), DeviceScan(labels=labels)) is None


def test_steps_on_slices_and_tables_do_not_depend_on_the_pool() -> None:
    for step in (DELETE, RESTORE):
        assert said(step, replace(MACHINE, pools=())) is None


OUT = with_cache("OFFLINE")
CACHE_PATH = tank_of(OUT).caches[0].path
ONLINE = OnlineCache("tank", TANK, CACHE_GUID, CACHE_PATH)


def test_a_cache_that_went_with_its_pool_and_its_ssd_is_skipped_and_both_are_named() -> None:
    """Else its run stays open for good: there is nothing that anybody could put back."""
    why = said(ONLINE, replace(OUT, pools=(), disks=()))
    assert why
    assert (why.code, why.values) == ("gone-with-cache", {"pool": "tank", "path": CACHE_PATH})
    assert str(why).startswith(f"Neither pool tank nor its cache {CACHE_PATH} is on this host")


def test_a_cache_of_which_the_pool_or_the_ssd_is_there_is_not_skipped() -> None:
    """It may be out of service still, and the undo is not done before it is back."""
    for inventory in (OUT, replace(OUT, pools=()), replace(OUT, disks=())):
        assert said(ONLINE, inventory) is None
