"""What a host shows of a run: its slices and vdevs, by every name that they can have, and nobody else's."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.plan import Plan, PlanRequest
from nasadvisor.domain.change.unreadable_runs import Traces, pool_now, traces_of
from nasadvisor.domain.storage.inventory import Inventory, Vdev
from nasadvisor.domain.units import GIB
from tests.unit.domain.builders import disk_of, tank_of
from tests.unit.machines import (
    CACHE_GUID,
    NVME1,
    NVME2,
    TANK,
    home_server,
    plan_for,
    with_cache,
    with_disk,
    with_pool,
)

PLAN = plan_for(PlanRequest(TANK, (NVME1, NVME2), 4 * GIB), home_server())
"""A mirrored log."""

AFTER = PLAN.after(home_server())
FIRST, SECOND = PLAN.slices


def on(path: str, guid: str = "777") -> Vdev:
    return Vdev(guid, "disk", "x", "ONLINE", path=path)


def with_logs(inventory: Inventory, *tops: Vdev) -> Inventory:
    return with_pool(inventory, logs=tops)


def shown(plan: Plan, inventory: Inventory, *guids: str) -> tuple[list[str], list[str]]:
    """PARTUUIDs of slices and guids of vdevs."""
    found = traces_of(plan, inventory, guids)
    return [part.partuuid for _, part in found.slices], [vdev.guid for _, vdev in found.vdevs]


def test_a_host_without_anything_of_the_run_shows_nothing() -> None:
    found = traces_of(PLAN, home_server())
    assert (found, bool(found), str(found)) == (Traces((), ()), False, "")


def test_every_slice_is_found_with_its_disk() -> None:
    found = traces_of(PLAN, with_logs(AFTER))
    assert found.slices == tuple((disk_of(AFTER, key), disk_of(AFTER, key).partitions[0]) for key in (NVME1, NVME2))
    assert found.vdevs == ()
    assert found
    places = [f"partition 1 on {disk_of(AFTER, key).label}" for key in (NVME1, NVME2)]
    assert str(found) == "; ".join(places)


def test_vdevs_on_its_slices_are_found_with_their_pool_and_named_by_path() -> None:
    found = traces_of(PLAN, with_logs(home_server(), on(FIRST.partuuid_path), on("/dev/theirs", "8")))
    assert [(pool.guid, vdev.guid) for pool, vdev in found.vdevs] == [(TANK, "777")]
    assert found
    assert str(found) == f"{FIRST.partuuid_path} in pool tank"


def test_a_slice_and_a_vdev_are_told_in_one_sentence() -> None:
    one = with_disk(with_logs(AFTER, on("", "30")), NVME2, partitions=())
    found = traces_of(PLAN, one, ("30",))
    assert str(found) == f"partition 1 on {disk_of(AFTER, NVME1).label}; x in pool tank"


def test_a_phantom_of_a_slice_is_found() -> None:
    """Only the kernel still shows it, without a PARTUUID."""
    part = replace(disk_of(AFTER, NVME1).partitions[0], partuuid="", path="/dev/x1", links=())
    phantom = with_disk(home_server(), NVME1, partitions=(part,))
    assert shown(PLAN, phantom) == ([""], [])
    elsewhere = with_disk(home_server(), NVME1, partitions=(replace(part, start_bytes=0),))
    assert shown(PLAN, elsewhere) == ([], [])


@pytest.mark.parametrize(
    "name",
    [
        SECOND.partuuid_path,
        SECOND.path,
        f"{SECOND.disk_path}-part1",
        "/dev/disk/by-partlabel/somebody-named-it",
        "/dev/nvme1n1p1",
        "/dev/disk/by-path/pci-1-part1",
    ],
)
def test_a_vdev_is_found_by_any_name_of_a_slice(name: str) -> None:
    part = replace(
        disk_of(AFTER, NVME2).partitions[0],
        path="/dev/disk/by-path/pci-1-part1",
        links=("/dev/disk/by-partlabel/somebody-named-it", f"{SECOND.disk_path}-part1"),
        kernel_name="nvme1n1p1",
    )
    inventory = with_disk(with_logs(AFTER, on(name)), NVME2, partitions=(part,))
    assert shown(PLAN, inventory)[1] == ["777"]


def test_a_vdev_is_found_by_its_guid_whatever_it_stands_on() -> None:
    inventory = with_logs(home_server(), on("/dev/elsewhere"), on("", "778"))
    assert shown(PLAN, inventory, "777") == ([], ["777"])
    assert shown(PLAN, inventory, "778") == ([], ["778"])
    assert shown(PLAN, inventory) == ([], [])


def test_each_side_of_a_mirror_is_found() -> None:
    mirror = Vdev("30", "mirror", "mirror-2", "ONLINE", children=(on(FIRST.path, "31"), on(SECOND.path, "32")))
    assert shown(PLAN, with_logs(home_server(), mirror))[1] == ["31", "32"]
    assert shown(PLAN, with_logs(home_server(), mirror), "30")[1] == ["30", "31", "32"]


def test_a_pool_is_known_by_its_guid_and_then_by_the_slices_of_the_run() -> None:
    renamed = with_pool(home_server(), name="other")
    assert pool_now(PLAN, renamed) == tank_of(renamed)
    new_guid = with_pool(with_logs(home_server(), on(FIRST.path)), guid="99")
    assert pool_now(PLAN, new_guid) == new_guid.pool("99")
    assert pool_now(PLAN, with_pool(home_server(), guid="99")) is None


def test_a_pool_that_got_another_guid_is_known_by_the_cache_that_the_run_took_out() -> None:
    plan = plan_for(PlanRequest(TANK, offline_cache=CACHE_GUID), with_cache())
    new_guid = with_pool(with_cache("OFFLINE"), guid="99")
    assert pool_now(plan, new_guid) == new_guid.pool("99")
    assert not shown(plan, new_guid)[1]
    assert pool_now(plan, with_pool(home_server(), guid="99")) is None


def test_a_pool_with_both_sides_of_the_log_is_one_pool() -> None:
    both = with_pool(with_logs(home_server(), on(FIRST.path), on(SECOND.path, "778")), guid="99")
    found = pool_now(PLAN, both)
    assert found
    assert found.guid == "99"


def test_which_of_two_pools_is_meant_nobody_can_tell() -> None:
    inventory = with_pool(with_logs(home_server(), on(FIRST.path)), guid="99")
    archive = replace(inventory.pools[1], logs=(on(SECOND.path, "778"),))
    assert pool_now(PLAN, replace(inventory, pools=(inventory.pools[0], archive))) is None
