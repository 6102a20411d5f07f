"""What guests of a node were given of its devices, and what of that cannot be told.

The forms: `man qm.conf`, `man pct.conf`, `man lxc.container.conf`; device_cgroup_rule_parse() in LXC, cgroups/cgfsng.c.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.host.adapters.procfs import unescaped
from plugins.proxmox.config import CONTAINER, GuestConfig, GuestKind, Mappings, properties_of
from plugins.proxmox.devices import Device, DeviceNumbers, DevicePath, UsbDevice, devices_in, pci_device, reads_a_file

_DISKS: Final = {
    "qemu-server": re.compile(r"(?:ide|sata|scsi|virtio|efidisk|tpmstate|unused)\d+|cdrom"),
    "lxc": re.compile(r"(?:mp|dev|unused)\d+|rootfs"),
}
_NAMED: Final = ("file", "volume", "path")
"""The key of the word that is meant: in qemu-server, in pve-container, of its devN. It may go without."""

_ALLOW: Final = frozenset({"lxc.cgroup2.devices.allow", "lxc.cgroup.devices.allow"})
_RULE: Final = re.compile(r"(?P<letter>[abc])\s+(?P<major>\d+|\*):(?P<minor>\d+|\*)(?:\s+(?P<access>[rwm]+))?.*")
_KINDS: Final = {"a": ("block", "char"), "b": ("block",), "c": ("char",)}
_ANY: Final = "*:*"

_LUN: Final = re.compile(r"[^:/]+:\d+\.\d+\.\d+\.(\S+)")
"""A LUN of a storage on iSCSI: host, channel, target, and its name in /dev/disk/by-id (pve-storage, ISCSIPlugin.pm)."""

_USB_PORT: Final = re.compile(r"(\d+)-(\d+(?:\.\d+)*)")
_USB_IDS: Final = re.compile(r"(?:0x)?([0-9a-f]{4}):(?:0x)?([0-9a-f]{4})", re.IGNORECASE)

_HIDDEN: Final = re.compile(r"lxc\.include|lxc\.mount(?:\.fstab)?|lxc\.hook\.(?!version$).*|hookscript")
"""Keys of files and programs that may give more to a guest; `lxc.mount` is what lxc.mount.fstab was called."""


@dataclass(frozen=True)
class GivenDevice:
    """A device of a guest: `key` is "scsi0", "dev0", "hostpci0", "args" or "lxc.mount.entry"."""

    guest: str
    key: str
    device: Device


def given_devices(guests: Iterable[GuestConfig], mappings: Mappings) -> Iterator[GivenDevice]:
    """Everything that is named in the configurations, that of the next start too."""
    for guest in guests:
        for key, value in guest.entries:
            for device in _devices(guest.kind, key, value, mappings):
                yield GivenDevice(guest.name, key, device)


def keys_for_any(guest: GuestConfig) -> tuple[str, ...]:
    """The keys by which a container may open every disk of the host, without one being named."""
    found = [key for key, value in guest.entries if guest.kind is CONTAINER and _is_for_any(key, value)]
    return tuple(dict.fromkeys(found))


def _is_for_any(key: str, value: str) -> bool:
    rules = any(rule.numbers == _ANY for rule in _allowed(key, value))
    volume = volume_of(CONTAINER, key, value)
    is_all_of_dev = key == "lxc.mount.entry" and value.split()[2:3] == ["devtmpfs"]
    return rules or is_all_of_dev or (volume.startswith("/") and volume.rstrip("/") in ("", "/dev"))


def keys_that_hide(guest: GuestConfig) -> tuple[str, ...]:
    """The keys that name files and programs by which a guest may be given more than its configuration says."""
    args = ("args" for key, value in guest.entries if key == "args" and reads_a_file(value))
    return tuple(dict.fromkeys((*(key for key, _value in guest.entries if _HIDDEN.fullmatch(key)), *args)))


def volume_of(kind: GuestKind, key: str, value: str) -> str:
    """What an entry of a disk, directory or device gives: "local-zfs:vm-100-disk-0", a directory, a path in /dev; ""
    where it is an entry of anything else.
    """
    if _DISKS[kind.folder].fullmatch(key):
        properties = properties_of(value, "")
        return next((properties[name] for name in (*_NAMED, "") if name in properties), "")
    if kind is CONTAINER and key == "lxc.mount.entry":  # like a line of fstab(5): what is mounted comes first
        return unescaped(next(iter(value.split()), ""))
    return ""


def _devices(kind: GuestKind, key: str, value: str, mappings: Mappings) -> Iterator[Device]:
    if kind is CONTAINER:
        yield from _of_container(key, value)
    elif key == "args":
        yield from devices_in(value)
    elif re.fullmatch(r"hostpci\d+", key):
        fields = properties_of(value, "host")
        paths = [each.get("path", "") for each in mappings.pci.get(fields.get("mapping", ""), ())]
        words = (word for path in (fields.get("host", ""), *paths) for word in path.split(";"))
        yield from filter(None, map(pci_device, words))
    elif re.fullmatch(r"usb\d+", key):
        fields = properties_of(value, "host")
        named = [each.get("path") or each.get("id", "") for each in mappings.usb.get(fields.get("mapping", ""), ())]
        yield from filter(None, map(_usb_device, (fields.get("host", ""), *named)))
    else:
        yield from _of_disk(volume_of(kind, key, value))


def _of_disk(volume: str) -> Iterator[Device]:
    lun = _LUN.fullmatch(volume)
    path = f"/dev/disk/by-id/{lun[1]}" if lun else volume
    if path.startswith("/"):
        yield DevicePath(path)


def _of_container(key: str, value: str) -> Iterator[Device]:
    yield from (rule for rule in _allowed(key, value) if rule.numbers != _ANY)
    path = value.split(maxsplit=1)[0] if key in _ALLOW and value.startswith("/") else volume_of(CONTAINER, key, value)
    if path.startswith("/"):
        yield DevicePath(path)


def _allowed(key: str, value: str) -> tuple[DeviceNumbers, ...]:
    """What a container may open of the host, by the numbers of devices. To make a node ("m") is not to open it."""
    if key not in _ALLOW:
        return ()
    rule = _RULE.fullmatch("a *:*" if value == "a" else value)
    if rule is None or rule["access"] == "m":
        return ()
    return tuple(DeviceNumbers(kind, f"{rule['major']}:{rule['minor']}") for kind in _KINDS[rule["letter"]])


def _usb_device(text: str) -> UsbDevice | None:
    """From "1-2.4" (bus and ports) or "0bda:9210" (parse_usb_device() in qemu-server, QemuServer/USB.pm)."""
    if ids := _USB_IDS.fullmatch(text):
        return UsbDevice(vendor=int(ids[1], 16), product=int(ids[2], 16))
    if port := _USB_PORT.fullmatch(text):
        return UsbDevice(bus=int(port[1]), port=port[2])
    return None
