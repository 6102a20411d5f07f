"""Applying a plan, and finishing one that was interrupted: check, journal, act, verify, step by step."""

from collections.abc import Iterator
from typing import Final

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import CreateSlice, CreateTable, DropLog, OfflineCache, Outcome, SaveTable
from nasadvisor.domain.change.device_scan import against_room as against_room_for
from nasadvisor.domain.change.plan import Plan, PlanRefused, make_plan, scope_fingerprint
from nasadvisor.domain.change.runs import (
    Done,
    Failed,
    Goal,
    Intent,
    Run,
    RunState,
    StepState,
)
from nasadvisor.domain.fleet.platforms import Vetoes, vetoes_of
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.gate import Gate
from nasadvisor.host.change.logbook import Logbook
from nasadvisor.host.change.steps import image_before, own_table, run_permit
from nasadvisor.host.change.undo import put_back
from nasadvisor.host.errors import HostError

NOT_SEEN: Final = Statement(
    "not-seen",
    _("The commands of this step reported success, but the host does not show the result. The run is reverted."),
)


def apply_checked(plan: Plan, book: Logbook, gate: Gate, vetoes: Vetoes) -> Run:
    """Run a fresh plan whose start is in the logbook. The host lock is held by the caller."""
    try:
        inventory = gate.inventory()
        refusals = (
            vetoes_of(vetoes(inventory), Goal.APPLY, plan)
            or against(plan, inventory)
            or tuple(against_room(plan, inventory, gate))
        )
    except HostError as error:
        refusals = (no.HostUnreadable(error.statement),)
    if refusals:
        return book.end(RunState.REFUSED, refusals)
    return run_steps(plan, book, gate, inventory, Goal.APPLY)


def against(plan: Plan, inventory: Inventory) -> tuple[Refused, ...]:
    """Everything that speaks against a plan on this host now; the plan is made again and must come out the same."""
    pool = inventory.pool(plan.request.pool_guid)
    if pool is None:
        return (no.NoPool(plan.request.pool_guid),)
    if pool.name != plan.pool_name:
        return (no.PoolRenamed(pool, plan.pool_name),)
    again = make_plan(plan.request, inventory, plan.ids)
    if isinstance(again, PlanRefused):
        return again.refusals
    if scope_fingerprint(plan.request, inventory) != plan.fingerprint:
        return (no.PlanOutdated(plan.pool_name),)
    return () if again == plan else (no.PlanForeign(),)


def run_steps(plan: Plan, book: Logbook, gate: Gate, inventory: Inventory, goal: Goal) -> Run:
    """Run every step that is not done yet; what fails is put back."""
    for number, action in enumerate(plan.actions):
        if book.run.steps[number].state is StepState.DONE:
            continue
        try:
            permit = gate.ask(action, inventory, own_table(book, action))
            if isinstance(permit, Refused):
                book.write(Failed(book.now(), goal, number, permit.plain))
                return put_back(plan, book, gate)
            book.write(Intent(book.now(), goal, number, image_before(permit)))
            ran = run_permit(permit, book, gate, goal, number)
            inventory = gate.inventory()
        except HostError as error:
            book.write(Failed(book.now(), goal, number, error.statement))
            return put_back(plan, book, gate)
        outcome = Outcome() if isinstance(action, SaveTable) else action.landed(inventory)
        if outcome is None:
            book.write(Failed(book.now(), goal, number, NOT_SEEN, ran))
            return put_back(plan, book, gate)
        book.write(Done(book.now(), goal, number, outcome, ran))
    # What the host does not show now that all is done.
    missing = tuple(
        no.StepNotThere(action.describe())
        for action in plan.actions
        if not isinstance(action, SaveTable) and action.landed(inventory) is None
    )
    return book.end(RunState.ATTENTION, missing) if missing else book.end(RunState.APPLIED)


def finish_checked(plan: Plan, book: Logbook, gate: Gate, vetoes: Vetoes) -> Run:
    """Finish an interrupted run whose continuation is in the logbook: classify each step, then run what is left."""
    try:
        inventory = gate.inventory()
        refusals = vetoes_of(vetoes(inventory), Goal.FINISH, plan)
    except HostError as error:
        return book.end(RunState.INTERRUPTED, (no.HostUnreadable(error.statement),))
    try:
        refusals = refusals or _settle_steps(plan, book, gate, inventory)
        if refusals:
            return book.end(RunState.INTERRUPTED, refusals)
        inventory = gate.inventory()
    except HostError as error:
        return book.end(RunState.INTERRUPTED, (no.StateUnknown(error.statement),))
    return run_steps(plan, book, gate, inventory, Goal.FINISH)


def _settle_steps(plan: Plan, book: Logbook, gate: Gate, inventory: Inventory) -> tuple[Refused, ...]:
    """Find out about steps of which no result is known; clean up those that did not get through.

    What stands against that is returned, and then nothing more is done.
    """
    for number, action in enumerate(plan.actions):
        state = book.run.steps[number].state
        if state is StepState.DONE:
            continue
        outcome = action.landed(inventory)
        if outcome is not None:
            book.write(Done(book.now(), Goal.FINISH, number, outcome, found=True))
            continue
        for cleaning in action.cleaning() if state is StepState.STARTED else ():
            permit = gate.ask(cleaning, inventory, own_table(book, cleaning))
            if isinstance(permit, Refused):
                return (permit,)
            gate.do(permit)
            inventory = gate.inventory()
    return ()


def against_room(plan: Plan, inventory: Inventory, gate: Gate) -> Iterator[Refused]:
    """What the disks themselves hold where the plan wants to write, looked up before the first write.

    A table's own rules are asked with its step; those of a slice that follows it need the table.
    """
    for action in plan.actions:
        if isinstance(action, CreateTable | SaveTable | DropLog | OfflineCache):
            yield from gate.against(action, inventory)
        elif isinstance(action, CreateSlice):
            yield from against_room_for(action.slice, gate.look(action, inventory), inventory)
