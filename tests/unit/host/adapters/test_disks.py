"""Identity, names and the usable area of disks."""

import os
import struct
import uuid
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.change.checks import can_use_disk
from nasadvisor.domain.change.proposal import is_free_ssd
from nasadvisor.domain.change.warnings import warnings_for_disk
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.gpt import standard_area
from nasadvisor.domain.storage.inventory import Bus, Disk, HoldKind, Partition, TableKind
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters.disks import HostDisks, bus_of, identity_of, is_disk, with_table
from nasadvisor.host.adapters.udev import BlockDevice
from tests.unit.host.adapters.devices import disk, gpt, inventory_disks, part, shown, virtual

TABLE = "11111111-0000-4000-8000-000000000001"
PROTECTIVE = (bytes(446) + b"\0\0\2\0\xee\xff\xff\xff\1\0\0\0\xff\xff\xff\xff").ljust(510, b"\0") + b"\x55\xaa"


def header(
    table_uuid: str = TABLE, first: int = 2048, last: int = 9999, array: bytes = bytes(16384), this: int = 1
) -> bytes:
    guid = uuid.UUID(table_uuid).bytes_le
    body = struct.pack("<QQQQ16sQIII", this, last + 33, first, last, guid, 2, 128, 128, zlib.crc32(array))
    crc = zlib.crc32(struct.pack("<8sIIII", b"EFI PART", 0x10000, 92, 0, 0) + body)
    return (struct.pack("<8sIIII", b"EFI PART", 0x10000, 92, crc, 0) + body).ljust(512, b"\0")


def sectors(*parts: Partition, table_uuid: str = TABLE) -> bytes:
    """The start of a disk whose table lists these partitions."""
    array = bytearray(16384)
    for listed in parts:
        kind, guid = uuid.UUID(listed.type_uuid).bytes_le, uuid.UUID(listed.partuuid).bytes_le
        extent = struct.pack("<QQ", listed.start_bytes // 512, listed.end_bytes // 512 - 1)
        place = (listed.number - 1) * 128
        array[place : place + 48] = kind + guid + extent
    return PROTECTIVE + header(table_uuid, array=bytes(array)) + bytes(array)


def copy_at_end(device: Disk, sector_bytes: int) -> bytes:
    """The last sector of a disk, with the second header of a table."""
    last = device.identity.size_bytes // sector_bytes - 1
    return header(first=34, last=last - 33, this=last).ljust(sector_bytes, b"\0")


def looked_at(disk: Disk, raw: bytes) -> Disk:
    """The disk once these sectors were read off it."""
    return with_table(disk, lambda offset, length: raw[offset : offset + length])


def only(device: BlockDevice) -> Disk:
    (found,) = inventory_disks(device).values()
    return found


def test_identity_without_padding_and_escapes() -> None:
    identity = identity_of(disk("sda"))
    assert (identity.model, identity.serial, identity.size_bytes) == ("Fast SSD", "SDA", 16 * GIB)
    assert identity.key == f"Fast_SSD_SDA_{identity.wwn}"


def test_identity_of_a_lun_is_more_than_the_wwn_of_its_target() -> None:
    assert identity_of(disk("sda", ID_WWN_WITH_EXTENSION="0x5000c5000001")).wwn == "0x5000c5000001"


def test_serial_of_a_sas_disk_is_the_one_on_its_sticker() -> None:
    device = disk("sda", ID_SERIAL="35000cca04f000004", ID_SERIAL_SHORT="5000cca04f000004", ID_SCSI_SERIAL="0QV1LMNA")
    assert identity_of(device).serial == "0QV1LMNA"


def test_identity_of_nvme_and_virtio_from_what_they_have() -> None:
    nvme = BlockDevice("nvme0n1", "/sys/x", "259:0", properties={"ID_MODEL": "QEMU NVMe Ctrl", "ID_SERIAL_SHORT": "S6"})
    assert (identity_of(nvme).model, identity_of(nvme).key) == ("QEMU NVMe Ctrl", "QEMU_NVMe_Ctrl_S6")
    virtio = BlockDevice("vda", "/sys/x", "252:0", properties={"ID_SERIAL": "disk-1"})
    assert (identity_of(virtio).serial, identity_of(virtio).key) == ("disk-1", "disk-1")


def test_an_emmc_chip_is_called_by_the_name_that_udev_gives_it() -> None:
    told = {"ID_NAME": "BJTD4R", "ID_SERIAL": "0x19f4c2a7"}
    chip = BlockDevice("mmcblk0", "/sys/devices/platform/mmc0/mmcblk0", "179:0", properties=told, size_bytes=GIB)
    assert only(chip).label == "BJTD4R (0x19f4c2a7)"


@given(st.text(max_size=20))
def test_names_are_one_line_whatever_the_drive_says(text: str) -> None:
    identity = identity_of(BlockDevice("sda", "/sys/x", "8:0", properties={"ID_MODEL": text, "ID_SERIAL": text}))
    assert len((identity.model + identity.serial).splitlines()) <= 1


@pytest.mark.parametrize(
    ("name", "sys_path", "properties", "bus"),
    [
        ("sda", "/sys/devices/pci0/ata1/sda", {"ID_BUS": "ata", "ID_ATA": "1"}, Bus.SATA),
        ("sda", "/sys/devices/pci0/host0/sda", {"ID_BUS": "scsi"}, Bus.SAS),
        ("sda", "/sys/devices/pci0/host0/sda", {"ID_BUS": "scsi", "ID_ATA": "1"}, Bus.SATA),
        ("sda", "/sys/devices/pci0/usb2/2-1/sda", {"ID_BUS": "ata", "ID_ATA": "1"}, Bus.USB),
        ("sda", "/sys/devices/platform/host3/session1/target/sda", {"ID_BUS": "scsi"}, Bus.OTHER),
        ("sda", "/sys/devices/pci0/host3/rport-3:0-1/sda", {"ID_BUS": "scsi"}, Bus.OTHER),
        ("nvme0n1", "/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", {}, Bus.NVME),
        ("vda", "/sys/devices/pci0/virtio1/vda", {}, Bus.VIRTIO),
        ("mmcblk0", "/sys/devices/platform/mmc0/mmcblk0", {}, Bus.MMC),
    ],
)
def test_bus(name: str, sys_path: str, properties: dict[str, str], bus: Bus) -> None:
    device = BlockDevice(name, sys_path, "1:1", properties=properties, size_bytes=GIB)
    assert bus_of(device) is bus
    assert is_disk(device)


@pytest.mark.parametrize(
    ("name", "sys_path", "transports", "network"),
    [
        ("nvme0n1", "/sys/devices/pci0/nvme/nvme0/nvme0n1", ("pcie",), ""),
        ("nvme0n1", "/sys/devices/virtual/nvme-fabrics/ctl/nvme0/nvme0n1", ("rdma",), "NVMe/RDMA"),
        ("nvme0n1", "/sys/devices/pci0/host1/nvme/nvme0/nvme0n1", ("fc",), "NVMe/FC"),
        ("nvme0n1", "/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", ("pcie", "tcp"), "NVMe/TCP"),
        ("nvme0n1", "/sys/devices/virtual/nvme-fabrics/ctl/nvme0/nvme0n1", (), "NVMe over fabrics"),
        ("sda", "/sys/devices/platform/host3/session1/target/sda", (), "iSCSI"),
        ("sda", "/sys/devices/pci0/host3/rport-3:0-1/sda", (), "Fibre Channel"),
        ("sda", "/sys/devices/pci0/host0/port-0:0/end_device-0:0/sda", (), ""),
    ],
)
def test_a_disk_of_another_machine_is_no_local_ssd_and_is_warned_of(
    name: str, sys_path: str, transports: tuple[str, ...], network: str
) -> None:
    device = replace(disk(name, ID_BUS="scsi"), sys_path=sys_path, transports=transports)
    found = only(device)
    assert found.network == network
    assert (found.bus is Bus.OTHER) == bool(network)
    assert ("network-disk" in {warning.code for warning in warnings_for_disk(found)}) == bool(network)
    assert is_free_ssd(found) != bool(network)


def test_a_zoned_disk_takes_no_partition_table() -> None:
    found = only(replace(disk("nvme0n1"), zoned="host-managed"))
    assert shown(found.holds) == ["zoned:host-managed"]
    assert isinstance(can_use_disk(found), Refused)


def test_an_ssd_whose_sectors_linux_cannot_count_is_shown_and_refused(tmp_path: Path) -> None:
    found = only(disk("sdb", 0))
    assert shown(found.holds) == ["no-size:/dev/sdb"]
    assert isinstance(can_use_disk(found), Refused)
    assert HostDisks(tmp_path, tmp_path, tmp_path)._with_area(found) == found


@pytest.mark.parametrize("name", ["loop0", "ram1", "zram0", "zd16", "dm-0", "md127", "nbd0", "bcache0"])
def test_what_software_made_is_no_disk(name: str) -> None:
    assert not is_disk(virtual(name))


@pytest.mark.parametrize(
    "device",
    [
        replace(disk("sr0"), size_bytes=GIB),
        replace(disk("sdb", 0), removable=True),
        disk("mmcblk0boot0"),
        disk("mmcblk1boot1"),
        disk("mmcblk0gp3"),
        disk("mmcblk0rpmb"),
        disk("rbd0"),
        disk("sdc", ID_CDROM="1"),
        replace(disk("mtdblock0"), sys_path="/sys/devices/pci0/0000:00:1f.5/spi_master/spi0/spi0.0/mtd/mtd0/mtdblock0"),
        replace(disk("ftla"), sys_path="/sys/devices/platform/flash/mtd/mtd2/ftla"),
        replace(disk("ubiblock0_1"), sys_path="/sys/devices/virtual/ubi/ubi0/ubi0_1/ubiblock0_1"),
        part("sda", 1),
    ],
)
def test_what_else_is_no_disk(device: BlockDevice) -> None:
    assert not is_disk(device)


class TestNames:
    def test_wwn_is_preferred(self) -> None:
        assert only(disk("sda")).path.startswith("/dev/disk/by-id/wwn-0x5")

    @pytest.mark.parametrize(
        ("links", "path"),
        [
            (("usb-Stick_1", "scsi-1"), "scsi-1"),
            (("scsi-1", "nvme-M_S_1", "nvme-M_S"), "nvme-M_S"),
            (("nvme-M_S", "nvme-eui.0025"), "nvme-eui.0025"),
            (("scsi-SATA_1", "ata-M_S"), "ata-M_S"),
        ],
    )
    def test_then_the_others_in_order(self, links: tuple[str, ...], path: str) -> None:
        device = replace(disk("sda"), links=tuple(f"/dev/disk/by-id/{link}" for link in links))
        assert only(device).path == f"/dev/disk/by-id/{path}"

    def test_disk_without_identity_has_no_name(self) -> None:
        device = replace(disk("vda"), links=("/dev/disk/by-path/pci-1", "/dev/disk/by-diskseq/3"))
        assert (only(device).path, only(device).links) == ("", ("/dev/disk/by-path/pci-1",))

    @pytest.mark.parametrize(
        "link",
        [
            "/dev/disk/by-diskseq/9-part1",
            "/dev/disk/by-label/tank",
            "/dev/disk/by-uuid/2081-2721",
            "/dev/disk/by-path/pci-0000:00:1f.2-ata-2.0-part/by-label/tank",
            "/dev/disk/by-path/pci-0000:00:1f.2-ata-2.0-part/by-partlabel/log",
            "/dev/disk/by-path/pci-0000:00:1f.2-ata-2.0-part/by-partnum/1",
            "/dev/disk/by-path/pci-0000:00:1f.2-ata-2.0-part/by-partuuid/00000000-0000-4000-8000-000000000001",
            "/dev/disk/by-path/pci-0000:00:1f.2-ata-2.0-part/by-uuid/2081-2721",
        ],
    )
    def test_what_is_written_on_a_partition_is_no_name_of_it(self, link: str) -> None:
        slot = "/dev/disk/by-path/pci-0000:00:1f.2-ata-2.0-part1"
        labelled = replace(part("sda", 1), links=(slot, link))
        (found,) = inventory_disks(gpt(disk("sda")), labelled)["sda"].partitions
        assert found.links == (slot,)

    def test_link_that_two_disks_claim_names_neither(self) -> None:
        both = "/dev/disk/by-id/ata-Cloned_1"
        one, two = (replace(disk(name), links=(both,)) for name in ("sda", "sdb"))
        disks = inventory_disks(one, two)
        assert [(found.path, found.links) for found in disks.values()] == [("", ()), ("", ())]

    def test_partition_goes_by_its_partuuid_and_has_the_others(self) -> None:
        (found,) = inventory_disks(gpt(disk("sda")), part("sda", 2))["sda"].partitions
        assert found.path == f"/dev/disk/by-partuuid/{found.partuuid}"
        assert "/dev/disk/by-id/ata-Fast_SSD_SDA-part2" in found.links

    def test_disks_and_partitions_are_in_order(self) -> None:
        disks = inventory_disks(disk("sdaa"), gpt(disk("sdb")), disk("sdc"), part("sdb", 10), part("sdb", 9))
        assert list(disks) == ["sdb", "sdc", "sdaa"]
        assert [found.number for found in disks["sdb"].partitions] == [9, 10]


SAS = {"ID_BUS": "scsi", "ID_SCSI_SERIAL": "0QV1", "ID_WWN": "0x5000cca04f000004"}


def on_port(name: str, port: str, **properties: str) -> BlockDevice:
    """A SAS disk that hangs on this port, the same whatever its kernel name is."""
    path = f"/sys/devices/pci0/host0/{port}/target0:0:0/0:0:0:0/block/{name}"
    return replace(disk(name, **{**SAS, **properties}), sys_path=path)


class TestOneIdentityOnTwoDevices:
    def test_bays_of_a_dock_are_disks_of_their_own_that_are_held(self) -> None:
        bays = [
            disk(name, ID_BUS="usb", ID_WWN="", ID_SERIAL_SHORT="152D", ID_PATH=f"pci-1-usb-0:1-scsi-0:0:0:{lun}")
            for lun, name in enumerate(("sdb", "sdc", "sdd"))
        ]
        found = inventory_disks(*bays).values()
        assert [shown(each.holds) for each in found] == [
            ["duplicate:sdc, sdd"],
            ["duplicate:sdb, sdd"],
            ["duplicate:sdb, sdc"],
        ]
        assert [each.key for each in found] == [f"Fast_SSD_152D@pci-1-usb-0:1-scsi-0:0:0:{lun}" for lun in range(3)]

    def test_disks_that_are_plugged_in_where_nobody_can_tell_go_by_their_kernel_names(self) -> None:
        found = inventory_disks(*(disk(name, ID_WWN="", ID_SERIAL_SHORT="152D") for name in ("sdb", "sdc")))
        assert [each.key for each in found.values()] == ["Fast_SSD_152D@sdb", "Fast_SSD_152D@sdc"]

    @pytest.mark.parametrize(
        "wwn", ["0x5000000000000000", "0x5000000000000001", "0x5002538e40a6ee00", "eui.0025385c2140105d"]
    )
    def test_two_serials_on_one_wwn_are_two_disks(self, wwn: str) -> None:
        links = ((f"/dev/disk/by-id/wwn-{wwn}", f"/dev/disk/by-id/ata-Fast_SSD_{name}") for name in ("SDA", "SDB"))
        devices = (disk(name, ID_WWN=wwn) for name in ("sda", "sdb"))
        found = inventory_disks(*(replace(each, links=names) for each, names in zip(devices, links, strict=True)))
        assert [(each.all_holds, each.place) for each in found.values()] == [((), ""), ((), "")]
        assert [each.path for each in found.values()] == [f"/dev/disk/by-id/ata-Fast_SSD_{n}" for n in ("SDA", "SDB")]

    def test_a_name_of_a_made_up_wwn_is_not_chosen_even_where_nobody_else_has_it_yet(self) -> None:
        links = ("/dev/disk/by-id/wwn-0x5000000000000000", "/dev/disk/by-id/ata-Fast_SSD_SDA")
        found = only(replace(disk("sda", ID_WWN="0x5000000000000000"), links=links))
        assert (found.path, found.identity.wwn) == (links[1], "")
        assert found.is_at(links[0])

    def test_namespaces_of_one_ssd_are_two_disks_though_all_else_be_one(self) -> None:
        found = inventory_disks(*(replace(disk(f"nvme0n{n}", **SAS), namespace=str(n)) for n in (1, 2)))
        assert [each.all_holds for each in found.values()] == [(), ()]
        assert len({each.key for each in found.values()}) == 2

    def test_paths_that_multipathd_has_put_together_are_one_disk(self) -> None:
        paths = (replace(disk(name, **SAS, DM_MULTIPATH_DEVICE_PATH="1"), holders=("dm-0",)) for name in ("sda", "sdb"))
        found = list(inventory_disks(*paths).values())
        assert found[0].key == found[1].key
        assert [shown(each.holds)[-1] for each in found] == ["path:sdb", "path:sda"]
        assert all(isinstance(can_use_disk(each), Refused) for each in found)

    def test_a_sas_disk_on_two_of_its_ports_is_one_disk(self) -> None:
        found = inventory_disks(on_port("sda", "end_device-0:1"), on_port("sdb", "end_device-1:7"))
        assert [shown(each.holds) for each in found.values()] == [["path:sdb"], ["path:sda"]]
        assert len({each.key for each in found.values()}) == 1

    @pytest.mark.parametrize(
        ("port", "properties"),
        [
            ("end_device-0:1", {}),
            ("usb2/2-3", {}),
            ("end_device-1:7", {"ID_ATA": "1"}),
            ("end_device-1:7", {"ID_WWN": ""}),
            ("end_device-1:7", {"ID_WWN": "0x5000000000000001"}),
            ("end_device-1:7", {"ID_SCSI_SERIAL": "", "ID_SERIAL_SHORT": ""}),
        ],
    )
    def test_what_is_not_proven_to_be_one_disk_is_two(self, port: str, properties: dict[str, str]) -> None:
        found = inventory_disks(on_port("sda", "end_device-0:1", **properties), on_port("sdb", port, **properties))
        assert [shown(each.holds) for each in found.values()] == [["duplicate:sdb"], ["duplicate:sda"]]
        assert len({each.key for each in found.values()}) == 2

    def test_paths_of_two_sizes_are_two_disks(self) -> None:
        devices = (replace(disk(name, size, **SAS, DM_MULTIPATH_DEVICE_PATH="1")) for name, size in SIZES)
        assert {each.holds[-1].kind for each in inventory_disks(*devices).values()} == {HoldKind.DUPLICATE}

    @pytest.mark.parametrize("bus", ["usb", "ata", "scsi"])
    def test_a_name_that_udev_made_of_the_model_alone_is_no_serial(self, bus: str) -> None:
        device = disk("sda", ID_BUS=bus, ID_SERIAL_SHORT="", ID_SERIAL="Generic_Flash_Disk-0:0", ID_WWN="")
        assert identity_of(device).serial == ""
        assert isinstance(can_use_disk(only(device)), Refused)


SIZES = (("sda", 16 * GIB), ("sdb", 17 * GIB))


class TestTables:
    @pytest.mark.parametrize(("told", "kind"), [("", "none"), ("gpt", "gpt"), ("dos", "other"), ("PMBR", "other")])
    def test_kind(self, told: str, kind: str) -> None:
        assert only(disk("sda", ID_PART_TABLE_TYPE=told)).table is TableKind(kind)

    def test_area_without_a_table_is_where_sgdisk_would_put_it(self) -> None:
        found = only(disk("sda"))
        assert (found.usable_start_bytes, found.usable_end_bytes) == (34 * 512, 16 * GIB - 33 * 512)

    def test_partitions_without_a_table_are_not_to_be_trusted(self) -> None:
        found = inventory_disks(disk("sda"), part("sda", 1))["sda"]
        assert "udev does not show the table of its partitions" in shown(found.holds)[0]

    def test_area_is_what_the_table_says(self) -> None:
        found = looked_at(only(gpt(disk("sda"))), sectors())
        assert (found.usable_start_bytes, found.usable_end_bytes, found.holds) == (2048 * 512, 10000 * 512, ())

    @pytest.mark.parametrize("sector", [b"", bytes(512), header().replace(b"\x5c", b"\x5d", 1)[:91]])
    def test_table_that_is_damaged(self, sector: bytes) -> None:
        found = looked_at(only(gpt(disk("sda"))), bytes(512) + sector)
        assert shown(found.holds)[0].startswith("unreadable:its partition table is damaged: there is no GPT header")

    @pytest.mark.parametrize("bit", [0, 16383 * 8])
    def test_list_of_partitions_that_is_damaged(self, bit: int) -> None:
        raw = bytearray(sectors())
        raw[1024 + bit // 8] ^= 1
        (found,) = shown(looked_at(only(gpt(disk("sda"))), bytes(raw)).holds)
        assert "list of partitions is wrong" in found

    def test_table_that_was_exchanged(self) -> None:
        found = looked_at(only(gpt(disk("sda"))), sectors(table_uuid="22222222-0000-4000-8000-000000000001"))
        assert "it has another partition table than udev shows" in shown(found.holds)[0]


class TestWhatTheKernelKnows:
    """The table on a disk against the partitions that the kernel and udev show."""

    def known(self) -> Disk:
        return inventory_disks(gpt(disk("sda")), part("sda", 1), part("sda", 3))["sda"]

    def test_the_same_partitions_hold_nothing(self) -> None:
        disk = self.known()
        assert looked_at(disk, sectors(*disk.partitions)).all_holds == disk.all_holds == ()

    def test_a_partition_that_the_kernel_misses_is_named_with_what_lets_it_know(self) -> None:
        disk = self.known()
        missed = replace(disk, partitions=disk.partitions[:1])
        (found,) = shown(looked_at(missed, sectors(*disk.partitions)).holds)
        assert "the table on the disk lists partition 3, which the kernel does not know" in found
        assert f"`partx --update --nr 3 {disk.path}`" in found

    def test_no_slice_is_planned_over_a_partition_that_the_kernel_misses(self) -> None:
        disk = looked_at(replace(self.known(), partitions=()), sectors(*self.known().partitions))
        assert isinstance(can_use_disk(disk), Refused)

    def test_a_partition_that_only_the_kernel_still_has_is_named_with_what_makes_it_forget(self) -> None:
        disk = self.known()
        (found,) = shown(looked_at(disk, sectors(disk.partitions[0])).holds)
        assert "the kernel still has partition 3, which the table on the disk no longer lists" in found
        assert f"`partx --delete --nr 3 {disk.path}`" in found

    @pytest.mark.parametrize("change", [{"start_bytes": 9 * GIB}, {"size_bytes": GIB // 2}])
    def test_a_partition_that_lies_elsewhere_is_named(self, change: dict[str, int]) -> None:
        disk = self.known()
        other = replace(disk.partitions[1], **change)  # type: ignore[arg-type]
        (found,) = shown(looked_at(disk, sectors(disk.partitions[0], other)).holds)
        assert "partition 3 lies elsewhere" in found

    @pytest.mark.parametrize("field", ["partuuid", "type_uuid"])
    def test_a_partition_that_is_another_by_now_is_named(self, field: str) -> None:
        disk = self.known()
        other = replace(disk.partitions[1], **{field: TABLE})  # type: ignore[arg-type]
        (found,) = shown(looked_at(disk, sectors(disk.partitions[0], other)).holds)
        assert "udev shows another PARTUUID or type of partition 3" in found

    def test_a_table_that_udev_does_not_know_is_no_blank_disk(self) -> None:
        found = looked_at(only(disk("sda")), sectors(*self.known().partitions))
        assert "do not know the partition table that is on it" in shown(found.holds)[0]
        assert isinstance(can_use_disk(found), Refused)

    def test_a_table_without_its_first_sector_is_brought_back_by_another_program(self) -> None:
        device = only(disk("sda"))
        (found,) = shown(looked_at(device, bytes(512) + sectors(*self.known().partitions)[512:]).holds)
        assert f"`gdisk {device.path}`, answered with w and y" in found
        assert "partx" not in found

    @pytest.mark.parametrize("sector_bytes", [512, 4096])
    @pytest.mark.parametrize("table_sector_bytes", [512, 4096])
    def test_a_copy_of_a_table_at_the_end_holds_a_disk_that_seems_blank(
        self, sector_bytes: int, table_sector_bytes: int
    ) -> None:
        """An adapter may have shown other sectors when the table was made."""
        device = only(disk("sda"))
        device = replace(device, identity=replace(device.identity, logical_sector_bytes=sector_bytes))
        found = with_table(device, self.with_end(device, copy_at_end(device, table_sector_bytes)))
        assert isinstance(can_use_disk(found), Refused)
        (sentence,) = shown(found.holds)
        assert f"`sgdisk --zap-all {device.path}`" in sentence
        if sector_bytes == table_sector_bytes:
            assert f"`gdisk {device.path}`, answered with 1, w and y" in sentence
        else:
            assert f"`losetup --find --show --sector-size {table_sector_bytes} {device.path}`" in sentence

    def test_half_a_copy_of_a_table_holds_nobody(self) -> None:
        device = only(disk("sda"))
        copy = bytearray(copy_at_end(device, 512))
        copy[40] ^= 1
        assert with_table(device, self.with_end(device, bytes(copy))) == device

    def with_end(self, device: Disk, end: bytes) -> Callable[[int, int], bytes]:
        """Reads a disk that is blank but for its last bytes."""
        start = device.identity.size_bytes - len(end)

        def read(offset: int, length: int) -> bytes:
            return bytes(max(min(length, start - offset), 0)) + end[max(offset - start, 0) :][: offset + length - start]

        return read

    @pytest.mark.parametrize(
        "raw", [b"", bytes(20000), sectors()[:-1], bytes(512) + header(array=b"other").ljust(20000)]
    )
    def test_a_blank_disk_is_blank_also_with_half_a_table(self, raw: bytes) -> None:
        assert looked_at(only(disk("sda")), raw) == only(disk("sda"))

    @given(st.sets(st.integers(1, 6)), st.sets(st.integers(1, 6)))
    def test_any_difference_holds_the_disk_and_none_does_not(self, listed: set[int], known: set[int]) -> None:
        numbers = range(1, 7)
        every = inventory_disks(gpt(disk("sda")), *(part("sda", number) for number in numbers))["sda"].partitions
        device = only(gpt(disk("sda")))
        device = replace(device, partitions=tuple(each for each in every if each.number in known))
        found = looked_at(device, sectors(*(each for each in every if each.number in listed)))
        assert bool(found.holds) == (listed != known)


class TestReading:
    """Which disks are read, and how often; each is a file here."""

    def reads(self, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
        (tmp_path / disk.kernel_name).write_bytes(sectors(*disk.partitions))
        count = 0
        whole = os.pread

        def counted(descriptor: int, length: int, offset: int) -> bytes:
            nonlocal count
            count += 1
            return whole(descriptor, length, offset)

        monkeypatch.setattr(os, "pread", counted)
        HostDisks(tmp_path, tmp_path, tmp_path)._with_area(disk)
        return count

    def test_a_disk_with_a_table_costs_two_short_reads(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        device = inventory_disks(gpt(disk("sda")), part("sda", 1))["sda"]
        assert self.reads(device, tmp_path, monkeypatch) == 2

    def test_a_hard_disk_in_use_is_left_asleep(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        device = inventory_disks(gpt(disk("sda")), part("sda", 1, ID_FS_TYPE="ext4", ID_FS_USAGE="filesystem"))["sda"]
        assert self.reads(replace(device, rotational=True), tmp_path, monkeypatch) == 0

    @pytest.mark.parametrize(("rotational", "reads"), [(True, 0), (False, 3)])
    def test_a_blank_hard_disk_is_left_asleep_and_a_blank_ssd_is_looked_at(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rotational: bool, reads: int
    ) -> None:
        assert self.reads(replace(only(disk("sda")), rotational=rotational), tmp_path, monkeypatch) == reads

    @pytest.mark.parametrize("table", ["", "gpt"])
    def test_data_that_nobody_recognises_are_told_of_an_ssd_that_seems_blank(self, tmp_path: Path, table: str) -> None:
        device = only(gpt(disk("sda")) if table else disk("sda"))
        start = 2048 * 512 if table else standard_area(device.identity.size_bytes, 512)[0]
        raw = bytearray(sectors() if table else b"").ljust(start + MIB, b"\0")
        raw[start + 5000] = 1
        (tmp_path / "sda").write_bytes(raw)
        found = HostDisks(tmp_path, tmp_path, tmp_path)._with_area(device)
        assert (found.holds, found.unrecognised_at) == ((), start + 4096)
        raw[start + 5000] = 0
        (tmp_path / "sda").write_bytes(raw)
        assert HostDisks(tmp_path, tmp_path, tmp_path)._with_area(device).unrecognised_at is None
        assert HostDisks(tmp_path, tmp_path, tmp_path)._with_area(replace(device, rotational=True)).holds == ()

    def test_what_is_held_is_not_looked_at(self, tmp_path: Path) -> None:
        held = only(disk("sda", ID_FS_TYPE="ext4", ID_FS_USAGE="filesystem"))
        (tmp_path / "sda").write_bytes(bytes(range(256)) * 8192)
        assert HostDisks(tmp_path, tmp_path, tmp_path)._with_area(held).unrecognised_at is None

    def test_a_disk_that_does_not_answer_is_held_and_the_cable_named(self, tmp_path: Path) -> None:
        (found,) = shown(HostDisks(tmp_path, tmp_path, tmp_path)._with_area(only(gpt(disk("sda")))).holds)
        assert "check the cable" in found
