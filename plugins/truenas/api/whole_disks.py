"""The supported way: TrueNAS itself makes whole disks a log or a cache (`pool.update`).

What is recorded as added is what the pool shows after TrueNAS's job, not what the job says.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.checks import against_shared_disk, can_use_pool
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Disk, Pool
from nasadvisor.host.change.journal import JournalUnwritable
from nasadvisor.host.errors import RulesForbid
from plugins.truenas.api import refusals as here
from plugins.truenas.api.errors import EndNotSeen, JobFailed
from plugins.truenas.api.jobs import Desk, Given, follow, job_number, nothing_given, picture_after
from plugins.truenas.api.reading import Picture, read_picture
from plugins.truenas.api.records import Record, RecordState
from plugins.truenas.api.remains import Remnant, learnt, remnants


@dataclass(frozen=True)
class WholeDisks:
    """Whole disks for a pool, by TrueNAS's identifiers. One log disk is a single log, two or more are a mirror."""

    pool_name: str
    log_disks: tuple[str, ...] = ()
    cache_disks: tuple[str, ...] = ()


def against(wish: WholeDisks, picture: Picture, given: Given = nothing_given) -> Iterator[Refused]:
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
        yield from given(disk)
        if name in wish.log_disks and name in wish.cache_disks:
            yield here.RoleTwice(disk)
    yield from _against_mirror([disk for name in wish.log_disks if (disk := picture.disk_named(name))], pool)


def request_for(wish: WholeDisks, picture: Picture) -> tuple[int, dict[str, object]]:
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


def shown(wish: WholeDisks, picture: Picture) -> str:
    """The same call as a command for TrueNAS's own shell, to be looked at."""
    number, changes = request_for(wish, picture)
    return f"midclt call --job pool.update {number} '{json.dumps(changes)}'"


def add(wish: WholeDisks, record_id: str, desk: Desk) -> Record:
    """Have TrueNAS add the disks, and see whether it did.

    Raises:
        RulesForbid, VersionOutside: nothing was changed.
        HostError: TrueNAS could not do it, or it is not known; the record stays and can be taken back.
    """
    with desk.sessions() as session:
        session.must_allow_adding()
        picture = read_picture(session)
        refusals = tuple(against(wish, picture, desk.given(session)))
        if refusals:
            raise RulesForbid(refusals)
        pool = _pool_named(wish.pool_name, picture)
        if pool is None:
            raise KeyError(wish.pool_name)
        record = desk.records.write(
            Record(
                id=record_id,
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                by=desk.by,
                pool_guid=pool.guid,
                pool_name=pool.name,
                log_disks=wish.log_disks,
                cache_disks=wish.cache_disks,
                before=tuple(top.guid for top in (*pool.logs, *pool.caches)),
                pool_vdevs=tuple(top.guid for top in pool.data),
            )
        )
        job = job_number("pool.update", session.call("pool.update", *request_for(wish, picture)))
    follow(job, "pool.update", desk.sessions, desk.observe, desk.wait)
    try:
        picture = picture_after(job, "pool.update", desk)
        pool = picture.inventory.pool(record.pool_guid)
        if pool is None or pool.guid in picture.unseen:
            raise EndNotSeen(job, "pool.update", here.DevicesHidden(record.pool_name))
        found = remnants(record, picture)
        record = desk.records.write(learnt(record, found, picture))
        if not _is_as_asked(record, found, picture):
            raise JobFailed(job, "pool.update", "SUCCESS", here.LayoutDiffers(pool))
        return desk.records.write(replace(record, state=RecordState.ADDED))
    except JournalUnwritable as error:
        raise EndNotSeen(job, "pool.update", error.statement) from error


def _is_as_asked(record: Record, found: tuple[Remnant, ...], picture: Picture) -> bool:
    """The log is one vdev of exactly its disks, the caches are exactly theirs, and all of it works."""
    places: dict[Role, list[str | None]] = {Role.LOG: [], Role.CACHE: []}
    for each in found:
        if each.role is not None:
            places[each.role] += [picture.places.get(leaf.guid) for leaf in each.top.leaves()]
    return (
        sorted(map(str, places[Role.LOG])) == sorted(record.log_disks)
        and sorted(map(str, places[Role.CACHE])) == sorted(record.cache_disks)
        and sum(each.role is Role.LOG for each in found) == bool(record.log_disks)
        and all(vdev.state == "ONLINE" for each in found for vdev in each.top.walk())
    )


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


def _kernel_name(name: str, picture: Picture) -> str:
    disk = picture.disk_named(name)
    if disk is None:
        raise KeyError(name)
    return disk.kernel_name


def _pool_named(name: str, picture: Picture) -> Pool | None:
    return next((pool for pool in picture.inventory.pools if pool.name == name), None)
