"""The guests of a node by their configuration in /etc/pve, read line by line as Proxmox VE reads it, and what a cluster
knows by a name of its own (/etc/pve/mapping/pci.cfg, usb.cfg and directory.cfg).

That is parse_vm_config() in qemu-server, QemuServer.pm, and parse_pct_config() in pve-container, LXC/Config.pm. Where a
key stands twice Proxmox VE takes the later one if it is valid; here both count, since a guest may run with either. For
mappings: PVE::Mapping::PCI, USB and Dir in pve-guest-common, and parse_config() in pve-common, SectionConfig.pm.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nasadvisor.host.errors import MachineUnreadable

Entry = tuple[str, str]


@dataclass(frozen=True)
class GuestKind:
    """A kind of guest: its folder, how Proxmox VE calls it, the key of its name, and what its lines look like.

    The first group of `section` is the name of a section; a line that does not fit is no section, and whatever follows
    belongs to the one before. The groups of `entry` are key and value.
    """

    folder: str
    word: str
    name_key: str
    section: re.Pattern[str]
    pending: str
    entry: re.Pattern[str]


MACHINE: Final = GuestKind(
    "qemu-server",
    "VM",
    "name",
    re.compile(r"\[([^\]]*)\]\s*"),
    "pending",
    re.compile(r"([a-z][a-z_-]*\d*):\s*(.+?)\s*"),
)
CONTAINER: Final = GuestKind(
    "lxc",
    "CT",
    "hostname",
    re.compile(r"\[(pve:pending|[a-z][a-z0-9_-]+)\]\s*", re.IGNORECASE),
    "pve:pending",
    re.compile(r"(lxc\.[a-z0-9_.-]+(?=:|\s*=)|[a-z][a-z_]*\d*(?=:))\s*[:=]\s*(.*?)\s*"),
)


@dataclass(frozen=True)
class GuestConfig:
    """A guest, `name` as people call it: "VM 100 (mail)". Snapshots are left out.

    `current` is what it runs with, `pending` what it gets when it starts next.
    """

    name: str
    kind: GuestKind
    current: tuple[Entry, ...]
    pending: tuple[Entry, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Keys and values, those that wait for the next start too."""
        return (*self.current, *self.pending)


def guest_configs(pve: Path) -> tuple[GuestConfig, ...]:
    """All guests of this node; `pve` is /etc/pve.

    Raises:
        MachineUnreadable: the cluster file system does not answer.
    """
    if not (pve / MACHINE.folder).exists():
        raise MachineUnreadable(str(pve), "no guests' configuration is there")
    return tuple(
        parse_config(kind, file.stem, read_file(file))
        for kind in (MACHINE, CONTAINER)
        for file in sorted((pve / kind.folder).glob("*.conf"))
    )


def parse_config(kind: GuestKind, number: str, text: str) -> GuestConfig:
    """The configuration of one guest."""
    current: list[Entry] = []
    pending: list[Entry] = []
    into: list[Entry] = current
    for line in text.split("\n"):
        section, entry = kind.section.fullmatch(line), kind.entry.fullmatch(line)
        if section:
            into = pending if section[1].lower() == kind.pending else []
        elif entry:
            into.append((entry[1], entry[2]))
    name = next((value for key, value in current if key == kind.name_key), "")
    called = f"{kind.word} {number} ({name})" if name else f"{kind.word} {number}"
    return GuestConfig(called, kind, tuple(current), tuple(pending))


def properties_of(value: str, default: str) -> dict[str, str]:
    """ "01:00,pcie=1" as keys and values; `default` is the key of the word that stands there without one.

    That is parse_property_string() in pve-common, JSONSchema.pm.
    """
    words = (word.strip().partition("=") for word in value.split(",") if word.strip())
    return {key if equals else default: text if equals else key for key, equals, text in words}


def read_file(file: Path) -> str:
    """The text of a file, without NUL: what names a device here becomes a path, and no call takes one with it.

    Raises:
        MachineUnreadable: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8", errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    except OSError as error:
        raise MachineUnreadable(str(file), error.strerror or str(error)) from error


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
