"""Runs whose journal cannot be read, and what is still known of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from nasadvisor.domain.lifecycle import Record, Started
from nasadvisor.domain.plan import Plan
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _


class Unreadable(StrEnum):
    """Why a journal cannot be read."""

    DAMAGED = "damaged"
    NEWER = "newer"  # a later release of NAS Advisor wrote it


@dataclass(frozen=True)
class UnreadableRun:
    """A run that can be neither finished nor undone by itself.

    `id` is the name of its journal's directory. `problem` says what is wrong, in which state things are and what to do.
    What no readable record tells is "" or ().
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


def unreadable_run(
    run_id: str, node: str, state: Unreadable, problem: Statement, records: Iterable[Record]
) -> UnreadableRun:
    """What the records that can still be read tell of a run."""
    start = start_in(records)
    if start is None:
        return UnreadableRun(run_id, node, state, problem)
    plan = start.plan
    pool = (plan.request.pool_guid, plan.pool_name)
    return UnreadableRun(run_id, node, state, problem, *pool, start.by, start.at, partuuids_of(plan))


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


_NOTHING_KNOWN = Statement(
    "nothing-known",
    _(
        "For which pool the run was cannot be read from it. `zpool status` shows the logs and caches of each pool, "
        "`lsblk -o NAME,SIZE,PARTUUID` the slices."
    ),
)
_POOL_KNOWN = _(
    "The plan can still be read: it was for pool {pool} and makes no slices. `zpool status -g {pool}` shows its logs "
    "and caches."
)
_SLICES_KNOWN = _(
    "The plan can still be read: it was for pool {pool}, with slices of the PARTUUIDs {partuuids}. `zpool status -g "
    "{pool}` shows which logs and caches are there, `lsblk -o NAME,SIZE,PARTUUID` which slices."
)
