"""Taking the caches of a pool out of service and putting them back: each by an ordinary run, through the one gate.

The run that takes a cache out in a period has an id that follows from the record and the period, so it happens once at
the most. To put the cache back is to undo that run.
"""

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.actions import OfflineCache, OnlineCache
from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.change.runs import Goal, Run, RunState, StepState
from nasadvisor.domain.change.undo import undo_steps
from nasadvisor.domain.evidence.switched import (
    MOST_CACHES,
    MOST_PAIRS,
    CacheSwitching,
    SwitchedCache,
    ids_in,
    run_id,
    run_ids_of,
)
from nasadvisor.domain.fleet.platforms import vetoes_of
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.gate import Gate
from nasadvisor.host.change.journal import run_ids
from nasadvisor.host.change.lock import HostBusy, host_lock
from nasadvisor.host.change.logbook import Observer
from nasadvisor.host.change.runs import LOCK_WAIT_S, RunHost, apply_plan, show_run, undo_run
from nasadvisor.host.errors import HostError, RulesForbid

log = logging.getLogger(__name__)

NOT_BACK: Final = Statement("switch-not-back", _("The command to put it back into service had no effect."))
OVER: Final = frozenset({RunState.REFUSED, RunState.PUT_BACK, RunState.UNDONE})


class CacheStaysIn(HostError):  # noqa: N818 - named for what happened
    """A cache could not be taken out of service."""

    def __init__(self, run: Run) -> None:
        template = _("The cache of pool {pool} could not be taken out of service; run {run} shows the reason.")
        super().__init__(template, pool=run.plan.pool_name, run=run.id)


def ids_of(record: CacheSwitching) -> frozenset[str]:
    """Every id that a run of a record can have."""
    return frozenset(each for _place, each in ids_in(record))


def ids_of_unreadable(record_id: str) -> frozenset[str]:
    """The same where only the id of the record is known."""
    return frozenset(each for _place, each in run_ids_of(record_id, MOST_CACHES, 2 * MOST_PAIRS))


@dataclass(frozen=True)
class SwitchRuns:
    """The runs that switch, on one host. `over` are those that nothing has left; it grows as they are looked at."""

    host: RunHost
    observe: Observer
    over: set[str]

    def in_place(self, ids: Collection[str]) -> tuple[Run, ...]:
        """Those of these runs that may have left a cache out of service.

        Raises:
            HostError: a journal cannot be read.
        """
        known = set(run_ids(self.host.journals)) & set(ids)
        found = [show_run(self.host, each) for each in sorted(known - self.over)]
        self.over.update(run.id for run in found if run.state in OVER)
        return tuple(run for run in found if run.state not in OVER)

    def take_out(self, record: CacheSwitching, number: int) -> None:
        """Take every cache of a record out of service; nothing where that was tried in this period before.

        Raises:
            HostBusy: nothing was changed.
            HostError: a cache stays in service; others may be out.
        """
        ids = [run_id(record.id, number, place) for place in range(len(record.caches))]
        if set(run_ids(self.host.journals)) & set(ids):
            return
        for cache, each in zip(record.caches, ids, strict=True):
            inventory = Gate(self.host.executor(())).inventory()
            plan, refusals = _plan(self.host, record.pool_guid, cache, each, inventory)
            if plan is None or refusals:
                raise RulesForbid(refusals)
            run = apply_plan(self.host, plan, record.by, self.observe)
            if run.state is not RunState.APPLIED:
                raise RulesForbid(run.refusals) if run.refusals else CacheStaysIn(run)

    def put_back(self, ids: Collection[str], by: str) -> Statement | None:
        """Put back whatever these runs took out; what keeps it from that, None where nothing is left out.

        Raises:
            HostBusy: another run is under way; what is not put back yet waits.
        """
        problem: Statement | None = None
        try:
            for run in self.in_place(ids):
                problem = self._undo(run, by) or problem
        except HostBusy:
            raise
        except HostError as error:
            problem = error.statement
        if problem is None or not self._are_left(ids):
            return None
        log.warning("switching: %s", problem)
        return problem

    def _are_left(self, ids: Collection[str]) -> bool:
        """Whether any of them is still in place, as far as that can be read: whoever ends the switching and the worker
        look at the same time, and what one has put back is no problem of the other."""
        try:
            return bool(self.in_place(ids))
        except HostError:
            return True

    def _undo(self, run: Run, by: str) -> Statement | None:
        """Asked first, so that what cannot be done does not fill the journal with tries."""
        against = self._against(run)
        if against:
            return against[0].plain
        undone = undo_run(self.host, run.id, by, self.observe)
        if undone.state in OVER:
            return None
        notes = (step.note for step in undone.undo_steps if step.state is StepState.FAILED and step.note)
        return next((refused.plain for refused in undone.refusals), None) or next(notes, NOT_BACK)

    def _against(self, run: Run) -> tuple[Refused, ...]:
        with host_lock(self.host.locks, LOCK_WAIT_S) as descriptors:
            gate = Gate(self.host.executor(descriptors), run.plan.request.pool_guid)
            inventory = gate.inventory()
            steps = [step for step in undo_steps(run.plan) if isinstance(step, OnlineCache)]
            rules = [refused for step in steps if not step.gone(inventory) for refused in gate.against(step, inventory)]
            return (*vetoes_of(self.host.vetoes(inventory), Goal.UNDO, run.plan), *rules)


def against_switching(
    gate: Gate, host: RunHost, pool_guid: str, caches: tuple[SwitchedCache, ...], inventory: Inventory
) -> Iterator[Refused]:
    """What speaks against taking each of these caches out of service now. The host lock is held by the caller."""
    for cache in caches:
        plan, refusals = _plan(host, pool_guid, cache, "switching", inventory)
        yield from refusals
        for action in plan.actions if plan else ():
            if isinstance(action, OfflineCache):
                yield from gate.against(action, inventory)


def _plan(
    host: RunHost, pool_guid: str, cache: SwitchedCache, plan_id: str, inventory: Inventory
) -> tuple[Plan | None, tuple[Refused, ...]]:
    """The plan that takes a cache out of service, None where there is none; and what speaks against it."""
    ids = PlanIds(plan_id, host.clock().isoformat(timespec="seconds"), ())
    plan = make_plan(PlanRequest(pool_guid, offline_cache=cache.guid), inventory, ids)
    if isinstance(plan, PlanRefused):
        return None, plan.refusals
    return plan, vetoes_of(host.vetoes(inventory), Goal.APPLY, plan)
