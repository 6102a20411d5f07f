"""Whose data lie on the pools of a node: read from the configuration of its guests and storages in /etc/pve.

The forms: `man qm.conf`, `man pct.conf`, and "Storage configuration" in the pve-docs.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.platforms import Guest
from nasadvisor.host.errors import MachineUnreadable

_DISK_KEY: Final = re.compile(r"(?:ide|sata|scsi|virtio|efidisk|tpmstate|mp|unused)\d+|rootfs")
_STORAGE: Final = re.compile(r"(?P<kind>\w+):\s*(?P<name>\S+)\s*")

KINDS: Final = {"qemu-server": ("VM", "name"), "lxc": ("CT", "hostname")}
"""The folder of each kind of guest: how PVE calls it, and the key of its name."""


@dataclass(frozen=True)
class GuestDisk:
    """A disk of a guest: `key` is "scsi0" or "rootfs", `volume` "local-zfs:vm-100-disk-0" or "/dev/disk/by-id/…"."""

    guest: str
    key: str
    volume: str


@dataclass(frozen=True)
class Storage:
    """A storage on ZFS: `dataset` for volumes, `path` for files."""

    dataset: str = ""
    path: str = ""


def guest_disks(pve: Path) -> tuple[GuestDisk, ...]:
    """The disks of all guests of this node; `pve` is /etc/pve. Snapshots and pending changes are left out.

    Raises:
        MachineUnreadable: the cluster file system does not answer.
    """
    if not (pve / "qemu-server").exists():
        raise MachineUnreadable(str(pve), "no guests' configuration is there")
    return tuple(
        disk
        for folder, (word, name_key) in KINDS.items()
        for file in sorted((pve / folder).glob("*.conf"))
        for disk in _disks_in(read_file(file), word, file.stem, name_key)
    )


def guests_of(pve: Path, mounts: dict[str, str]) -> tuple[Guest, ...]:
    """The owners of datasets and volumes. `mounts` are the mountpoints of ZFS datasets.

    Raises:
        MachineUnreadable: the cluster file system does not answer.
    """
    storages = parse_storages(read_file(pve / "storage.cfg"))
    owners: dict[str, list[str]] = defaultdict(list)
    for disk in guest_disks(pve):
        dataset = _dataset_of(disk.volume, storages, mounts)
        if dataset and disk.guest not in owners[dataset]:
            owners[dataset].append(disk.guest)
    return tuple(Guest(dataset, ", ".join(names)) for dataset, names in owners.items())


def parse_storages(text: str) -> dict[str, Storage]:
    """The storages of storage.cfg by name: sections "kind: name" with indented keys."""
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
    return found


def zfs_mounts(text: str) -> dict[str, str]:
    """The datasets of /proc/self/mounts by mountpoint."""
    fields = (line.split(" ") for line in text.splitlines())
    return {each[1]: each[0] for each in fields if len(each) > 2 and each[2] == "zfs"}


def entries_of(text: str) -> list[tuple[str, str]]:
    """The keys and values of a guest's configuration as it is now; snapshots and pending changes follow it."""
    current = re.split(r"^\[", text, maxsplit=1, flags=re.MULTILINE)[0]
    return [(key.strip(), value.strip()) for key, _, value in (line.partition(":") for line in current.splitlines())]


def guest_name(entries: list[tuple[str, str]], word: str, number: str, name_key: str) -> str:
    """How people call it: "VM 100 (mail)"."""
    name = next((value for key, value in entries if key == name_key), "")
    return f"{word} {number} ({name})" if name else f"{word} {number}"


def _disks_in(text: str, word: str, number: str, name_key: str) -> Iterator[GuestDisk]:
    entries = entries_of(text)
    guest = guest_name(entries, word, number, name_key)
    for key, value in entries:
        if _DISK_KEY.fullmatch(key):
            volume = value.split(",")[0]
            yield GuestDisk(guest, key, volume.removeprefix("file=").removeprefix("volume="))


def _dataset_of(volume: str, storages: dict[str, Storage], mounts: dict[str, str]) -> str:
    """The dataset that holds a volume; "" where it is not on ZFS."""
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


def read_file(file: Path) -> str:
    """The text of a file.

    Raises:
        MachineUnreadable: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise MachineUnreadable(str(file), error.strerror or str(error)) from error
