"""From a wish to a plan: which slices, where, in which order, and what the pool looks like before and after.

`make_plan` is a pure function of the request, the inventory and the identifiers. The host calls it again with the
inventory it has just read and accepts a plan only if the result is the same, so a plan that was tampered with, or one
made for another state of the host, cannot run.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    CreateSlice,
    CreateTable,
    DropLog,
    DropLogSide,
    Naming,
    OfflineCache,
    Role,
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.checks import can, can_use_disk, can_use_pool
from nasadvisor.domain.change.refusals import (
    CacheHasNoRoom,
    DiskGone,
    DiskHasPartitions,
    DiskHeld,
    DiskTwice,
    ImpossibleReserve,
    LogSideGone,
    LogSideUnknown,
    NoPool,
    NothingToDo,
    OfflineAlone,
    OneSideForAttach,
    PlanForeign,
    SideHasNoRoom,
    SideTooLarge,
    TooSmall,
)
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.gaps import MIN_SLICE_BYTES, Extent, free_extents, free_number
from nasadvisor.domain.storage.inventory import Disk, HoldKind, Host, Inventory, Pool, TableKind, fingerprint_of
from nasadvisor.domain.storage.logs import find_log_side, log_mirror_of, new_side_bytes, without_log_side, without_logs
from nasadvisor.domain.storage.names import PLAN_ID, UUID
from nasadvisor.domain.units import align_down, align_up

Preparation = CreateTable | SaveTable | CreateSlice

MAX_RESERVE_PERCENT = 90

_PLAN_ID = re.compile(PLAN_ID)
_UUID = re.compile(UUID)


@dataclass(frozen=True)
class PlanRequest:
    """What somebody wants. Disks are named by key; sizes are bytes per slice.

    `log_disks`: none, one (single log) or more (mirror). `attach_to` is the guid of an existing log side: then the one
    log disk becomes its mirror, and `log_size_bytes` is ignored because the sides must match. `replaces` is the guid of
    a broken side of that same mirror, which is taken out first. `dead_log` is the guid of a log of which no side works:
    it is taken out before anything is added, or alone. `offline_cache` is the guid of a cache to take out of service;
    it goes with nothing else.
    `cache_size_bytes` None means as much as fits. `reserve_percent` of each SSD stays unpartitioned at its end, and
    at least what the host's platform demands. `use_free_extents` allows disks that already have partitions.
    """

    pool_guid: str
    log_disks: tuple[str, ...] = ()
    log_size_bytes: int = 0
    cache_disks: tuple[str, ...] = ()
    cache_size_bytes: int | None = None
    reserve_percent: int = 10
    naming: Naming = Naming.PARTUUID
    use_free_extents: bool = False
    attach_to: str = ""
    replaces: str = ""
    dead_log: str = ""
    offline_cache: str = ""

    @property
    def disks(self) -> tuple[str, ...]:
        """Every disk once, log disks first."""
        return tuple(dict.fromkeys((*self.log_disks, *self.cache_disks)))


@dataclass(frozen=True)
class PlanIds:
    """What a plan needs from outside: its own id, the time (UTC, ISO 8601) and fresh UUIDs in lower case.

    They become names of a directory, of tables and of partitions, so nothing else is let in.

    Raises:
        ValueError: the id could not name a directory, or the UUIDs are not different ones in lower case.
    """

    plan_id: str
    created_at: str
    uuids: tuple[str, ...]

    def __post_init__(self) -> None:
        if not _PLAN_ID.fullmatch(self.plan_id):
            raise ValueError("the id of a plan must be of lower-case letters, digits and hyphens")
        if not all(map(_UUID.fullmatch, self.uuids)) or len(set(self.uuids)) < len(self.uuids):
            raise ValueError("the UUIDs of a plan must be different ones in lower case")

    @classmethod
    def fresh(cls, request: PlanRequest, draw: Callable[[], object], now: datetime, plan_id: str = "") -> "PlanIds":
        """Identifiers for a request that nothing else has: `draw` makes a new UUID at each call, as uuid4 does.

        `plan_id` is for a plan whose id is known beforehand.
        """
        uuids = tuple(str(draw()) for _number in range(cls.uuids_needed(request)))
        return cls(plan_id or str(draw()), now.isoformat(timespec="seconds"), uuids)

    @staticmethod
    def uuids_needed(request: PlanRequest) -> int:
        """How many UUIDs a plan can use at the most: a table for each disk and a PARTUUID for each slice."""
        return len(request.disks) + len(request.log_disks) + len(request.cache_disks)


@dataclass(frozen=True)
class Plan:
    """An ordered list of actions against one inventory. `fingerprint` covers the pool and the disks it uses."""

    request: PlanRequest
    ids: PlanIds
    pool_name: str
    fingerprint: str
    actions: tuple[Action, ...]

    @property
    def id(self) -> str:
        """The plan's id, which is also the id of its one run."""
        return self.ids.plan_id

    @property
    def slices(self) -> tuple[Slice, ...]:
        """The slices it makes, in order."""
        return tuple(action.slice for action in self.actions if isinstance(action, CreateSlice))

    @property
    def erasures(self) -> tuple[CreateTable | SaveTable, ...]:
        """The first steps on disks that hold data which no tool recognises."""
        tables = (action for action in self.actions if isinstance(action, CreateTable | SaveTable))
        return tuple(action for action in tables if action.unrecognised_at is not None)

    @property
    def has_way_back(self) -> bool:
        """Whether an undo would take back anything of it: what is dead and was taken out does not come back."""
        return any(action.undo(action.planned_outcome()) for action in self.actions)

    def after(self, inventory: Inventory) -> Inventory:
        """The inventory as it will be when every action has run."""
        for action in self.actions:
            inventory = action.forwards(inventory)
        return inventory


@dataclass(frozen=True)
class PlanRefused:
    """Why there is no plan: at least one refusal."""

    refusals: tuple[Refused, ...]

    def __str__(self) -> str:
        return "\n".join(str(refusal) for refusal in self.refusals)


def make_plan(request: PlanRequest, inventory: Inventory, ids: PlanIds) -> Plan | PlanRefused:
    """The plan for a request, or every reason against it."""
    pool = inventory.pool(request.pool_guid)
    if pool is None:
        return PlanRefused((NoPool(request.pool_guid),))
    refusals = (*_refusals_of_request(request, ids), *_refusals_of_targets(request, inventory, pool))
    if refusals:
        return PlanRefused(refusals)
    layout = _lay_out(request, inventory, pool, ids)
    if isinstance(layout, PlanRefused):
        return layout
    actions = (*layout, *_pool_actions(request, pool, layout))
    refusals = tuple(refusals_of(actions, inventory))
    if refusals:
        return PlanRefused(refusals)
    return Plan(request, ids, pool.name, scope_fingerprint(request, inventory), actions)


def refusals_of(actions: tuple[Action, ...], inventory: Inventory) -> Iterator[Refused]:
    """Check each action against the inventory that those before it leave behind."""
    for action in actions:
        answer = can(action, inventory)
        if isinstance(answer, Refused):
            yield answer
        inventory = action.forwards(inventory)


def scope_fingerprint(request: PlanRequest, inventory: Inventory) -> str:
    """The fingerprint of what the plan depends on: its pool and its disks."""
    disks = [disk for disk in inventory.disks if disk.key in request.disks]
    pools = [pool for pool in inventory.pools if pool.guid == request.pool_guid]
    return fingerprint_of(disks, pools)


def _refusals_of_request(request: PlanRequest, ids: PlanIds) -> Iterator[Refused]:
    """What is wrong with the wish itself, whatever the host is like."""
    for role, keys in ((Role.LOG, request.log_disks), (Role.CACHE, request.cache_disks)):
        yield from (DiskTwice(key, role) for key in dict.fromkeys(keys) if keys.count(key) > 1)
    if not 0 <= request.reserve_percent <= MAX_RESERVE_PERCENT:
        yield ImpossibleReserve(request.reserve_percent, MAX_RESERVE_PERCENT)
    if (request.attach_to or request.replaces) and len(request.log_disks) != 1:
        yield OneSideForAttach()
    if request.offline_cache and (request.disks or request.dead_log):
        yield OfflineAlone()
    if len(ids.uuids) < PlanIds.uuids_needed(request):
        yield PlanForeign()


def _refusals_of_targets(request: PlanRequest, inventory: Inventory, pool: Pool) -> Iterator[Refused]:
    """What can be said of the pool and the disks before anything is laid out."""
    if not request.disks and not request.dead_log and not request.offline_cache:
        yield NothingToDo(pool.name)
    left = without_log_side(pool, request.replaces) if request.replaces else pool
    left = without_logs(left, request.dead_log)
    is_added_to = bool(request.disks or request.offline_cache)
    answers = [can_use_pool(left, inventory.host, bool(request.log_disks))] if is_added_to else []
    for key in request.disks:
        disk = inventory.disk(key)
        if disk is None:
            yield DiskGone(key)
            continue
        answers.append(can_use_disk(disk))
        if disk.partitions and not request.use_free_extents:
            yield from _why_not_whole(disk)
    yield from (answer for answer in answers if isinstance(answer, Refused))
    yield from _refusals_of_logs(request, inventory, pool)


def _refusals_of_logs(request: PlanRequest, inventory: Inventory, pool: Pool) -> Iterator[Refused]:
    """What is wrong with the logs and sides that the wish names."""
    if request.attach_to:
        side = find_log_side(pool, request.attach_to)
        if side is None:
            yield LogSideGone(pool, request.attach_to)
        elif inventory.partition_at(side.path) is None:
            yield LogSideUnknown(pool, side)
    if request.dead_log:
        refused = can(drop_of(pool, request.dead_log), inventory)
        yield from (refused,) if isinstance(refused, Refused) else ()
    if request.replaces:
        top = log_mirror_of(pool, request.replaces)
        if top is None or request.attach_to not in [side.guid for side in top.children]:
            yield LogSideGone(pool, request.replaces)


def _why_not_whole(disk: Disk) -> Iterator[Refused]:
    """Why a disk with partitions is not taken whole: what holds one of them says more than that they are there."""
    holds = [hold for part in disk.partitions for hold in part.holds]
    strongest = min(holds, key=lambda hold: list(HoldKind).index(hold.kind), default=None)
    if strongest:
        yield DiskHeld(disk, strongest)
    yield DiskHasPartitions(disk)


def _lay_out(
    request: PlanRequest, inventory: Inventory, pool: Pool, ids: PlanIds
) -> tuple[Preparation, ...] | PlanRefused:
    """Disk by disk: the table first, then the log slice, then the cache slice; the reserve stays at the end."""
    made: list[Preparation] = []
    refusals: list[Refused] = []
    uuids = iter(ids.uuids)
    log_size = _log_size(request, inventory, pool)
    for disk in filter(None, map(inventory.disk, request.disks)):
        room = room_on(disk, inventory.host, request.reserve_percent)
        if request.attach_to and room.size_bytes < log_size:
            refusals.append(_side_has_no_room(request, inventory.host, disk, log_size))
            continue
        pieces = _slices(request, disk, room, log_size)
        if isinstance(pieces, Refused):
            refusals.append(pieces)
            continue
        made.append(_table(disk, uuids))
        made.extend(CreateSlice(replace(piece, partuuid=next(uuids)), pool.guid) for piece in pieces)
    return PlanRefused(tuple(refusals)) if refusals else tuple(made)


def _table(disk: Disk, uuids: Iterator[str]) -> CreateTable | SaveTable:
    if disk.table is TableKind.NONE:
        start, end = disk.usable_start_bytes, disk.usable_end_bytes
        return CreateTable(disk.key, disk.path, next(uuids), start, end, disk.unrecognised_at)
    return SaveTable(disk.key, disk.path, disk.table_uuid, disk.places, disk.unrecognised_at)


def _slices(request: PlanRequest, disk: Disk, room: Extent, log_size: int) -> tuple[Slice, ...] | Refused:
    """The slices on one disk, still without PARTUUIDs: log first, cache next."""
    pieces: list[Slice] = []
    if disk.key in request.log_disks:
        if log_size < MIN_SLICE_BYTES or room.size_bytes < log_size:
            return TooSmall(disk, Role.LOG, log_size, room.size_bytes)
        pieces.append(_slice(request, disk, Role.LOG, free_number(disk), room.head(log_size)))
        room = room.without_head(log_size)
    if disk.key in request.cache_disks:
        size = room.size_bytes if request.cache_size_bytes is None else align_up(request.cache_size_bytes)
        if size < MIN_SLICE_BYTES or room.size_bytes < size:
            return CacheHasNoRoom(disk, size, room.size_bytes, request.reserve_percent)
        number = free_number(disk, *(piece.number for piece in pieces))
        pieces.append(_slice(request, disk, Role.CACHE, number, room.head(size)))
    return tuple(pieces)


def reserve_start(disk: Disk, host: Host, reserve_percent: int) -> int:
    """Where the reserve at the end of a disk begins, in bytes from its start."""
    reserve = max(disk.identity.size_bytes * reserve_percent // 100, host.tail_bytes)
    return align_down(max(disk.usable_end_bytes - reserve, 0))


def room_on(disk: Disk, host: Host, reserve_percent: int) -> Extent:
    """Where slices can go: the longest free extent, each less what reaches into the reserve at the end of the disk."""
    end = reserve_start(disk, host, reserve_percent)
    extents = (extent.until(end) for extent in free_extents(disk))
    return max(extents, key=lambda extent: extent.size_bytes, default=Extent(0, 0))


def _log_size(request: PlanRequest, inventory: Inventory, pool: Pool) -> int:
    """As asked, rounded up to 1 MiB; or as long as the log needs that is to be mirrored."""
    if request.attach_to:
        return new_side_bytes(pool, request.attach_to, request.replaces, inventory)
    return align_up(request.log_size_bytes)


def _side_has_no_room(request: PlanRequest, host: Host, disk: Disk, log_size: int) -> Refused:
    """Its size is not for choosing, so what is said is the largest reserve beside which it has room."""
    for percent in range(request.reserve_percent, -1, -1):
        if room_on(disk, host, percent).size_bytes >= log_size:
            room = room_on(disk, host, request.reserve_percent).size_bytes
            return SideHasNoRoom(disk, log_size, room, request.reserve_percent, percent)
    return SideTooLarge(disk, log_size)


def _slice(request: PlanRequest, disk: Disk, role: Role, number: int, extent: Extent) -> Slice:
    return Slice(
        disk_key=disk.key,
        disk_path=disk.path,
        number=number,
        start_bytes=extent.start_bytes,
        size_bytes=extent.size_bytes,
        sector_bytes=disk.identity.logical_sector_bytes,
        partuuid="",
        role=role,
        naming=request.naming,
    )


def _pool_actions(request: PlanRequest, pool: Pool, layout: tuple[Preparation, ...]) -> Iterator[Action]:
    """The log before the cache, so that an undo takes the cache out first."""
    pieces = tuple(chain.from_iterable(action.pieces for action in layout))
    logs = tuple(piece for piece in pieces if piece.role is Role.LOG)
    caches = tuple(piece for piece in pieces if piece.role is Role.CACHE)
    side = find_log_side(pool, request.attach_to) if request.attach_to else None
    broken = find_log_side(pool, request.replaces) if request.replaces else None
    if request.offline_cache:
        path = next((top.path for top in pool.caches if top.guid == request.offline_cache), "")
        yield OfflineCache(pool.name, pool.guid, request.offline_cache, path)
    if request.dead_log:
        yield drop_of(pool, request.dead_log)
    if broken:
        yield DropLogSide(pool.name, pool.guid, broken.guid, broken.path)
    if side:
        # By its path, for the guid of the one that stays alone changes.
        left = [each for top in without_log_side(pool, request.replaces).logs for each in top.leaves()]
        guid = next(each.guid for each in left if each.path == side.path)
        yield AttachLog(pool.name, pool.guid, pool.ashift, guid, side.path, logs[0])
    elif logs:
        yield AddLog(pool.name, pool.guid, pool.ashift, logs)
    if caches:
        yield AddCache(pool.name, pool.guid, pool.ashift, caches)


def drop_of(pool: Pool, guid: str) -> DropLog:
    """The step that takes this log out."""
    log = next((top for top in pool.logs if top.guid == guid), None)
    return DropLog(pool.name, pool.guid, guid, tuple(leaf.path or leaf.name for leaf in log.leaves()) if log else ())
