"""Taking a run back: by guid and PARTUUID only, cache first, each step looked up on the host before and after."""

from typing import Final

from nasadvisor.domain import refusals as no
from nasadvisor.domain.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    DetachLog,
    RemoveVdev,
    RestoreTable,
    UndoAction,
)
from nasadvisor.domain.inventory import Inventory
from nasadvisor.domain.landed import gone, landed, left
from nasadvisor.domain.lifecycle import (
    Continued,
    DiskImage,
    Done,
    Failed,
    Goal,
    Intent,
    Run,
    RunState,
    Skipped,
    StepState,
)
from nasadvisor.domain.plan import Plan
from nasadvisor.domain.platforms import Vetoes, nothing_forbidden, vetoes_of, warnings_with_undo
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.undo import Outcome, stays_after_undo, undo_of
from nasadvisor.domain.undo_checks import can_undo
from nasadvisor.host.errors import HostError
from nasadvisor.host.executor import Executor
from nasadvisor.host.logbook import Logbook

STILL_THERE: Final = Statement(
    "still-there",
    _(
        "The commands of this step reported success, but the host still shows what they should have taken away. "
        "Nothing further was taken back. `zpool status` shows the pool; try the undo again in a few minutes."
    ),
)


def undo_checked(plan: Plan, book: Logbook, executor: Executor, by: str, vetoes: Vetoes = nothing_forbidden) -> Run:
    """Undo what a run did, however far it got. The host lock is held by the caller.

    If a rule forbids the first change, nothing is changed and the run stays as it was, with the refusal.
    """
    before = book.run.state
    try:
        inventory = executor.inventory()
    except HostError as error:
        return book.end(_resting(before), (no.HostUnreadable(error.statement),))
    actions = undo_actions(plan, book, inventory)
    forbidden = vetoes(inventory)
    refusals = vetoes_of(forbidden, Goal.UNDO, plan) or tuple(_against_pool_steps(actions, inventory))
    if refusals:
        return book.end(_resting(before), refusals)
    book.remarks = warnings_with_undo(forbidden)
    book.write(Continued(book.now(), Goal.UNDO, by, actions))
    return _run(book, executor, inventory, actions, Goal.UNDO)


def put_back(plan: Plan, book: Logbook, executor: Executor) -> Run:
    """Take back what a failed run has done so far."""
    try:
        inventory = executor.inventory()
    except HostError as error:
        return book.end(RunState.ATTENTION, (no.HostUnreadable(error.statement),))
    actions = undo_actions(plan, book, inventory)
    book.write(Continued(book.now(), Goal.PUT_BACK, "", actions))
    return _run(book, executor, inventory, actions, Goal.PUT_BACK)


def undo_actions(plan: Plan, book: Logbook, inventory: Inventory) -> tuple[UndoAction, ...]:
    """What takes back every step that was begun, last step first.

    What the host shows of a step comes before what was recorded of it: a log that was a mirror for a time, or of which
    a side was replaced, has another guid afterwards (vdev_remove_parent() in module/zfs/vdev.c). Of a step without a
    record only the host can tell.
    A table or slice that was begun is always taken back: half of it may be there.
    """
    outcomes = {
        record.step: record.outcome for record in book.records if isinstance(record, Done) and _forwards(record)
    }
    actions: list[UndoAction] = []
    for step, action in reversed(list(zip(book.run.steps, plan.actions, strict=True))):
        if step.state is StepState.PENDING:
            continue
        shown = landed(action, inventory) or left(action, inventory)
        outcome = shown or outcomes.get(step.number) or Outcome()
        actions.extend(undo_of(action, outcome) if _can_derive(outcome, action) else ())
    return tuple(actions)


def _can_derive(outcome: Outcome, action: Action) -> bool:
    """A vdev step that never got through has no guids, and so nothing to remove."""
    return bool(outcome.vdev_guids) or not isinstance(action, AddLog | AddCache | AttachLog)


def _forwards(record: Done) -> bool:
    return record.goal in (Goal.APPLY, Goal.FINISH)


def _resting(state: RunState) -> RunState:
    """The state in which a run stays when an undo was refused."""
    return state if state in (RunState.APPLIED, RunState.ATTENTION) else RunState.INTERRUPTED


def _against_pool_steps(actions: tuple[UndoAction, ...], inventory: Inventory) -> list[Refused]:
    steps = [action for action in actions if isinstance(action, RemoveVdev | DetachLog)]
    answers = [can_undo(action, inventory) for action in steps if not gone(action, inventory)]
    return [answer for answer in answers if isinstance(answer, Refused)]


def _run(book: Logbook, executor: Executor, inventory: Inventory, actions: tuple[UndoAction, ...], goal: Goal) -> Run:
    left_tables: list[str] = []
    for number, action in enumerate(actions):
        if gone(action, inventory):
            book.write(Done(book.now(), goal, number, Outcome(), found=True))
            continue
        answer = can_undo(action, inventory)
        if isinstance(answer, Refused) and isinstance(action, RestoreTable):
            book.write(Skipped(book.now(), goal, number, answer.plain))
            left_tables.append(action.disk_path)
            continue
        if isinstance(answer, Refused):
            book.write(Failed(book.now(), goal, number, answer.plain))
            return book.end(RunState.ATTENTION, (answer,))
        try:
            book.write(Intent(book.now(), goal, number))
            ran = executor.undo(action, inventory, _image(action, book))
            inventory = executor.inventory()
        except HostError as error:
            book.write(Failed(book.now(), goal, number, error.statement))
            return book.end(RunState.ATTENTION)
        if not isinstance(action, RestoreTable) and not gone(action, inventory):
            book.write(Failed(book.now(), goal, number, STILL_THERE, ran))
            return book.end(RunState.ATTENTION)
        book.write(Done(book.now(), goal, number, Outcome(), ran))
    state = RunState.UNDONE if goal is Goal.UNDO else RunState.PUT_BACK
    return book.end(state, findings=stays_after_undo(book.run.begun, actions, tuple(left_tables)))


def _image(action: UndoAction, book: Logbook) -> DiskImage | None:
    return book.image_of(action.disk_key) if isinstance(action, RestoreTable) else None
