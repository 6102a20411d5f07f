"""Rule 17: disks are told apart by model, serial, WWN and namespace together; what cannot be is refused."""

from dataclasses import fields, replace
from typing import Any

import pytest

from nasadvisor.domain.change.actions import DeleteSlice
from nasadvisor.domain.change.actions.inventory_queries import is_there
from nasadvisor.domain.change.checks import can_use_disk
from nasadvisor.domain.change.undo_checks import can_undo
from nasadvisor.domain.storage.identity import DiskIdentity, is_made_up
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Inventory
from tests.unit.domain.builders import code_of, disk_of, made, mirrored_log
from tests.unit.domain.change.never.wishes import CACHE, SINGLE, refused
from tests.unit.machines import NVME1, TANK, home_server, with_disk

SSD = DiskIdentity("Fast SSD", "S1", "eui.0025385c2140105d", 500 * 10**9, 512, 512, "1")


def in_a_dock() -> tuple[Inventory, tuple[Disk, Disk]]:
    """The first NVMe SSD twice: the bridge of a dock shows its own serial for both bays."""
    inventory = home_server()
    disk = disk_of(inventory, NVME1)
    bays = (
        replace(disk, place="pci-1-usb-0:1", holds=(Hold(HoldKind.DUPLICATE, "sdx"),)),
        replace(disk, place="pci-1-usb-0:2", holds=(Hold(HoldKind.DUPLICATE, "sdw"),), kernel_name="sdx"),
    )
    others = tuple(each for each in inventory.disks if each.key != NVME1)
    return replace(inventory, disks=(*others, *bays)), bays


@pytest.mark.parametrize(
    "change",
    [{"model": "Other SSD"}, {"serial": "S2"}, {"wwn": "eui.0025385c2140105e"}, {"namespace": "2"}],
    ids=lambda change: next(iter(change)),
)
def test_two_disks_are_two_if_one_part_of_their_identity_differs(change: dict[str, Any]) -> None:
    assert replace(SSD, **change).key != SSD.key
    assert replace(SSD, **change) != SSD


def test_sizes_are_part_of_what_is_compared_before_a_step() -> None:
    numbers = [field.name for field in fields(DiskIdentity) if field.type is int]
    assert len(numbers) == 3
    assert all(replace(SSD, **{name: 1}) != SSD for name in numbers)  # type: ignore[arg-type]


def test_a_disk_of_which_nothing_is_told_has_a_key_all_the_same() -> None:
    assert DiskIdentity("", "", "", 0, 512, 512).key


@pytest.mark.parametrize(
    "wwn",
    [
        "0x5000000000000000",
        "0x5000000000000001",
        "0x0000000000000000",
        "eui.0000000000000000",
        "eui.0000000000000100",
        "uuid.00000000-0000-0000-0000-000000000000",
        "0xffffffffffffffff",
        "eui.ffffffffffffffff",
        "uuid.ffffffff-ffff-ffff-ffff-ffffffffffff",
    ],
)
def test_a_wwn_without_a_vendor_tells_nothing(wwn: str) -> None:
    assert is_made_up(wwn)


@pytest.mark.parametrize(
    "wwn",
    [
        "0x5002538e40a6ee00",
        "0x600508b1001c4d2a0000000000000001",
        "eui.000000000000000100a0752342260000",
        "eui.0025385c",
    ],
)
def test_a_wwn_with_a_vendor_tells_something(wwn: str) -> None:
    assert not is_made_up(wwn)


@pytest.mark.parametrize(
    ("told", "own"),
    [
        ("S1", ""),
        (" s-1", ""),
        ("", ""),
        ("WD-WX11A", "WD-WX11A"),
    ],
)
def test_a_serial_that_the_disk_tells_itself_counts_if_it_is_another(told: str, own: str) -> None:
    assert SSD.own_serial(told) == own


def test_a_serial_that_a_bridge_cut_off_or_put_something_before_is_the_same() -> None:
    assert replace(SSD, serial="DD5641988ABC").own_serial("WD-DD5641988ABC12") == ""
    assert replace(SSD, serial="00000001A2B3C4D5E").own_serial("1A2B3C4D5E") == ""
    assert replace(SSD, serial="").own_serial("1A2B3C4D5E") == "1A2B3C4D5E"


def test_disks_that_nothing_tells_apart_are_refused_and_each_keeps_a_name() -> None:
    inventory, bays = in_a_dock()
    assert len({bay.key for bay in bays}) == len({bay.label for bay in bays}) == 2
    for bay in bays:
        assert inventory.disk(bay.key) is bay
        assert code_of(can_use_disk(bay)) == "disk-duplicate"
        for request in (replace(SINGLE, log_disks=(bay.key,)), replace(CACHE, cache_disks=(bay.key,))):
            assert refused(replace(request, use_free_extents=True), inventory) == {"disk-duplicate"}


def test_no_mirror_is_made_of_disks_that_nothing_tells_apart() -> None:
    inventory, bays = in_a_dock()
    assert refused(replace(SINGLE, log_disks=tuple(bay.key for bay in bays)), inventory) == {"disk-duplicate"}


def test_a_plan_for_a_disk_leads_to_neither_once_there_are_two_that_nothing_tells_apart() -> None:
    inventory, _ = in_a_dock()
    assert inventory.disk(NVME1) is None
    assert refused(SINGLE, inventory) == {"disk-gone"}


def test_a_slice_on_a_disk_that_has_a_twin_by_now_is_neither_deleted_nor_called_gone() -> None:
    inventory, sides = mirrored_log()
    inventory = with_disk(made(inventory, *sides), NVME1, place="pci-1-usb-0:1")
    deletion = DeleteSlice(sides[0], TANK)
    assert code_of(can_undo(deletion, inventory)) != ""
    assert is_there(NVME1, inventory)


def test_a_disk_that_tells_neither_serial_nor_wwn_is_not_used() -> None:
    disk = disk_of(home_server(), NVME1)
    for serial, wwn, code in (("", "", "no-identity"), ("", "eui.0025385c", ""), ("S1", "", "")):
        identity = replace(disk.identity, serial=serial, wwn=wwn)
        assert code_of(can_use_disk(replace(disk, identity=identity))) == code
