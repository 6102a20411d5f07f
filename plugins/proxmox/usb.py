"""USB devices that were handed to virtual machines: an SSD in a USB case among them is theirs while they run.

The forms: `man qm.conf`, usb; parse_usb_device() in qemu-server, QemuServer/USB.pm.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plugins.proxmox.guests import KINDS, entries_of, guest_name, read_file
from plugins.proxmox.mapping import Fields, fields_of, mapped_devices

_KEY: Final = re.compile(r"usb\d+")
_PORT: Final = re.compile(r"\d+-\d+(?:\.\d+)*")
_IDS: Final = re.compile(r"(?:0x)?(?P<vendor>[0-9a-f]{4}):(?:0x)?(?P<product>[0-9a-f]{4})")


@dataclass(frozen=True)
class GuestUsbDevice:
    """A USB device of a guest: `key` is "usb0"; `port` "1-2.4" (bus and ports) or "", `ids` "0bda:9210" or ""."""

    guest: str
    key: str
    port: str = ""
    ids: str = ""

    def carries(self, block: Path) -> bool:
        """Whether a disk, by its name in /sys/block, is this device."""
        for folder in block.resolve().parents:  # the first is the disk's own case, those above it are hubs
            ids = _ids_at(folder)
            if ids:  # the kernel names a USB device by its bus and ports, "1-2.4" (usb_alloc_dev() in drivers/usb/core)
                return folder.name == self.port if self.port else ids == self.ids
        return False


def guest_usb_devices(pve: Path) -> tuple[GuestUsbDevice, ...]:
    """What is handed to the virtual machines of this node; `pve` is /etc/pve.

    Raises:
        MachineUnreadable: the cluster file system does not answer.
    """
    mapped = mapped_devices(pve, "usb")
    word, name_key = KINDS["qemu-server"]
    return tuple(
        device
        for file in sorted((pve / "qemu-server").glob("*.conf"))
        for entries in (entries_of(read_file(file)),)
        for key, value in entries
        if _KEY.fullmatch(key)
        for device in _devices(guest_name(entries, word, file.stem, name_key), key, fields_of(value), mapped)
    )


def _devices(guest: str, key: str, fields: Fields, mapped: dict[str, tuple[Fields, ...]]) -> Iterator[GuestUsbDevice]:
    named = [each.get("path") or each.get("id", "") for each in mapped.get(fields.get("mapping", ""), ())]
    for device in (fields.get("host", ""), *named):
        ids = _IDS.fullmatch(device.lower())
        if ids:
            yield GuestUsbDevice(guest, key, ids=f"{ids['vendor']}:{ids['product']}")
        elif _PORT.fullmatch(device):
            yield GuestUsbDevice(guest, key, port=device)


def _ids_at(folder: Path) -> str:
    """Vendor and product of a USB device by its folder in /sys; "" for any other folder."""
    try:
        return ":".join(
            (folder / name).read_text(encoding="ascii").strip().lower() for name in ("idVendor", "idProduct")
        )
    except (OSError, ValueError):
        return ""
