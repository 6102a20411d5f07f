"""Runs whose journal cannot be read, and what is still known of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from nasadvisor.domain.change.actions import OfflineCache
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Done, Record, Started
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Inventory, Partition, Pool, Vdev


@dataclass(frozen=True)
class Traces:
    """Every partition with a PARTUUID of the plan; every vdev that has a guid of the run or lies on such a slice."""

    slices: tuple[tuple[Disk, Partition], ...]
    vdevs: tuple[tuple[Pool, Vdev], ...]

    def __bool__(self) -> bool:
        return bool(self.slices or self.vdevs)

    def __str__(self) -> str:
        """Names that can be looked up: "partition 1 on Samsung SSD 980 (S64F); mirror-1 in pool tank"."""
        places = [f"partition {part.number} on {disk.label}" for disk, part in self.slices]
        return "; ".join((*places, *(f"{vdev.path or vdev.name} in pool {pool.name}" for pool, vdev in self.vdevs)))


def traces_of(plan: Plan, inventory: Inventory, guids: Iterable[str] = ()) -> Traces:
    """What a host shows of a plan that was run; `guids` are those of the vdevs that the run made, as recorded."""
    made = {piece.partuuid for piece in plan.slices}
    slices = tuple(
        (disk, part)
        for disk, part in inventory.parts()
        if part.partuuid in made or any(piece.is_phantom(disk, part) for piece in plan.slices)
    )
    paths = {name for piece in plan.slices for name in (piece.partuuid_path, piece.path)}
    paths |= {name for _, part in slices for name in (part.path, *part.links, f"/dev/{part.kernel_name}")}
    known = set(guids)
    vdevs = tuple(
        (pool, vdev)
        for pool in inventory.pools
        for vdev in pool.vdevs()
        if vdev.guid in known or (vdev.path and vdev.path in paths)
    )
    return Traces(slices, vdevs)


def pool_now(plan: Plan, inventory: Inventory) -> Pool | None:
    """The pool that a plan changed, whatever it is called now; after `zpool reguid` it is known by the run's slices, or
    by the cache that the run took out of service: reguid changes the guid of the pool and of no device below it."""
    pool = inventory.pool(plan.request.pool_guid)
    if pool:
        return pool
    taken_out = {action.vdev_guid for action in plan.actions if isinstance(action, OfflineCache)}
    found = {pool.guid: pool for pool, _ in traces_of(plan, inventory, taken_out).vdevs}
    return next(iter(found.values())) if len(found) == 1 else None


class Unreadable(StrEnum):
    """Why a journal cannot be read."""

    DAMAGED = "damaged"
    NEWER = "newer"  # a later release of NAS Advisor wrote it


@dataclass(frozen=True)
class UnreadableRun:
    """A run that can be neither finished nor undone by itself.

    `id` is the name of its journal's directory. `problem` says what is wrong, in which state things are and what to do;
    `left` what the host shows of the plan, None where that cannot be told. What no readable record tells is "" or ().
    """

    id: str
    node: str
    state: Unreadable
    problem: Statement
    pool_guid: str = ""
    pool_name: str = ""
    by: str = ""
    started_at: str = ""
    partuuids: tuple[str, ...] = ()
    left: Statement | None = None

    @property
    def said(self) -> Statement:
        """The problem, and what the host shows."""
        if self.left is None:
            return self.problem
        return Statement(self.problem.code, "{problem} {left}", {"problem": self.problem, "left": self.left})


def unreadable_run(
    run_id: str,
    node: str,
    state: Unreadable,
    problem: Statement,
    records: tuple[Record, ...],
    inventory: Inventory | None,
) -> UnreadableRun:
    """What the records that can still be read tell of a run; with an inventory, also what the host shows of it."""
    start = start_in(records)
    if start is None:
        return UnreadableRun(run_id, node, state, problem)
    plan = start.plan
    pool = (plan.request.pool_guid, plan.pool_name)
    left = None
    if inventory:
        guids = (guid for record in records if isinstance(record, Done) for guid in record.outcome.vdev_guids)
        traces = traces_of(plan, inventory, guids)
        left = Statement("run-left", _LEFT, {"traces": str(traces)}) if traces else _NOTHING_LEFT
    return UnreadableRun(run_id, node, state, problem, *pool, start.by, start.at, partuuids_of(plan), left)


def start_in(records: Iterable[Record]) -> Started | None:
    """The record that holds the plan, wherever it stands."""
    return next((record for record in records if isinstance(record, Started)), None)


def partuuids_of(plan: Plan) -> tuple[str, ...]:
    """The PARTUUIDs of the slices that a plan makes."""
    return tuple(piece.partuuid for piece in plan.slices)


def what_is_known(records: Iterable[Record]) -> Statement:
    """What a damaged journal still says about where to look."""
    start = start_in(records)
    if start is None:
        return _NOTHING_KNOWN
    partuuids = partuuids_of(start.plan)
    values = {"pool": start.plan.pool_name, "partuuids": ", ".join(partuuids)}
    return (
        Statement("slices-known", _SLICES_KNOWN, values) if partuuids else Statement("pool-known", _POOL_KNOWN, values)
    )


_LEFT = _("The host still shows these traces of it: {traces}.")
_NOTHING_LEFT = Statement(
    "run-left-nothing", _("The host now shows no trace of it: none of the plan's slices, and no log or cache on one.")
)
_NOTHING_KNOWN = Statement(
    "nothing-known",
    _(
        "The pool of this run cannot be determined from it. `zpool status` shows the logs and caches of each pool, "
        "and `lsblk -o NAME,SIZE,PARTUUID` shows the slices."
    ),
)
_POOL_KNOWN = _(
    "The plan is still readable: it was for pool {pool} and creates no slices. `zpool status -g {pool}` shows its "
    "logs and caches."
)
_SLICES_KNOWN = _(
    "The plan is still readable: it was for pool {pool}, with slices of the PARTUUIDs {partuuids}. `zpool status -g "
    "{pool}` shows the existing logs and caches, and `lsblk -o NAME,SIZE,PARTUUID` the slices."
)
