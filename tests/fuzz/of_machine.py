"""What the kernel, udev and disks themselves show: /proc, /sys, udev's database, partition tables."""

import json
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nasadvisor.domain.storage.gaps import free_extents, overlaps
from nasadvisor.domain.storage.inventory import Disk, TableKind
from nasadvisor.host.adapters import counters, procfs, udev
from nasadvisor.host.adapters.disks import _opened, disks_of, with_table
from nasadvisor.host.adapters.holds import surroundings
from nasadvisor.host.evidence.sample import read_served, read_tunables
from nasadvisor.host.storage.machine import Roots
from nasadvisor.runtime.own_names import own_names
from tests.fuzz.reader import TOLD, Read, Reader, all_of, of_file, of_text
from tests.unit.domain.change.sectors import RECORDED, recording
from tests.unit.domain.evidence import kstats
from tests.unit.host.adapters.test_procfs import MOUNTINFO
from tests.unit.host.adapters.test_udev import DISK, Attributes
from tests.unit.machines import NVME1, home_server

ARC = {"hits": 10, "demand_data_hits": 5, "mru_ghost_hits": 3, "size": 1 << 30, "c": 1 << 30, "l2_hits": 4}
NFSD = "rc 0 0 0\nproc3 22 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22\nproc4ops 5 1 2 3 4 5\n"
MEMORY = "MemTotal:       16318340 kB\nMemFree:         1000 kB\n"
SWAPS = "Filename\t\t\t\tType\t\tSize\n/dev/sda3    partition 1000 0 -2\n/swap\\040file file 5 0 -3\n"
OS = 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n'
EXPORTS = "# Version 1.1\n/tank/vms\t192.168.1.0/24(rw,async,wdelay,fsid=1)\n"
UDEV = {
    "sda": {
        "properties": {"ID_BUS": "ata", "ID_MODEL_ENC": "WDC\\x20WD60", "ID_PART_TABLE_TYPE": "gpt", "ID_ATA": "1"},
        "links": ["/dev/disk/by-id/ata-WDC_WD60", "/dev/disk/by-id/wwn-0x50014ee2b1b1b1b1"],
        "attributes": DISK,
    },
    "sda1": {
        "properties": {"ID_PART_ENTRY_UUID": "aaaaaaaa-0000-4000-8000-000000000005", "ID_FS_TYPE": "zfs_member"},
        "links": ["/dev/disk/by-partuuid/aaaaaaaa-0000-4000-8000-000000000005"],
        "attributes": {"size": "2048", "ro": "0", "start": "4096", "partition": "1"},
    },
}


def shown_by_udev(data: bytes) -> tuple[Disk, ...]:
    """Disks of what udev and sysfs show, which is text whatever it says; no file of this machine is looked at."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    told = document if isinstance(document, dict) else {}
    found = tuple(udev._read_device(_device(name, _object(each))) for name, each in told.items() if name.isalnum())
    disks = disks_of(found, surroundings(found, (), (), (), {}))
    for disk in disks:
        free_extents(disk)
        overlaps(disk)
    return disks


def _device(name: str, told: dict[str, Any]) -> Any:
    links = told.get("links")
    return SimpleNamespace(
        device_number=os.makedev(8, 17),
        sys_name=name,
        sys_path=f"/sys/devices/pci0/sda/{name}" if name != "sda" else "/sys/devices/pci0/sda",
        device_type="disk" if name == "sda" else "partition",
        properties=_texts(told.get("properties")),
        device_links=[str(link) for link in links] if isinstance(links, list) else [],
        attributes=Attributes(_texts(told.get("attributes"))),
        is_initialized=True,
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> dict[str, str]:
    return {key: str(each) for key, each in _object(value).items()}


def sound(head: bytes, sector: int) -> bytes:
    """A table area with checksums that fit, else nothing behind the first of them would ever be looked at."""
    raw = bytearray(head)
    header = slice(sector, sector + 92)
    if len(raw) < 2 * sector + 128:
        return bytes(raw)
    start, count, size = (int.from_bytes(raw[sector + at : sector + at + n], "little") for at, n in _ARRAY)
    array = raw[start * sector : start * sector + min(count * size, len(raw))]
    raw[sector + 88 : sector + 92] = zlib.crc32(array).to_bytes(4, "little")
    raw[sector + 16 : sector + 20] = bytes(4)
    raw[sector + 16 : sector + 20] = zlib.crc32(raw[header]).to_bytes(4, "little")
    return bytes(raw)


def _with_checksums(read: Read, sector: int, data: bytes) -> object:
    return read(sound(data, sector))


_ARRAY = ((72, 8), (80, 4), (84, 4))
"""Where a GPT header says where its list begins, how many entries it has, and how long each is."""


def read_table(folder: Path) -> None:
    """The partition table at the front of a disk, which is a file here."""
    known = home_server().disk(NVME1)
    assert known is not None
    for sector in (512, 4096):
        disk = replace(
            known, table=TableKind.GPT, identity=replace(known.identity, logical_sector_bytes=sector), table_uuid="x"
        )
        with _opened(folder / "disk") as read_at:
            for each in (disk, replace(disk, table=TableKind.NONE)):
                free_extents(with_table(each, read_at))


def roots(folder: Path) -> Roots:
    """A machine of which there is only what was put there."""
    return Roots(dev=folder / "dev", etc=folder / "etc", proc=folder / "proc", sys=folder / "sys")


def _reader(name: str, path: str, read: Callable[[Path], object], *texts: str) -> Reader:
    return Reader(name, of_file(read, path), tuple(text.encode() for text in texts), TOLD)


def readers() -> Iterator[Reader]:
    """All of them."""
    yield from _counters()
    yield from _system()
    yield Reader("udev", shown_by_udev, (json.dumps(UDEV).encode(),))
    tables = tuple(recording(name).with_two.head for name in RECORDED)
    read = of_file(read_table, "disk")
    yield Reader("partition-table", read, tables, (OSError,))
    for sector in (512, 4096):
        yield Reader(f"partition-table-{sector}", partial(_with_checksums, read, sector), tables, (OSError,))


def _counters() -> Iterator[Reader]:
    yield _reader("kstat-arc", "arcstats", counters.read_arc, kstats.named(ARC))
    objset = kstats.objset("tank/my data", writes=7, zil_commit_count=9)
    yield _reader("kstat-dataset", "objset-0x36", lambda at: all_of(counters.read_datasets(at)), objset)
    yield _reader("kstat-pool", "iostats", counters.read_totals, kstats.named({"arc_read_count": 4}))
    txgs = kstats.txgs((1, "C", 100), (2, "C", 200), (3, "O", 0))
    yield _reader("kstat-txgs", "txgs", counters.read_txgs, txgs)
    stat = kstats.disk_stat(3, 9, 100)
    yield _reader("disk-stat", "block/sda/stat", lambda at: counters.read_disk(at, "sda"), stat)
    yield _reader("written-stat", "class/block/sda/stat", lambda at: counters.read_written(at, "sda"), stat)
    yield _reader("disk-size", "class/block/sda/size", lambda at: counters.size_of(at, "sda"), "33554432\n")
    cache = "block/sda/queue/write_cache"
    yield _reader("disk-fact", cache, lambda at: counters.disk_fact(at, "sda", "queue/write_cache"), "write back\n")
    yield _reader("nfs-server", "net/rpc/nfsd", counters.read_nfs, NFSD)


def _mounted(folder: Path) -> None:
    for mount in procfs.read_mounts(folder):
        os.path.realpath(mount.source)  # where it leads to is looked up


def _system() -> Iterator[Reader]:
    def tunables(at: Path) -> object:
        return read_tunables(roots(at).sys, roots(at).proc)

    yield _reader("mounts", "self/mountinfo", _mounted, MOUNTINFO)
    yield _reader("swaps", "swaps", procfs.read_swaps, SWAPS)
    yield _reader("memory", "proc/meminfo", tunables, MEMORY)
    yield _reader("module-parameter", "sys/module/zfs/parameters/zfs_dirty_data_max", tunables, "4294967296\n")
    yield Reader("memory-total", of_text(procfs.parse_memory), (MEMORY.encode(),), TOLD)
    yield Reader("os-release", of_text(procfs.parse_os_name), (OS.encode(),))
    yield _reader("exports", "proc/fs/nfsd/exports", lambda at: read_served(roots(at)), EXPORTS)
    names = "127.0.0.1 localhost\n192.168.1.4 nas.lan nas # ours\n"
    yield _reader("hosts-file", "hosts", lambda at: all_of(own_names("nas", at / "hosts", at / "hosts")), names)
