"""Reading what a write would change, right before it: off the device itself, by the name that is written to."""

import os
from collections.abc import Iterator
from dataclasses import replace
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
from nasadvisor.domain.change.actions.seen import cache_of
from nasadvisor.domain.change.looks import Look, Signature, SliceLabel, Step, places_to_look
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.storage.gpt import HeaderPlace, header_places
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.domain.units import KIB, MIB
from nasadvisor.host.adapters.blockdev import announce_reads, open_disk, open_idle, open_slice, read_all
from nasadvisor.host.adapters.libblkid import recognise
from nasadvisor.host.adapters.waiting_writes import waiting_writes
from nasadvisor.host.adapters.zdb import read_label
from nasadvisor.host.adapters.zpool_get import autoexpands
from nasadvisor.host.adapters.zpool_list import log_bytes
from nasadvisor.host.storage.machine import Machine

_GLANCES: Final = ((0, 20 * KIB), (64 * KIB, 4 * KIB))
"""Where something that begins at a place shows first: most superblocks stand in its first 8 KiB, the label of ZFS at
16 KiB, that of btrfs at 64 KiB. All zeros there is nothing; else libblkid is asked, which reads more. Two reads at each
place: a slice has one for each MiB, and how much is read at once costs less than how often."""

_FRONT_BYTES: Final = MIB
_END_BYTES: Final = 16 * MIB
"""[policy] How much of a disk without a table is searched for headers of one. The copy is in the last sector or, where
a disk was copied to another that is sold as of the same size, a little before."""

_TABLES: Final = frozenset({"gpt", "PMBR", "dos"})
"""What libblkid calls the tables with which a disk is used."""

_LABEL_BYTES: Final = 512 * KIB
"""Two labels of 256 KiB at the front; two more at the end (vdev_label.c)."""


def look_at(machine: Machine, step: Step, inventory: Inventory, own: OwnTable | None) -> Look:
    """See `Executor.look`.

    Raises:
        HostError: a device that is there could not be read, or is not the one that the inventory shows.
    """
    match step:
        case CreateTable() | SaveTable() | RestoreTable() | RewindTable():
            disk = inventory.disk(step.disk_key)
            return _look_at_table(machine, step, step.disk_path, disk, own) if disk else Look()
        case CreateSlice(slice=piece):
            disk = inventory.disk(piece.disk_key)
            return _look_at_room(machine, piece, disk, own) if disk else Look()
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
        case DetachLog(leg=piece):
            away = inventory.pool(step.pool_guid) is None
            return _look_at_slices(machine, (piece,), inventory) if away else Look()
        case OfflineCache():
            return Look(autoexpand=autoexpands(machine.runner, step.pool_name))
        case OnlineCache():
            return _look_at_cache(machine, step, inventory)
        case _:
            return Look()


def _look_at_table(machine: Machine, step: Step, path: str, disk: Disk, own: OwnTable | None) -> Look:
    with open_disk(path, disk, machine.disks.identify, os.O_RDONLY) as descriptor:
        table = _table(descriptor, disk, path, own)
        if not isinstance(step, CreateTable | SaveTable):
            return Look(table=table)
        found = recognise(descriptor, 0, 0, path)
        if isinstance(step, SaveTable):
            found = tuple(each for each in found if each.kind not in _TABLES)
        signatures = tuple(Signature(each.kind, 0, each.label) for each in found)
        headers = tuple(_headers(descriptor, disk, path)) if isinstance(step, CreateTable) else ()
        return Look(signatures, table=table, headers=headers)


def _headers(descriptor: int, disk: Disk, path: str) -> Iterator[HeaderPlace]:
    """The sound headers of partition tables at the front and at the end of a disk."""
    size = disk.identity.size_bytes
    for start, end in ((0, min(_FRONT_BYTES, size)), (max(size - _END_BYTES, 0), size)):
        yield from header_places(read_all(descriptor, end - start, start, path), start)


def _look_at_room(machine: Machine, piece: Slice, disk: Disk, own: OwnTable | None) -> Look:
    with open_disk(piece.disk_path, disk, machine.disks.identify, os.O_RDONLY) as descriptor:
        places = places_to_look(piece)
        announce_reads(descriptor, ((place + at, size) for place in places for at, size in _GLANCES))
        first = next(
            (found for place in places for found in _begins_at(descriptor, place, disk, piece.disk_path)),
            None,
        )
        return Look((first,) if first else (), table=_table(descriptor, disk, piece.disk_path, own))


def _begins_at(descriptor: int, place: int, disk: Disk, path: str) -> tuple[Signature, ...]:
    """What begins at a place, however far it goes: libblkid does not take little room for a ZFS device."""
    if all(_is_zeros(read_all(descriptor, size, place + at, path)) for at, size in _GLANCES):
        return ()
    found = recognise(descriptor, place, disk.identity.size_bytes - place, path)
    return tuple(Signature(each.kind, place, each.label) for each in found)


def _table(descriptor: int, disk: Disk, path: str, own: OwnTable | None) -> Area:
    """The disk's table area: as long as it was when the run began, whatever a table that was put there since says."""
    size = disk.identity.size_bytes
    head = len(own.before.head) if own else disk.usable_start_bytes
    tail = len(own.before.tail) if own else size - disk.usable_end_bytes
    return Area(read_all(descriptor, head, 0, path), read_all(descriptor, tail, size - tail, path))


def _look_at_slices(machine: Machine, pieces: tuple[Slice, ...], inventory: Inventory) -> Look:
    """What stands in those of the slices that are there."""
    signatures: list[Signature] = []
    labels: list[tuple[str, SliceLabel]] = []
    for piece in pieces:
        if inventory.partition(piece.partuuid) is None:
            continue
        with open_slice(piece, machine.roots.sys) as descriptor:
            if not _is_written(descriptor, piece):
                continue
            found = recognise(descriptor, 0, 0, piece.partuuid_path)
            signatures.extend(Signature(each.kind, 0, each.label) for each in found)
        label = read_label(machine.runner, piece.partuuid_path)
        if label:
            labels.append((piece.partuuid, label))
    return Look(tuple(signatures), tuple(labels))


def _is_written(descriptor: int, piece: Slice) -> bool:
    """Whether anything but zeros stands where labels and superblocks do: the first MiB and the labels at the end."""
    tail = piece.size_bytes - 2 * _LABEL_BYTES
    places = ((0, 2 * _LABEL_BYTES), (tail, 2 * _LABEL_BYTES))
    return not all(_is_zeros(read_all(descriptor, size, at, piece.partuuid_path)) for at, size in places)


def _is_zeros(data: bytes) -> bool:
    """Compared as a whole: looking at each byte of thousands of places was a fifth of the time of a run."""
    return data == bytes(len(data))


def _look_at_cache(machine: Machine, step: OnlineCache, inventory: Inventory) -> Look:
    """What stands on a cache that is out of service; nothing of one whose device is not there."""
    autoexpand = autoexpands(machine.runner, step.pool_name)
    cache = cache_of(step.pool_guid, step.vdev_guid, inventory)
    if cache is None or not (inventory.partition_at(cache.path) or inventory.disk_at(cache.path)):
        return Look(autoexpand=autoexpand)
    with open_idle(cache.path) as descriptor:
        found = recognise(descriptor, 0, 0, cache.path)
    return Look(tuple(Signature(each.kind, 0, each.label) for each in found), autoexpand=autoexpand)


def _look_at_vdev(machine: Machine, step: RemoveVdev | DropLog, inventory: Inventory) -> Look:
    """What waits in a log that is to go. Of a pool that is away: what the slices of the vdev say of it.

    OpenZFS resets every log of the pool where the one that goes holds anything (spa_vdev_remove_log() in
    module/zfs/vdev_removal.c), so all datasets count, whichever log their writes are in.
    """
    pool = inventory.pool(step.pool_guid)
    is_log = isinstance(step, DropLog) or step.role is Role.LOG
    if pool is None:
        return Look() if isinstance(step, DropLog) else _look_at_slices(machine, step.slices, inventory)
    if not is_log or not log_bytes(machine.runner, pool.name, step.vdev_guid):
        return Look()
    return Look(waiting=waiting_writes(machine.runner, pool.name))
