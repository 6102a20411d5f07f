"""What of a record is still there, read off pools and disks as TrueNAS shows them.

A vdev is ours by its guid or that of one of its disks; of a record without guids, because it is on the record's disks
and was not there before. That nothing is there is only said of a pool whose whole tree is shown: of one that is not
imported TrueNAS shows none (`topology: null`), and of a leaf that is missing no path (26: pool_/topology.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.storage.inventory import Disk, HoldKind, Pool, Vdev
from plugins.truenas.api import refusals as here
from plugins.truenas.api.reading import Picture
from plugins.truenas.api.records import AddedVdev, Record, RecordState


@dataclass(frozen=True)
class Remnant:
    """A top-level vdev of a record that is still in a pool; `role` is None where it is neither log nor cache."""

    pool: Pool
    top: Vdev
    role: Role | None


def remnants(record: Record, picture: Picture) -> tuple[Remnant, ...]:
    """What is still in a pool, caches first."""
    return tuple(each for each in _tops(picture) if _is_ours(each, record, picture))


def against_saying_gone(record: Record, picture: Picture) -> Iterator[Refused]:
    """Every reason not to say that nothing of a record is left, where no remnant of it was found."""
    pool = picture.inventory.pool(record.pool_guid)
    if pool is None:
        yield from _against_unlisted_pool(record, picture)
    elif record.pool_guid in picture.unseen:
        yield here.PoolNotSeen(pool)
    elif record.pool_vdevs and not set(record.pool_vdevs) & {top.guid for top in pool.data}:
        yield here.OtherPoolOfThatName(record, pool)
    elif not record.knows_all_guids:
        yield from (here.VdevUnclear(pool, each.top) for each in _tops(picture) if _may_be_ours(each, record, picture))
    for disk in _disks(record, picture):
        yield from _against_held(disk, picture)


def learnt(record: Record, found: tuple[Remnant, ...], picture: Picture) -> Record:
    """The record with the guids of what was found, so that the next look does not depend on the disks."""
    known = {vdev.guid: vdev for vdev in record.added}
    for each in found:
        before = known.get(each.top.guid)
        is_unnamed = not record.guids & {vdev.guid for vdev in each.top.walk()}
        if each.role is not None and (before or is_unnamed):
            guids = [leaf.guid for leaf in each.top.leaves()]
            ours = [guid for guid in guids if guid in record.guids or picture.places.get(guid) in record.disks]
            leaves = dict.fromkeys((*(before.leaves if before else ()), *ours))
            known[each.top.guid] = AddedVdev(each.role, each.top.guid, tuple(leaves))
    return replace(record, added=tuple(known.values()))


def notes_on_disks(record: Record, picture: Picture) -> Iterator[Statement]:
    """What to know of the disks of a record that is no longer in its pool."""
    for name in record.disks:
        disk = picture.disk_named(name)
        if disk is None:
            yield here.DiskNotShown(name)
        elif disk.holds:
            yield here.DiskUsedAnew(disk)
        elif disk.partitions:
            yield here.DiskNotWiped(disk)


def _tops(picture: Picture) -> Iterator[Remnant]:
    """Every top-level vdev, the caches of a pool before its logs."""
    for pool in picture.inventory.pools:
        for role, tops in (
            (Role.CACHE, pool.caches),
            (Role.LOG, pool.logs),
            (None, (*pool.data, *pool.specials, *pool.dedups, *pool.spares)),
        ):
            yield from (Remnant(pool, top, role) for top in tops)


def _is_ours(each: Remnant, record: Record, picture: Picture) -> bool:
    if record.guids & {vdev.guid for vdev in each.top.walk()}:
        return True
    by_its_disks = record.state is RecordState.ASKED and not record.knows_all_guids
    return by_its_disks and _is_new(each, record) and bool(_places(each.top, picture) & set(record.disks))


def _may_be_ours(each: Remnant, record: Record, picture: Picture) -> bool:
    """A new log or cache on a disk of the record, or on one that nobody can tell."""
    places = _places(each.top, picture)
    return _is_new(each, record) and (None in places or bool(places & set(record.disks)))


def _is_new(each: Remnant, record: Record) -> bool:
    return each.role is not None and each.pool.guid == record.pool_guid and each.top.guid not in record.before


def _places(top: Vdev, picture: Picture) -> set[str | None]:
    return {picture.places.get(leaf.guid) for leaf in top.leaves()}


def _disks(record: Record, picture: Picture) -> Iterator[Disk]:
    yield from (disk for name in record.disks if (disk := picture.disk_named(name)))


def _against_unlisted_pool(record: Record, picture: Picture) -> Iterator[Refused]:
    """A pool that is not listed was exported or destroyed. Only disks that are there and blank hold none of it."""
    disks = tuple(_disks(record, picture))
    if len(disks) < len(record.disks) or any(disk.partitions for disk in disks):
        yield here.PoolNotListed(record)


def _against_held(disk: Disk, picture: Picture) -> Iterator[Refused]:
    """A disk that a pool has, without TrueNAS showing as what; what it shows was looked at before, and is not ours."""
    shown = picture.names.get(disk.key) in picture.places.values()
    for hold in disk.holds:
        if hold.kind is HoldKind.EXPORTED_POOL or (hold.kind is HoldKind.POOL and not shown):
            yield here.DiskStillHeld(disk, hold)
