"""Block devices for tests, as udev shows those of a usual machine."""

from dataclasses import replace
from typing import Any

from nasadvisor.domain.storage.inventory import Disk, Hold, Pool, Vdev
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters.disks import disks_of
from nasadvisor.host.adapters.holds import surroundings
from nasadvisor.host.adapters.procfs import Mount
from nasadvisor.host.adapters.udev import BlockDevice

ZFS_TYPE = "6a898cc3-1dd2-11b2-99a6-080020736631"


def disk(name: str, size_bytes: int = 16 * GIB, /, **properties: str) -> BlockDevice:
    """A SATA SSD with links, serial and WWN made from its kernel name."""
    number = int.from_bytes(name.encode())
    wwn = f"0x50025{number:011x}"
    links = (f"/dev/disk/by-id/ata-Fast_SSD_{name.upper()}", f"/dev/disk/by-id/wwn-{wwn}", f"/dev/disk/by-path/{name}")
    told = {
        "ID_BUS": "ata",
        "ID_MODEL": "Fast_SSD",
        "ID_MODEL_ENC": r"Fast\x20SSD\x20\x20",
        "ID_SERIAL_SHORT": name.upper(),
        "ID_WWN": wwn,
    }
    return BlockDevice(
        name, f"/sys/devices/pci0/{name}", f"8:{number}", "", {**told, **properties}, links, size_bytes=size_bytes
    )


def part(name: str, number: int, size_bytes: int = GIB, /, **properties: str) -> BlockDevice:
    """A partition of the disk of that name, the first at 1 MiB and all of the same size."""
    start = MIB + (number - 1) * size_bytes
    partuuid = f"00000000-0000-4000-8000-{int.from_bytes(name.encode()):010x}{number:02x}"
    told = {
        "ID_PART_ENTRY_UUID": partuuid,
        "ID_PART_ENTRY_TYPE": ZFS_TYPE,
        "ID_PART_ENTRY_OFFSET": str(start // 512),
        "ID_PART_ENTRY_SIZE": str(size_bytes // 512),
    }
    return BlockDevice(
        f"{name}{number}",
        f"/sys/devices/pci0/{name}/{name}{number}",
        f"8:{number + 1000 * int.from_bytes(name.encode())}",
        name,
        {**told, **properties},
        (f"/dev/disk/by-id/ata-Fast_SSD_{name.upper()}-part{number}", f"/dev/disk/by-partuuid/{partuuid}"),
        size_bytes=size_bytes,
        start_bytes=start,
        partition_number=number,
    )


def gpt(device: BlockDevice) -> BlockDevice:
    """The disk, with a GPT."""
    table = {"ID_PART_TABLE_TYPE": "gpt", "ID_PART_TABLE_UUID": "11111111-0000-4000-8000-000000000001"}
    return replace(device, properties={**device.properties, **table})


def virtual(name: str, *links: str, **properties: str) -> BlockDevice:
    """A device made by device-mapper, md or the like."""
    number = f"253:{int.from_bytes(name.encode())}"
    return BlockDevice(name, f"/sys/devices/virtual/block/{name}", number, "", properties, links, size_bytes=GIB)


def held_by(device: BlockDevice, *names: str) -> BlockDevice:
    """The device, with these on top of it."""
    return replace(device, holders=names)


def pool(name: str, *leaves: tuple[str, str]) -> Pool:
    """A pool of single disks, each given as path and guid."""
    vdevs = tuple(Vdev(guid, "disk", path, "ONLINE", path) for path, guid in leaves)
    return Pool(name, "1", "ONLINE", 12, 0, 0, False, False, "", False, (), data=vdevs)


def inventory_disks(
    *devices: BlockDevice, mounts: tuple[Mount, ...] = (), swaps: tuple[str, ...] = (), pools: Any = (), **paths: str
) -> dict[str, Disk]:
    """The disks by kernel name. `paths` are resolved paths, given without their leading slash and with `_` for `/`."""
    real = {"/" + path.replace("_", "/"): target for path, target in paths.items()}
    found = disks_of(devices, surroundings(devices, mounts, swaps, pools, real))
    return {disk.kernel_name: disk for disk in found}


def shown(holds: tuple[Hold, ...]) -> list[str]:
    """Holds in short."""
    return [f"{hold.kind}:{hold.what}" for hold in holds]
