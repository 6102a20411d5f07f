"""Where a pool's leaf is: what has its path today is not taken for it."""

from dataclasses import replace

import pytest

from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory, Partition, Vdev, ZfsLabel, leaf_name
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import IN_TANK, disk_of
from tests.unit.machines import NVME1, NVME2, home_server, partition, with_disk

LEAF = Vdev("31", "disk", "nvme0n1p1", "ONLINE", "/dev/nvme0n1p1")
CLOSED = ("OFFLINE", "UNAVAIL", "FAULTED", "REMOVED", "SPLIT")


def with_part(inventory: Inventory, key: str, *holds: Hold, label: ZfsLabel | None = None) -> Inventory:
    part = partition(disk_of(inventory, key), 1, MIB, GIB, *holds)
    return with_disk(inventory, key, partitions=(replace(part, zfs_label=label),))


def part_of(inventory: Inventory, key: str) -> Partition:
    return disk_of(inventory, key).partitions[0]


def found(leaf: Vdev, inventory: Inventory) -> str:
    place = inventory.place_of(leaf)
    return place[0].key if place else ""


def leaf_at(inventory: Inventory, key: str, state: str = "ONLINE") -> Vdev:
    return replace(LEAF, path=f"/dev/{part_of(inventory, key).kernel_name}", state=state)


def test_a_leaf_that_is_open_is_at_its_path() -> None:
    inventory = with_part(home_server(), NVME1)
    assert inventory.place_of(leaf_at(inventory, NVME1)) == (disk_of(inventory, NVME1), part_of(inventory, NVME1))


@pytest.mark.parametrize("state", CLOSED)
def test_one_that_is_not_open_is_not_at_its_path(state: str) -> None:
    inventory = with_part(home_server(), NVME1, Hold(HoldKind.FILESYSTEM, "ext4"))
    assert found(leaf_at(inventory, NVME1, state), inventory) == ""


@pytest.mark.parametrize("state", CLOSED)
def test_one_that_is_not_open_is_where_its_label_is(state: str) -> None:
    inventory = with_part(home_server(), NVME1, Hold(HoldKind.FILESYSTEM, "ext4"))
    inventory = with_part(inventory, NVME2, IN_TANK, label=ZfsLabel("tank", "1", LEAF.guid))
    assert found(leaf_at(inventory, NVME1, state), inventory) == NVME2


def test_it_is_not_where_another_member_of_the_pool_has_its_path() -> None:
    inventory = with_part(home_server(), NVME1, IN_TANK, label=ZfsLabel("tank", "1", "32"))
    assert found(leaf_at(inventory, NVME1, "UNAVAIL"), inventory) == ""


def test_it_is_at_its_path_where_a_pool_holds_what_is_there_and_no_label_tells_more() -> None:
    inventory = with_part(home_server(), NVME1, IN_TANK)
    assert found(leaf_at(inventory, NVME1, "FAULTED"), inventory) == NVME1


def test_a_label_that_is_there_twice_tells_nothing() -> None:
    label = ZfsLabel("tank", "1", LEAF.guid)
    inventory = with_part(with_part(home_server(), NVME1, label=label), NVME2, label=label)
    assert inventory.place_of(replace(LEAF, path="/dev/sdq1", state="UNAVAIL")) is None


def test_a_leaf_without_a_path_is_nowhere() -> None:
    assert home_server().place_of(replace(LEAF, path="")) is None


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/dev/disk/by-id/wwn-0x5-part1", "wwn-0x5-part1"),
        ("/dev/disk/by-id/wwn-0x5-part1/old", "wwn-0x5-part1/old"),
        ("/srv/old", "srv/old"),
        ("/old", "/old"),
        ("", ""),
    ],
)
def test_a_disk_that_is_replaced_is_called_by_its_own_name(path: str, name: str) -> None:
    assert leaf_name(path) == name
