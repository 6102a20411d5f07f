"""Whose data lie on the pools of a node: read from the configuration of its guests and storages in /etc/pve.

The forms: `man qm.conf`, `man pct.conf`, and "Storage configuration" in the pve-docs.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.fleet.platforms import Guest
from nasadvisor.host.adapters.procfs import text_or_nothing, unescaped
from plugins.proxmox.config import (
    MACHINE,
    GuestKind,
    Mappings,
    guest_configs,
    parse_config,
    properties_of,
    read_file,
    read_mappings,
)
from plugins.proxmox.devices import files_in
from plugins.proxmox.given import volume_of

_ZVOLS: Final = "/dev/zvol/"
_STORAGE: Final = re.compile(r"(?P<kind>\w+):\s*(?P<name>\S+)\s*")


@dataclass(frozen=True)
class Storage:
    """A storage on ZFS: `dataset` for volumes, `path` for files."""

    dataset: str = ""
    path: str = ""


LOCAL: Final = Storage(path="/var/lib/vz")


def unsafe_volumes(pve: Path) -> Iterator[str]:
    """The volumes that are drives with cache=unsafe now, neither pending nor in a snapshot (qm.conf(5))."""
    for file in sorted((pve / MACHINE.folder).glob("*.conf")):
        for key, value in parse_config(MACHINE, file.stem, text_or_nothing(file)).current:
            if "cache=unsafe" in value.split(","):
                yield volume_of(MACHINE, key, value).rpartition(":")[2].rpartition("/")[2]


def guests_of(pve: Path, mounts: dict[str, str]) -> tuple[Guest, ...]:
    """The owners of datasets and volumes; `mounts` is what `datasets_by_mountpoint` answers.

    Raises:
        MachineUnreadable: the cluster file system does not answer.
    """
    mappings = read_mappings(pve)
    file = pve / "storage.cfg"
    storages = parse_storages(read_file(file) if file.exists() else "")
    owners: dict[str, list[str]] = defaultdict(list)
    for guest in guest_configs(pve):
        for volume in (volume for key, value in guest.entries for volume in _volumes(guest.kind, key, value, mappings)):
            dataset = _dataset_of(volume, storages, mounts)
            if dataset and guest.name not in owners[dataset]:
                owners[dataset].append(guest.name)
    return tuple(Guest(dataset, ", ".join(names)) for dataset, names in owners.items())


def _volumes(kind: GuestKind, key: str, value: str, mappings: Mappings) -> Iterator[str]:
    """What an entry gives of the pools: a volume, an image, or a directory that the guest shares with the host."""
    if key == "args":
        yield from files_in(value)
    elif re.fullmatch(r"virtiofs\d+", key):
        shared = mappings.directory.get(properties_of(value, "dirid").get("dirid", ""), ())
        yield from (fields.get("path", "") for fields in shared)
    else:
        yield volume_of(kind, key, value)


def parse_storages(text: str) -> dict[str, Storage]:
    """The storages of storage.cfg by name: sections "kind: name" with indented keys.

    "local" is always there and always the same directory, also without any storage.cfg (parse_config() in pve-storage,
    Storage/Plugin.pm).
    """
    found: dict[str, Storage] = {}
    name, kind = "", ""
    for line in text.splitlines():
        section = _STORAGE.fullmatch(line)
        if section:
            name, kind = section["name"], section["kind"]
        key, _, value = line.strip().partition(" ")
        if line[:1].isspace() and kind == "zfspool" and key == "pool":
            found[name] = Storage(dataset=value.strip())
        if line[:1].isspace() and kind == "dir" and key == "path":
            found[name] = Storage(path=value.strip())
    return {**found, "local": LOCAL}


def datasets_by_mountpoint(text: str) -> dict[str, str]:
    """What /proc/self/mounts says: the dataset at each mountpoint, "" where another file system lies."""
    fields = (line.split(" ") for line in text.split("\n"))
    return {unescaped(each[1]): unescaped(each[0]) if each[2] == "zfs" else "" for each in fields if len(each) > 2}


def _dataset_of(volume: str, storages: dict[str, Storage], mounts: dict[str, str]) -> str:
    """The dataset that holds a volume; "" where it is not on ZFS."""
    if volume.startswith("/dev/"):
        return volume.removeprefix(_ZVOLS) if volume.startswith(_ZVOLS) else ""
    if volume.startswith("/"):
        return _mounted(volume, mounts)
    name, _, rest = volume.partition(":")
    storage = storages.get(name, Storage())
    if storage.dataset:  # a linked clone is named after its base: "base-9000-disk-0/vm-100-disk-0"
        return f"{storage.dataset}/{rest.rpartition('/')[2]}"
    return _mounted(storage.path, mounts) if storage.path else ""


def _mounted(path: str, mounts: dict[str, str]) -> str:
    place = Path(path)
    return next((mounts[str(each)] for each in (place, *place.parents) if str(each) in mounts), "")
