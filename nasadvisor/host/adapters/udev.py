"""Every block device as udev's database and sysfs show it. Nothing is concluded here; see `holds` and `disks`.

No program is started and no disk is touched, however many there are.
"""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyudev

from nasadvisor.domain.storage.inventory import Slot
from nasadvisor.host.adapters.procfs import text_or_nothing
from nasadvisor.host.errors import MachineUnreadable

SECTOR_BYTES: Final = 512
"""The unit of `size` and `start` in sysfs, whatever sectors the disk has (Documentation/ABI/stable/sysfs-block)."""

NOT_EXAMINED: Final = "udev has not examined it yet; `udevadm settle` waits until it has"

PROPERTIES: Final = (
    *("DEVNAME", "DM_NAME", "DM_VG_NAME", "DM_MULTIPATH_DEVICE_PATH"),
    *("ID_ATA", "ID_BUS", "ID_CDROM", "ID_MODEL", "ID_MODEL_ENC", "ID_NAME", "ID_PATH", "ID_SCSI_SERIAL", "ID_SERIAL"),
    *("ID_SERIAL_SHORT", "ID_WWN", "ID_WWN_WITH_EXTENSION", "SCSI_IDENT_SERIAL"),
    *("ID_FS_AMBIVALENT", "ID_FS_LABEL", "ID_FS_LABEL_ENC", "ID_FS_TYPE", "ID_FS_USAGE", "ID_FS_UUID"),
    *("ID_FS_UUID_SUB", "ID_PART_ENTRY_NAME", "ID_PART_ENTRY_OFFSET", "ID_PART_ENTRY_SIZE", "ID_PART_ENTRY_TYPE"),
    *("ID_PART_ENTRY_UUID", "ID_PART_TABLE_TYPE", "ID_PART_TABLE_UUID"),
)
"""Those that we use, of the hundred and more that a disk has."""


_of_thread: Final = threading.local()


@dataclass(frozen=True)
class BlockDevice:
    """A disk, a partition, or a device made by device-mapper, md and the like.

    `disk` is the kernel name of the disk that a partition is on, else "". `number` is "major:minor". Sector sizes,
    `rotational` and `removable` are told of whole disks only. `unread` says what of it could not be read, "" where all
    could.

    `namespace` is the number of an NVMe namespace, `transports` are those of its controllers ("pcie", "tcp"). `zoned`
    is the kernel's word for the kind of zones of a disk that cannot be written anywhere because of them, else "".
    """

    name: str
    sys_path: str
    number: str
    disk: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    size_bytes: int = 0
    start_bytes: int = 0
    partition_number: int = 0
    logical_sector_bytes: int = 512
    physical_sector_bytes: int = 512
    rotational: bool = False
    removable: bool = False
    read_only: bool = False
    zoned: str = ""
    namespace: str = ""
    transports: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    unread: str = ""

    def get(self, name: str) -> str:
        """A property, "" where it is not set."""
        return self.properties.get(name, "")

    @property
    def node(self) -> str:
        """The kernel's own path of it. It changes between boots."""
        return f"/dev/{self.name}"


def read_devices() -> tuple[BlockDevice, ...]:
    """Every block device of the machine, in no particular order.

    The paths below an NVMe SSD with native multipath are none: the kernel hides them, without a node and without events
    (Documentation/ABI/stable/sysfs-block, "hidden"), and shows the SSD itself.

    Raises:
        MachineUnreadable: there is no udev, or its database cannot be listed.
    """
    try:
        found = _context().list_devices(subsystem="block")
        return tuple(_read_device(device) for device in found if not _is_hidden(device))
    except (OSError, ImportError) as error:
        raise MachineUnreadable("udev's database", str(error)) from error


def read_device(number: int) -> BlockDevice:
    """The block device with this device number (`st_rdev`).

    Raises:
        MachineUnreadable: udev does not know it.
    """
    try:
        return _read_device(pyudev.Devices.from_device_number(_context(), "block", number))
    except (OSError, ImportError, pyudev.DeviceNotFoundError) as error:
        raise MachineUnreadable("udev's database", f"no block device {os.major(number)}:{os.minor(number)}") from error


def _context() -> Any:
    """What libudev is asked by: one for each thread, since several must not share one (pyudev, "Thread safety").

    It keeps nothing of the devices. Making one takes 25 ms in the lab's guest, for libudev is looked for among all
    libraries, and a run asks forty times.

    Raises:
        ImportError: there is no libudev.
    """
    if not hasattr(_of_thread, "context"):
        _of_thread.context = pyudev.Context()
    return _of_thread.context


def _is_hidden(device: Any) -> bool:
    is_whole = device.device_type != "partition"
    return device.device_number == 0 or (is_whole and _text(device.attributes, "hidden") == "1")


def _text(attributes: Any, name: str) -> str:
    """An attribute that not every kernel or device has; "" without it."""
    value = attributes.get(name)
    return value.decode(errors="replace").strip() if value else ""


def _read_device(device: Any) -> BlockDevice:
    number = device.device_number
    found = BlockDevice(
        name=device.sys_name,
        sys_path=device.sys_path,
        number=f"{os.major(number)}:{os.minor(number)}",
        disk=_disk_above(device.sys_path) if device.device_type == "partition" else "",
    )
    try:
        told = device.properties
        properties = {name: value for name in PROPERTIES if (value := told.get(name)) is not None}
        found = replace(found, properties=properties, links=tuple(sorted(device.device_links)))
        found = _with_sysfs(found, device.attributes)
    except (OSError, KeyError, ValueError) as error:  # gone meanwhile, or not what the kernel's documentation says
        return replace(found, unread=f"it could not be read ({error}); check the cable and the kernel log")
    return found if device.is_initialized else replace(found, unread=NOT_EXAMINED)


def _disk_above(sys_path: str) -> str:
    """The name of the disk that a partition is on, as udev has it: sysfs writes a slash in a name as "!"."""
    return sys_path.rpartition("/")[0].rpartition("/")[2].replace("!", "/")


def _with_sysfs(device: BlockDevice, attributes: Any) -> BlockDevice:
    """Documentation/ABI/stable/sysfs-block of the kernel. What belongs to the disk is not asked of its partitions."""
    found = replace(
        device,
        size_bytes=attributes.asint("size") * SECTOR_BYTES,
        read_only=attributes.asint("ro") == 1,
        holders=tuple(
            sorted(name.replace("!", "/") for name in os.listdir(f"{device.sys_path}/holders"))  # noqa: PTH208 - quicker
        ),
    )
    if device.disk:
        return replace(
            found,
            start_bytes=attributes.asint("start") * SECTOR_BYTES,
            partition_number=attributes.asint("partition"),
        )
    sector_bytes = attributes.asint("queue/logical_block_size")
    if sector_bytes < SECTOR_BYTES:
        raise ValueError(f"its sectors have {sector_bytes} bytes")
    return replace(
        found,
        logical_sector_bytes=sector_bytes,
        physical_sector_bytes=attributes.asint("queue/physical_block_size"),
        rotational=attributes.asint("queue/rotational") == 1,
        removable=attributes.asint("removable") == 1,
        zoned=_zones(_text(attributes, "queue/zoned")),
        namespace=_text(attributes, "nsid"),
        transports=_transports(Path(device.sys_path).parent) if device.name.startswith("nvme") else (),
    )


def _zones(told: str) -> str:
    """A host-aware disk takes writes anywhere, and the kernel takes it for a usual one once it has a partition
    (disk_set_zoned() until Linux 6.7, which was the last to show it as zoned at all)."""
    return "" if told in ("none", "host-aware") else told


def _transports(controller: Path) -> tuple[str, ...]:
    """A namespace hangs on its controller, or where several paths are put together on the subsystem above it."""
    files = (controller / "transport", *controller.glob("nvme*/transport"))
    return tuple(sorted({text_or_nothing(file) for file in files} - {""}))


def slot_of(sys: Path, kernel_name: str) -> Slot | None:
    """The slot of a whole disk; None where the machine does not tell, as without an enclosure."""
    device = sys / "class/block" / kernel_name / "device"
    return _in_enclosure(device) or _in_pci(sys, device)


def _in_enclosure(device: Path) -> Slot | None:
    for place in sorted(device.glob("enclosure_device:*")):
        box = place.resolve().parent
        words = (text_or_nothing(box / "device" / fact) for fact in ("vendor", "model"))
        name = " ".join(" ".join(filter(None, words)).split())
        return Slot(place.name.partition(":")[2].strip(), name or text_or_nothing(box / "id"))
    return None


def _in_pci(sys: Path, device: Path) -> Slot | None:
    """A namespace hangs on its controller, or where several paths are put together on the subsystem above it."""
    addresses = (text_or_nothing(each / "address") for each in (device, *sorted(device.glob("nvme*"))))
    address = next(filter(None, addresses), "").rpartition(".")[0]
    for place in sorted((sys / "bus/pci/slots").glob("*")) if address else ():
        if text_or_nothing(place / "address") == address:
            return Slot(place.name)
    return None
