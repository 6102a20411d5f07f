"""From udev's objects to block devices; what cannot be read is said, never left out."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nasadvisor.host.adapters import udev
from nasadvisor.host.adapters.holds import EXAMINE_AGAIN
from nasadvisor.host.adapters.udev import NOT_EXAMINED, _read_device, read_devices


class Attributes(dict[str, str]):
    """Of sysfs, as pyudev gives them."""

    def asint(self, name: str) -> int:
        return int(self[name])

    def get(self, name: str, default: Any = None) -> Any:
        return self[name].encode() if name in self else default


DISK = {
    "size": "33554432",
    "ro": "0",
    "removable": "0",
    "queue/logical_block_size": "4096",
    "queue/physical_block_size": "4096",
    "queue/rotational": "0",
}


def device(path: Path, attributes: dict[str, str], **changes: Any) -> Any:
    (path / "holders" / "dm-0").mkdir(parents=True)
    told = {
        "device_number": os.makedev(8, 17),
        "sys_name": path.name,
        "sys_path": str(path),
        "device_type": "disk",
        "properties": {"ID_MODEL": "SSD", "ID_UNASKED": "1"},
        "device_links": ["/dev/disk/by-id/b", "/dev/disk/by-id/a"],
        "attributes": Attributes(attributes),
        "is_initialized": True,
    }
    return SimpleNamespace(**{**told, **changes})


def test_disk(tmp_path: Path) -> None:
    found = _read_device(device(tmp_path / "sdb", DISK))
    assert (found.name, found.number, found.disk, found.unread) == ("sdb", "8:17", "", "")
    assert (found.size_bytes, found.logical_sector_bytes) == (16 * 1024**3, 4096), "sysfs counts in 512 bytes"
    assert (found.read_only, found.rotational, found.removable) == (False, False, False)
    assert (found.properties, found.holders) == ({"ID_MODEL": "SSD"}, ("dm-0",))
    assert found.links == ("/dev/disk/by-id/a", "/dev/disk/by-id/b")


def test_a_disk_with_zones_and_one_without(tmp_path: Path) -> None:
    zoned = _read_device(device(tmp_path / "sdb", {**DISK, "queue/zoned": "host-managed\n"}))
    usual = _read_device(device(tmp_path / "sdc", {**DISK, "queue/zoned": "none\n"}))
    aware = _read_device(device(tmp_path / "sde", {**DISK, "queue/zoned": "host-aware\n"}))  # is written anywhere
    old = _read_device(device(tmp_path / "sdd", DISK))  # from a kernel that knew none
    assert (zoned.zoned, usual.zoned, aware.zoned, old.zoned) == ("host-managed", "", "", "")


def test_a_name_with_a_slash_is_one_name_of_the_disk_of_its_partitions_and_of_what_is_built_on_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "cciss!c0d0/holders/dm!0").mkdir(parents=True)
    whole = _read_device(device(tmp_path / "cciss!c0d0", DISK, sys_name="cciss/c0d0"))
    attributes = {"size": "2048", "ro": "0", "start": "4096", "partition": "1"}
    path = tmp_path / "cciss!c0d0/cciss!c0d0p1"
    partition = _read_device(device(path, attributes, sys_name="cciss/c0d0p1", device_type="partition"))
    assert (whole.node, whole.holders) == ("/dev/cciss/c0d0", ("dm-0", "dm/0"))
    assert partition.disk == whole.name


def test_what_an_nvme_namespace_hangs_on(tmp_path: Path) -> None:
    """On its controller, or with native multipath on the subsystem that the controllers of all paths are linked in."""
    (tmp_path / "nvme1").mkdir()
    (tmp_path / "nvme1/transport").write_text("pcie\n")
    (tmp_path / "subsystem/nvme3").mkdir(parents=True)
    (tmp_path / "subsystem/nvme3/transport").write_text("tcp\n")
    here = _read_device(device(tmp_path / "nvme1/nvme1n2", {**DISK, "nsid": "2"}))
    there = _read_device(device(tmp_path / "subsystem/nvme3n1", {**DISK, "nsid": "1"}))
    assert (here.transports, here.namespace) == (("pcie",), "2")
    assert (there.transports, there.namespace) == (("tcp",), "1")


def test_partition(tmp_path: Path) -> None:
    attributes = {"size": "2048", "ro": "1", "start": "4096", "partition": "3"}
    found = _read_device(device(tmp_path / "sdb" / "sdb3", attributes, device_type="partition"))
    assert (found.disk, found.partition_number, found.start_bytes, found.size_bytes) == ("sdb", 3, 2097152, 1048576)
    assert found.read_only


@pytest.mark.parametrize("attributes", [{}, {**DISK, "size": "many"}, {**DISK, "queue/rotational": ""}])
def test_attribute_that_is_missing_or_odd(tmp_path: Path, attributes: dict[str, str]) -> None:
    assert _read_device(device(tmp_path / "sdb", attributes)).unread.startswith("it could not be read")


def test_partition_that_cannot_be_read_is_still_one(tmp_path: Path) -> None:
    found = _read_device(device(tmp_path / "sdb" / "sdb3", {}, device_type="partition"))
    assert (found.disk, bool(found.unread)) == ("sdb", True)


def test_device_that_udev_has_not_examined(tmp_path: Path) -> None:
    assert _read_device(device(tmp_path / "sdb", DISK, is_initialized=False)).unread == NOT_EXAMINED


@pytest.mark.parametrize("said", [{"device_number": 0}, {"hidden": "1"}])
def test_a_path_that_the_kernel_hides_below_an_nvme_ssd_is_no_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]
) -> None:
    shown = device(tmp_path / "nvme0n1", {**DISK, "hidden": "0"})
    number = said.get("device_number", os.makedev(259, 3))
    hidden = device(tmp_path / "nvme0c0n1", {**DISK, **said}, is_initialized=False, device_number=number)
    context = SimpleNamespace(list_devices=lambda subsystem: [shown, hidden])
    monkeypatch.setattr(udev, "_context", lambda: context)
    assert [found.name for found in read_devices()] == ["nvme0n1"]


def test_what_has_everything_examined_again_waits_for_no_event_that_never_comes() -> None:
    """`udevadm trigger --settle` waits for the event of a hidden path too."""
    assert "--settle" not in EXAMINE_AGAIN
