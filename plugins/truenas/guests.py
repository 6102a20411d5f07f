"""Devices of this TrueNAS that were given to virtual machines and containers: an SSD among them is theirs.

It looks blank here while the guest has not written to it, and it is gone from here while a guest runs that has its USB
case or its controller. The forms: the middleware's api/v25_10_0/vm_device.py and virt_device.py, and
api/v26_0_0/vm_device.py and container_device.py. 25.10 and 26 accept no disk for a guest's DISK but a ZFS volume; what
an earlier release let in is still listed. Where `virt` has one that only incus let in, 25.10 cannot say it (its own
model of the answer refuses the path), so nothing can be told of that host's guests.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.host.adapters.answer import Answer
from plugins.truenas.api.connection import Connection
from plugins.truenas.api.reading import objects_of

CONTAINERS_SINCE: Final = "v26.0.0"
"""The API version that has `container` in the place of `virt`."""

_PPTDEV: Final = re.compile(r"pci_([0-9a-f]{4,})_([0-9a-f]{2})_([0-9a-f]{2})_([0-9a-f])", re.IGNORECASE)
"""libvirt's name of a PCI device."""

_PCI: Final = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", re.IGNORECASE)


@dataclass(frozen=True)
class GuestDevice:
    """A device of a guest. `kind` is TrueNAS's word ("USB"); what is not known of it is "".

    `path` is a device or file, `address` a PCI function ("0000:01:00.0"). A USB device is known by its `port` ("1_2_4",
    the kernel's name "1-2.4" as libvirt writes it), by `vendor` and `product` ("0bda", "9210"), or by `bus` and
    `number` ("2", "5") until it is plugged in again. `takes_any` is set where one without any of them stands for all.
    """

    guest: str
    kind: str
    path: str = ""
    address: str = ""
    port: str = ""
    vendor: str = ""
    product: str = ""
    bus: str = ""
    number: str = ""
    takes_any: bool = False

    def has(self, disk: Disk, root: Path) -> bool:
        """Whether a disk of the host with this root directory is that device, or hangs on it."""
        block = root / "sys/block" / disk.kernel_name
        match self.kind:
            case "USB":
                # The disk's own case is the first USB device on the way up; those above it are hubs.
                folder = next((each for each in block.resolve().parents if (each / "idVendor").exists()), None)
                if folder is None:
                    return False
                facts = (
                    (self.port, re.sub(r"\W", "_", folder.name)),
                    (self.vendor, _read(folder / "idVendor")),
                    (self.product, _read(folder / "idProduct")),
                    (self.bus, _read(folder / "busnum")),
                    (self.number, _read(folder / "devnum")),
                )
                asked = [(wanted, found) for wanted, found in facts if wanted]
                return all(wanted == found for wanted, found in asked) if asked else self.takes_any
            case "PCI" | "GPU":
                return bool(self.address) and self._carries(block)
            case _:
                return bool(self.path) and _leads_to(self.path, disk, root)

    def _carries(self, block: Path) -> bool:
        own = block.resolve()  # an NVMe SSD with several paths is virtual, beside links to its controllers
        links = own.parent.glob("nvme*") if own.parent.name.startswith("nvme-subsys") else ()
        ways = (own, *(link.resolve() for link in links if link.is_symlink()))
        return any(self.address == part for way in ways for part in way.parts)


def guest_devices(connection: Connection) -> tuple[GuestDevice, ...]:
    """Everything that was given to guests, running or not.

    Raises:
        HostError: TrueNAS cannot be asked.
    """
    machines = _devices(connection, "vm", "VM")
    if connection.version >= CONTAINERS_SINCE:
        return (*machines, *_devices(connection, "container", "container"))
    return (*machines, *_instances(connection))


def _devices(connection: Connection, kind: str, word: str) -> Iterator[GuestDevice]:
    """Those of a kind of guests, which people call by that word."""
    answer = connection.call(f"{kind}.query", [], {"select": ["id", "name"]})
    names = {each.text("id"): each.text("name") for each in objects_of(f"{kind}.query", answer)}
    for entry in objects_of(f"{kind}.device.query", connection.call(f"{kind}.device.query", [], {})):
        number = entry.text(kind)
        attributes = entry.child("attributes")
        usb = attributes.child("usb") if attributes.fields.get("usb") else Answer(attributes.source, "", {})
        yield GuestDevice(
            f"{word} {names.get(number, number)}",
            attributes.text("dtype"),
            path=_text(attributes, "path") or _text(attributes, "source"),
            address=_pci(_text(attributes, "pptdev") or _text(attributes, "pci_address")),
            port=_text(attributes, "device").removeprefix("usb_"),
            vendor=_hexadecimal(usb, "vendor_id"),
            product=_hexadecimal(usb, "product_id"),
        )


def _instances(connection: Connection) -> Iterator[GuestDevice]:
    for instance in objects_of("virt.instance.query", connection.call("virt.instance.query", [], {})):
        name = instance.text("id")
        for entry in objects_of("virt.instance.device_list", connection.call("virt.instance.device_list", name)):
            yield GuestDevice(
                f"{'VM' if instance.fields.get('type') == 'VM' else 'container'} {name}",
                entry.text("dev_type"),
                path=_text(entry, "source"),
                address=_pci(_text(entry, "address") or _text(entry, "pci")),
                vendor=_hexadecimal(entry, "vendor_id"),
                product=_hexadecimal(entry, "product_id"),
                bus=_text(entry, "bus"),
                number=_text(entry, "dev"),
                takes_any=True,  # incus, doc/reference/devices_usb.md: what is not named is not asked for
            )


def _text(entry: Answer, key: str) -> str:
    return "" if entry.fields.get(key) is None else entry.text(key)


def _pci(name: str) -> str:
    found = _PPTDEV.fullmatch(name)
    address = "{}:{}:{}.{}".format(*found.groups()) if found else name
    return address.lower() if _PCI.fullmatch(address) else ""


def _hexadecimal(entry: Answer, key: str) -> str:
    return _text(entry, key).lower().removeprefix("0x")


def _leads_to(path: str, disk: Disk, root: Path) -> bool:
    """By a name that udev knows, or by a link of anybody's making to it; to a partition of it as well."""
    real = (root / path.lstrip("/")).resolve()
    names = (path, f"/dev/{real.name}") if real.parent == (root / "dev").resolve() else (path,)
    return any(disk.is_at(name) or any(part.is_at(name) for part in disk.partitions) for name in names)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip().lower()
    except (OSError, ValueError):
        return ""
