"""Mounts, swap and the machine, from the files as real kernels write them."""

import re
from pathlib import Path

import pytest

from nasadvisor.domain.storage.inventory import ZfsParameters
from nasadvisor.host.adapters.process import Output, Tool
from nasadvisor.host.adapters.procfs import (
    HostFacts,
    Mount,
    parse_memory,
    parse_mountinfo,
    parse_os_name,
    parse_swaps,
    parse_zfs_version,
    read_mounts,
    read_swaps,
)
from nasadvisor.host.errors import MachineUnreadable
from tests.unit.fakes import FakeRunner

MOUNTINFO = r"""22 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
28 1 8:82 / / rw,relatime shared:1 - ext4 /dev/sdf2 rw
41 28 0:35 / /tank rw,relatime shared:24 master:1 - zfs tank rw,xattr,noacl
50 28 0:44 /@home /srv/my\040files rw - btrfs /dev/mapper/a\134x2db rw,subvolid=256
51 28 0:45 / /odd rw - fuse.sshfs user@host:/a - rw
"""


def test_mounts_are_read_with_optional_fields_and_escapes() -> None:
    assert parse_mountinfo(MOUNTINFO)[1:4] == (
        Mount("8:82", "ext4", "/dev/sdf2", "/"),
        Mount("0:35", "zfs", "tank", "/tank"),
        Mount("0:44", "btrfs", r"/dev/mapper/a\x2db", "/srv/my files"),
    )


@pytest.mark.parametrize("text", ["", "\n", "nonsense\n", "1 2 3:4 / /a rw\n", "1 2 3:4 / /a rw - \n"])
def test_lines_that_are_no_mounts_are_passed_over(text: str) -> None:
    assert parse_mountinfo(text) == ()


def test_path_with_what_looks_like_the_end_of_a_line() -> None:
    line = "1 2 8:1 / /srv/a\x0b\u2028b\x1c rw - ext4 /dev/sda1 rw\n"
    assert parse_mountinfo(line) == (Mount("8:1", "ext4", "/dev/sda1", "/srv/a\x0b\u2028b\x1c"),)


def test_swap_by_path() -> None:
    text = "Filename\t\t\t\tType\t\tSize\n/dev/sda3    partition 1000 0 -2\n/swap\\040file file 5 0 -3\n"
    assert parse_swaps(text) == ("/dev/sda3", "/swap file")
    assert parse_swaps("") == ()


def test_mounts_of_init_count_as_well(tmp_path: Path) -> None:
    for process, line in (
        ("self", "1 1 8:1 / /a rw - ext4 /dev/sda1 rw"),
        ("1", "1 1 8:2 / /b rw - ext4 /dev/sda2 rw"),
    ):
        (tmp_path / process).mkdir()
        (tmp_path / process / "mountinfo").write_text(line + "\n")
    assert [mount.target for mount in read_mounts(tmp_path)] == ["/a", "/b"]


def test_mounts_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(MachineUnreadable, match="NAS Advisor cannot determine which disks are in use"):
        read_mounts(tmp_path)


def test_kernel_without_swap_has_none(tmp_path: Path) -> None:
    assert read_swaps(tmp_path) == ()


def test_facts_of_the_machine(tmp_path: Path) -> None:
    files = {
        "proc/sys/kernel/osrelease": "6.12.107+deb13-amd64\n",
        "proc/meminfo": "MemTotal:        4015880 kB\nMemFree: 1 kB\n",
        "sys/module/zfs/version": "2.3.9-1\n",
        "sys/module/zfs/parameters/zfs_bclone_enabled": "0\n",
        "sys/module/zfs/parameters/zfs_dio_enabled": "yes\n",
        "etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    runner = FakeRunner({"zpool version": "zfs-2.3.9-1\nzfs-kmod-2.3.9-1\n"})
    host = HostFacts(runner, tmp_path / "proc", tmp_path / "sys", tmp_path / "etc", "nas-1").read()
    assert (host.node, host.os_name) == ("nas-1", "Debian GNU/Linux 13 (trixie)")
    assert (host.kernel, host.zfs_userland, host.zfs_kernel) == ("6.12.107+deb13-amd64", "2.3.9-1", "2.3.9-1")
    assert host.memory_bytes == 4015880 * 1024
    assert host.parameters == ZfsParameters(zfs_bclone_enabled=0)


def test_machine_without_openzfs_has_no_versions(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 1 kB\n")
    host = HostFacts(FakeRunner(missing=frozenset({Tool.ZPOOL})), tmp_path, tmp_path, tmp_path).read()
    assert (host.zfs_userland, host.zfs_kernel, host.os_name) == ("", "", "Linux")
    assert host.node


def test_userland_without_kernel_module_still_has_a_version(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 1 kB\n")
    answer = Output("zfs-2.3.9-1\n", "zfs_version_kernel() failed: No such file or directory\n", 1, 0.0)
    host = HostFacts(FakeRunner({"zpool version": answer}), tmp_path, tmp_path, tmp_path).read()
    assert (host.zfs_userland, host.zfs_kernel) == ("2.3.9-1", "")


@pytest.mark.parametrize("text", ["", "MemTotal: lots\n", "MemFree: 5 kB\n"])
def test_memory_that_is_not_told_is_an_error(text: str) -> None:
    with pytest.raises(MachineUnreadable, match=re.escape("/proc/meminfo could not be read")):
        parse_memory(text)


def test_names_and_versions_in_odd_forms() -> None:
    assert parse_os_name("PRETTY_NAME='Proxmox VE 9'\n") == "Proxmox VE 9"
    assert parse_zfs_version("zfs-2.1.11-1+deb12u1\nzfs-kmod-2.1.11-1\n") == "2.1.11-1+deb12u1"
    assert parse_zfs_version("The ZFS modules are not loaded.\n") == ""
