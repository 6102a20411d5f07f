"""Devices that a guest can be given, and whether an SSD of this host is one of them, or hangs on it.

The arguments of a virtual machine for QEMU (`args`) are handed on by Proxmox VE as they are. They are searched rather
than understood: QEMU takes each option as "key=value,…" and as JSON, and a disk may be named by a path, by `nvme://`,
or by the PCI function of its controller.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from nasadvisor.domain.storage.inventory import Disk

_SCSI: Final = re.compile(r"sg\d+|bsg/(?P<bsg>[\d:]+)")
_USB: Final = re.compile(r"bus/usb/(?P<bus>\d{3})/(?P<number>\d{3})")
_CONTROLLER: Final = re.compile(r"nvme\d+")
_PCI: Final = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-9a-f]))?", re.IGNORECASE)


@dataclass(frozen=True)
class DevicePath:
    """A path: a disk, a partition, or one of the character devices that lead to an SSD as well."""

    path: str

    def is_of(self, ssd: Disk, root: Path) -> bool:
        """By a name that udev knows, or by a link of anybody's making to it."""
        dev, real = (root / "dev").resolve(), (root / self.path.lstrip("/")).resolve()
        name = real.relative_to(dev).as_posix() if real.is_relative_to(dev) else ""
        paths = {self.path, f"/dev/{name}"} if name else {self.path}
        parts = any(part.is_at(path) for part in ssd.partitions for path in paths)
        return parts or any(ssd.is_at(path) for path in paths) or _is_character_of(name, ssd, root)


@dataclass(frozen=True)
class DeviceNumbers:
    """All devices of a kind, "block" or "char", whose numbers fit: "259:0", "259:*"."""

    kind: str
    numbers: str

    def is_of(self, ssd: Disk, root: Path) -> bool:
        """By udev's links, and for what the kernel calls a disk or partition by its own files too."""
        block = root / "sys/block" / ssd.kernel_name
        files = (block / "dev", *(block / part.kernel_name / "dev" for part in ssd.partitions))
        if self.kind == "block" and any(fnmatchcase(_text(file), self.numbers) for file in files):
            return True
        links = (f"/dev/{self.kind}/{link.name}" for link in (root / "dev" / self.kind).glob(self.numbers))
        return any(DevicePath(link).is_of(ssd, root) for link in links)


@dataclass(frozen=True)
class PciDevice:
    """A PCI function "0000:01:00.0", or "0000:01:00" for all of its functions."""

    address: str

    def is_of(self, ssd: Disk, root: Path) -> bool:
        """Whether it is the SSD's controller, or stands above that."""
        functions = self.address if "." in self.address else f"{self.address}."
        ways = _controllers(root / "sys/block" / ssd.kernel_name)
        return any(part.startswith(functions) for way in ways for part in way.parts)


def pci_device(text: str) -> PciDevice | None:
    """From "1:00.0", "0000:01:00" or "10000:e1:00.0": QEMU and Proxmox VE take a domain of four digits and more, as
    Intel VMD and Hyper-V have them, and 0000 where there is none.
    """
    found = _PCI.fullmatch(text.strip())
    if found is None:
        return None
    domain, bus, slot = (int(each or "0", 16) for each in found.groups()[:3])
    function = f".{found[4].lower()}" if found[4] else ""
    return PciDevice(f"{domain:04x}:{bus:02x}:{slot:02x}{function}")


@dataclass(frozen=True)
class UsbDevice:
    """A USB device by its bus, the ports on the way to it ("1.4"), its number on the bus, its vendor and product.

    What is 0 or "" is not asked for (usb_host_auto_check() in QEMU, hw/usb/host-libusb.c).
    """

    bus: int = 0
    port: str = ""
    number: int = 0
    vendor: int = 0
    product: int = 0

    def is_of(self, ssd: Disk, root: Path) -> bool:
        """Whether it is the case that the SSD is in."""
        # The first USB device on the way up; those above it are hubs.
        block = root / "sys/block" / ssd.kernel_name
        folder = next((folder for folder in block.resolve().parents if (folder / "idVendor").exists()), None)
        if folder is None:
            return False
        facts = (
            (self.bus, _number(folder / "busnum", 10) or _number_of(folder.name.partition("-")[0], 10)),
            (self.port, folder.name.partition("-")[2]),  # "2-1.4": usb_alloc_dev() in drivers/usb/core
            (self.number, _number(folder / "devnum", 10)),
            (self.vendor, _number(folder / "idVendor", 16)),
            (self.product, _number(folder / "idProduct", 16)),
        )
        return all(wanted == found for wanted, found in facts if wanted)


Device = DevicePath | DeviceNumbers | PciDevice | UsbDevice


def _is_character_of(name: str, ssd: Disk, root: Path) -> bool:
    """Whether a character device, by its name in /dev, leads to an SSD: the controller or a namespace of NVMe, SCSI
    generic, or the USB device that it is in.
    """
    block = root / "sys/block" / ssd.kernel_name
    if found := _SCSI.fullmatch(name):
        kind, device = ("bsg", found["bsg"]) if found["bsg"] else ("scsi_generic", name)
        below = root / "sys/class" / kind / device / "device/block" / ssd.kernel_name
        return below.exists() or (block / "device" / kind / device).exists()
    if found := _USB.fullmatch(name):
        return UsbDevice(bus=int(found["bus"]), number=int(found["number"])).is_of(ssd, root)
    if _CONTROLLER.fullmatch(name):
        controllers = {part for way in _controllers(block) for part in way.parts if _CONTROLLER.fullmatch(part)}
        return name in controllers or (not controllers and ssd.kernel_name.startswith(f"{name}n"))
    return name.startswith("ng") and name.replace("ng", "nvme") == ssd.kernel_name


def _controllers(block: Path) -> tuple[Path, ...]:
    """Where a disk hangs in /sys. An NVMe SSD with several paths is virtual, beside links to its controllers."""
    own = block.resolve()
    links = own.parent.glob("nvme*") if own.parent.name.startswith("nvme-subsys") else ()
    return (own, *(link.resolve() for link in links if link.is_symlink()))


def _number(file: Path, base: int) -> int:
    return _number_of(_text(file), base)


def _number_of(text: str, base: int) -> int:
    try:
        return int(text, base)
    except ValueError:
        return 0


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


_BETWEEN: Final = re.compile(r"[\s,;\"'{}=]+")
_ADDRESS: Final = re.compile(
    r"(?<![\w:.])(?:[0-9a-f]{1,8}:)?[0-9a-f]{1,2}:[0-9a-f]{1,2}\.[0-7](?![\w:.])", re.IGNORECASE
)
_USB_OPTION: Final = re.compile(
    r"[\"']?\b(host(?:bus|addr|port)|vendorid|productid)[\"']?\s*[=:]\s*[\"']?([0-9a-fx.]+)", re.IGNORECASE
)
_USB_HOST: Final = re.compile(r"(?:^|\bdriver[\"']?\s*[=:]\s*[\"']?)usb-host\b")
_USB_NUMBERS: Final = {"hostbus": "bus", "hostaddr": "number", "vendorid": "vendor", "productid": "product"}
_FILE: Final = re.compile(r"\b(?:file|filename|path)[\"']?\s*[=:]\s*[\"']?(?:file:)?(/[^\s,\"'}]+)")


def devices_in(args: str) -> Iterator[Device]:
    """Every device that they name."""
    for word in _BETWEEN.split(" ".join(_words(args))):
        if path := re.search("/.*", word):
            yield DevicePath(path[0])
        addresses = _ADDRESS.findall(word)
        # The bridges above it stand before it in a path of /sys.
        for address in addresses[-1:] if "/sys/" in word else addresses:
            if device := pci_device(address):
                yield device
    yield from map(_usb_device, filter(_USB_HOST.search, _words(args)))


def files_in(args: str) -> list[str]:
    """The files and directories that it works with: images of disks, directories that are shared with it."""
    return _FILE.findall(" ".join(_words(args)))


def reads_a_file(args: str) -> bool:
    """Whether further options stand in a file."""
    return any(word in ("-readconfig", "--readconfig") for word in _words(args))


def _usb_device(option: str) -> UsbDevice:
    fields = {key.lower(): value for key, value in _USB_OPTION.findall(option)}
    numbers = {name: _strtoul(fields[key]) for key, name in _USB_NUMBERS.items() if key in fields}
    return UsbDevice(port=fields.get("hostport", ""), **numbers)


def _strtoul(text: str) -> int:
    """As strtoul() reads it: "0x0bda", "3034", "05732"; 0 where it is none."""
    digits = text.lower()
    try:
        if digits.startswith("0x"):
            return int(digits, 16)
        return int(digits, 8 if digits.startswith("0") else 10)
    except ValueError:
        return 0


def _words(args: str) -> list[str]:
    """As a shell splits them (split_args() in pve-common)."""
    try:
        return shlex.split(args)
    except ValueError:
        return args.split()
