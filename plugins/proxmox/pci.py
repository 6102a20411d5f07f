"""PCI devices that were handed to guests: an SSD among them, or its controller, is taken from the host when they start.

The forms: `man qm.conf`, hostpci; PVE::QemuServer::PCI in qemu-server, and PVE::Mapping::PCI in pve-guest-common for
/etc/pve/mapping/pci.cfg.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plugins.proxmox.guests import KINDS, entries_of, guest_name, read_file

_KEY: Final = re.compile(r"hostpci\d+")
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
    mapping = pve / "mapping/pci.cfg"
    node = (pve / "local").resolve().name
    mapped = parse_mapping(read_file(mapping), node) if mapping.exists() else {}
    word, name_key = KINDS["qemu-server"]
    return tuple(
        GuestPciDevice(guest_name(entries, word, file.stem, name_key), key, address)
        for file in sorted((pve / "qemu-server").glob("*.conf"))
        for entries in (entries_of(read_file(file)),)
        for key, value in entries
        if _KEY.fullmatch(key)
        for address in _addresses(value, mapped)
    )


def _controllers(block: Path) -> tuple[Path, ...]:
    """Where a disk hangs in /sys. An NVMe SSD with several paths is virtual, beside links to its controllers."""
    own = block.resolve()
    links = own.parent.glob("nvme*") if own.parent.name.startswith("nvme-subsys") else ()
    return (own, *(link.resolve() for link in links if link.is_symlink()))


def parse_mapping(text: str, node: str) -> dict[str, tuple[str, ...]]:
    """The addresses on this node by the name of the mapping: sections "name" with lines "map node=…,path=…"."""
    found: dict[str, tuple[str, ...]] = defaultdict(tuple)
    name = ""
    for line in text.splitlines():
        if line and not line[0].isspace():
            name = line.strip()
        key, _, value = line.strip().partition(" ")
        fields = _fields(value)
        if key == "map" and fields.get("node") == node:
            found[name] += tuple(_split(fields.get("path", "")))
    return dict(found)


def _addresses(value: str, mapped: dict[str, tuple[str, ...]]) -> Iterator[str]:
    fields = _fields(value)
    yield from _split(fields.get("host", ""))
    yield from mapped.get(fields.get("mapping", ""), ())


def _fields(value: str) -> dict[str, str]:
    """ "01:00,pcie=1" as keys and values; the first word may go without its key, which is `host`."""
    words = (word.strip().partition("=") for word in value.split(","))
    return {key if equals else "host": text if equals else key for key, equals, text in words}


def _split(addresses: str) -> Iterator[str]:
    """Several addresses stand beside each other with a semicolon; without a domain it is 0000."""
    for word in addresses.lower().split(";"):
        found = _ADDRESS.fullmatch(word.strip())
        if found:
            yield f"{found['domain'] or '0000'}:{found['rest']}"
