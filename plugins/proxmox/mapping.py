"""What a cluster knows by a name of its own: /etc/pve/mapping/pci.cfg, usb.cfg and directory.cfg.

The form: PVE::Mapping::PCI, USB and Dir in pve-guest-common, and parse_config() in pve-common, SectionConfig.pm.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from plugins.proxmox.config import properties_of, read_file

Fields = dict[str, str]
Mapped = dict[str, tuple[Fields, ...]]


@dataclass(frozen=True)
class Mappings:
    """What stands on this node behind each name."""

    pci: Mapped = field(default_factory=dict)
    usb: Mapped = field(default_factory=dict)
    directory: Mapped = field(default_factory=dict)


def read_mappings(pve: Path) -> Mappings:
    """Those of this node; `pve` is /etc/pve.

    Raises:
        MachineUnreadable: the cluster file system does not answer.
    """
    node = (pve / "local").resolve().name
    files = {kind: pve / f"mapping/{kind}.cfg" for kind in ("pci", "usb", "directory")}
    return Mappings(**{kind: parse_mapping(read_file(file), node) for kind, file in files.items() if file.exists()})


def parse_mapping(text: str, node: str) -> Mapped:
    """Sections "name" with lines "map node=…,path=…,id=…", one or more a node."""
    found: dict[str, tuple[Fields, ...]] = defaultdict(tuple)
    name = ""
    for line in text.split("\n"):
        if line.lstrip().startswith("#"):
            continue
        if line and not line[0].isspace():
            name = line.strip()
        key, *rest = line.split(maxsplit=1)[:2] or [""]
        fields = properties_of(rest[0], "") if rest else {}
        if key == "map" and fields.get("node") == node:
            found[name] += (fields,)
    return dict(found)
