"""Devices that a cluster knows by a name of its own: /etc/pve/mapping/pci.cfg and usb.cfg.

The form: PVE::Mapping::PCI and PVE::Mapping::USB in pve-guest-common.
"""

from collections import defaultdict
from pathlib import Path

from plugins.proxmox.guests import read_file

Fields = dict[str, str]


def mapped_devices(pve: Path, kind: str) -> dict[str, tuple[Fields, ...]]:
    """What stands on this node behind each name; `kind` is "pci" or "usb", `pve` is /etc/pve.

    Raises:
        MachineUnreadable: the cluster file system does not answer.
    """
    file = pve / f"mapping/{kind}.cfg"
    return parse_mapping(read_file(file), (pve / "local").resolve().name) if file.exists() else {}


def parse_mapping(text: str, node: str) -> dict[str, tuple[Fields, ...]]:
    """Sections "name" with lines "map node=…,path=…,id=…", one or more a node."""
    found: dict[str, tuple[Fields, ...]] = defaultdict(tuple)
    name = ""
    for line in text.splitlines():
        if line and not line[0].isspace():
            name = line.strip()
        key, _, value = line.strip().partition(" ")
        fields = fields_of(value)
        if key == "map" and fields.get("node") == node:
            found[name] += (fields,)
    return dict(found)


def fields_of(value: str) -> Fields:
    """ "01:00,pcie=1" as keys and values; the first word may go without its key, which is `host`."""
    words = (word.strip().partition("=") for word in value.split(","))
    return {key if equals else "host": text if equals else key for key, equals, text in words}
