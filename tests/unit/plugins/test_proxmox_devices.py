"""Which SSDs the guests of a node of Proxmox VE were given, by whatever line of their configurations."""

from dataclasses import replace

import pytest

from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.gpt import SOLARIS_ZFS_TYPE
from nasadvisor.domain.storage.inventory import Inventory, Partition
from nasadvisor.host.change.runs import apply_plan
from nasadvisor.host.fleet.platforms import HostPlatforms
from plugins.proxmox.host import ProxmoxHost
from tests.unit.fakes import FakeRunner
from tests.unit.host.change.conftest import Bench
from tests.unit.machines import NVME1, home_server
from tests.unit.plugins.pve import VERSION, append, give, link, plug, plug_usb


@pytest.mark.parametrize("suffix", ["", "-part1"])
def test_an_ssd_that_was_handed_to_a_guest_is_vetoed(node: ProxmoxHost, suffix: str) -> None:
    inventory = home_server()
    ssd = inventory.disk(NVME1)
    assert ssd is not None
    if suffix:
        inventory = with_partition_at(inventory, f"{ssd.path}{suffix}")
    give(node, f"virtio1: {ssd.path}{suffix},size=500G")
    (veto,) = node.vetoes(FakeRunner(), inventory)
    assert veto.scope == NVME1
    assert [word for word in ("VM 100 (mail)", "virtio1", "Detach it") if word not in str(veto.reason)] == []


def ssd_path() -> str:
    ssd = home_server().disk(NVME1)
    assert ssd is not None
    return ssd.path


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("dev0: {ssd},uid=100,mode=0660", "dev0"),
        ("dev3: mode=0660,path={ssd}", "dev3"),
        ("dev4: deny-write=1,{ssd}", "dev4"),
        ("mp1: {ssd},mp=/srv", "mp1"),
        ("mp2: volume={ssd},mp=/srv,backup=0", "mp2"),
        ("rootfs: {ssd},size=8G", "rootfs"),
        ("lxc.mount.entry: {ssd} dev/cache none bind,optional,create=file", "lxc.mount.entry"),
        ("lxc.mount.entry = {ssd} dev/cache none bind,optional,create=file", "lxc.mount.entry"),
        ("lxc.mount.entry: /mnt/my\\040ssd dev/cache none bind,create=file", "lxc.mount.entry"),
        ("lxc.cgroup2.devices.allow: b 259:0 rwm", "lxc.cgroup2.devices.allow"),
        ("lxc.cgroup2.devices.allow: {ssd} rwm", "lxc.cgroup2.devices.allow"),
        ("lxc.cgroup.devices.allow = b 259:0 r", "lxc.cgroup.devices.allow"),
        ("dev0: /dev/nvme0n1", "dev0"),
        ("dev0: /dev/cache-ssd", "dev0"),
        ("[pve:pending]\ndev1: {ssd}", "dev1"),
        ("[before update]\ndev1: {ssd}", "dev1"),  # no section in pve-container
        ("[a]\ndev1: {ssd}", "dev1"),
        ("dev5: {ssd}\r", "dev5"),
    ],
)
def test_an_ssd_that_was_handed_to_a_container_is_vetoed(node: ProxmoxHost, line: str, key: str) -> None:
    link(node)
    append(node, f"{line.format(ssd=ssd_path())}\n\n[snap]\nhostname: web", "lxc/101")
    (veto,) = node.vetoes(FakeRunner(), home_server())
    assert veto.scope == NVME1
    assert [word for word in ("CT 101 (web)", f"its {key}.", "Detach it") if word not in str(veto.reason)] == []


@pytest.mark.parametrize(
    "line",
    [
        "args: -drive file={ssd},if=none,id=fast -device virtio-blk-pci,drive=fast",
        "args: -blockdev driver=host_device,node-name=fast,filename=/dev/nvme0n1",
        "args: -cpu host -drive 'file=/dev/cache-ssd,if=virtio'",
        "[PENDING]\nscsi3: {ssd},size=500G",
        " [before]\nscsi3: {ssd}",
        "[before] today\nscsi3: {ssd}",
        "cdrom: {ssd}",
        "unused0: {ssd}",
        "efidisk0: file={ssd},efitype=4m",
        "tpmstate0: {ssd},size=4M",
        "scsi5: iothread=1,{ssd}",
        "scsi6: san:0.0.1.{name},size=500G",  # a LUN of a storage on iSCSI
        "args: -hdb {ssd}",
        "args: -cdrom /dev/nvme0n1",
        "args: -drive file=host_device:/dev/nvme0n1,if=none,id=d -device nvme,drive=d,serial=1",
        'args: -drive \'json:{{"driver":"host_device","filename":"/dev/nvme0n1"}}\'',
        "args: -blockdev \"{{'driver':'host_device','filename':'/dev/nvme0n1','node-name':'n'}}\"",
        "args: -drive file=/mnt/my-ssd,if=none,id=d -device scsi-block,drive=d",
    ],
)
def test_an_ssd_that_was_handed_to_a_virtual_machine_by_other_means_is_vetoed(node: ProxmoxHost, line: str) -> None:
    link(node)
    append(node, line.format(ssd=ssd_path(), name=ssd_path().rpartition("/")[2]), "qemu-server/102")
    (veto,) = node.vetoes(FakeRunner(), home_server())
    assert veto.scope == NVME1
    assert "VM 102" in str(veto.reason)


@pytest.mark.parametrize(
    "line",
    [
        "dev0: /dev/dri/renderD128,gid=104",
        "lxc.mount.entry: /tank/files srv none bind",
        "lxc.cgroup2.devices.allow: b 259:1 rwm",
        "lxc.cgroup2.devices.allow: c 226:0 rwm",
        "[snap]\ndev0: {ssd}",
        "# dev0: {ssd}",
        "dev0: /dev/gone/nvme0n1",
        "lxc.cgroup2.devices.allow: b 8:* rwm",
        "lxc.cgroup2.devices.allow: b 259:* m",
        "lxc.cgroup2.devices.deny: b 259:* rwm",
        "lxc.rootfs.path: /dev/dri",
        "scsi1: {ssd}",
        "DEV1: {ssd}",
    ],
)
def test_other_devices_of_a_container_veto_nothing(node: ProxmoxHost, line: str) -> None:
    link(node)
    append(node, line.format(ssd=ssd_path()), "lxc/101")
    assert node.vetoes(FakeRunner(), home_server()) == ()


@pytest.mark.parametrize(
    "line",
    [
        "usb0: host=2-1.4",
        "usb1: 2-1.4,usb3=1",
        "usb0: host=0BDA:9210",
        "usb2: 0x0bda:0x9210,usb3=yes",
        "usb0: mapping=case-port",
        "usb0: usb3=1,mapping=case-ids",
        "[PENDING]\nusb0: host=2-1.4",
        "args: -device usb-host,vendorid=0x0bda,productid=0x9210",
        "args: -device usb-host,vendorid=3034",
        "args: -device usb-host,hostbus=2,hostport=1.4,id=case",
        "args: -device usb-host,hostbus=2,hostaddr=5",
        "args: -device usb-host,hostdevice=/dev/bus/usb/002/005",
        'args: -device \'{"driver": "usb-host", "vendorid": 3034, "productid": 37392}\'',
        "args: -device usb-host",
    ],
)
def test_an_ssd_in_a_usb_case_that_was_handed_to_a_guest_is_vetoed(node: ProxmoxHost, line: str) -> None:
    plug_usb(node)
    append(node, line, "qemu-server/102")
    (veto,) = node.vetoes(FakeRunner(), home_server())
    assert veto.scope == NVME1
    assert "VM 102" in str(veto.reason)


@pytest.mark.parametrize(
    "line",
    [
        "usb0: host=2-1",
        "usb0: host=1-1.4",
        "usb0: host=0bda:9211",
        "usb0: spice",
        "usb0: mapping=other",
        "usb0: host=2-1.4.1",
        "args: -device usb-host,vendorid=0x0bda,productid=0x9211",
        "args: -device usb-host,hostbus=1,hostport=1.4",
        "args: -device usb-host,hostbus=2,hostaddr=6",
        "args: -device usb-storage,drive=d,id=usb-host0",
    ],
)
def test_another_usb_device_of_a_guest_vetoes_nothing(node: ProxmoxHost, line: str) -> None:
    plug_usb(node)
    give(node, line)
    assert node.vetoes(FakeRunner(), home_server()) == ()


@pytest.mark.parametrize(
    "line",
    [
        "args: -device vfio-pci,host=01:00.0,id=ssd",
        "args: -device vfio-pci,id=ssd,host=0000:01:00.0",
        "[PENDING]\nhostpci0: 0000:01:00.0",
        "hostpci0: 01:00,pcie=1",
        "hostpci1: host=0000:01:00.0,rombar=0",
        "hostpci0: 0000:05:00.0;0000:01:00.0",
        "hostpci0: mapping=fast,pcie=1",
        "hostpci0: 00:1d.0",
        "args: -blockdev driver=nvme,device=0000:01:00.0,namespace=1,node-name=n",
        'args: -blockdev \'{"driver":"nvme","device":"0000:01:00.0","namespace":1,"node-name":"n"}\'',
        "args: -drive file=nvme://0000:01:00.0/1,if=none,id=d",
        "args: -drive file.driver=nvme,file.device=0000:01:00.0,file.namespace=1,if=none",
        "args: -device vfio-pci,sysfsdev=/sys/bus/pci/devices/0000:01:00.0",
        "args: -device vfio-pci,sysfsdev=/sys/devices/pci0000:00/0000:00:1d.0/0000:01:00.0",
        "args: -device vfio-pci-nohotplug,host=0:1:0.0",
        'args: -device \'{"driver":"vfio-pci","host":"0000:01:00.0"}\'',
    ],
)
def test_an_ssd_that_was_handed_to_a_guest_with_its_pci_device_is_vetoed(node: ProxmoxHost, line: str) -> None:
    plug(node, "pci0000:00/0000:00:1d.0/0000:01:00.0/nvme/nvme0")
    append(node, line, "qemu-server/102")
    (veto,) = node.vetoes(FakeRunner(), home_server())
    assert veto.scope == NVME1
    key = line.rpartition("\n")[2].split(":", maxsplit=1)[0]
    assert [word for word in ("VM 102", key, "Detach it") if word not in str(veto.reason)] == []


@pytest.mark.parametrize(
    "line",
    [
        "hostpci0: 01:00.1",
        "hostpci0: 11:00",
        "hostpci0: mapping=other",
        "hostpci0: 01:01",
        "hostpci0: 10000:01:00.0",
        "args: -device vfio-pci,sysfsdev=/sys/devices/pci0000:00/0000:00:1d.0/0000:02:00.0",
        "args: -device virtio-net-pci,mac=BC:01:00:00:01:00,bus=pcie.0,addr=01.0",
        "[special:fleecing]\nhostpci0: 01:00.0",
        "[weird name]\nhostpci0: 01:00.0",
    ],
)
def test_another_pci_device_of_a_guest_vetoes_nothing(node: ProxmoxHost, line: str) -> None:
    plug(node, "pci0000:00/0000:00:1d.0/0000:01:00.0/nvme/nvme0")
    give(node, line)
    assert node.vetoes(FakeRunner(), home_server()) == ()


def test_an_nvme_ssd_with_several_paths_is_found_by_its_controllers(node: ProxmoxHost) -> None:
    plug(node, "virtual/nvme-subsystem/nvme-subsys0")
    devices = node.root / "sys/devices"
    controller = devices / "pci0000:00/0000:01:00.0/nvme/nvme0"
    controller.mkdir(parents=True)
    (devices / "virtual/nvme-subsystem/nvme-subsys0/nvme0").symlink_to(controller)
    give(node, "hostpci0: 01:00.0")
    assert [veto.scope for veto in node.vetoes(FakeRunner(), home_server())] == [NVME1]


def with_partition_at(inventory: Inventory, path: str) -> Inventory:
    part = Partition(1, "p", SOLARIS_ZFS_TYPE, "", 1 << 20, 1 << 30, "nvme0n1p1", path)
    disks = tuple(replace(disk, partitions=(part,)) if disk.key == NVME1 else disk for disk in inventory.disks)
    return replace(inventory, disks=disks)


def test_an_ssd_of_a_guest_stops_a_run(node: ProxmoxHost, bench: Bench) -> None:
    ssd = bench.executor.inventory().disk(NVME1)
    assert ssd is not None
    give(node, f"virtio1: {ssd.path},size=500G")
    here = HostPlatforms(FakeRunner({VERSION: "9.2.11"}), (node,))
    run = apply_plan(replace(bench.host, vetoes=here.vetoes), bench.plan(), "root", bench.watch)
    assert [refusal.code for refusal in run.refusals] == ["proxmox-disk-of-guest"]


def test_a_disk_of_a_guest_with_a_name_that_no_call_takes_hides_no_other(node: ProxmoxHost) -> None:
    conf = node.root / "etc/pve/qemu-server/100.conf"
    conf.write_text(f"scsi3: /dev/disk/by-id/a\0b\nscsi4: {home_server().disks[0].path}\n")
    assert len(node.vetoes(FakeRunner(), home_server())) == 1


@pytest.mark.parametrize(
    "line", ["hostpci0: 10000:e1:00.0,pcie=1", "hostpci1: mapping=behind-vmd", "hostpci2: 00:0e.0"]
)
def test_an_ssd_whose_pci_domain_has_five_digits_is_vetoed(node: ProxmoxHost, line: str) -> None:
    plug(node, "pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0/10000:e1:00.0/nvme/nvme0")
    give(node, line)
    assert [veto.scope for veto in node.vetoes(FakeRunner(), home_server())] == [NVME1]


ITS_NAMES = ("nvme0", "ng0n1")
OTHER_NAMES = ("nvme2", "ng0n2", "ng2n1", "nvme", "sg3")


@pytest.mark.parametrize("line", ["dev0: deny-write=1,path=/dev/{}", "lxc.mount.entry: /dev/{0} dev/{0} none bind"])
@pytest.mark.parametrize("name", [*ITS_NAMES, *OTHER_NAMES])
def test_the_character_devices_of_nvme_lead_to_its_ssd(node: ProxmoxHost, line: str, name: str) -> None:
    plug(node, "pci0000:00/0000:01:00.0/nvme/nvme0")
    link(node)
    (node.root / f"dev/{name}").touch()
    give(node, line.format(name), "lxc/101")
    expected = {NVME1} if name in ITS_NAMES else set()
    assert {veto.scope for veto in node.vetoes(FakeRunner(), home_server())} == expected


def test_an_nvme_controller_with_several_paths_leads_to_its_ssd(node: ProxmoxHost) -> None:
    plug(node, "virtual/nvme-subsystem/nvme-subsys0")
    controller = node.root / "sys/devices/pci0000:00/0000:01:00.0/nvme/nvme3"
    controller.mkdir(parents=True)
    (node.root / "sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme3").symlink_to(controller)
    give(node, "dev0: /dev/nvme3", "lxc/101")
    assert [veto.scope for veto in node.vetoes(FakeRunner(), home_server())] == [NVME1]


SCSI = "pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0"


@pytest.mark.parametrize(
    ("line", "is_its"),
    [
        ("dev2: mode=0666,path=/dev/sg3", True),
        ("dev2: /dev/bsg/0:0:0:0", True),
        ("lxc.cgroup2.devices.allow: c 21:3 rwm", True),
        ("lxc.cgroup2.devices.allow: c 21:* rwm", True),
        ("dev2: /dev/sg4", False),
        ("dev2: /dev/bsg/1:0:0:0", False),
        ("lxc.cgroup2.devices.allow: c 21:4 rwm", False),
    ],
)
def test_the_generic_devices_of_scsi_lead_to_their_disk(node: ProxmoxHost, line: str, is_its: bool) -> None:
    plug(node, f"{SCSI}/block")
    scsi = node.root / "sys/devices" / SCSI
    for kind, name in (("scsi_generic", "sg3"), ("bsg", "0:0:0:0")):
        (scsi / kind / name).mkdir(parents=True)
        (scsi / kind / name / "device").symlink_to(scsi)
        (node.root / "sys/class" / kind).mkdir(parents=True)
        (node.root / "sys/class" / kind / name).symlink_to(scsi / kind / name)
    (node.root / "dev/char").mkdir(parents=True)
    for number in ("3", "4"):
        (node.root / f"dev/sg{number}").touch()
        (node.root / f"dev/char/21:{number}").symlink_to(f"../sg{number}")
    give(node, line, "lxc/101")
    assert {veto.scope for veto in node.vetoes(FakeRunner(), home_server())} == ({NVME1} if is_its else set())


def test_an_ssd_of_a_virtual_machine_by_its_generic_device_is_vetoed(node: ProxmoxHost) -> None:
    plug(node, f"{SCSI}/block")
    (node.root / "sys/devices" / SCSI / "scsi_generic/sg3").mkdir(parents=True)
    (node.root / f"sys/devices/{SCSI}/block/nvme0n1/device").symlink_to(node.root / "sys/devices" / SCSI)
    give(node, "args: -drive file=/dev/sg3,if=none,id=d -device scsi-generic,drive=d")
    assert [veto.scope for veto in node.vetoes(FakeRunner(), home_server())] == [NVME1]


@pytest.mark.parametrize(
    ("line", "is_its"), [("dev0: /dev/bus/usb/002/005", True), ("dev0: /dev/bus/usb/002/006", False)]
)
def test_the_usb_device_of_an_ssd_leads_to_it(node: ProxmoxHost, line: str, is_its: bool) -> None:
    plug_usb(node)
    give(node, line, "lxc/101")
    assert {veto.scope for veto in node.vetoes(FakeRunner(), home_server())} == ({NVME1} if is_its else set())


@pytest.mark.parametrize(
    "line",
    [
        "lxc.cgroup2.devices.allow: b 259:* rwm",
        "lxc.cgroup2.devices.allow: a 259:* rw",
        "lxc.cgroup.devices.allow = b *:0 rw",
        "[pve:pending]\nlxc.cgroup2.devices.allow: b 259:* r",
    ],
)
def test_an_ssd_that_a_container_may_open_with_all_of_its_sort_is_vetoed(node: ProxmoxHost, line: str) -> None:
    link(node)
    append(node, line, "lxc/101")
    (veto,) = node.vetoes(FakeRunner(), home_server())
    assert (veto.scope, veto.reason.code) == (NVME1, "proxmox-guest-may-open-disk")
    assert veto.reason.values["guest"] == "CT 101 (web)"


def test_the_numbers_that_the_kernel_says_are_enough(node: ProxmoxHost) -> None:
    plug(node, "pci0000:00/0000:01:00.0/nvme/nvme0")
    give(node, "lxc.cgroup2.devices.allow: b 259:* rwm", "lxc/101")
    assert [veto.scope for veto in node.vetoes(FakeRunner(), home_server())] == [NVME1]


def test_a_usb_device_whose_ids_are_no_text_is_none(node: ProxmoxHost) -> None:
    plug_usb(node)
    case = node.root / "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1.4"
    for name in ("idVendor", "idProduct"):
        (case / name).write_bytes(b"\xff\n")
    give(node, "usb0: host=0bda:9210")
    assert node.vetoes(FakeRunner(), home_server()) == ()


HIDING = [
    ("lxc/101", "CT 101 (web)", "lxc.include: /root/more.conf"),
    ("lxc/101", "CT 101 (web)", "lxc.mount.fstab: /root/fstab"),
    ("lxc/101", "CT 101 (web)", "lxc.mount = /root/fstab"),
    ("lxc/101", "CT 101 (web)", "lxc.hook.autodev: /root/devices"),
    ("lxc/101", "CT 101 (web)", "lxc.hook.pre-start: /root/devices"),
    ("lxc/101", "CT 101 (web)", "hookscript: local:snippets/devices"),
    ("qemu-server/100", "VM 100 (mail)", "hookscript: local:snippets/devices"),
    ("qemu-server/100", "VM 100 (mail)", "args: -readconfig /root/more.cfg"),
]


@pytest.mark.parametrize(("guest", "name", "line"), HIDING)
def test_a_guest_that_may_be_given_more_than_can_be_seen_is_named(
    node: ProxmoxHost, guest: str, name: str, line: str
) -> None:
    give(node, line, guest)
    (finding,) = node.findings(FakeRunner(), home_server())[1:]
    key = line.replace(" =", ":").partition(":")[0]
    assert (finding.code, finding.values) == ("proxmox-guest-hides", {"guest": name, "keys": key})
    (caution,) = node.cautions(FakeRunner(), home_server())
    assert (caution.code, caution.level, caution.values) == (finding.code, Level.WARNING, finding.values)
    assert node.vetoes(FakeRunner(), home_server()) == ()


@pytest.mark.parametrize(
    "line",
    [
        "lxc.cgroup2.devices.allow: a",
        "lxc.cgroup2.devices.allow: a *:* rwm",
        "lxc.cgroup2.devices.allow: b *:* rwm",
        "lxc.cgroup2.devices.allow: c *:* rw",
        "lxc.cgroup.devices.allow = a",
        "lxc.mount.entry: /dev host-dev none rbind,create=dir",
        "lxc.mount.entry: udev host-dev devtmpfs ro,create=dir",
        "mp3: /dev/,mp=/host-dev",
    ],
)
def test_a_container_that_may_open_every_disk_is_named_and_no_ssd_refused(node: ProxmoxHost, line: str) -> None:
    plug(node, "pci0000:00/0000:01:00.0/nvme/nvme0")
    link(node)
    give(node, line, "lxc/101")
    (finding,) = node.findings(FakeRunner(), home_server())[1:]
    assert (finding.code, finding.values["guest"]) == ("proxmox-guest-opens-any", "CT 101 (web)")
    assert [each.code for each in node.cautions(FakeRunner(), home_server())] == [finding.code]
    assert node.vetoes(FakeRunner(), home_server()) == ()


@pytest.mark.parametrize(
    "line",
    [
        "lxc.hook.version: 1",
        "lxc.cgroup2.devices.allow: b *:* m",
        "lxc.cgroup2.devices.allow: c 226:* rwm",
        "lxc.mount.entry: /dev/dri dev/dri none bind,create=dir",
        "lxc.mount.auto: sys:rw",
        "[snap]\nlxc.include: /root/more.conf",
    ],
)
def test_of_a_container_that_is_given_what_is_seen_nothing_is_said(node: ProxmoxHost, line: str) -> None:
    append(node, line, "lxc/101")
    assert node.cautions(FakeRunner(), home_server()) == ()
