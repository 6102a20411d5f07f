"""A udev database of the loop disks, filled by the same libblkid as udev's own, and the links that udev would make."""

import os
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from nasadvisor.host.adapters.udev import SECTOR_BYTES, BlockDevice
from nasadvisor.host.errors import MachineUnreadable
from tests.devices.loops import LoopDisk, front_and_end, tool


@dataclass
class Udev:
    """What udev knows of the disks that are plugged in.

    It looks again whenever it is told to (`examine`), but at none of the disks in `blind`: of those it goes on showing
    what it knew. A link in `astray` leads to another disk than the database says. Those in `turning`, by their kernel
    names, are no SSDs.
    """

    disks: list[LoopDisk]
    blind: set[str] = field(default_factory=set)
    astray: dict[str, str] = field(default_factory=dict)
    turning: set[str] = field(default_factory=set)
    _known: dict[str, BlockDevice] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)

    def examine(self) -> None:
        """Have the kernel read the tables, look at every device, and make the links."""
        known: dict[str, BlockDevice] = {}
        for disk in filter(lambda disk: disk.name, self.disks):
            if disk.serial in self.blind:
                known |= {name: device for name, device in self._known.items() if disk.name in (name, device.disk)}
                continue
            disk.show_partitions()
            known[disk.name] = _whole(disk)
            known |= {part.name: part for part in (_part(disk, *at) for at in disk.partitions().items())}
        self._known = known
        self._make_links()

    def devices(self) -> tuple[BlockDevice, ...]:
        """Stands in for `nasadvisor.host.adapters.udev.read_devices`."""
        return tuple(replace(each, rotational=each.name in self.turning) for each in self._known.values())

    def device(self, number: int) -> BlockDevice:
        """Stands in for `nasadvisor.host.adapters.udev.read_device`."""
        name = f"{os.major(number)}:{os.minor(number)}"
        found = next((device for device in self._known.values() if device.number == name), None)
        if found is None:
            raise MachineUnreadable("udev's database", f"no block device {name}")
        return found

    def forget(self) -> None:
        """Remove every link."""
        self._known = {}
        self.astray.clear()
        self._make_links()

    def _make_links(self) -> None:
        """Of a link that several devices claim the last one has it, as with udev."""
        wanted = {link: device.node for device in self._known.values() for link in device.links} | self.astray
        for link in self._made - wanted.keys():
            Path(link).unlink(missing_ok=True)
        for link, node in wanted.items():
            path = Path(link)
            if not path.is_symlink() or str(path.readlink()) != node:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                path.symlink_to(node)
        self._made = set(wanted)


def _whole(disk: LoopDisk) -> BlockDevice:
    directory = Path("/sys/block", disk.name)
    told = {
        "DEVNAME": str(disk.node),
        "ID_BUS": "ata",
        "ID_MODEL": "Loop_SSD",
        "ID_SERIAL_SHORT": disk.serial,
        "ID_WWN": disk.wwn,
    }
    return BlockDevice(
        name=disk.name,
        sys_path=str(directory),
        number=_text(directory / "dev"),
        properties=told | _blkid(disk.name, front_and_end(disk.node)),
        links=disk.links,
        size_bytes=_number(directory / "size") * SECTOR_BYTES,
        logical_sector_bytes=_number(directory / "queue/logical_block_size"),
        physical_sector_bytes=_number(directory / "queue/physical_block_size"),
        read_only=_number(directory / "ro") == 1,
        holders=_holders(directory),
    )


def _part(disk: LoopDisk, number: int, directory: Path) -> BlockDevice:
    told = _blkid(directory.name, front_and_end(disk.node), front_and_end(Path("/dev", directory.name)))
    uuid = told.get("ID_PART_ENTRY_UUID", "")
    links = [f"{link}-part{number}" for link in disk.links] + ([f"/dev/disk/by-partuuid/{uuid}"] if uuid else [])
    return BlockDevice(
        name=directory.name,
        sys_path=str(directory),
        number=_text(directory / "dev"),
        disk=disk.name,
        properties={"DEVNAME": f"/dev/{directory.name}"} | told,
        links=tuple(sorted(links)),
        size_bytes=_number(directory / "size") * SECTOR_BYTES,
        start_bytes=_number(directory / "start") * SECTOR_BYTES,
        partition_number=number,
        read_only=_number(directory / "ro") == 1,
        holders=_holders(directory),
    )


@lru_cache(maxsize=1024)
def _blkid(name: str, *_checksums: int) -> dict[str, str]:
    """The properties that udev's own blkid sets. Exit code 2: nothing was recognised; 8: more than one thing was.

    Each start of it costs milliseconds, so it is not asked again while the checksums are the same.
    """
    lines = tool("blkid", "--probe", "--output", "udev", f"/dev/{name}", codes=(0, 2, 8)).splitlines()
    return {key: value for key, equals, value in (line.partition("=") for line in lines) if equals}


def _holders(directory: Path) -> tuple[str, ...]:
    return tuple(sorted(holder.name for holder in (directory / "holders").iterdir()))


def _text(path: Path) -> str:
    return path.read_text().strip()


def _number(path: Path) -> int:
    return int(_text(path))
