"""Disks and partitions of the inventory, made from what udev, sysfs and /proc told."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from nasadvisor.domain.storage.gpt import (
    SECTOR_BYTES,
    GptEntry,
    GptUnreadable,
    header_places,
    is_protected,
    parse_entries,
    parse_header,
    standard_area,
)
from nasadvisor.domain.storage.identity import DiskIdentity, is_made_up
from nasadvisor.domain.storage.inventory import Bus, Disk, Hold, HoldKind, Partition, Pool, TableKind
from nasadvisor.domain.storage.names import is_disk_name
from nasadvisor.domain.storage.unrecognised import has_free_space
from nasadvisor.host.adapters.holds import (
    EXAMINE_AGAIN,
    Surroundings,
    boot_holds_of,
    decoded,
    holds_of,
    surroundings,
    zfs_label_of,
)
from nasadvisor.host.adapters.libblkid import ReadAt, find_unrecognised
from nasadvisor.host.adapters.procfs import read_mounts, read_swaps
from nasadvisor.host.adapters.udev import BlockDevice, read_device, read_devices, slot_of

# Found below /sys/devices/virtual/block: loop, ram, zram, zd (zvols), dm, md, nbd, bcache.
_VIRTUAL: Final = "/devices/virtual/block/"
# Flash without a controller, as of a BIOS or a small board: mtdblock and its kin (drivers/mtd), ubiblock.
_RAW_FLASH: Final = ("/mtd/mtd", "/devices/virtual/ubi/")
_NO_DISKS: Final = ("sr", "fd", "rbd", "mtdblock", "ubiblock")
# Areas of an eMMC chip beside the one that is its disk (mmc_alloc_partitions() in drivers/mmc/core).
_EMMC_AREA: Final = re.compile(r"mmcblk\d+(?:boot\d|gp\d|rpmb)")

_SERIALS: Final = ("ID_SCSI_SERIAL", "SCSI_IDENT_SERIAL", "ID_SERIAL_SHORT")
# Where these say nothing, ID_SERIAL is made of the model alone (ata_id, usb_id and scsi_id of udev).
_SERIAL_OR_MODEL: Final = frozenset({"ata", "usb", "scsi"})

# What says in sysfs that a disk is reached over a network.
_NETWORKS: Final = {"/session": "iSCSI", "/rport-": "Fibre Channel", "/nvme-fabrics/": "NVMe over fabrics"}
_INSIDE: Final = frozenset({"pcie", "apple-nvme"})

# The port of a disk in its path in sysfs, on transports that are made for more than one: SAS, Fibre Channel, iSCSI.
_PORT: Final = re.compile(r"/(end_device-[^/]+|rport-[^/]+|session\d+)/")

_BY_ID: Final = "/dev/disk/by-id/"
_BY_PARTUUID: Final = "/dev/disk/by-partuuid/"
_ID_ORDER: Final = ("wwn-", "nvme-eui.", "ata-", "nvme-", "scsi-")
# Not names of the device, but of the moment or of what is written on it. The udev of Debian 13 makes such links of a
# partition below the name of its slot too: by-path/SLOT-part/by-label/tank (60-persistent-storage.rules, systemd 257).
_PASSING_LINKS: Final = ("/by-diskseq/", "/by-uuid/", "/by-label/", "-part/by-")

SHOWN_DIFFERENCES: Final = 3
"""How many differences of a table are told: more of them say nothing new."""


class HostDisks:
    """The disk reader of this machine."""

    def __init__(self, proc: Path, dev: Path, sys: Path) -> None:
        self._proc = proc
        self._dev = dev
        self._sys = sys

    def identify(self, device_number: int) -> DiskIdentity:
        """See `DiskReader.identify`."""
        return identity_of(read_device(device_number))

    def read(self, pools: tuple[Pool, ...]) -> tuple[Disk, ...]:
        """See `DiskReader.read`."""
        devices = read_devices()
        mounts, swaps = read_mounts(self._proc), read_swaps(self._proc)
        paths = {*swaps, *(mount.source for mount in mounts), *(vdev.path for pool in pools for vdev in pool.vdevs())}
        real_paths = {path: os.path.realpath(path) for path in paths if path.startswith("/")}
        around = surroundings(devices, mounts, swaps, pools, real_paths)
        found = (self._with_area(disk) for disk in disks_of(devices, around))
        return tuple(replace(disk, slot=slot_of(self._sys, disk.kernel_name)) for disk in found)

    def _with_area(self, disk: Disk) -> Disk:
        """Look at the partition table on a disk that may have room for slices, and the free space of an SSD.

        Hard disks in use or blank get no look: they might be asleep. Whoever plans on a blank one all the same has it
        looked at before anything is written.
        """
        may_sleep = disk.rotational and (disk.all_holds or disk.table is TableKind.NONE)
        if may_sleep or disk.table is TableKind.OTHER or not disk.identity.size_bytes:
            return disk
        try:
            with _opened(self._dev / disk.kernel_name) as read_at:
                disk = with_table(disk, read_at)
                is_looked_at = has_free_space(disk) and not disk.rotational
                return replace(disk, unrecognised_at=find_unrecognised(disk, read_at)) if is_looked_at else disk
        except PermissionError:
            return disk  # not root: the standard area is shown, and nothing can be changed anyway
        except OSError as error:
            why = f"it cannot be read ({error.strerror}); check the cable and the kernel log"
            return _unreadable(disk, why)


@dataclass(frozen=True)
class _Shared:
    """What more than one device claims, so that it names none of them."""

    links: frozenset[str]
    partuuids: frozenset[str]
    twins: Mapping[str, Sequence[BlockDevice]]
    """By kernel name, all that show one identity, where more than one does."""


def disks_of(devices: Iterable[BlockDevice], around: Surroundings) -> tuple[Disk, ...]:
    """The whole disks in the order sda, sdb, …, sdaa, with usable areas as in a new table."""
    devices = tuple(devices)
    wholes = tuple(device for device in devices if is_disk(device))
    parts: defaultdict[str, list[BlockDevice]] = defaultdict(list)
    for device in devices:
        if device.disk:
            parts[device.disk].append(device)
    by_key: defaultdict[str, list[BlockDevice]] = defaultdict(list)
    for device in wholes:
        by_key[identity_of(device).key].append(device)
    shared = _Shared(
        links=_repeated(link for device in devices for link in device.links),
        partuuids=_repeated(device.get("ID_PART_ENTRY_UUID").lower() for device in devices if device.disk),
        twins={device.name: twins for twins in by_key.values() if len(twins) > 1 for device in twins},
    )
    found = (_disk(device, parts[device.name], around, shared) for device in wholes)
    return tuple(sorted(found, key=lambda disk: (len(disk.kernel_name), disk.kernel_name)))


def _repeated(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name, count in Counter(names).items() if count > 1)


def is_disk(device: BlockDevice) -> bool:
    """Whether it is a whole disk with a medium in it, not one made by software.

    One that is not removable and has no size is a disk too: Linux gives none to sectors of 520 or 528 bytes (sd(4),
    "Unsupported sector size") and to NVMe namespaces with metadata in their blocks.
    """
    return not (
        device.disk
        or any(part in device.sys_path for part in (_VIRTUAL, *_RAW_FLASH))
        or device.name.startswith(_NO_DISKS)
        or _EMMC_AREA.fullmatch(device.name)
        or device.get("ID_CDROM")
        or not (device.size_bytes or device.unread or not device.removable)
    )


def identity_of(device: BlockDevice) -> DiskIdentity:
    """What stays the same of a disk. For SAS the serial is that on the sticker, not the WWN that udev puts first.

    The name of an eMMC chip or an SD card stands in ID_NAME (60-persistent-storage.rules).
    """
    serial = next(filter(None, map(device.get, _SERIALS)), "")
    if not serial and device.get("ID_BUS") not in _SERIAL_OR_MODEL:
        serial = device.get("ID_SERIAL")
    wwn = device.get("ID_WWN_WITH_EXTENSION") or device.get("ID_WWN")
    return DiskIdentity(
        model=_clean(decoded(device.get("ID_MODEL_ENC")) or device.get("ID_MODEL") or device.get("ID_NAME")),
        serial=_clean(serial),
        wwn="" if is_made_up(wwn) else wwn,
        size_bytes=device.size_bytes,
        logical_sector_bytes=device.logical_sector_bytes,
        physical_sector_bytes=device.physical_sector_bytes,
        namespace=device.namespace,
    )


def _clean(text: str) -> str:
    """Without the padding that drives add, and in one line."""
    return " ".join(text.split())


def bus_of(device: BlockDevice) -> Bus:
    """How a disk is attached. Whatever speaks SCSI and is neither SATA, USB nor a network disk counts as SAS."""
    bus = device.get("ID_BUS")
    if network_of(device):
        return Bus.OTHER
    if device.name.startswith("nvme"):
        return Bus.NVME
    if device.name.startswith("vd"):
        return Bus.VIRTIO
    if device.name.startswith("mmcblk"):
        return Bus.MMC
    if bus == "usb" or "/usb" in device.sys_path:
        return Bus.USB
    if bus == "ata" or device.get("ID_ATA") == "1":
        return Bus.SATA
    return Bus.SAS if bus == "scsi" else Bus.OTHER


def network_of(device: BlockDevice) -> str:
    """By what a disk of another machine is reached, "" for one inside this one."""
    remote = [transport for transport in device.transports if transport not in _INSIDE]
    if remote:
        return f"NVMe/{remote[0].upper()}"
    return next((network for part, network in _NETWORKS.items() if part in device.sys_path), "")


def is_one_disk(twins: Sequence[BlockDevice]) -> bool:
    """Whether devices that show one identity are proven to be paths to one disk, and not disks that are told alike.

    Serial and WWN must be there and all that is told of them be equal; and multipathd has taken all of them for paths,
    or they hang on ports of their own of a transport that was made for several. A SATA or USB disk has one port.
    """
    first = identity_of(twins[0])
    if not (first.serial and first.wwn) or any(identity_of(device) != first for device in twins):
        return False
    if all(device.get("DM_MULTIPATH_DEVICE_PATH") == "1" for device in twins):
        return True
    ports = {
        found[1] for device in twins if bus_of(device) is not Bus.SATA and (found := _PORT.search(device.sys_path))
    }
    return len(ports) == len(twins)


def with_table(disk: Disk, read_at: ReadAt) -> Disk:
    """The disk with the usable area that its GPT says; held as unreadable where that differs from what is known."""
    sector_bytes = disk.identity.logical_sector_bytes
    name = disk.path or f"/dev/{disk.kernel_name}"
    try:
        header = parse_header(read_at(sector_bytes, sector_bytes), sector_bytes)
        array = read_at(header.entries_start_bytes, header.entries_size_bytes)
        entries = parse_entries(array, header, sector_bytes)
    except GptUnreadable as error:
        if disk.table is TableKind.NONE:
            return _with_copy(disk, read_at, name)  # nor do udev and the kernel take half a table for one
        return _unreadable(disk, f"its partition table is damaged: {error}; `sgdisk --verify {name}` tells more")
    if disk.table is TableKind.NONE:
        told = "the kernel and udev do not know the partition table that is on it"
        if not is_protected(read_at(0, sector_bytes)):
            told = "only the protective first sector of its partition table is missing"
            return _unreadable(disk, f"{told}; `gdisk {name}`, answered with w and y, writes it anew; {_clear(name)}")
        return _unreadable(
            disk, f"{told}; `partx --update --nr 1:128 {name}` lets the kernel know, and {EXAMINE_AGAIN}"
        )
    if header.table_uuid != disk.table_uuid:
        return _unreadable(disk, f"it has another partition table than udev shows; {EXAMINE_AGAIN}")
    disk = replace(disk, usable_start_bytes=header.usable_start_bytes, usable_end_bytes=header.usable_end_bytes)
    found = tuple(islice(differences(disk, entries), SHOWN_DIFFERENCES))
    return _unreadable(disk, "; ".join(found)) if found else disk


def differences(disk: Disk, entries: Iterable[GptEntry]) -> Iterator[str]:
    """How the table on the disk differs from the partitions that the kernel and udev know, each with what to do.

    They learn of a change only if they are told, and a busy disk is not read again as a whole: what they show can be
    years old. Space that only looks free would get a slice planned over somebody's partition. partx(8) is always given
    a number: without, it passes over partitions and says nothing (util-linux 2.38).
    """
    listed = {entry.number: entry for entry in entries}
    known = {part.number: part for part in disk.partitions}
    name = disk.path or f"/dev/{disk.kernel_name}"
    for number in sorted(known.keys() - listed.keys()):
        yield (
            f"the kernel still has partition {number}, which the table on the disk no longer lists; "
            f"`partx --delete --nr {number} {name}` makes the kernel forget it"
        )
    for number in sorted(listed.keys() - known.keys()):
        yield (
            f"the table on the disk lists partition {number}, which the kernel does not know; "
            f"`partx --update --nr {number} {name}` or a reboot lets it know"
        )
    for number in sorted(listed.keys() & known.keys()):
        entry, part = listed[number], known[number]
        if (entry.start_bytes, entry.end_bytes) != (part.start_bytes, part.end_bytes):
            yield (
                f"by the table on the disk, partition {number} lies elsewhere than the kernel has it; "
                f"`partx --update --nr {number} {name}` or a reboot lets it know"
            )
        elif (entry.partuuid, entry.type_uuid) != (part.partuuid, part.type_uuid):
            yield (
                f"udev shows another PARTUUID or type of partition {number} than the table on the disk has; "
                f"{EXAMINE_AGAIN}"
            )


def _with_copy(disk: Disk, read_at: ReadAt, name: str) -> Disk:
    """A disk without a first table, held where the copy of one stands at its end: a new table would destroy it."""
    end = disk.identity.size_bytes
    length = max(SECTOR_BYTES)
    places = {place.sector_bytes for place in header_places(read_at(end - length, length), end - length)}
    if not places:
        return disk
    told = "the first sectors of its partition table are gone, and a sound copy stands at its end"
    if disk.identity.logical_sector_bytes in places:
        start = f"`gdisk {name}`"
    else:
        start = f"`gdisk` on the device that `losetup --find --show --sector-size {min(places)} {name}` makes"
    bring_back = f"{start}, answered with 1, w and y, brings the partitions back"
    return _unreadable(disk, f"{told}; {bring_back}; {_clear(name)}")


def _clear(name: str) -> str:
    return f"`sgdisk --zap-all {name}` clears a table that is not needed"


def _disk(device: BlockDevice, parts: list[BlockDevice], around: Surroundings, shared: _Shared) -> Disk:
    identity = identity_of(device)
    links = _links(device, shared)
    start, end = standard_area(identity.size_bytes, identity.logical_sector_bytes)
    twins = shared.twins.get(device.name, ())
    is_unproven = bool(twins) and not is_one_disk(twins)
    others = ", ".join(each.name for each in twins if each.name != device.name)
    twin = (Hold(HoldKind.DUPLICATE if is_unproven else HoldKind.PATH, others),) if twins else ()
    table = device.get("ID_PART_TABLE_TYPE")
    unshown = Hold(HoldKind.UNREADABLE, f"udev does not show the table of its partitions; {EXAMINE_AGAIN}")
    stale = (unshown,) if parts and not table else ()
    return Disk(
        identity=identity,
        kernel_name=device.name,
        path=min(filter(_names_a_disk, links), key=_rank, default=""),
        links=links,
        bus=bus_of(device),
        rotational=device.rotational,
        removable=device.removable,
        table={"": TableKind.NONE, "gpt": TableKind.GPT}.get(table, TableKind.OTHER),
        table_uuid=device.get("ID_PART_TABLE_UUID").lower(),
        usable_start_bytes=start,
        usable_end_bytes=end,
        partitions=tuple(
            _partition(part, around, shared) for part in sorted(parts, key=lambda part: part.partition_number)
        ),
        holds=boot_holds_of((device, *parts), around) + holds_of(device, around) + twin + stale,
        zfs_label=zfs_label_of(device),
        network=network_of(device),
        place=_place(device, twins) if is_unproven else "",
    )


def _place(device: BlockDevice, twins: Sequence[BlockDevice]) -> str:
    """Where a disk is plugged in, as far as that tells it from those that show the same identity."""
    paths = {each.get("ID_PATH") for each in twins} - {""}
    return device.get("ID_PATH") if len(paths) == len(twins) else device.name


def _partition(part: BlockDevice, around: Surroundings, shared: _Shared) -> Partition:
    links = _links(part, shared)
    partuuid = part.get("ID_PART_ENTRY_UUID").lower()
    copy = (Hold(HoldKind.COPY, partuuid),) if partuuid and partuuid in shared.partuuids else ()
    preferred = [link for link in links if link.startswith(_BY_PARTUUID)]
    preferred += sorted((link for link in links if link.startswith(_BY_ID)), key=_rank)
    return Partition(
        number=part.partition_number,
        partuuid=partuuid,
        type_uuid=part.get("ID_PART_ENTRY_TYPE").lower(),
        name=decoded(part.get("ID_PART_ENTRY_NAME")),
        start_bytes=part.start_bytes,
        size_bytes=part.size_bytes,
        kernel_name=part.name,
        path=preferred[0] if preferred else "",
        links=links,
        holds=copy + holds_of(part, around),
        zfs_label=zfs_label_of(part),
    )


def _links(device: BlockDevice, shared: _Shared) -> tuple[str, ...]:
    """Its persistent names, without those that udev gave to another device as well."""
    names = (link for link in device.links if link not in shared.links)
    return tuple(link for link in names if not any(part in link for part in _PASSING_LINKS))


def _names_a_disk(link: str) -> bool:
    name = link.removeprefix(_BY_ID)
    return is_disk_name(link) and not is_made_up(name.removeprefix("wwn-").removeprefix("nvme-"))


def _rank(link: str) -> tuple[int, int, str]:
    name = link.removeprefix(_BY_ID)
    order = next((place for place, start in enumerate(_ID_ORDER) if name.startswith(start)), len(_ID_ORDER))
    return order, len(name), name


def _unreadable(disk: Disk, why: str) -> Disk:
    return replace(disk, holds=(*disk.holds, Hold(HoldKind.UNREADABLE, why)))


@contextmanager
def _opened(path: Path) -> Iterator[ReadAt]:
    """Read-only: closing a descriptor that could write makes udev examine the disk anew, its links gone meanwhile."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield lambda offset, length: os.pread(descriptor, length, offset)
    finally:
        os.close(descriptor)
