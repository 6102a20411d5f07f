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
from nasadvisor.host.adapters.procfs import text_or_nothing
from nasadvisor.host.errors import MachineUnreadable

_DISK_KEY: Final = re.compile(r"(?:ide|sata|scsi|virtio|efidisk|tpmstate|mp|unused|dev)\d+|rootfs")
_NAMED: Final = ("file=", "volume=", "path=")
"""The keys of the word that is meant: in qemu-server, in pve-container, of its devN. It may go without, then first."""

_SECTION: Final = re.compile(r"^\[(?P<name>[^]]*)\][^\n]*\n?", re.MULTILINE)
_PENDING: Final = frozenset({"pending", "pve:pending"})
_ENTRY: Final = re.compile(r"(?P<key>lxc\.[a-z0-9_.-]+)(?::|\s*=)\s*(?P<value>.*)")
"""How parse_pct_config() in pve-container, LXC/Config.pm, takes a line for LXC itself; others are "key: value"."""

_ZVOLS: Final = "/dev/zvol/"
_DEVICE: Final = re.compile(r"/dev/[^\s,;\"']+")
_BLOCK_ALLOWED: Final = re.compile(r"b\s+(\d+:\d+)\b.*")
_STORAGE: Final = re.compile(r"(?P<kind>\w+):\s*(?P<name>\S+)\s*")

KINDS: Final = {"qemu-server": ("VM", "name"), "lxc": ("CT", "hostname")}
"""The folder of each kind of guest: how PVE calls it, and the key of its name."""


@dataclass(frozen=True)
class GuestDisk:
    """A disk of a guest: `volume` is "local-zfs:vm-100-disk-0", a directory, or a device: "/dev/disk/by-id/…".

    `key` is "scsi0", "rootfs", "dev0", "args" or "lxc.mount.entry".
    """

    guest: str
    key: str
    volume: str


@dataclass(frozen=True)
class Storage:
    """A storage on ZFS: `dataset` for volumes, `path` for files."""

    dataset: str = ""
    path: str = ""


LOCAL: Final = Storage(path="/var/lib/vz")


def unsafe_volumes(pve: Path) -> Iterator[str]:
    """The volumes that are drives with cache=unsafe now, neither pending nor in a snapshot (qm.conf(5))."""
    for file in sorted((pve / "qemu-server").glob("*.conf")):
        current, *_sections = _SECTION.split(text_or_nothing(file))
        for key, value in map(_entry, current.splitlines()):
            if "cache=unsafe" in value.split(","):
                yield from (volume.rpartition(":")[2].rpartition("/")[2] for volume in _volumes(key, value))


def guest_disks(pve: Path) -> tuple[GuestDisk, ...]:
    """The disks of all guests of this node, those of pending changes too; `pve` is /etc/pve. Snapshots are left out.

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
    disks = guest_disks(pve)
    file = pve / "storage.cfg"
    storages = parse_storages(read_file(file) if file.exists() else "")
    owners: dict[str, list[str]] = defaultdict(list)
    for disk in disks:
        dataset = _dataset_of(disk.volume, storages, mounts)
        if dataset and disk.guest not in owners[dataset]:
            owners[dataset].append(disk.guest)
    return tuple(Guest(dataset, ", ".join(names)) for dataset, names in owners.items())


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


def zfs_mounts(text: str) -> dict[str, str]:
    """The datasets of /proc/self/mounts by mountpoint."""
    fields = (line.split(" ") for line in text.splitlines())
    return {each[1]: each[0] for each in fields if len(each) > 2 and each[2] == "zfs"}


def entries_of(text: str) -> list[tuple[str, str]]:
    """The keys and values of a guest's configuration as it is now, then those that it gets when it starts next.

    Sections follow the current values: pending changes, and one a snapshot, which are left out.
    """
    current, *sections = _SECTION.split(text)
    pending = [body for name, body in zip(sections[::2], sections[1::2], strict=True) if name.lower() in _PENDING]
    return [_entry(line) for part in (current, *pending) for line in part.splitlines()]


def _entry(line: str) -> tuple[str, str]:
    lxc = _ENTRY.fullmatch(line.strip())
    key, _, value = (lxc["key"], "", lxc["value"]) if lxc else line.partition(":")
    return key.strip(), value.strip()


def guest_name(entries: list[tuple[str, str]], word: str, number: str, name_key: str) -> str:
    """How people call it: "VM 100 (mail)"."""
    name = next((value for key, value in entries if key == name_key), "")
    return f"{word} {number} ({name})" if name else f"{word} {number}"


def _disks_in(text: str, word: str, number: str, name_key: str) -> Iterator[GuestDisk]:
    entries = entries_of(text)
    guest = guest_name(entries, word, number, name_key)
    for key, value in entries:
        for volume in _volumes(key, value):
            yield GuestDisk(guest, key, volume)


def _volumes(key: str, value: str) -> tuple[str, ...]:
    """What an entry gives to the guest: volumes, directories, devices."""
    if _DISK_KEY.fullmatch(key):
        words = [word.strip() for word in value.split(",")]
        named = (word.partition("=")[2] for word in words if word.startswith(_NAMED))
        return (next(named, words[0]),)
    if key == "lxc.mount.entry":  # like a line of fstab(5): what is mounted comes first
        return tuple(value.split()[:1])
    if key in ("lxc.cgroup2.devices.allow", "lxc.cgroup.devices.allow"):
        allowed = _BLOCK_ALLOWED.fullmatch(value)
        return (f"/dev/block/{allowed[1]}",) if allowed else ()
    return tuple(_DEVICE.findall(value)) if key == "args" else ()


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


def read_file(file: Path) -> str:
    """The text of a file, without NUL: what names a device here becomes a path, and no call takes one with it.

    Raises:
        MachineUnreadable: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8", errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    except OSError as error:
        raise MachineUnreadable(str(file), error.strerror or str(error)) from error
