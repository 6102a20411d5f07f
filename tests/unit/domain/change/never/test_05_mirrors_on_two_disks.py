"""Rule 5: both sides of a mirror on different physical disks (serial), sizes matched."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import AddLog, AttachLog, Role
from nasadvisor.domain.change.checks import can
from nasadvisor.domain.storage.inventory import Hold, HoldKind
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import (
    LOG_GUID,
    attach_to_log,
    change_vdev,
    code_of,
    disk_of,
    made,
    mirrored_log,
    slice_on,
    with_log,
)
from tests.unit.domain.change.never.wishes import CACHE, SECOND, SINGLE, refused
from tests.unit.machines import (
    NVME1,
    NVME2,
    SHARED_SSD,
    TANK,
    home_server,
    leaf_on,
    plan_for,
    with_disk,
    with_single_log,
)

LOG_ON_TWO = replace(SINGLE, log_disks=(NVME1, NVME2))


@pytest.mark.parametrize("serial", ["N1", " n1 "])
def test_two_namespaces_of_one_ssd_are_one_disk(serial: str) -> None:
    identity = replace(disk_of(home_server(), NVME2).identity, serial=serial)
    inventory = with_disk(home_server(), NVME2, identity=identity)
    assert refused(replace(LOG_ON_TWO, log_disks=(NVME1, identity.key)), inventory) == {"same-disk"}


def test_disks_without_a_serial_are_told_apart_by_their_wwn() -> None:
    inventory = home_server()
    told = {key: replace(disk_of(inventory, key).identity, serial="") for key in (NVME1, NVME2)}
    for key, identity in told.items():
        inventory = with_disk(inventory, key, identity=identity)
    assert refused(replace(LOG_ON_TWO, log_disks=tuple(each.key for each in told.values())), inventory) == set()


def test_the_same_disk_twice_is_no_mirror() -> None:
    assert refused(replace(SINGLE, log_disks=(NVME1, NVME1)), home_server()) == {"disk-twice"}
    assert refused(replace(CACHE, cache_disks=(NVME1, NVME1)), home_server()) == {"disk-twice"}


def test_a_second_side_on_the_ssd_of_the_first_is_refused() -> None:
    wish = replace(SECOND, log_disks=(NVME1,), use_free_extents=True)
    assert refused(wish, with_single_log()) == {"same-disk"}


def test_a_second_log_on_an_ssd_that_has_one_is_refused() -> None:
    assert refused(replace(SINGLE, use_free_extents=True), with_single_log()) == {"disk-in-log"}
    assert refused(replace(CACHE, use_free_extents=True), with_single_log()) == set()


def test_a_log_on_a_whole_disk_counts_too() -> None:
    disk = replace(disk_of(home_server(), NVME1), holds=())
    inventory = with_log(home_server(), leaf_on(disk, LOG_GUID))
    assert refused(SINGLE, inventory) == {"disk-in-log"}


def test_sides_of_different_sizes_are_refused() -> None:
    disks = [disk_of(home_server(), key) for key in (NVME1, NVME2)]
    sides = (slice_on(disks[0]), slice_on(disks[1], size_bytes=5 * GIB))
    assert code_of(can(AddLog("tank", TANK, 12, sides), made(home_server(), *sides))) == "sizes-differ"


def test_a_second_side_is_as_long_as_the_first_and_never_shorter() -> None:
    for size, expected in ((4 * GIB, 4 * GIB), (4 * 10**9, 3815 * MIB)):
        inventory = with_single_log()
        part = replace(disk_of(inventory, NVME1).partitions[0], size_bytes=size)
        plan = plan_for(SECOND, with_disk(inventory, NVME1, partitions=(part,)))
        assert [piece.size_bytes for piece in plan.slices] == [expected]
    inventory, action = attach_to_log()
    for wrong in (4 * GIB - MIB, 4 * GIB + MIB):
        side = replace(action.side, size_bytes=wrong)
        ready = made(with_disk(inventory, NVME2, partitions=()), side)
        assert code_of(can(replace(action, side=side), ready)) == "sizes-differ"


def test_a_side_whose_partner_is_not_found_is_not_attached() -> None:
    inventory, action = attach_to_log()
    assert code_of(can(action, inventory)) == ""
    for path in ("", "/dev/disk/by-id/gone"):
        assert code_of(can(action, change_vdev(inventory, LOG_GUID, path=path))) == "log-side-unknown"


def test_a_side_is_attached_only_to_a_side_of_a_log_that_is_there() -> None:
    inventory, action = attach_to_log()
    for guid in ("77", "10", "101", "", TANK):
        assert code_of(can(replace(action, existing_guid=guid), inventory)) == "log-side-gone"


def test_a_side_that_is_attached_is_a_slice_as_planned_and_unused() -> None:
    inventory, action = attach_to_log()
    assert code_of(can(action, with_disk(inventory, NVME2, partitions=()))) == "slice-gone"
    assert code_of(can(replace(action, side=replace(action.side, role=Role.CACHE)), inventory)) == "plan-foreign"
    part = replace(disk_of(inventory, NVME2).partitions[0], holds=(Hold(HoldKind.SWAP, "swap"),))
    assert code_of(can(action, with_disk(inventory, NVME2, partitions=(part,)))) == "slice-held"


def test_attaching_looks_at_every_side_that_is_there() -> None:
    inventory, sides = mirrored_log()
    third = slice_on(disk_of(inventory, SHARED_SSD), number=2, start_bytes=200 * GIB)
    ready = made(inventory, third)
    action = AttachLog("tank", TANK, 12, LOG_GUID, sides[0].path, third)
    assert code_of(can(action, ready)) == ""
    assert code_of(can(action, change_vdev(ready, "32", state="OFFLINE"))) == "log-side-not-online"
    twin = replace(disk_of(ready, NVME2).identity, serial="C2")
    assert code_of(can(action, with_disk(ready, NVME2, identity=twin))) == "same-disk"
