"""Taking a run back: by guid and PARTUUID only, cache first, each step looked up on the host before and after.

What is gone with its disk or its pool is skipped and said, and the rest is taken back. *Undone* is said only of a host
that was seen to show nothing of the run.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import (
    Action,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    OnlineCache,
    Outcome,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    UndoAction,
)
from nasadvisor.domain.change.device_scan import DeviceScan
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import (
    ACTIVE,
    Continued,
    Done,
    Failed,
    Goal,
    Intent,
    Run,
    RunState,
    Skipped,
    Step,
    StepState,
)
from nasadvisor.domain.change.undo import Left, stays_after_undo
from nasadvisor.domain.change.undo_checks import is_readable, why_skipped
from nasadvisor.domain.change.unreadable_runs import pool_now, traces_of
from nasadvisor.domain.fleet.platforms import Vetoes, vetoes_of, warnings_with_undo
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.gate import Gate, Permit, Ran
from nasadvisor.host.change.logbook import Logbook
from nasadvisor.host.change.steps import image_met, own_table, run_permit
from nasadvisor.host.errors import HostError

STILL_THERE: Final = Statement(
    "still-there",
    _(
        "The commands of this step reported success, but the host still shows the devices or slices that they should "
        "have removed. `zpool status` shows the pool; try the undo again in a few minutes."
    ),
)

BEFORE_ANYTHING: Final = frozenset({"slice-needed", "slice-twice"})
"""Codes of what stands against deleting a slice and must be settled before anything else is taken back."""


def undo_checked(plan: Plan, book: Logbook, gate: Gate, by: str, vetoes: Vetoes) -> Run:
    """Undo what a run did, however far it got. The host lock is held by the caller.

    If a rule forbids the first change, nothing is changed and the run stays as it was, with the refusal.
    """
    resting = RunState.INTERRUPTED if book.run.state in ACTIVE else book.run.state  # where an undo is refused
    try:
        inventory = gate.inventory()
        actions = undo_actions(plan, book, inventory)
        forbidden = vetoes(inventory)
        refusals = vetoes_of(forbidden, Goal.UNDO, plan) or tuple(_against_first(actions, inventory, gate))
    except HostError as error:
        return book.end(resting, (no.HostUnreadable(error.statement),))
    if refusals:
        return book.end(resting, refusals)
    book.remarks = warnings_with_undo(forbidden)
    book.write(Continued(book.now(), Goal.UNDO, by, actions))
    return _Undoing(plan, book, gate, inventory, Goal.UNDO).run(actions)


def put_back(plan: Plan, book: Logbook, gate: Gate) -> Run:
    """Take back what a failed run has done so far.

    *Put back* is final, so it is said only where what was before is on the disks again. Else the run stays for somebody
    to undo: when a disk is plugged in again, or once they have seen what became of its table.
    """
    try:
        inventory = gate.inventory()
    except HostError as error:
        return book.end(RunState.ATTENTION, (no.StateUnknown(error.statement),))
    actions = undo_actions(plan, book, inventory)
    book.write(Continued(book.now(), Goal.PUT_BACK, "", actions))
    return _Undoing(plan, book, gate, inventory, Goal.PUT_BACK).run(actions)


def undo_actions(plan: Plan, book: Logbook, inventory: Inventory) -> tuple[UndoAction, ...]:
    """What takes back every step that was begun, last step first.

    What the host shows of a step comes before what was recorded of it: a log that was a mirror for a time, or of which
    a side was replaced, has another guid afterwards (vdev_remove_parent() in module/zfs/vdev.c). Of a step without a
    record only the host can tell, and it is asked of each: a journal may have lost its last records.
    A table or slice that was begun is always taken back: half of it may be there. A vdev step that never got through
    has no guids, and so nothing to remove.
    """
    outcomes = {
        record.step: record.outcome for record in book.records if isinstance(record, Done) and record.goal.is_forwards
    }
    pool = pool_now(plan, inventory)
    actions: list[UndoAction] = []
    for step, planned in reversed(list(zip(book.run.steps, plan.actions, strict=True))):
        action = planned.at_pool(pool)
        shown = action.landed(inventory) or action.left(inventory)
        if not (shown or _has_begun(step, action, inventory)):
            continue
        outcome = shown or outcomes.get(step.number) or Outcome()
        actions.extend(action.undo(outcome))
    return tuple(actions)


def _has_begun(step: Step, action: Action, inventory: Inventory) -> bool:
    """Whether a step may have left something, by its record or by what the host shows.

    One that failed before its intent was durable did nothing.
    """
    if step.started_at or step.state is StepState.DONE:
        return True
    if isinstance(action, CreateSlice):
        return bool(inventory.partitions(action.slice.partuuid))
    if isinstance(action, CreateTable):
        return any(disk.table_uuid == action.table_uuid for disk in inventory.disks)
    return False


def _against_first(actions: tuple[UndoAction, ...], inventory: Inventory, gate: Gate) -> Iterator[Refused]:
    """What forbids the undo as a whole, found before anything is changed."""
    for action in actions:
        if action.gone(inventory):
            continue
        if isinstance(action, RemoveVdev | DetachLog):
            if why_skipped(action, inventory, gate.look(action, inventory)) is None:
                yield from gate.against(action, inventory)
        elif isinstance(action, OnlineCache):
            if why_skipped(action, inventory, DeviceScan()) is None:
                yield from gate.against(action, inventory)
        elif isinstance(action, DeleteSlice):
            is_doubtful = (
                inventory.pool(action.pool_guid) is None or len(inventory.partitions(action.slice.partuuid)) > 1
            )
            against = gate.against(action, inventory) if is_doubtful else ()
            yield from (refused for refused in against if refused.code in BEFORE_ANYTHING)


@dataclass
class _Undoing:
    """A stretch of undo steps. `inventory` is the host after the last one, `failed` whether one did not end well."""

    plan: Plan
    book: Logbook
    gate: Gate
    inventory: Inventory
    goal: Goal
    refusals: list[Refused] = field(default_factory=list)
    left: Left = field(default_factory=Left)
    failed: bool = False

    def run(self, actions: tuple[UndoAction, ...]) -> Run:
        """Run the steps that have something to do, and say how the host is then.

        A pool that does not let go of a vdev ends it: nothing else of the run can be free. An SSD that does not let
        itself be written to keeps nobody from freeing the other one.
        """
        with suppress(HostError):  # what cannot be read stays as it is, and each step says so
            self._rewind_torn_tables(actions)
        for number, action in enumerate(actions):
            try:
                self._step(number, action)
            except HostError as error:
                self._fail(number, error.statement)
                if isinstance(action, RemoveVdev | DetachLog):
                    break
        return self._end(actions)

    def _rewind_torn_tables(self, actions: tuple[UndoAction, ...]) -> None:
        """Where a step was cut off and left a table that nobody can read, bring back the one that it found.

        Else its slices would be hidden, and what they hold would stay in space that looks free.
        """
        for action in actions:
            own = own_table(self.book, action)
            disk = self.inventory.disk(action.disk_key) if isinstance(action, RestoreTable) else None
            if not isinstance(action, RestoreTable) or disk is None or own is None or is_readable(disk):
                continue
            permit = self.gate.ask(RewindTable(action.disk_key, action.disk_path), self.inventory, own)
            if isinstance(permit, Permit) and permit.look.table != permit.area:
                self.gate.do(permit)
                self.inventory = self.gate.inventory()

    def _step(self, number: int, action: UndoAction) -> None:
        book, inventory = self.book, self.inventory
        if action.gone(inventory):
            book.write(Done(book.now(), self.goal, number, Outcome(), found=True))
            return
        is_pool_step = isinstance(action, RemoveVdev | DetachLog)
        why = why_skipped(action, inventory, self.gate.look(action, inventory) if is_pool_step else DeviceScan())
        if why:
            self.book.write(Skipped(self.book.now(), self.goal, number, why))
            path = action.away_from(self.inventory)
            if path and path not in self.left.away:
                self.left = replace(self.left, away=(*self.left.away, path))
            return
        permit = self.gate.ask(action, inventory, own_table(book, action))
        if isinstance(permit, Refused):
            self._refuse(number, action, permit)
            return
        book.write(Intent(book.now(), self.goal, number, image_met(permit)))
        ran = run_permit(permit, book, self.gate, self.goal, number)
        self.inventory = self.gate.inventory()
        if isinstance(action, RestoreTable) or action.gone(self.inventory):
            book.write(Done(book.now(), self.goal, number, Outcome(), ran))
        else:
            self._fail(number, STILL_THERE, ran)

    def _refuse(self, number: int, action: UndoAction, refused: Refused) -> None:
        """A table that is left as it is does no harm; a slice that is left does not count as taken back."""
        if isinstance(action, RestoreTable):
            self.book.write(Skipped(self.book.now(), self.goal, number, refused.plain))
            self.left = replace(self.left, tables=(*self.left.tables, action.disk_path))
            return
        self._fail(number, refused.plain)
        self.refusals.append(refused)

    def _fail(self, number: int, why: Statement, ran: Ran = ()) -> None:
        self.book.write(Failed(self.book.now(), self.goal, number, why, ran))
        self.failed = True

    def _end(self, actions: tuple[UndoAction, ...]) -> Run:
        """Read off the host what is left of the run before anything is called undone."""
        try:
            self.inventory = self.gate.inventory()
            traces = traces_of(self.plan, self.inventory, _guids_of(self.book, actions))
            self._look_at_tables(actions)
        except HostError as error:
            return self.book.end(RunState.ATTENTION, (*self.refusals, no.StateUnknown(error.statement)))
        if traces and not self.refusals:
            self.refusals.append(no.RunStillShows(str(traces)))
        if self.failed and not self.refusals:
            self.refusals.append(no.UndoUncertain())
        if traces or self.failed:
            return self.book.end(RunState.ATTENTION, self.refusals)
        told = (finding for action in actions for finding in action.left_with(self.inventory))
        findings = (*stays_after_undo(self.book.run.begun, actions, self.left), *told)
        if self.goal is Goal.UNDO:
            return self.book.end(RunState.UNDONE, findings=findings)
        is_as_before = not (self.left.tables or self.left.away)
        state = RunState.PUT_BACK if is_as_before else RunState.ATTENTION
        return self.book.end(state, self.refusals, findings)

    def _look_at_tables(self, actions: tuple[UndoAction, ...]) -> None:
        """Which tables are not as before the run now that it is said, whatever was written back on the way."""
        for action in actions:
            own = own_table(self.book, action)
            if not isinstance(action, RestoreTable) or action.disk_path in (*self.left.tables, *self.left.away):
                continue
            if own is None or self.gate.look(action, self.inventory, own).table != own.before:
                self.left = replace(self.left, tables=(*self.left.tables, action.disk_path))


def _guids_of(book: Logbook, actions: tuple[UndoAction, ...]) -> Iterator[str]:
    """The guids of every vdev that the run made, as far as any record or the host tells."""
    for record in book.records:
        if isinstance(record, Done) and record.goal.is_forwards:
            yield from record.outcome.vdev_guids
    yield from (action.vdev_guid for action in actions if isinstance(action, RemoveVdev | DetachLog))
