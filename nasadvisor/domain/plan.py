"""From a wish to a plan: which slices, where, in which order, and what the pool looks like before and after.

`make_plan` is a pure function of the request, the inventory and the identifiers. The host calls it again with the
inventory it has just read and accepts a plan only if the result is the same, so a plan that was tampered with, or one
made for another state of the host, cannot run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from nasadvisor.domain.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    CreateSlice,
    CreateTable,
    Naming,
    Role,
    SaveTable,
    Slice,
    slices_of,
)
from nasadvisor.domain.checks import can, can_use_disk, can_use_pool, find_log_leg
from nasadvisor.domain.gaps import Extent, free_number, largest_extent
from nasadvisor.domain.inventory import Disk, Host, Inventory, TableKind, fingerprint_of
from nasadvisor.domain.refusals import (
    CacheHasNoRoom,
    DiskGone,
    DiskHasPartitions,
    LogLegGone,
    NoPool,
    NothingToDo,
    OneLegForAttach,
    TooSmall,
)
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.units import MIB, align_down, align_up

Preparation = CreateTable | SaveTable | CreateSlice

MIN_SLICE_BYTES = 64 * MIB
"""SPA_MINDEVSIZE, include/sys/vdev_impl.h: OpenZFS refuses anything smaller."""


@dataclass(frozen=True)
class PlanRequest:
    """What somebody wants. Disks are named by key; sizes are bytes per slice.

    `log_disks`: none, one (single log) or more (mirror). `attach_to` is the guid of an existing log leg: then the one
    log disk becomes its mirror, and `log_size_bytes` is ignored because the legs must match.
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

    @property
    def disks(self) -> tuple[str, ...]:
        """Every disk once, log disks first."""
        return tuple(dict.fromkeys((*self.log_disks, *self.cache_disks)))


@dataclass(frozen=True)
class PlanIds:
    """What a plan needs from outside: its own id, the time (UTC, ISO 8601) and fresh UUIDs (lower case)."""

    plan_id: str
    created_at: str
    uuids: tuple[str, ...]

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
    refusals = tuple(_refusals_of_targets(request, inventory))
    if refusals:
        return PlanRefused(refusals)
    uuids = iter(ids.uuids)
    layout = _lay_out(request, inventory, uuids)
    if isinstance(layout, PlanRefused):
        return layout
    actions = (*layout, *_pool_actions(request, inventory, layout))
    refusals = tuple(refusals_of(actions, inventory))
    if refusals:
        return PlanRefused(refusals)
    pool = inventory.pool(request.pool_guid)
    return Plan(request, ids, pool.name if pool else "", scope_fingerprint(request, inventory), actions)


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


def _refusals_of_targets(request: PlanRequest, inventory: Inventory) -> Iterator[Refused]:
    """What can be said before anything is laid out: about the pool, the disks and the wish itself."""
    pool = inventory.pool(request.pool_guid)
    if pool is None:
        yield NoPool(request.pool_guid)
        return
    if not request.disks:
        yield NothingToDo(pool.name)
    answers = [can_use_pool(pool, inventory.host, bool(request.log_disks))]
    for key in request.disks:
        disk = inventory.disk(key)
        if disk is None:
            yield DiskGone(key)
            continue
        answers.append(can_use_disk(disk))
        if disk.partitions and not request.use_free_extents:
            yield DiskHasPartitions(disk)
    yield from (answer for answer in answers if isinstance(answer, Refused))
    if request.attach_to and len(request.log_disks) != 1:
        yield OneLegForAttach()
    if request.attach_to and find_log_leg(pool, request.attach_to) is None:
        yield LogLegGone(pool, request.attach_to)


def _lay_out(request: PlanRequest, inventory: Inventory, uuids: Iterator[str]) -> tuple[Preparation, ...] | PlanRefused:
    """Tables first, then the slices disk by disk: log first, cache next, the reserve last."""
    made: list[Preparation] = []
    refusals: list[Refused] = []
    for key in request.disks:
        disk = inventory.disk(key)
        assert disk is not None, "checked with the targets"  # noqa: S101
        result = _lay_out_disk(request, inventory, disk, uuids)
        if isinstance(result, Refused):
            refusals.append(result)
        else:
            made.extend(result)
    return PlanRefused(tuple(refusals)) if refusals else tuple(made)


def _lay_out_disk(
    request: PlanRequest, inventory: Inventory, disk: Disk, uuids: Iterator[str]
) -> list[Preparation] | Refused:
    made: list[Preparation] = [_table(disk, uuids)]
    room = _room(request, inventory.host, disk)
    number = free_number(disk)
    if disk.key in request.log_disks:
        size = _log_size(request, inventory)
        if size < MIN_SLICE_BYTES or room.size_bytes < size:
            return TooSmall(disk, Role.LOG, size, room.size_bytes)
        made.append(_slice(request, disk, Role.LOG, number, room.head(size), next(uuids)))
        room, number = room.without_head(size), _next_number(disk, number)
    if disk.key in request.cache_disks:
        size = room.size_bytes if request.cache_size_bytes is None else align_up(request.cache_size_bytes)
        if size < MIN_SLICE_BYTES or room.size_bytes < size:
            return CacheHasNoRoom(disk, size, room.size_bytes, request.reserve_percent)
        made.append(_slice(request, disk, Role.CACHE, number, room.head(size), next(uuids)))
    return made


def _table(disk: Disk, uuids: Iterator[str]) -> CreateTable | SaveTable:
    if disk.table is TableKind.NONE:
        return CreateTable(disk.key, disk.path, next(uuids), disk.usable_start_bytes, disk.usable_end_bytes)
    return SaveTable(disk.key, disk.path, disk.table_uuid, tuple(part.partuuid for part in disk.partitions))


def _room(request: PlanRequest, host: Host, disk: Disk) -> Extent:
    """The largest free extent, less the reserve where the extent reaches the end of the disk."""
    extent = largest_extent(disk)
    reserve = max(disk.identity.size_bytes * request.reserve_percent // 100, host.tail_bytes)
    end = min(extent.end_bytes, align_down(max(disk.usable_end_bytes - reserve, 0)))
    return Extent(extent.start_bytes, max(end, extent.start_bytes))


def _next_number(disk: Disk, number: int) -> int:
    taken = {part.number for part in disk.partitions} | {number}
    return next(candidate for candidate in range(number, number + len(taken) + 2) if candidate not in taken)


def _log_size(request: PlanRequest, inventory: Inventory) -> int:
    """As asked, rounded up to 1 MiB; the size of the existing leg where one is to be mirrored."""
    if not request.attach_to:
        return align_up(request.log_size_bytes)
    pool = inventory.pool(request.pool_guid)
    leg = find_log_leg(pool, request.attach_to) if pool else None
    found = inventory.partition_at(leg.path) if leg else None
    return found[1].size_bytes if found else 0


def _slice(request: PlanRequest, disk: Disk, role: Role, number: int, extent: Extent, partuuid: str) -> CreateSlice:
    piece = Slice(
        disk_key=disk.key,
        disk_path=disk.path,
        number=number,
        start_bytes=extent.start_bytes,
        size_bytes=extent.size_bytes,
        sector_bytes=disk.identity.logical_sector_bytes,
        partuuid=partuuid,
        role=role,
        naming=request.naming,
    )
    return CreateSlice(piece)


def _pool_actions(request: PlanRequest, inventory: Inventory, layout: tuple[Preparation, ...]) -> tuple[Action, ...]:
    pool = inventory.pool(request.pool_guid)
    assert pool is not None, "checked with the targets"  # noqa: S101
    pieces = tuple(chain.from_iterable(slices_of(action) for action in layout))
    logs = tuple(piece for piece in pieces if piece.role is Role.LOG)
    caches = tuple(piece for piece in pieces if piece.role is Role.CACHE)
    actions: list[Action] = []
    if request.attach_to:
        leg = find_log_leg(pool, request.attach_to)
        assert leg is not None, "checked with the targets"  # noqa: S101
        actions.append(AttachLog(pool.name, pool.guid, pool.ashift, leg.guid, leg.path, logs[0]))
    elif logs:
        actions.append(AddLog(pool.name, pool.guid, pool.ashift, logs))
    if caches:
        actions.append(AddCache(pool.name, pool.guid, pool.ashift, caches))
    return tuple(actions)
