"""Proxmox VE on the host, on a made-up /etc/pve in the forms of its manual pages."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.fleet.platforms import Guest, guest_of
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Inventory, Partition
from nasadvisor.domain.storage.partition_types import SOLARIS_ZFS_TYPE
from nasadvisor.domain.units import GIB
from nasadvisor.host.adapters.process import Command, Output, Tool
from nasadvisor.host.change.lock import HostBusy, host_lock
from nasadvisor.host.change.runs import apply_plan, undo_run
from nasadvisor.host.errors import MachineUnreadable
from nasadvisor.host.fleet.platforms import HostPlatforms
from plugins.contract.host import Certificate, Task
from plugins.proxmox.guests import parse_storages, zfs_mounts
from plugins.proxmox.host import SCRIPTS, ProxmoxHost
from plugins.proxmox.usb import _ids_at
from tests.unit.fakes import FakeRunner
from tests.unit.host.change.conftest import Bench
from tests.unit.machines import NVME1, home_server

VERSION = "dpkg-query '--showformat=${Version}' --show pve-manager"

STORAGES = """dir: local
\tpath /var/lib/vz
\tcontent iso,vztmpl,backup

zfspool: local-zfs
\tpool tank/data
\tcontent images,rootdir
\tsparse 1

dir: files
\tpath /tank/files/images
\tcontent images
"""

MAIL = """boot: order=scsi0
name: mail
scsi0: local-zfs:vm-100-disk-0,iothread=1,size=32G
scsi1: files:100/vm-100-disk-1.qcow2,size=8G
ide2: none,media=cdrom
net0: virtio=BC:24:11:00:00:01,bridge=vmbr0

[before-update]
name: mail
scsi0: local-zfs:vm-999-disk-0,size=32G
"""

CLONE = "scsi0: local-zfs:base-9000-disk-0/vm-102-disk-0,size=8G\n"
CONTAINER = "hostname: web\nrootfs: local-zfs:subvol-101-disk-0,size=8G\nmp0: local-zfs:subvol-101-disk-1,mp=/srv\n"
MOUNTS = "tank /tank zfs rw 0 0\ntank/files /tank/files zfs rw 0 0\n/dev/sda1 / ext4 rw 0 0\n"


@pytest.fixture
def node(tmp_path: Path) -> ProxmoxHost:
    """A node with two virtual machines and a container."""
    files = {
        "usr/bin/pvesh": "",
        "etc/pve/storage.cfg": STORAGES,
        "etc/pve/qemu-server/100.conf": MAIL,
        "etc/pve/qemu-server/102.conf": CLONE,
        "etc/pve/lxc/101.conf": CONTAINER,
        "proc/self/mounts": MOUNTS,
        "sys/module/zfs/parameters/zfs_arc_max": f"{3 * GIB}\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ProxmoxHost(tmp_path)


def give(node: ProxmoxHost, line: str) -> None:
    """Add a line to the configuration of VM 100, where it is not part of a snapshot."""
    path = node.root / "etc/pve/qemu-server/100.conf"
    path.write_text(f"{line}\n{path.read_text()}")


def test_it_is_detected_by_its_tool(node: ProxmoxHost, tmp_path: Path) -> None:
    assert node.detect()
    assert not ProxmoxHost(tmp_path / "elsewhere").detect()


def test_its_version_is_that_of_pve_manager(node: ProxmoxHost) -> None:
    assert node.version(FakeRunner({VERSION: "9.2.11"})) == "9.2.11"
    assert node.supports.holds("9.2.11")
    assert node.supports.holds("8.2.4")
    assert not node.supports.holds("8.2.2")
    assert not node.supports.holds("10.0.1")


def test_a_version_that_cannot_be_told_is_none(node: ProxmoxHost) -> None:
    assert node.version(FakeRunner(missing=frozenset({Tool.DPKG_QUERY}))) == ""
    assert node.version(FakeRunner({VERSION: Output("", "no packages found", 1, 0.0)})) == ""


def test_its_disk_lock_is_held_as_well(node: ProxmoxHost) -> None:
    assert ProxmoxHost().locks() == (Path("/run/lock/pve-diskmanage.lck"),)


def test_a_run_waits_for_the_disk_lock_and_changes_nothing_without_it(
    node: ProxmoxHost, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nasadvisor.host.change.runs.LOCK_WAIT_S", 0.05)
    locks = (*bench.host.locks, *node.locks())
    before = bench.executor.inventory()
    with host_lock(node.locks(), 0), pytest.raises(HostBusy, match=r"pve-diskmanage\.lck"):
        apply_plan(replace(bench.host, locks=locks), bench.plan(), "root", bench.watch)
    assert bench.executor.inventory() == before


def test_slices_have_the_type_that_its_disk_list_takes_for_zfs(bench: Bench) -> None:
    assert SOLARIS_ZFS_TYPE == "6a898cc3-1dd2-11b2-99a6-080020736631"
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    disk = bench.executor.inventory().disk(NVME1)
    assert disk is not None
    assert {part.type_uuid for part in disk.partitions} == {SOLARIS_ZFS_TYPE}


def test_an_undo_deletes_the_slices_so_that_its_disk_list_shows_the_ssd_as_unused(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    undo_run(bench.host, "run-1", "root", bench.watch)
    disk = bench.executor.inventory().disk(NVME1)
    assert disk is not None
    assert disk.partitions == ()


def test_guests_are_named_with_the_volumes_that_are_theirs(node: ProxmoxHost) -> None:
    assert node.guests(FakeRunner(), home_server()) == (
        Guest("tank/data/vm-100-disk-0", "VM 100 (mail)"),
        Guest("tank/files", "VM 100 (mail)"),
        Guest("tank/data/vm-102-disk-0", "VM 102"),
        Guest("tank/data/subvol-101-disk-0", "CT 101 (web)"),
        Guest("tank/data/subvol-101-disk-1", "CT 101 (web)"),
    )


def test_drives_whose_flushes_are_thrown_away_are_told_but_not_those_of_snapshots(node: ProxmoxHost) -> None:
    config = node.root / "etc/pve/qemu-server/100.conf"
    drives = "scsi0: local-zfs:vm-100-disk-0,cache=unsafe,size=32G\nscsi1: local-zfs:vm-100-disk-1,size=1G\n"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(drives + "[old]\nscsi1: local-zfs:vm-100-disk-1,cache=unsafe\n")
    assert node.unsafe_volumes() == ("vm-100-disk-0",)


def test_a_volume_belongs_to_the_guest_of_the_longest_path() -> None:
    guests = (Guest("tank/files", "VM 100 (mail)"), Guest("tank/files/web", "CT 101 (web)"))
    assert guest_of(guests, "tank/files/web/cache") == "CT 101 (web)"
    assert guest_of(guests, "tank/files") == "VM 100 (mail)"
    assert guest_of(guests, "tank/files2") == ""


def test_a_cluster_file_system_that_is_away_is_said(node: ProxmoxHost, tmp_path: Path) -> None:
    empty = ProxmoxHost(tmp_path / "empty")
    with pytest.raises(MachineUnreadable):
        empty.vetoes(FakeRunner(), home_server())
    (empty.root / "proc/self").mkdir(parents=True)
    (empty.root / "proc/self/mounts").write_text(MOUNTS)
    with pytest.raises(MachineUnreadable):
        empty.guests(FakeRunner(), home_server())


def test_without_any_storage_configuration_guests_on_its_one_storage_are_named(node: ProxmoxHost) -> None:
    (node.root / "etc/pve/storage.cfg").unlink()
    (node.root / "proc/self/mounts").write_text("rpool/ROOT/pve-1 / zfs rw 0 0\nrpool/vz /var/lib/vz zfs rw 0 0\n")
    (node.root / "etc/pve/qemu-server/100.conf").write_text("name: mail\nscsi0: local:100/vm-100-disk-0.qcow2\n")
    assert node.guests(FakeRunner(), home_server()) == (Guest("rpool/vz", "VM 100 (mail)"),)


def test_a_device_of_a_guest_is_not_taken_for_a_file_of_the_dataset_at_the_root(node: ProxmoxHost) -> None:
    (node.root / "proc/self/mounts").write_text("rpool/ROOT/pve-1 / zfs rw 0 0\n")
    (node.root / "etc/pve/qemu-server/100.conf").write_text("scsi1: /dev/sdq\nscsi2: /dev/zvol/tank/old/disk\n")
    assert Guest("tank/old/disk", "VM 100") in node.guests(FakeRunner(), home_server())
    assert "rpool/ROOT/pve-1" not in {guest.dataset for guest in node.guests(FakeRunner(), home_server())}


def test_storages_that_are_not_on_zfs_are_left_out() -> None:
    assert sorted(parse_storages(STORAGES + "\nlvmthin: fast\n\tpool nothing\n")) == ["files", "local", "local-zfs"]
    assert zfs_mounts(MOUNTS) == {"/tank": "tank", "/tank/files": "tank/files"}


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
        ("mp1: {ssd},mp=/srv", "mp1"),
        ("mp2: volume={ssd},mp=/srv,backup=0", "mp2"),
        ("rootfs: {ssd},size=8G", "rootfs"),
        ("lxc.mount.entry: {ssd} dev/cache none bind,optional,create=file", "lxc.mount.entry"),
        ("lxc.mount.entry = {ssd} dev/cache none bind,optional,create=file", "lxc.mount.entry"),
        ("lxc.cgroup2.devices.allow: b 259:0 rwm", "lxc.cgroup2.devices.allow"),
        ("dev0: /dev/nvme0n1", "dev0"),
        ("dev0: /dev/cache-ssd", "dev0"),
        ("[pve:pending]\ndev1: {ssd}", "dev1"),
    ],
)
def test_an_ssd_that_was_handed_to_a_container_is_vetoed(node: ProxmoxHost, line: str, key: str) -> None:
    link(node)
    path = node.root / "etc/pve/lxc/101.conf"
    path.write_text(f"{path.read_text()}{line.format(ssd=ssd_path())}\n\n[snap]\nhostname: web\n")
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
    ],
)
def test_an_ssd_that_was_handed_to_a_virtual_machine_by_other_means_is_vetoed(node: ProxmoxHost, line: str) -> None:
    link(node)
    path = node.root / "etc/pve/qemu-server/102.conf"
    path.write_text(f"{path.read_text()}{line.format(ssd=ssd_path())}\n")
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
    ],
)
def test_other_devices_of_a_container_veto_nothing(node: ProxmoxHost, line: str) -> None:
    link(node)
    path = node.root / "etc/pve/lxc/101.conf"
    path.write_text(f"{path.read_text()}{line.format(ssd=ssd_path())}\n")
    assert node.vetoes(FakeRunner(), home_server()) == ()


def link(node: ProxmoxHost) -> None:
    """The first NVMe SSD in /dev, with links to it that udev's database does not know."""
    dev = node.root / "dev"
    (dev / "block").mkdir(parents=True)
    (dev / "nvme0n1").touch()
    (dev / "block/259:0").symlink_to("../nvme0n1")
    (dev / "cache-ssd").symlink_to("block/259:0")


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
    ],
)
def test_an_ssd_in_a_usb_case_that_was_handed_to_a_guest_is_vetoed(node: ProxmoxHost, line: str) -> None:
    plug_usb(node)
    path = node.root / "etc/pve/qemu-server/102.conf"
    path.write_text(f"{path.read_text()}{line}\n")
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
    ],
)
def test_another_usb_device_of_a_guest_vetoes_nothing(node: ProxmoxHost, line: str) -> None:
    plug_usb(node)
    give(node, line)
    assert node.vetoes(FakeRunner(), home_server()) == ()


def plug_usb(node: ProxmoxHost) -> None:
    """The first SSD is in a case behind a hub at a USB port, as the kernel shows it in /sys; and mappings of it."""
    plug(node, "pci0000:00/0000:00:14.0/usb2/2-1/2-1.4/2-1.4:1.0/host6/target6:0:0/6:0:0:0/block")
    case = node.root / "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1.4"
    (case / "idVendor").write_text("0bda\n")
    (case / "idProduct").write_text("9210\n")
    mappings = (
        "case-port\n\tmap id=0bda:9210,node=pve1,path=2-1.4\n\n"
        "case-ids\n\tdescription the fast one\n\tmap id=0BDA:9210,node=pve1\n\n"
        "other\n\tmap id=0bda:9210,node=pve2,path=2-1.4\n\tmap id=0bda:9210,node=pve1,path=2-3\n"
    )
    (node.root / "etc/pve/mapping/usb.cfg").write_text(mappings)


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
    ],
)
def test_an_ssd_that_was_handed_to_a_guest_with_its_pci_device_is_vetoed(node: ProxmoxHost, line: str) -> None:
    plug(node, "pci0000:00/0000:00:1d.0/0000:01:00.0/nvme/nvme0")
    path = node.root / "etc/pve/qemu-server/102.conf"
    path.write_text(f"{path.read_text()}{line}\n")
    (veto,) = node.vetoes(FakeRunner(), home_server())
    assert veto.scope == NVME1
    key = line.rpartition("\n")[2].split(":", maxsplit=1)[0]
    assert [word for word in ("VM 102", key, "Detach it") if word not in str(veto.reason)] == []


@pytest.mark.parametrize("line", ["hostpci0: 01:00.1", "hostpci0: 11:00", "hostpci0: mapping=other", "hostpci0: 01:01"])
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


def plug(node: ProxmoxHost, place: str) -> None:
    """The first NVMe SSD hangs there in /sys/devices; a mapping names its address on this node, another on others."""
    ssd = home_server().disk(NVME1)
    assert ssd is not None
    device = node.root / "sys/devices" / place / ssd.kernel_name
    device.mkdir(parents=True)
    (node.root / "sys/block").mkdir()
    (node.root / "sys/block" / ssd.kernel_name).symlink_to(device)
    pve = node.root / "etc/pve"
    (pve / "nodes/pve1").mkdir(parents=True)
    (pve / "local").symlink_to("nodes/pve1")
    (pve / "mapping").mkdir()
    fast = "fast\n\tmap node=pve1,path=0000:01:00.0,id=144d:a808,iommugroup=1\n"
    (pve / "mapping/pci.cfg").write_text(f"{fast}\nother\n\tmap node=pve2,path=0000:01:00.0,id=144d:a808\n")


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


def test_guests_on_a_pool_forbid_nothing(node: ProxmoxHost) -> None:
    assert node.vetoes(FakeRunner(), home_server()) == ()


def test_an_arc_that_the_installer_limited_is_a_finding(node: ProxmoxHost) -> None:
    (finding,) = node.findings(FakeRunner(), home_server())
    assert finding.level is Level.INFO
    assert "3 GiB of 32 GiB" in str(finding)
    assert "/etc/modprobe.d/zfs.conf" in finding.why


def test_that_pve_offers_to_wipe_an_ssd_with_a_live_log_is_a_finding(node: ProxmoxHost, bench: Bench) -> None:
    assert "proxmox-never-wipe" not in {each.code for each in node.findings(FakeRunner(), bench.executor.inventory())}
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    inventory = bench.executor.inventory()
    (finding,) = [each for each in node.findings(FakeRunner(), inventory) if each.code == "proxmox-never-wipe"]
    ssd = inventory.disk(NVME1)
    assert ssd is not None
    assert [word for word in ("Wipe Disk", "pool tank", ssd.label) if word not in str(finding)] == []
    assert "use the undo here" in finding.why


@pytest.mark.parametrize("limit", ["0", str(16 * GIB), "text", str(-1)])
def test_another_limit_of_the_arc_is_none(node: ProxmoxHost, limit: str) -> None:
    (node.root / "sys/module/zfs/parameters/zfs_arc_max").write_text(limit)
    assert node.findings(FakeRunner(), home_server()) == ()


def test_the_certificate_of_pveproxy_comes_before_that_of_the_node(node: ProxmoxHost) -> None:
    local = node.root / "etc/pve/local"
    local.mkdir(parents=True)
    assert node.certificate() is None
    for name in ("pve-ssl", "pveproxy-ssl"):
        (local / f"{name}.pem").write_text("")
        (local / f"{name}.key").write_text("")
        assert node.certificate() == Certificate(local / f"{name}.pem", local / f"{name}.key")


@pytest.mark.parametrize(
    ("by", "user"), [("anna@pve", "anna@pve"), ("root (command line)", "root@pam"), ("a@b:c", "root@pam")]
)
def test_a_run_becomes_a_task_of_who_asked_for_it(node: ProxmoxHost, by: str, user: str) -> None:
    runner = FakeRunner({f"perl {SCRIPTS / 'task.pl'} tank {user} /run/log 7": "UPID:…"})
    node.log_task(runner, Task("run-1", Goal.APPLY, "tank", by, Path("/run/log"), 7))
    assert len(runner.ran) == 1


@pytest.mark.parametrize("argument", ["-e", "/tmp/evil.pl", f"{SCRIPTS}/../../evil.pl", "notify.pl"])
def test_perl_runs_nothing_but_the_scripts_of_integrations(argument: str) -> None:
    with pytest.raises(ValueError, match="not one of the commands"):
        Command(Tool.PERL, (argument, "x"), timeout_s=1)


def test_every_script_that_is_called_is_there() -> None:
    texts = "".join(file.read_text() for file in Path("plugins/proxmox").glob("*.py"))
    called = set(re.findall(r'"(?:perl/)?([a-z]+\.pl)"', texts))
    assert called == {script.name for script in SCRIPTS.iterdir()} != set()


def test_a_disk_of_a_guest_with_a_name_that_no_call_takes_hides_no_other(node: ProxmoxHost) -> None:
    conf = node.root / "etc/pve/qemu-server/100.conf"
    conf.write_text(f"scsi3: /dev/disk/by-id/a\0b\nscsi4: {home_server().disks[0].path}\n")
    assert len(node.vetoes(FakeRunner(), home_server())) == 1


def test_a_usb_device_whose_ids_are_no_text_is_none(tmp_path: Path) -> None:
    for name in ("idVendor", "idProduct"):
        (tmp_path / name).write_bytes(b"\xff\n")
    assert _ids_at(tmp_path) == ""
