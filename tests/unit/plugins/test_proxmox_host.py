"""Proxmox VE on the host, on a made-up /etc/pve in the forms of its manual pages."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.fleet.platforms import Guest, guest_of
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.gpt import SOLARIS_ZFS_TYPE
from nasadvisor.domain.units import GIB
from nasadvisor.host.adapters.process import Command, Output, Tool
from nasadvisor.host.change.lock import HostBusy, host_lock
from nasadvisor.host.change.runs import apply_plan, undo_run
from nasadvisor.host.errors import MachineUnreadable
from plugins.contract.host import Certificate, Task
from plugins.proxmox.guests import datasets_by_mountpoint, parse_storages
from plugins.proxmox.host import SCRIPTS, ProxmoxHost
from tests.unit.fakes import FakeRunner
from tests.unit.host.change.conftest import Bench
from tests.unit.machines import NVME1, home_server
from tests.unit.plugins.pve import MOUNTS, STORAGES, VERSION


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


@pytest.mark.parametrize(
    "line",
    [
        "virtiofs0: dirid=shared",
        "virtiofs3: shared,cache=always",
        "args: -virtfs local,path=/tank/files/work,mount_tag=work,security_model=none",
        "args: -drive file=/tank/files/disk.raw,if=virtio",
        'args: -blockdev \'{"driver":"file","filename":"/tank/files/disk.raw","node-name":"n"}\'',
    ],
)
def test_a_guest_that_shares_a_directory_is_named_with_its_dataset(node: ProxmoxHost, line: str) -> None:
    pve = node.root / "etc/pve"
    (pve / "nodes/pve1").mkdir(parents=True)
    (pve / "local").symlink_to("nodes/pve1")
    (pve / "mapping").mkdir()
    (pve / "mapping/directory.cfg").write_text(
        "shared\n\tmap node=pve2,path=/tank\n\tmap node=pve1,path=/tank/files/work\n"
    )
    (pve / "qemu-server/102.conf").write_text(f"name: apps\n{line}\n")
    assert guest_of(node.guests(FakeRunner(), home_server()), "tank/files") == "VM 100 (mail), VM 102 (apps)"


def test_a_directory_of_another_file_system_is_not_laid_to_the_dataset_below_it(node: ProxmoxHost) -> None:
    mounts = "rpool/ROOT/pve-1 / zfs rw 0 0\nnas:/media /mnt/media nfs4 rw 0 0\n"
    (node.root / "proc/self/mounts").write_text(mounts)
    (node.root / "etc/pve/lxc/101.conf").write_text("mp0: /mnt/media/films,mp=/films\nmp1: /srv/music,mp=/music\n")
    (node.root / "etc/pve/qemu-server/100.conf").write_text("")
    assert [guest.dataset for guest in node.guests(FakeRunner(), home_server())] == [
        "tank/data/vm-102-disk-0",
        "rpool/ROOT/pve-1",
    ]


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
    assert datasets_by_mountpoint(MOUNTS) == {"/tank": "tank", "/tank/files": "tank/files", "/": ""}
    assert datasets_by_mountpoint("tank/my\\040share /tank/my\\040share zfs rw 0 0\n") == {
        "/tank/my share": "tank/my share"
    }


def test_guests_on_a_pool_forbid_nothing(node: ProxmoxHost) -> None:
    assert node.vetoes(FakeRunner(), home_server()) == ()


def test_an_arc_that_the_installer_limited_is_a_finding(node: ProxmoxHost) -> None:
    (finding,) = node.findings(FakeRunner(), home_server())
    assert finding.level is Level.INFO
    assert "3 GiB of its 32 GiB" in str(finding)
    assert "/etc/modprobe.d/zfs.conf" in finding.why


def test_that_pve_offers_to_wipe_an_ssd_with_a_live_log_is_a_finding(node: ProxmoxHost, bench: Bench) -> None:
    assert "proxmox-never-wipe" not in {each.code for each in node.findings(FakeRunner(), bench.executor.inventory())}
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    inventory = bench.executor.inventory()
    (finding,) = [each for each in node.findings(FakeRunner(), inventory) if each.code == "proxmox-never-wipe"]
    ssd = inventory.disk(NVME1)
    assert ssd is not None
    assert [word for word in ("Wipe Disk", "pool tank", ssd.label) if word not in str(finding)] == []
    assert "use Undo here" in finding.why


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
    with pytest.raises(ValueError, match="not a command that NAS Advisor may run"):
        Command(Tool.PERL, (argument, "x"), timeout_s=1)


def test_every_script_that_is_called_is_there() -> None:
    texts = "".join(file.read_text() for file in Path("plugins/proxmox").glob("*.py"))
    called = set(re.findall(r'"(?:perl/)?([a-z]+\.pl)"', texts))
    assert called == {script.name for script in SCRIPTS.iterdir()} != set()
