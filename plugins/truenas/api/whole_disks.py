"""The supported way: TrueNAS itself makes whole disks a log or a cache (`pool.update`), and takes them out again.

`pool.remove` wipes the parent disk of every leaf, whatever else is on it (middleware, pool_disk_operations.py). It is
therefore only ever asked for a vdev that one of our records names, on disks that hold nothing but that vdev's one
partition, made by TrueNAS over the whole disk. It is never asked for a slice.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from nasadvisor.domain import refusals as no
from nasadvisor.domain.actions import Role
from nasadvisor.domain.checks import against_shared_disk, can_use_pool
from nasadvisor.domain.inventory import Disk, Pool, Vdev
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.undo_checks import USABLE, against_sick_log
from nasadvisor.host.errors import RulesForbid
from plugins.truenas.api import refusals as here
from plugins.truenas.api.errors import JobFailed
from plugins.truenas.api.jobs import Observer, Wait, follow, job_number
from plugins.truenas.api.reading import Picture, read_picture
from plugins.truenas.api.records import AddedVdev, Record, Records, RecordState, taken_back
from plugins.truenas.api.session import Sessions
from plugins.truenas.hazards import is_whole


@dataclass(frozen=True)
class Wish:
    """Whole disks for a pool, by TrueNAS's identifiers. One log disk is a single log, two or more are a mirror."""

    pool_name: str
    log_disks: tuple[str, ...] = ()
    cache_disks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Desk:
    """What is needed to ask TrueNAS: the way to it, our records, who is told of progress, who asks."""

    sessions: Sessions
    records: Records
    observe: Observer
    by: str
    wait: Wait = time.sleep


def against(wish: Wish, picture: Picture) -> Iterator[Refused]:
    """Every reason not to ask TrueNAS for it."""
    pool = _pool_named(wish.pool_name, picture)
    if pool is None:
        yield no.NoPool(wish.pool_name)
        return
    usable = can_use_pool(
        pool, picture.inventory.host, adds_log=False
    )  # features, which a log needs, are not shown here
    if isinstance(usable, Refused):
        yield usable
    if not wish.log_disks and not wish.cache_disks:
        yield no.NothingToDo(pool.name)
    for role, names in ((Role.LOG, wish.log_disks), (Role.CACHE, wish.cache_disks)):
        yield from (no.DiskTwice(name, role) for name in dict.fromkeys(names) if names.count(name) > 1)
    for name in dict.fromkeys((*wish.log_disks, *wish.cache_disks)):
        disk = picture.disk_named(name)
        if disk is None:
            yield no.DiskGone(name)
            continue
        yield from _against_disk(disk, pool, picture)
        if name in wish.log_disks and name in wish.cache_disks:
            yield here.RoleTwice(disk)
    yield from _against_mirror([disk for name in wish.log_disks if (disk := picture.disk_named(name))], pool)


def request_for(wish: Wish, picture: Picture) -> tuple[int, dict[str, object]]:
    """The parameters of `pool.update`. Kernel names move, so they are looked up right before the call.

    Raises:
        KeyError: a disk or the pool is not in the picture; `against` says so in a sentence.
    """
    pool = _pool_named(wish.pool_name, picture)
    if pool is None:
        raise KeyError(wish.pool_name)
    topology: dict[str, object] = {}
    if wish.log_disks:
        kind = "MIRROR" if len(wish.log_disks) > 1 else "STRIPE"
        topology["log"] = [{"type": kind, "disks": [_kernel_name(name, picture) for name in wish.log_disks]}]
    if wish.cache_disks:
        topology["cache"] = [{"type": "STRIPE", "disks": [_kernel_name(name, picture) for name in wish.cache_disks]}]
    return picture.pool_ids[pool.guid], {"topology": topology}


def shown(wish: Wish, picture: Picture) -> str:
    """The same call as a command for TrueNAS's own shell, to be looked at."""
    number, changes = request_for(wish, picture)
    return f"midclt call --job pool.update {number} '{json.dumps(changes)}'"


def add(wish: Wish, record_id: str, desk: Desk) -> Record:
    """Have TrueNAS add the disks, and see whether it did.

    Raises:
        RulesForbid, VersionOutside: nothing was changed.
        HostError: TrueNAS could not do it, or it is not known; the record stays and can be taken back.
    """
    with desk.sessions() as session:
        session.must_allow_changes()
        picture = read_picture(session)
        refusals = tuple(against(wish, picture))
        if refusals:
            raise RulesForbid(refusals)
        record = desk.records.write(_asked(wish, record_id, desk.by, picture))
        job = job_number("pool.update", session.call("pool.update", *request_for(wish, picture)))
    follow(job, "pool.update", desk.sessions, desk.observe, desk.wait)
    added = added_by(record, _picture(desk))
    if len({vdev.role for vdev in added}) < bool(wish.log_disks) + bool(wish.cache_disks):
        raise JobFailed(job, "pool.update", "SUCCESS", "the pool does not show the new devices")
    return desk.records.write(replace(record, state=RecordState.ADDED, added=added))


def added_by(record: Record, picture: Picture) -> tuple[AddedVdev, ...]:
    """The logs and caches that are in the pool now, were not before, and lie on the disks of the record."""
    pool = picture.inventory.pool(record.pool_guid)
    if pool is None:
        return ()
    return tuple(
        AddedVdev(role, top.guid)
        for role, tops in ((Role.CACHE, pool.caches), (Role.LOG, pool.logs))
        for top in tops
        if top.guid not in record.before and _is_on(record, top, picture)
    )


def take_back(record: Record, desk: Desk) -> tuple[Record, tuple[Statement, ...]]:
    """Have TrueNAS take the disks out again, caches first; what it said of wiping comes with the record.

    Raises:
        RulesForbid, VersionOutside: nothing was changed by the step that it is about.
        HostError: it did not work, or it is not known; it can be asked for again.
    """
    notes: list[Statement] = []
    for vdev in record.added or added_by(record, _picture(desk)):
        notes.extend(_remove(vdev, record, desk))
    return desk.records.write(taken_back(record)), tuple(notes)


def against_removal(vdev: AddedVdev, record: Record, picture: Picture) -> Iterator[Refused]:
    """Every reason not to have TrueNAS remove a vdev, and with it wipe its disks."""
    pool = picture.inventory.pool(record.pool_guid)
    if pool is None:
        yield no.NoPool(record.pool_guid)
        return
    if pool.state not in USABLE:
        yield no.PoolNotOnline(pool)
    top = _top(vdev, pool)
    if top is None:
        yield no.VdevGone(vdev.guid, pool.name, vdev.role)
        return
    if vdev.role is Role.LOG:
        yield from against_sick_log(pool, top)
    for leaf in top.leaves():
        yield from _against_wipe(leaf, top, vdev.role, record, picture)


def _remove(vdev: AddedVdev, record: Record, desk: Desk) -> list[Statement]:
    with desk.sessions() as session:
        session.must_allow_changes()
        picture = read_picture(session)
        pool = picture.inventory.pool(record.pool_guid)
        if pool and all(each.guid != vdev.guid for each in pool.vdevs()):
            return []
        refusals = tuple(against_removal(vdev, record, picture))
        if refusals:
            raise RulesForbid(refusals)
        number = picture.pool_ids[record.pool_guid]
        job = job_number("pool.remove", session.call("pool.remove", number, {"label": vdev.guid}))
    try:
        follow(job, "pool.remove", desk.sessions, desk.observe, desk.wait)
    except JobFailed as error:
        # It wipes after it has removed, and fails as a whole if it cannot wipe.
        pool = _picture(desk).inventory.pool(record.pool_guid)
        if pool is None or any(each.guid == vdev.guid for each in pool.vdevs()):
            raise
        return [error.statement]
    return []


def _against_disk(disk: Disk, pool: Pool, picture: Picture) -> Iterator[Refused]:
    yield from (no.DiskHeld(disk, hold) for hold in disk.holds)
    if disk.partitions:
        yield no.DiskNotBlank(disk)
    if disk.key in picture.dif:
        yield here.ProtectionInformation(disk)
    if disk.identity.logical_sector_bytes > 1 << pool.ashift:
        yield no.SectorTooLarge(disk, pool)


def _against_mirror(disks: list[Disk], pool: Pool) -> Iterator[Refused]:
    yield from against_shared_disk(list(disks))
    if len({disk.identity.size_bytes for disk in disks}) > 1:
        yield here.DisksDiffer(pool.name)


def _against_wipe(leaf: Vdev, top: Vdev, role: Role, record: Record, picture: Picture) -> Iterator[Refused]:
    """The disk of a leaf is one of the record's, and nothing is on it but this leaf's partition over all of it."""
    found = picture.inventory.partition_at(leaf.path)
    if found is None:
        yield here.LeafUnknown(leaf)
        return
    disk, part = found
    pool = picture.inventory.pool(record.pool_guid)
    if pool and picture.names.get(disk.key) not in record.disks:
        yield no.VdevChanged(pool, top, leaf, role)
    if not is_whole(disk, part):
        yield here.RemoveWipesMore(disk)


def _is_on(record: Record, top: Vdev, picture: Picture) -> bool:
    found = [picture.inventory.partition_at(leaf.path) for leaf in top.leaves()]
    return all(place and picture.names.get(place[0].key) in record.disks for place in found)


def _asked(wish: Wish, record_id: str, by: str, picture: Picture) -> Record:
    pool = _pool_named(wish.pool_name, picture)
    if pool is None:
        raise KeyError(wish.pool_name)
    return Record(
        id=record_id,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        by=by,
        pool_guid=pool.guid,
        pool_name=pool.name,
        log_disks=wish.log_disks,
        cache_disks=wish.cache_disks,
        before=tuple(top.guid for top in (*pool.logs, *pool.caches)),
    )


def _top(vdev: AddedVdev, pool: Pool) -> Vdev | None:
    tops = pool.logs if vdev.role is Role.LOG else pool.caches
    return next((top for top in tops if top.guid == vdev.guid), None)


def _kernel_name(name: str, picture: Picture) -> str:
    disk = picture.disk_named(name)
    if disk is None:
        raise KeyError(name)
    return disk.kernel_name


def _pool_named(name: str, picture: Picture) -> Pool | None:
    return next((pool for pool in picture.inventory.pools if pool.name == name), None)


def _picture(desk: Desk) -> Picture:
    with desk.sessions() as session:
        return read_picture(session)
