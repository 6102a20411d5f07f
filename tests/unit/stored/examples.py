"""Examples of every kind of stored form, as this release writes them: what `make freeze` keeps."""

import base64
import importlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import Goal, Record, Started, fold
from nasadvisor.domain.evidence.histogram import Histogram
from nasadvisor.domain.evidence.log_blocks import CommitTrace, LogBlocks
from nasadvisor.domain.evidence.samples import (
    ArcActivity,
    Busy,
    DatasetActivity,
    DiskActivity,
    Levels,
    PoolActivity,
    Sample,
    VdevActivity,
)
from nasadvisor.domain.evidence.switched import CacheSwitching, PeriodSeen, SwitchedCache
from nasadvisor.domain.evidence.switching import Switching
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.statements import Finding, Level, NextStep, Refused, Statement
from nasadvisor.domain.storage.inventory import Inventory, Slot
from nasadvisor.stored.kinds import Kind, all_kinds
from nasadvisor.stored.packing import NameTable, pack_activity, pack_latency
from tests.unit.domain.builders import attach_to_log
from tests.unit.machines import (
    CACHE_GUID,
    MIRROR_AND_CACHES,
    NVME2,
    TANK,
    home_server,
    plan_for,
    with_cache,
    with_single_log,
)

DEFINING: Final = (
    "nasadvisor.cli.fleet.backup_file",
    "nasadvisor.console.health.forecasts",
    "nasadvisor.console.fleet.remote.listening",
    "plugins.truenas.api.records",
)
"""Modules above the stored forms that define kinds of their own."""

VALUES: Final[Mapping[str, str | Statement]] = {
    "pool": "tank",
    "why": Statement("because", "It is {how}.", {"how": "so"}),
}
SENTENCES: Final[dict[type, Any]] = {
    Statement: Statement("code", "Pool {pool}: {why}", VALUES),
    Refused: Refused("code", "Pool {pool}: {why}", VALUES),
    Finding: Finding(
        "code", "Pool {pool}: {why}", VALUES, Level.WARNING, "{why}", "12", 3, NextStep.LOOK_AT_POOL, "12"
    ),
    Histogram: Histogram((0, 0, 3, 1)),
}
PLANS: Final = (
    plan_for(MIRROR_AND_CACHES, home_server()),
    plan_for(PlanRequest(TANK, (NVME2,), attach_to="31"), with_single_log()),
    plan_for(PlanRequest(TANK, offline_cache=CACHE_GUID), with_cache()),
)
AT: Final = "2026-08-25T20:00:00.000+00:00"


def kinds() -> tuple[Kind, ...]:
    """Every kind there is."""
    for module in DEFINING:
        importlib.import_module(module)
    return tuple(sorted(all_kinds(), key=lambda kind: kind.name))


def examples_of(kind: Kind) -> list[object]:
    """Two of each dataclass: one with something in every field, and one with as little as may be."""
    made = MADE.get(kind.name)
    return list(made) if made else [filled(kind.of, full=True), filled(kind.of, full=False)]


def filled(kind: Any, *, full: bool, name: str = "text") -> Any:
    """A value of a type; `full` with something in every list and choice."""
    if kind in SENTENCES:
        return SENTENCES[kind]
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(**{each.name: filled(hints[each.name], full=full, name=each.name) for each in fields(kind)})
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return args[0]
    if origin is tuple:
        return (filled(args[0], full=full, name=name),) if full else ()
    if origin is Mapping:
        return {"key": filled(args[1], full=full, name=name)} if full else {}
    if origin in (Union, UnionType):
        return None if NoneType in args and not full else filled(args[0], full=full, name=name)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return list(kind)[-1 if full else 0]
    if kind is str and (name == "at" or name.endswith("_at")):
        return AT
    return {str: name if full else "", int: 7 if full else 0, float: 1.5 if full else 0.0, bool: full}[kind]


def _records() -> list[Record]:
    started = [Started(AT, Goal.APPLY, plan, "root", 3600) for plan in PLANS]
    others = [kind for kind in get_args(Record) if kind is not Started]
    return [*started, *(filled(kind, full=full) for kind in others for full in (True, False))]


def _runs() -> list[object]:
    first, second, third, *others = _records()
    return [fold([first], "nas"), fold([second, *others], "nas"), fold([third], "nas")]


EMPTY_SAMPLE: Final = Sample("1", "tank", 1000, 10.0)
SAMPLE: Final = replace(
    EMPTY_SAMPLE,
    datasets=(DatasetActivity("tank/vms", *range(10, 24)), DatasetActivity("tank", 1)),
    vdevs=(
        VdevActivity("18", Histogram((0, 2, 5)), Histogram((0, 0, 7)), 30, 31, 32, 33, Histogram((0, 0, 3))),
        VdevActivity("19", Histogram((1,))),
    ),
    disks=(DiskActivity("sda", *range(40, 49)),),
    pool=PoolActivity(*range(50, 55)),
    arc=ArcActivity(*range(60, 72)),
    levels=Levels(*range(72, 77)),
    txgs=Histogram((0, 0, 0, 4)),
    busy=Busy(8.5, 80, 81, 82.5, 83.25, 84, *(Histogram((0, each)) for each in range(85, 89))),
)
"""Another number in each field, so that two that were mixed up are told apart."""


def _switchings() -> list[object]:
    """One that has just begun, and one that was stopped and could not be put back."""
    plan = Switching("6f1ef6fe-3b8c-4c62-8c3e-7a1d7c0f9a11", 1_787_000_000)
    caches = (SwitchedCache(CACHE_GUID, "/dev/disk/by-id/nvme-x-part2"),)
    begun = CacheSwitching(plan.seed, "nas", TANK, "tank", caches, "anna", plan)
    seen = (PeriodSeen(0, 1000, 2.5e9), PeriodSeen(1, 900, 7.5e9))
    why = SENTENCES[Statement]
    return [replace(begun, seen=seen, over_at=AT, why_over=why, ended_at=AT, problem=why, seq=7), begun]


def in_slots() -> Inventory:
    """A machine that tells where its disks stand, and how fragmented the free space of its pools is."""
    slots = (Slot("Slot 07", "LSI SAS3x40"), Slot("7-1"))
    inventory = home_server()
    placed = tuple(replace(disk, slot=slot) for disk, slot in zip(inventory.disks, slots, strict=False))
    pools = tuple(replace(pool, fragmentation_percent=14) for pool in inventory.pools)
    return replace(inventory, disks=placed + inventory.disks[len(placed) :], pools=pools)


def packed_example() -> dict[str, Any]:
    """`SAMPLE` as it is packed today, in base64."""
    table = NameTable([])
    packed = {"activity": pack_activity(SAMPLE, table), "latency": pack_latency(SAMPLE, table)}
    return {**{part: base64.b64encode(data).decode() for part, data in packed.items()}, "names": table.names}


MADE: Final[Mapping[str, list[Any]]] = {
    "record": _records(),
    "plan": list(PLANS),
    "run": _runs(),
    "cache-switching": _switchings(),
    "waiting-programs": [filled(WaitingPrograms, full=True)],
    "commit-trace": [
        CommitTrace(TANK, "tank", AT, 3600, True, 12, 77_824, LogBlocks((0, 1700), (8192, 12288), (5100, 900))),
        CommitTrace(TANK, "tank", AT, 0, False, 0, 0, LogBlocks()),
    ],
    "inventory": [home_server(), attach_to_log()[0], in_slots()],
}
