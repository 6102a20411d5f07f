"""Where a disk stands, as sysfs tells it."""

from pathlib import Path

import pytest

from nasadvisor.domain.storage.inventory import Slot
from nasadvisor.host.adapters.udev import slot_of


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def in_enclosure(sys: Path, name: str, component: str, vendor: str, model: str) -> None:
    """A SAS disk as the kernel links it with its slot."""
    box = sys / "devices/expander/enclosure/1:0:9:0"
    (box / component).mkdir(parents=True)
    put(box / "id", "0x5000ccab04009abc")
    if model:
        put(box / "device/vendor", vendor)
        put(box / "device/model", model)
    device = sys / f"devices/{name}"
    device.mkdir(parents=True)
    (device / f"enclosure_device:{component}").symlink_to(box / component)
    block = sys / "class/block" / name
    block.mkdir(parents=True)
    (block / "device").symlink_to(device)


@pytest.mark.parametrize("controller", ["", "nvme3"])
def test_an_nvme_ssd_stands_in_the_slot_with_its_address(tmp_path: Path, controller: str) -> None:
    put(tmp_path / "class/block/nvme0n1/device" / controller / "address", "0000:c1:00.0")
    put(tmp_path / "bus/pci/slots/3/address", "0000:81:00")
    put(tmp_path / "bus/pci/slots/7-1/address", "0000:c1:00")
    assert slot_of(tmp_path, "nvme0n1") == Slot("7-1")


def test_a_disk_in_a_shelf_is_named_as_the_shelf_names_its_place(tmp_path: Path) -> None:
    in_enclosure(tmp_path, "sda", "Slot 07 ", "LSI     ", "SAS3x40         ")
    assert slot_of(tmp_path, "sda") == Slot("Slot 07", "LSI SAS3x40")


def test_a_shelf_that_does_not_say_what_it_is_has_its_identifier(tmp_path: Path) -> None:
    in_enclosure(tmp_path, "sda", "0", "", "")
    assert slot_of(tmp_path, "sda") == Slot("0", "0x5000ccab04009abc")


def test_where_the_machine_does_not_tell_nothing_is_said(tmp_path: Path) -> None:
    put(tmp_path / "class/block/nvme0n1/device/address", "0000:c1:00.0")
    assert slot_of(tmp_path, "nvme0n1") is None
    assert slot_of(tmp_path, "sda") is None
