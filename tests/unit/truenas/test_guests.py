"""SSDs that were given to virtual machines and containers of TrueNAS; against a stand-in on the host's own socket.

The shapes are those of VMDeviceEntry, ContainerDeviceEntry and the devices of `virt` (api/v25_10_0, api/v26_0_0).
"""

from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.host.fleet.platforms import HostPlatforms
from plugins.truenas.api.connection import CHANGES, LOCAL, local_connection
from plugins.truenas.api.errors import NotReached
from plugins.truenas.host import TrueNASHost
from tests.unit.fakes import FakeRunner
from tests.unit.machines import NVME1, NVME2, home_server
from tests.unit.truenas.standin import Json, StandIn

CASE = "devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1.4"
"""A USB case behind a hub; libvirt calls it usb_2_1_4."""


def ssd(inventory: Inventory, key: str = NVME1) -> Disk:
    disk = inventory.disk(key)
    assert disk is not None
    return disk


@pytest.fixture
def host(local_root: Path) -> TrueNASHost:
    """A TrueNAS whose first NVMe SSD is in a USB case, and the second on a PCI bus."""
    (local_root / "usr/bin").mkdir(parents=True)
    (local_root / "usr/bin/midclt").touch()
    (local_root / "data").mkdir()
    (local_root / "data/manifest.json").write_text('{"version": "25.10.6"}')
    sysfs = local_root / "sys"
    for folder, vendor, product, device in ((CASE, "0bda", "9210", "7"), (str(Path(CASE).parent), "2109", "2817", "2")):
        (sysfs / folder).mkdir(parents=True, exist_ok=True)
        for name, value in (("idVendor", vendor), ("idProduct", product), ("busnum", "2"), ("devnum", device)):
            (sysfs / folder / name).write_text(f"{value}\n")
    places = {NVME1: f"{CASE}/2-1.4:1.0/host9", NVME2: "devices/pci0000:00/0000:00:1d.0/0000:02:00.0/nvme/nvme1"}
    (sysfs / "block").mkdir()
    for key, place in places.items():
        name = ssd(home_server(), key).kernel_name
        (sysfs / place / name).mkdir(parents=True)
        (sysfs / "block" / name).symlink_to(sysfs / place / name)
    (local_root / "dev").mkdir()
    (local_root / f"dev/{ssd(home_server()).kernel_name}").touch()
    return TrueNASHost(local_root)


def given(host: TrueNASHost) -> dict[str, str]:
    """The disks that guests have, with what is said of them."""
    vetoes = host.vetoes(FakeRunner(), home_server())
    found = [veto for veto in vetoes if veto.reason.code == "truenas-disk-of-guest"]
    assert {veto.forbids for veto in found} <= {(Goal.APPLY, Goal.FINISH)}, "what is ours can always be taken back"
    return {veto.scope: str(veto.reason) for veto in found}


def vm_with(attributes: Json) -> dict[str, list[Json]]:
    """A virtual machine with one device, as vm.query and vm.device.query tell it."""
    device = {"id": 9, "vm": 4, "order": 1001, "attributes": attributes}
    return {"vm.query": [{"id": 4, "name": "mail"}], "vm.device.query": [device]}


def usb(**changes: Any) -> Json:
    return {"dtype": "USB", "usb": None, "controller_type": "nec-xhci", "device": None, **changes}


@pytest.mark.parametrize(
    "attributes",
    [
        usb(device="usb_2_1_4"),
        usb(usb={"vendor_id": "0x0bda", "product_id": "0x9210"}),
        usb(usb={"vendor_id": "0x0BDA", "product_id": "0x9210"}),
    ],
)
@pytest.mark.parametrize("api", ["v25.10.0", "v26.0.0"])
def test_an_ssd_in_a_usb_case_that_a_virtual_machine_has_is_forbidden(
    middleware: StandIn, host: TrueNASHost, attributes: Json, api: str
) -> None:
    middleware.api_versions = (api,)
    middleware.guests = vm_with(attributes)
    assert given(host).keys() == {NVME1}
    assert "is assigned to VM mail as its USB device" in given(host)[NVME1]


@pytest.mark.parametrize(
    "attributes",
    [
        usb(device="usb_2_1"),  # the hub is another device: libvirt hands over no hubs
        usb(device="usb_2_1_41"),
        usb(usb={"vendor_id": "0x0bda", "product_id": "0x9211"}),
        usb(usb={"vendor_id": "0x2109", "product_id": "0x2817"}),
        usb(),
        {"dtype": "NIC", "type": "VIRTIO", "nic_attach": "br0", "mac": None, "trust_guest_rx_filters": False},
        {"dtype": "DISK", "path": "/dev/zvol/tank/mail", "type": "VIRTIO", "iotype": "THREADS", "serial": "x"},
        {"dtype": "RAW", "path": "/mnt/tank/vm/disk.img", "type": "AHCI", "exists": True, "boot": False, "size": None},
        {"dtype": "CDROM", "path": "/mnt/tank/iso/debian.iso"},
        {"dtype": "PCI", "pptdev": "pci_0000_03_00_0"},
    ],
)
def test_what_is_no_ssd_of_this_host_forbids_nothing(middleware: StandIn, host: TrueNASHost, attributes: Json) -> None:
    middleware.guests = vm_with(attributes)
    assert given(host) == {}


@pytest.mark.parametrize("dtype", ["DISK", "RAW"])
@pytest.mark.parametrize("name", ["persistent", "kernel", "link"])
def test_an_ssd_that_a_virtual_machine_has_as_its_disk_is_forbidden(
    middleware: StandIn, host: TrueNASHost, dtype: str, name: str
) -> None:
    disk = ssd(home_server())
    link = host.root / "mnt/tank/whole-ssd"
    link.parent.mkdir(parents=True)
    link.symlink_to(host.root / f"dev/{disk.kernel_name}")
    path = {"persistent": disk.path, "kernel": f"/dev/{disk.kernel_name}", "link": "/mnt/tank/whole-ssd"}[name]
    middleware.guests = vm_with({"dtype": dtype, "path": path, "type": "VIRTIO"})
    assert given(host).keys() == {NVME1}


def test_an_ssd_whose_controller_a_virtual_machine_has_is_forbidden(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.guests = vm_with({"dtype": "PCI", "pptdev": "pci_0000_02_00_0"})
    assert given(host).keys() == {NVME2}


@pytest.mark.parametrize("pptdev", ["pci_10000_e1_00_0", "10000:e1:00.0"])
def test_an_ssd_whose_pci_domain_has_five_digits_is_forbidden_too(
    middleware: StandIn, host: TrueNASHost, pptdev: str
) -> None:
    place = host.root / "sys/devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e1:00.0/nvme/nvme1/nvme1n1"
    place.mkdir(parents=True)
    block = host.root / "sys/block/nvme1n1"
    block.unlink()
    block.symlink_to(place)
    middleware.guests = vm_with({"dtype": "PCI", "pptdev": pptdev})
    assert given(host).keys() == {NVME2}


def test_the_usb_controller_itself_counts_for_what_hangs_on_it(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.guests = vm_with({"dtype": "PCI", "pptdev": "pci_0000_00_14_0"})
    assert given(host).keys() == {NVME1}


@pytest.mark.parametrize(
    ("device", "keys"),
    [
        ({"dev_type": "USB", "bus": 2, "dev": 7, "product_id": None, "vendor_id": None}, {NVME1}),
        ({"dev_type": "USB", "product_id": "9210", "vendor_id": "0bda"}, {NVME1}),
        ({"dev_type": "USB", "vendor_id": "0bda"}, {NVME1}),
        ({"dev_type": "USB"}, {NVME1}),
        ({"dev_type": "USB", "bus": 2, "dev": 8}, set()),
        ({"dev_type": "USB", "bus": 7, "dev": 2}, set()),
        ({"dev_type": "PCI", "address": "0000:02:00.0"}, {NVME2}),
        ({"dev_type": "DISK", "source": "/dev/zvol/tank/x", "destination": None}, set()),
        ({"dev_type": "DISK", "source": "default_web", "storage_pool": "tank"}, set()),
        ({"dev_type": "PROXY", "source_proto": "TCP", "source_port": 80, "dest_proto": "TCP", "dest_port": 80}, set()),
    ],
)
def test_what_an_instance_of_incus_has_is_seen(
    middleware: StandIn, host: TrueNASHost, device: Json, keys: set[str]
) -> None:
    """25.10 has them as `virt`."""
    middleware.instances = {"web": [{"name": "d0", "description": None, "readonly": False, **device}]}
    assert given(host).keys() == keys


def test_a_disk_that_incus_itself_let_in_is_seen(middleware: StandIn, host: TrueNASHost) -> None:
    middleware.instances = {"web": [{"name": "d0", "dev_type": "DISK", "source": ssd(home_server()).path}]}
    assert "is assigned to container web as its DISK device" in given(host)[NVME1]


@pytest.mark.parametrize(
    "attributes",
    [
        {"dtype": "USB", "usb": {"vendor_id": "0x0bda", "product_id": "0x9210"}, "device": None},
        {"dtype": "USB", "usb": None, "device": "usb_2_1_4"},
    ],
)
def test_what_a_container_of_26_has_is_seen(middleware: StandIn, host: TrueNASHost, attributes: Json) -> None:
    middleware.api_versions = ("v26.0.0", "v25.10.0")
    middleware.guests = {
        "container.query": [{"id": 2, "name": "web"}],
        "container.device.query": [{"id": 1, "container": 2, "attributes": attributes}],
    }
    assert "is assigned to container web as its USB device" in given(host)[NVME1]
    assert middleware.called("virt.instance.query") == []


def test_a_usb_device_that_is_unplugged_now_forbids_nothing(middleware: StandIn, host: TrueNASHost) -> None:
    (host.root / "sys/block" / ssd(home_server()).kernel_name).unlink()
    middleware.guests = vm_with(usb(device="usb_2_1_4"))
    assert given(host) == {}


def test_where_truenas_does_not_say_what_guests_have_nothing_may_be_begun(host: TrueNASHost) -> None:
    with pytest.raises(NotReached, match=r"middlewared\.sock cannot be reached"):
        host.vetoes(FakeRunner(), home_server())
    vetoes = HostPlatforms(FakeRunner(), (host,)).vetoes(home_server())
    assert [(veto.scope, veto.forbids) for veto in vetoes] == [("", (Goal.APPLY, Goal.FINISH))]


@pytest.mark.parametrize("method", ["vm.device.query", "virt.instance.query"])
@pytest.mark.parametrize("answer", ["{", '{"jsonrpc": "2.0", "id": 1, "result": {}}'])
def test_an_answer_of_another_shape_forbids_everything(
    middleware: StandIn, host: TrueNASHost, monkeypatch: pytest.MonkeyPatch, method: str, answer: str
) -> None:
    monkeypatch.setattr("plugins.truenas.host.ANSWER_S", 2.0)
    middleware.garbled[method] = answer
    middleware.silent.add("nothing")
    vetoes = HostPlatforms(FakeRunner(), (host,)).vetoes(home_server())
    assert [veto.scope for veto in vetoes] == [""]


def test_on_the_own_socket_nothing_can_be_called_that_changes_anything(middleware: StandIn, host: TrueNASHost) -> None:
    assert not LOCAL & CHANGES
    reads = ("query", "device_list", "version_short", "rewrite_job_query", "rewrite_job_status")
    assert all(method.rpartition(".")[2] in reads for method in LOCAL)
    with local_connection(host.root) as connection, pytest.raises(ValueError, match="not in the table"):
        connection.call("pool.update", 3, {})
    assert middleware.calls == []
