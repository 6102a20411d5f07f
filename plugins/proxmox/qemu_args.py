"""What the arguments of a virtual machine for QEMU (`args`) give to it: each device that is named in them.

Proxmox VE hands them on as they are. They are searched rather than understood: QEMU takes each option as "key=value,…"
and as JSON, and a disk may be named by a path, by `nvme://`, or by the PCI function of its controller.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Final

from plugins.proxmox.devices import Device, DevicePath, UsbDevice, pci_device

_BETWEEN: Final = re.compile(r"[\s,;\"'{}=]+")
_ADDRESS: Final = re.compile(
    r"(?<![\w:.])(?:[0-9a-f]{1,8}:)?[0-9a-f]{1,2}:[0-9a-f]{1,2}\.[0-7](?![\w:.])", re.IGNORECASE
)
_USB: Final = re.compile(
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
    fields = {key.lower(): value for key, value in _USB.findall(option)}
    numbers = {name: _number(fields[key]) for key, name in _USB_NUMBERS.items() if key in fields}
    return UsbDevice(port=fields.get("hostport", ""), **numbers)


def _number(text: str) -> int:
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
