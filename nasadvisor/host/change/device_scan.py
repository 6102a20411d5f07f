"""Reading what a write would change, right before it: off the device itself, by the name that is written to."""

import os
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from nasadvisor.domain.change.actions import (
    AddCache,
    AddLog,
    AttachLog,
    ClearSlice,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    DropLog,
    OfflineCache,
    OnlineCache,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    Role,
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.actions.inventory_queries import cache_of
from nasadvisor.domain.change.device_scan import (
    DeviceScan,
    Signature,
    SliceLabel,
    Step,
    old_places_to_look,
    places_before,
    places_to_look,
)
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.storage.gpt import HeaderPlace, header_places
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.domain.units import KIB, MIB
from nasadvisor.host.adapters.blockdev import announce_reads, open_disk, open_idle, open_slice, read_all
from nasadvisor.host.adapters.libblkid import find_unrecognised, recognise
from nasadvisor.host.adapters.zdb import read_label, waiting_writes
from nasadvisor.host.adapters.zpool_questions import autoexpands, log_bytes
from nasadvisor.host.storage.machine import Machine

_GLANCES: Final = ((0, 68 * KIB), (128 * KIB, 4 * KIB), (256 * KIB, 20 * KIB), (512 * KIB, 4 * KIB))
_FAR_GLANCES: Final = ((MIB, 4 * KIB), (2 * MIB, 8 * KIB), (4 * MIB, 4 * KIB))
"""Where libblkid finds what begins at a place: every offset of a magic in its superblocks/*.c (util-linux 2.41), second
headers of LUKS2, UFS and the second label of ZFS included. JFS and ISO 9660 show at 32 KiB, btrfs at 64, VMFS at 1 and
2 MiB. All zeros there is nothing; else libblkid is asked, which reads more. In as few reads as can be: a slice has a
place for each MiB, and how much is read at once costs less than how often."""

_COPIES: Final = ((0x40, b"_BHRfS_M", 64 * KIB), (0x38, b"\x53\xef", KIB))
"""Copies of a superblock: where in one its magic stands, and how far behind the beginning libblkid looks for the first.
Those of btrfs are at 64 MiB and 256 GiB (BTRFS_SUPER_MIRROR_SHIFT in the kernel), those of ext4 where groups begin."""

_FRONT_BYTES: Final = MIB
_END_BYTES: Final = 16 * MIB
"""[policy] How much of a disk without a table is searched for headers of one. The copy is in the last sector or, where
a disk was copied to another that is sold as of the same size, a little before."""

_TABLES: Final = frozenset({"gpt", "PMBR", "dos"})
"""What libblkid calls the tables with which a disk is used."""

_LABEL_BYTES: Final = 512 * KIB
"""Two labels of 256 KiB at the front; two more at the end (vdev_label.c)."""


def scan_devices(machine: Machine, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
    """See `Executor.look`.

    Raises:
        HostError: a device that is there could not be read, or is not the one that the inventory shows.
    """
    match step:
        case CreateTable() | SaveTable() | RestoreTable() | RewindTable():
            disk = inventory.disk(step.disk_key)
            return _look_at_table(machine, step, step.disk_path, disk, own) if disk else DeviceScan()
        case CreateSlice(slice=piece):
            disk = inventory.disk(piece.disk_key)
            return _look_at_room(machine, piece, disk, own) if disk else DeviceScan()
        case AddLog() | AddCache() | AttachLog():
            return _look_at_slices(machine, step.pieces, inventory)
        case ClearSlice(slice=piece):
            return _look_at_slices(machine, (piece,), inventory)
        case DeleteSlice(slice=piece):
            disk = inventory.disk(piece.disk_key)
            table = _look_at_table(machine, step, piece.disk_path, disk, own).table if disk else None
            return replace(_look_at_slices(machine, (piece,), inventory), table=table)
        case RemoveVdev() | DropLog():
            return _look_at_vdev(machine, step, inventory)
        case DetachLog(side=piece):
            away = inventory.pool(step.pool_guid) is None
            return _look_at_slices(machine, (piece,), inventory) if away else DeviceScan()
        case OfflineCache():
            return DeviceScan(autoexpand=autoexpands(machine.runner, step.pool_name))
        case OnlineCache():
            return _look_at_cache(machine, step, inventory)
        case _:
            return DeviceScan()


def _look_at_table(machine: Machine, step: Step, path: str, disk: Disk, own: OwnTable | None) -> DeviceScan:
    with open_disk(path, disk, machine.disks.identify, os.O_RDONLY) as descriptor:
        table = _table(descriptor, disk, path, own)
        if not isinstance(step, CreateTable | SaveTable):
            return DeviceScan(table=table)
        signatures = _on_whole(descriptor, path)
        if isinstance(step, SaveTable):
            signatures = tuple(each for each in signatures if each.kind not in _TABLES)
        headers = tuple(_headers(descriptor, disk, path)) if isinstance(step, CreateTable) else ()
        return DeviceScan(
            signatures, table=table, headers=headers, unrecognised_at=_unrecognised(descriptor, disk, path)
        )


def _on_whole(descriptor: int, path: str) -> tuple[Signature, ...]:
    """What libblkid recognises of a disk or slice as a whole."""
    return tuple(Signature(each.kind, 0, each.label) for each in recognise(descriptor, 0, 0, path))


def _unrecognised(descriptor: int, disk: Disk, path: str) -> int | None:
    """Where data begin in the free space of a disk that no tool recognises."""
    return find_unrecognised(disk, lambda offset, length: read_all(descriptor, length, offset, path))


def _headers(descriptor: int, disk: Disk, path: str) -> Iterator[HeaderPlace]:
    """The sound headers of partition tables at the front and at the end of a disk."""
    size = disk.identity.size_bytes
    for start, end in ((0, min(_FRONT_BYTES, size)), (max(size - _END_BYTES, 0), size)):
        yield from header_places(read_all(descriptor, end - start, start, path), start)


def _look_at_room(machine: Machine, piece: Slice, disk: Disk, own: OwnTable | None) -> DeviceScan:
    path = piece.disk_path
    with open_disk(path, disk, machine.disks.identify, os.O_RDONLY) as descriptor:
        first = next(_begun(descriptor, piece, disk), None)
        return DeviceScan((first,) if first else (), table=_table(descriptor, disk, path, own))


def _begun(descriptor: int, piece: Slice, disk: Disk) -> Iterator[Signature]:
    """What begins where a slice is to go, or so shortly before that it reaches into it."""
    path, size = piece.disk_path, disk.identity.size_bytes
    before, places = places_before(piece, disk), {*places_to_look(piece), *old_places_to_look(piece)}
    gap = [(place, piece.start_bytes - place) for place in before[:1]]
    glances = {place: tuple(_glances(place, places, size)) for place in sorted(places)}
    announce_reads(descriptor, (*gap, *chain.from_iterable(glances.values())))
    is_asked_before = _shows(descriptor, gap, path)
    if is_asked_before:
        yield from (found for place in before for found in _recognised(descriptor, place, size, path))
    shown = {place for place, parts in glances.items() if _shows(descriptor, parts, path)}
    for place in glances:
        if place in shown or any(place + at in shown for at, _length in _FAR_GLANCES):
            yield from _recognised(descriptor, place, size, path)
        if place in shown:
            yield from _copies(descriptor, place, size, path)
    if piece.start_bytes in shown and not is_asked_before:
        # JFS and btrfs begin with zeros: what shows here may begin right before it.
        near = (place for place in before if place > piece.start_bytes - _GLANCES[0][1])
        yield from (found for place in near for found in _recognised(descriptor, place, size, path))


def _glances(place: int, places: Container[int], size: int) -> Iterator[tuple[int, int]]:
    """The parts of a disk, offset and length, in which something shows that begins at a place; not those that are read
    of another place as well."""
    for at, length in (*_GLANCES, *_FAR_GLANCES):
        if place + at < size and (at == 0 or place + at not in places):
            yield place + at, min(length, size - place - at)


def _shows(descriptor: int, parts: Iterable[tuple[int, int]], path: str) -> bool:
    """Whether anything but zeros stands in these parts of a disk."""
    return not all(_is_zeros(read_all(descriptor, length, offset, path)) for offset, length in parts)


def _recognised(descriptor: int, place: int, size: int, path: str) -> Iterator[Signature]:
    """What begins at a place, however far it goes: libblkid does not take little room for a ZFS device."""
    for each in recognise(descriptor, place, size - place, path):
        yield Signature(each.kind, place, each.label)


def _copies(descriptor: int, place: int, size: int, path: str) -> Iterator[Signature]:
    """What has a copy of its superblock at a place; its first one may be overwritten, or lie before the slice."""
    head = read_all(descriptor, min(KIB, size - place), place, path)
    for at, magic, behind in _COPIES:
        if head[at : at + len(magic)] == magic:
            yield from (
                Signature(each.kind, place, each.label)
                for each in recognise(descriptor, place - behind, size - place + behind, path)
            )


def _table(descriptor: int, disk: Disk, path: str, own: OwnTable | None) -> Area:
    """The disk's table area: as long as it was when the run began, whatever a table that was put there since says."""
    size = disk.identity.size_bytes
    head = len(own.before.head) if own else disk.usable_start_bytes
    tail = len(own.before.tail) if own else size - disk.usable_end_bytes
    return Area(read_all(descriptor, head, 0, path), read_all(descriptor, tail, size - tail, path))


def _look_at_slices(machine: Machine, pieces: tuple[Slice, ...], inventory: Inventory) -> DeviceScan:
    """What stands in those of the slices that are there."""
    signatures: list[Signature] = []
    labels: list[tuple[str, SliceLabel]] = []
    for piece in pieces:
        if inventory.partition(piece.partuuid) is None:
            continue
        with open_slice(piece, machine.roots.sys) as descriptor:
            if not _is_written(descriptor, piece):
                continue
            signatures.extend(_on_whole(descriptor, piece.partuuid_path))
        label = read_label(machine.runner, piece.partuuid_path)
        if label:
            labels.append((piece.partuuid, label))
    return DeviceScan(tuple(signatures), tuple(labels))


def _is_written(descriptor: int, piece: Slice) -> bool:
    """Whether anything but zeros stands where labels and superblocks do: the first MiB and the labels at the end."""
    tail = piece.size_bytes - 2 * _LABEL_BYTES
    places = ((0, 2 * _LABEL_BYTES), (tail, 2 * _LABEL_BYTES))
    return not all(_is_zeros(read_all(descriptor, size, at, piece.partuuid_path)) for at, size in places)


def _is_zeros(data: bytes) -> bool:
    """Compared as a whole: looking at each byte of thousands of places was a fifth of the time of a run."""
    return data == bytes(len(data))


def _look_at_cache(machine: Machine, step: OnlineCache, inventory: Inventory) -> DeviceScan:
    """What stands on a cache that is out of service; nothing of one whose device is not there."""
    autoexpand = autoexpands(machine.runner, step.pool_name)
    cache = cache_of(step.pool_guid, step.vdev_guid, inventory)
    if cache is None or not (inventory.partition_at(cache.path) or inventory.disk_at(cache.path)):
        return DeviceScan(autoexpand=autoexpand)
    with open_idle(cache.path) as descriptor:
        return DeviceScan(_on_whole(descriptor, cache.path), autoexpand=autoexpand)


def _look_at_vdev(machine: Machine, step: RemoveVdev | DropLog, inventory: Inventory) -> DeviceScan:
    """What waits in a log that is to go. Of a pool that is away: what the slices of the vdev say of it.

    OpenZFS resets every log of the pool where the one that goes holds anything (spa_vdev_remove_log() in
    module/zfs/vdev_removal.c), so all datasets count, whichever log their writes are in.
    """
    pool = inventory.pool(step.pool_guid)
    is_log = isinstance(step, DropLog) or step.role is Role.LOG
    if pool is None:
        return DeviceScan() if isinstance(step, DropLog) else _look_at_slices(machine, step.slices, inventory)
    if not is_log or not log_bytes(machine.runner, pool.name, step.vdev_guid):
        return DeviceScan()
    return DeviceScan(waiting=waiting_writes(machine.runner, pool.name))
