"""Having TrueNAS take whole disks out again (`pool.remove`), which then wipes the parent disk of every leaf.

It is only ever asked for a vdev that is a record's, on disks of that record that hold nothing but that vdev's one
partition, made by TrueNAS over the whole disk. It is never asked for a slice. That a record is taken back is said once
the pool, looked at after the last job, has none of its guids and no pool has its disks; until then it stays as it is.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.checks import against_sick_log
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.storage.inventory import Vdev
from nasadvisor.domain.storage.logs import TAKES_IO
from nasadvisor.host.errors import HostError, RulesForbid
from plugins.truenas.api import refusals as here
from plugins.truenas.api.errors import EndNotSeen, JobFailed, TakenBackInPart
from plugins.truenas.api.jobs import Desk, first_under_way, follow, job_number, picture_after, picture_now
from plugins.truenas.api.reading import Picture, read_picture
from plugins.truenas.api.records import Record, RecordState
from plugins.truenas.api.remains import Remnant, against_saying_gone, learnt, notes_on_disks, remnants
from plugins.truenas.hazards import is_whole

LOOKS_AT_WIPED: Final = 5
"""udev tells that a wiped disk has no partitions any more a moment after TrueNAS's job has ended."""


def take_back(record: Record, desk: Desk) -> tuple[Record, tuple[Statement, ...]]:
    """Have TrueNAS take the disks out again, caches first; what is to be known of it comes with the record.

    Raises:
        RulesForbid: nothing was changed.
        TakenBackInPart: some of it was taken out before it could not go on.
        HostError: it did not work, or it is not known; it can be asked for again.
    """
    # What another record names as its own never counts as this one's.
    others = {guid for each in desk.records.all() if each.id != record.id for guid in each.guids}
    record = replace(record, before=tuple(dict.fromkeys((*record.before, *sorted(others - record.guids)))))
    record, found, notes = _begun(record, desk)
    for number, each in enumerate(found):
        try:
            notes += _remove(each.top.guid, record, desk)
        except HostError as error:
            raise (TakenBackInPart(number, error) if number else error) from error
    try:  # it is taken back once nothing of it is seen and everything is
        picture = picture_now(desk)
        left = remnants(record, picture)
        refusals = (
            *(here.StillThere(each.pool, each.top) for each in left),
            *(() if left else against_saying_gone(record, picture)),
        )
        if refusals:
            raise RulesForbid(refusals)
        closed = desk.records.write(replace(record, state=RecordState.TAKEN_BACK))
        return closed, (*notes, *_notes_on_disks(record, picture, desk))
    except HostError as error:
        raise (TakenBackInPart(len(found), error) if found else error) from error


def against_removal(each: Remnant, record: Record, picture: Picture) -> Iterator[Refused]:
    """Every reason not to have TrueNAS remove a vdev, and with it wipe its disks."""
    if each.pool.state not in TAKES_IO:
        yield no.PoolNotOnline(each.pool)
    if each.role is None:
        yield no.VdevGone(each.top.guid, each.pool.name, _recorded_role(each, record))
        return
    if each.role is Role.LOG:
        yield from against_sick_log(each.pool, each.top)
    for leaf in each.top.leaves():
        yield from _against_wipe(leaf, each, record, picture)


def _begun(record: Record, desk: Desk) -> tuple[Record, tuple[Remnant, ...], list[Statement]]:
    """What is still there, written down with its guids, and the warning where nobody has tried this version."""
    with desk.sessions() as session:
        under_way = first_under_way(session)
        if under_way:
            raise RulesForbid((here.JobUnderWay(*under_way),))
        picture = read_picture(session)
        warning = session.warning_with_undo
    found = remnants(record, picture)
    known = learnt(record, found, picture)
    return (desk.records.write(known) if known != record else record), found, [warning] if warning else []


def _remove(guid: str, record: Record, desk: Desk) -> list[Statement]:
    """Have one vdev removed, and see that it is out; what TrueNAS said of wiping."""
    with desk.sessions() as session:
        picture = read_picture(session)
        each = next((each for each in remnants(record, picture) if each.top.guid == guid), None)
        if each is None:
            return []
        refusals = tuple(against_removal(each, record, picture))
        if refusals:
            raise RulesForbid(refusals)
        number = picture.pool_ids[each.pool.guid]
        job = job_number("pool.remove", session.call("pool.remove", number, {"label": guid}))
    try:
        follow(job, "pool.remove", desk.sessions, desk.observe, desk.wait)
    except JobFailed as error:
        # It wipes after it has removed, and fails as a whole if it cannot wipe.
        if _is_in(guid, each, picture_after(job, "pool.remove", desk), job):
            raise
        return [here.WipeFailed(job, error.statement)]
    if _is_in(guid, each, picture_after(job, "pool.remove", desk), job):
        raise JobFailed(job, "pool.remove", "SUCCESS", here.StillShown(each.pool, each.top))
    return []


def _is_in(guid: str, each: Remnant, picture: Picture, job: int) -> bool:
    """Whether a vdev is still in any pool.

    Raises:
        EndNotSeen: the devices of its pool are not shown now.
    """
    if any(vdev.guid == guid for pool in picture.inventory.pools for vdev in pool.vdevs()):
        return True
    pool = picture.inventory.pool(each.pool.guid)
    if pool is None or pool.guid in picture.unseen:
        raise EndNotSeen(job, "pool.remove", here.DevicesHidden(each.pool.name))
    return False


def _notes_on_disks(record: Record, picture: Picture, desk: Desk) -> tuple[Statement, ...]:
    for _look in range(LOOKS_AT_WIPED - 1):
        if all(note.code != "disk-not-wiped" for note in notes_on_disks(record, picture)):
            break
        desk.wait(1.0)
        picture = picture_now(desk)
    return tuple(notes_on_disks(record, picture))


def _against_wipe(leaf: Vdev, each: Remnant, record: Record, picture: Picture) -> Iterator[Refused]:
    """The disk of a leaf is one of the record's, and nothing is on it but this leaf's partition over all of it."""
    found = picture.inventory.partition_at(leaf.path)
    if found is None or leaf.guid not in picture.places:
        yield here.LeafUnknown(leaf)
        return
    disk, part = found
    if picture.names.get(disk.key) not in record.disks:
        yield no.VdevChanged(each.pool, each.top, leaf, _recorded_role(each, record))
    if not is_whole(disk, part):
        yield here.RemoveWipesMore(disk)


def _recorded_role(each: Remnant, record: Record) -> Role:
    guids = {vdev.guid for vdev in each.top.walk()}
    recorded = (vdev.role for vdev in record.added if guids & {vdev.guid, *vdev.leaves})
    return each.role or next(recorded, Role.LOG)
