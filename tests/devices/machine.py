"""A machine of loop disks: the product's own executor and readers on devices that a test may break."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from nasadvisor.domain.storage.inventory import Host
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters import disks
from nasadvisor.host.storage.machine import Machine
from tests.devices.loops import LoopDisk, tool
from tests.devices.pools import MemoryPool, MemoryPools
from tests.devices.runner import LoopRunner
from tests.devices.udev import Udev

DISK_BYTES: Final = 512 * MIB
TANK: Final = 1234567890123456789
_NUMBERS = count(1)


@dataclass(frozen=True)
class ThisHost:
    """The host reader."""

    def read(self) -> Host:
        return Host("nas", "Debian GNU/Linux 13", "6.12.0", "2.3.9-1", "2.3.9-1", 32 * GIB)


@dataclass
class LoopMachine:
    """SSDs that are loop devices, and the pool tank in memory."""

    directory: Path
    disks: list[LoopDisk] = field(default_factory=list)
    pools: MemoryPools = field(default_factory=lambda: MemoryPools([MemoryPool("tank", TANK)]))
    mounts: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.udev = Udev(self.disks)
        self.runner = LoopRunner(self.udev, self.pools)

    @property
    def machine(self) -> Machine:
        return Machine(
            runner=self.runner,
            host=ThisHost(),
            pools=self.pools,
            disks=disks.HostDisks(Path("/proc"), Path("/dev"), Path("/sys")),
            clock=lambda: datetime.now(UTC),
        )

    @property
    def tank(self) -> MemoryPool:
        return next(pool for pool in self.pools.pools if pool.guid == TANK)

    def add_disk(self, sector_bytes: int = 512, size_bytes: int = DISK_BYTES) -> LoopDisk:
        """A new SSD, blank and plugged in."""
        number = f"{os.getpid():08x}{next(_NUMBERS):04x}"
        file = self.directory / f"{number}.img"
        with file.open("wb") as opened:
            opened.truncate(size_bytes)
        serial, wwn = f"L{number}".upper(), f"0x5eed{number}"
        links = (f"/dev/disk/by-id/ata-LOOP_SSD_{serial}", f"/dev/disk/by-id/wwn-{wwn}")
        disk = LoopDisk(file, serial, wwn, sector_bytes, links)
        disk.plug_in()
        self.disks.append(disk)
        self.udev.examine()
        return disk

    def pull(self, disk: LoopDisk) -> None:
        """Take an SSD out while the machine runs."""
        self.pools.let_go({str(disk.node), *(f"/dev/{part.name}" for part in disk.partitions().values())})
        disk.pull()
        self.udev.examine()

    def plug_in(self, disk: LoopDisk) -> None:
        disk.plug_in()
        self.udev.examine()

    def mkfs(self, node: Path) -> None:
        """Somebody makes an ext4, all of it at once: else the kernel goes on writing when it is mounted."""
        tool("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(node))
        self.udev.examine()

    def sgdisk(self, disk: LoopDisk, *args: str) -> None:
        """Somebody changes the partition table."""
        tool("sgdisk", *args, str(disk.node))
        self.udev.examine()

    @contextmanager
    def mounted(self, node: Path) -> Iterator[Path]:
        """A file system in use, with a file in it."""
        target = self.directory / f"mnt-{node.name}"
        target.mkdir(exist_ok=True)
        tool("mount", str(node), str(target))
        self.mounts.append(target)
        (target / "theirs").write_bytes(os.urandom(MIB))
        tool("sync", "--file-system", str(target))
        try:
            yield target
        finally:
            tool("umount", str(target))
            self.mounts.remove(target)

    def close(self) -> None:
        """Free everything, whatever state it is in."""
        for target in self.mounts:
            tool("umount", "--lazy", str(target), codes=(0, 32))
        self.pools.close()
        for disk in self.disks:
            disk.pull()
        self.udev.forget()


@contextmanager
def loop_machine(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopMachine]:
    """A machine without disks; udev's database is that of its loop disks."""
    machine = LoopMachine(directory)
    monkeypatch.setattr(disks, "read_devices", machine.udev.devices)
    monkeypatch.setattr(disks, "read_device", machine.udev.device)
    try:
        yield machine
    finally:
        machine.close()
