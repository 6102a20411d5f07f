"""Applying a plan, and finishing one that was interrupted: check, journal, act, verify, step by step."""

from typing import Final

from nasadvisor.domain import refusals as no
from nasadvisor.domain.actions import Action, CreateTable, SaveTable
from nasadvisor.domain.checks import can
from nasadvisor.domain.inventory import Inventory
from nasadvisor.domain.landed import landed
from nasadvisor.domain.lifecycle import (
    DiskImage,
    Done,
    Failed,
    Goal,
    Intent,
    Run,
    RunState,
    StepState,
)
from nasadvisor.domain.plan import Plan, PlanRefused, make_plan, scope_fingerprint
from nasadvisor.domain.platforms import Vetoes, nothing_forbidden, vetoes_of
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.undo import Outcome
from nasadvisor.host.errors import HostError
from nasadvisor.host.executor import Executor
from nasadvisor.host.logbook import Logbook
from nasadvisor.host.undo import put_back

NOT_SEEN: Final = Statement(
    "not-seen",
    _(
        "The commands of this step reported success, but the host does not show the result. What this run did is taken "
        "back."
    ),
)


def apply_checked(plan: Plan, book: Logbook, executor: Executor, vetoes: Vetoes = nothing_forbidden) -> Run:
    """Run a fresh plan whose start is in the logbook. The host lock is held by the caller."""
    try:
        inventory = executor.inventory()
        refusals = (
            vetoes_of(vetoes(inventory), Goal.APPLY, plan)
            or against(plan, inventory)
            or _hidden(plan, inventory, executor)
        )
    except HostError as error:
        refusals = (no.HostUnreadable(error.statement),)
    if refusals:
        return book.end(RunState.REFUSED, refusals)
    return run_steps(plan, book, executor, inventory, Goal.APPLY)


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


def run_steps(plan: Plan, book: Logbook, executor: Executor, inventory: Inventory, goal: Goal) -> Run:
    """Run every step that is not done yet; what fails is put back."""
    for number, action in enumerate(plan.actions):
        if book.run.steps[number].state is StepState.DONE:
            continue
        answer = can(action, inventory)
        if isinstance(answer, Refused):
            book.write(Failed(book.now(), goal, number, answer.plain))
            return put_back(plan, book, executor)
        try:
            book.write(Intent(book.now(), goal, number, _image(action, inventory, book, executor)))
            ran = executor.do(action, inventory)
            inventory = executor.inventory()
        except HostError as error:
            book.write(Failed(book.now(), goal, number, error.statement))
            return put_back(plan, book, executor)
        outcome = Outcome() if isinstance(action, SaveTable) else landed(action, inventory)
        if outcome is None:
            book.write(Failed(book.now(), goal, number, NOT_SEEN, ran))
            return put_back(plan, book, executor)
        book.write(Done(book.now(), goal, number, outcome, ran))
    return book.end(RunState.APPLIED)


def finish_checked(plan: Plan, book: Logbook, executor: Executor, vetoes: Vetoes = nothing_forbidden) -> Run:
    """Finish an interrupted run whose continuation is in the logbook: classify each step, then run what is left."""
    try:
        inventory = executor.inventory()
        refusals = vetoes_of(vetoes(inventory), Goal.FINISH, plan)
        if refusals:
            return book.end(RunState.INTERRUPTED, refusals)
        inventory = _settle_steps(plan, book, executor, inventory)
    except HostError as error:
        return book.end(RunState.INTERRUPTED, (no.HostUnreadable(error.statement),))
    return run_steps(plan, book, executor, inventory, Goal.FINISH)


def _settle_steps(plan: Plan, book: Logbook, executor: Executor, inventory: Inventory) -> Inventory:
    """Find out about steps of which only the intent is known; clean up those that did not get through."""
    for number, action in enumerate(plan.actions):
        if book.run.steps[number].state is not StepState.STARTED:
            continue
        outcome = landed(action, inventory)
        if outcome is not None:
            book.write(Done(book.now(), Goal.FINISH, number, outcome, found=True))
        else:
            executor.clear_traces(action, inventory, _recorded_image(action, book))
            inventory = executor.inventory()
    return inventory


def _hidden(plan: Plan, inventory: Inventory, executor: Executor) -> tuple[Refused, ...]:
    """Free space that is not as empty as the table says: somebody deleted a partition and may want it back."""
    refusals = []
    for piece in plan.slices:
        what = executor.hidden_content(piece)
        disk = inventory.disk(piece.disk_key)
        if what and disk:
            refusals.append(no.HiddenContent(disk, piece, what))
    return tuple(refusals)


def _image(action: Action, inventory: Inventory, book: Logbook, executor: Executor) -> DiskImage | None:
    """What the journal must hold before the first step on a disk; the first image taken stays the valid one."""
    if not isinstance(action, CreateTable | SaveTable) or book.image_of(action.disk_key):
        return None
    disk = inventory.disk(action.disk_key)
    return executor.table_image(disk) if disk else None


def _recorded_image(action: Action, book: Logbook) -> DiskImage | None:
    return book.image_of(action.disk_key) if isinstance(action, CreateTable | SaveTable) else None
