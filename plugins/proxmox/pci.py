"""PCI devices that were handed to guests: an SSD among them, or its controller, is taken from the host when they start.

The forms: `man qm.conf`, hostpci and args; PVE::QemuServer::PCI in qemu-server.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plugins.proxmox.guests import KINDS, entries_of, guest_name, read_file
from plugins.proxmox.mapping import Fields, fields_of, mapped_devices

_KEY: Final = re.compile(r"hostpci\d+")
_IN_ARGS: Final = re.compile(r"vfio-pci,(?:\S*,)?host=([0-9A-Fa-f:.]+)")
_ADDRESS: Final = re.compile(r"(?:(?P<domain>[0-9a-f]{4}):)?(?P<rest>[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-9a-f])?)")


@dataclass(frozen=True)
class GuestPciDevice:
    """A device of a guest: `key` is "hostpci0", `address` "0000:01:00.0", or "0000:01:00" for all of its functions."""

    guest: str
    key: str
    address: str

    def carries(self, block: Path) -> bool:
        """Whether a disk, by its name in /sys/block, hangs on this device."""
        functions = self.address if "." in self.address else f"{self.address}."
        return any(part.startswith(functions) for path in _controllers(block) for part in path.parts)


def guest_pci_devices(pve: Path) -> tuple[GuestPciDevice, ...]:
    """What is handed to the virtual machines of this node; `pve` is /etc/pve.

    Raises:
        MachineUnreadable: the cluster file system does not answer.
    """
    mapped = mapped_devices(pve, "pci")
    word, name_key = KINDS["qemu-server"]
    return tuple(
        GuestPciDevice(guest_name(entries, word, file.stem, name_key), key, address)
        for file in sorted((pve / "qemu-server").glob("*.conf"))
        for entries in (entries_of(read_file(file)),)
        for key, value in entries
        for address in _addresses(key, value, mapped)
    )


def _controllers(block: Path) -> tuple[Path, ...]:
    """Where a disk hangs in /sys. An NVMe SSD with several paths is virtual, beside links to its controllers."""
    own = block.resolve()
    links = own.parent.glob("nvme*") if own.parent.name.startswith("nvme-subsys") else ()
    return (own, *(link.resolve() for link in links if link.is_symlink()))


def _addresses(key: str, value: str, mapped: dict[str, tuple[Fields, ...]]) -> Iterator[str]:
    if key == "args":
        for address in _IN_ARGS.findall(value):
            yield from _split(address)
    if _KEY.fullmatch(key):
        fields = fields_of(value)
        yield from _split(fields.get("host", ""))
        for each in mapped.get(fields.get("mapping", ""), ()):
            yield from _split(each.get("path", ""))


def _split(addresses: str) -> Iterator[str]:
    """Several addresses stand beside each other with a semicolon; without a domain it is 0000."""
    for word in addresses.lower().split(";"):
        found = _ADDRESS.fullmatch(word.strip())
        if found:
            yield f"{found['domain'] or '0000'}:{found['rest']}"
