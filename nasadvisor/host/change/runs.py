"""The runs of this host: apply, finish, undo, list, show. What the worker and the command line call."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Continued, Goal, Run, RunState, Started, as_interrupted
from nasadvisor.domain.change.trial import LONGEST_S, Moment, is_length
from nasadvisor.domain.change.unreadable_runs import UnreadableRun
from nasadvisor.domain.fleet.platforms import Vetoes, nothing_forbidden
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.storage.names import LINE
from nasadvisor.domain.units import DAY_S
from nasadvisor.host.change.apply import apply_checked, finish_checked
from nasadvisor.host.change.gate import Executor, Gate
from nasadvisor.host.change.journal import (
    JournalUnreadable,
    JournalUnwritable,
    RunUnknown,
    create_journal,
    open_journal,
    run_ids,
)
from nasadvisor.host.change.lock import host_lock, is_held
from nasadvisor.host.change.logbook import Logbook, Observer
from nasadvisor.host.change.trial_clock import Clocks, noted, wall_clock_alone
from nasadvisor.host.change.undo import undo_checked
from nasadvisor.host.errors import HostError

LOCK_WAIT_S: Final = 10.0
"""As long as the platforms that we know wait for their own disk lock."""


def nobody_watches(_goal: Goal, _by: str) -> Observer:
    """No platform shows the runs of this host."""
    return lambda _run: None


class WrongMoment(HostError):  # noqa: N818 - named for what happened
    """The run is in a state in which it cannot be finished or undone."""

    def __init__(self, run: Run, template: str) -> None:
        super().__init__(template, run=run.id, state=run.state.value)


@dataclass(frozen=True)
class RunHost:
    """Where runs happen: the node's name, its journals, its locks, and who acts.

    `locks` are taken in order; the first is our own. `executor` is given the locks' descriptors. `clock` tells UTC.
    `vetoes` tells what the host's platform forbids; `watcher` makes an observer of a stretch for it, by goal and name.
    `clocks` reads all clocks of the host at once.
    """

    node: str
    journals: Path
    locks: tuple[Path, ...]
    executor: Callable[[tuple[int, ...]], Executor]
    clock: Callable[[], datetime]
    vetoes: Vetoes = nothing_forbidden
    watcher: Callable[[Goal, str], Observer] = nobody_watches
    clocks: Clocks = wall_clock_alone

    def moment(self) -> Moment:
        """What the clocks of the host show now."""
        return self.clocks(self.clock)


class NoTrialLength(HostError):  # noqa: N818
    """A trial that would be too short or too long."""

    def __init__(self) -> None:
        template = _("A trial lasts at least one minute and at most {days} days. Nothing was changed.")
        super().__init__(template, days=str(LONGEST_S // DAY_S))


class NothingToTry(HostError):  # noqa: N818
    """A trial of a plan that nothing takes back."""

    def __init__(self) -> None:
        template = _(
            "The device that this plan removes has failed and cannot be restored to the pool, so there is nothing to "
            "try. Nothing was changed. Apply the plan without a trial."
        )
        super().__init__(template)


class NobodyAsks(HostError):  # noqa: N818
    """The name of who asks cannot be kept in a journal, so nobody could read that again."""

    def __init__(self) -> None:
        template = _(
            "The requester's name cannot be kept in a journal: it must be a text of 1 to 256 characters without "
            "control characters. Nothing was changed. Log in under another name."
        )
        super().__init__(template)


def check_asker(by: object) -> None:
    """See to it that the journal can be read with this name in it, before anything is written.

    Raises:
        NobodyAsks
    """
    if type(by) is not str or not re.fullmatch(LINE, by):
        raise NobodyAsks


def apply_plan(host: RunHost, plan: Plan, by: str, observe: Observer, trial_s: int = 0) -> Run:
    """Apply a plan once. Refused, applied, put back or in need of attention: the run tells.

    `trial_s` is after how many seconds it shall be taken back unless it is kept, 0 for never.

    Raises:
        HostBusy, RunExists, NobodyAsks, NoTrialLength, NothingToTry, JournalUnwritable: nothing was changed.
        RunStopped: its journal could not be kept any more; it is interrupted.
    """
    check_asker(by)
    if type(trial_s) is not int or (trial_s and not is_length(trial_s)):
        raise NoTrialLength
    if trial_s and not plan.has_way_back:
        raise NothingToTry
    with host_lock(host.locks, LOCK_WAIT_S) as descriptors:
        journal = create_journal(host.journals, plan.id)
        book = Logbook(journal, host.node, host.clock, watched(host, Goal.APPLY, by, observe))
        try:
            book.write(Started(book.now(), Goal.APPLY, plan, by, trial_s))
        except JournalUnwritable:
            journal.discard()
            raise
        with book.kept():
            run = apply_checked(plan, book, Gate(host.executor(descriptors), plan.request.pool_guid), host.vetoes)
        return noted(run, host.journals, host.moment)


def finish_run(host: RunHost, run_id: str, by: str, observe: Observer) -> Run:
    """Do the rest of an interrupted run.

    Raises:
        HostBusy, NobodyAsks, RunUnknown, JournalDamaged, JournalUnwritable, WrongMoment: nothing was changed.
        RunStopped: its journal could not be kept any more; it is interrupted.
    """
    check_asker(by)
    with host_lock(host.locks, LOCK_WAIT_S) as descriptors:
        book, run = open_book(host, run_id, watched(host, Goal.FINISH, by, observe))
        if not run.can_finish:
            raise WrongMoment(run, _("The run {run} is {state}, so it cannot be finished. Nothing was changed."))
        book.journal.keep_reserve()
        with book.kept():
            book.write(Continued(book.now(), Goal.FINISH, by))
            run = finish_checked(
                run.plan, book, Gate(host.executor(descriptors), run.plan.request.pool_guid), host.vetoes
            )
        return noted(run, host.journals, host.moment)


def undo_run(host: RunHost, run_id: str, by: str, observe: Observer) -> Run:
    """Take a run back, however far it got.

    Raises:
        HostBusy, NobodyAsks, RunUnknown, JournalDamaged, JournalUnwritable, WrongMoment: nothing was changed.
        RunStopped: its journal could not be kept any more; it is interrupted.
    """
    check_asker(by)
    with host_lock(host.locks, LOCK_WAIT_S) as descriptors:
        book, run = open_book(host, run_id, watched(host, Goal.UNDO, by, observe))
        if run.state is RunState.APPLIED and not run.can_undo:
            nothing = _(
                "The run {run} is {state}. The device that it removed has failed and cannot be restored to the pool, "
                "so there is nothing to undo. Nothing was changed."
            )
            raise WrongMoment(run, nothing)
        if not run.can_undo:
            raise WrongMoment(run, _("The run {run} is {state}, so it cannot be undone. Nothing was changed."))
        book.journal.keep_reserve()
        with book.kept():
            return undo_checked(
                run.plan, book, Gate(host.executor(descriptors), run.plan.request.pool_guid), by, host.vetoes
            )


def show_run(host: RunHost, run_id: str) -> Run:
    """One run as its journal tells it; interrupted, if nobody is at it although it has no end.

    Raises:
        RunUnknown, JournalDamaged, JournalOfNewerRelease
    """
    at_work = is_held(host.locks[0])
    _, run = open_journal(host.journals, run_id).read_run(host.node)
    return run if at_work else as_interrupted(run)


@dataclass(frozen=True)
class RunList:
    """Every run, newest first, and what is known of those whose journals cannot be read."""

    runs: tuple[Run, ...]
    unreadable: tuple[UnreadableRun, ...]


def list_runs(host: RunHost, look: Callable[[], Inventory] | None = None) -> RunList:
    """The runs of this host. One whose journal cannot be read hides none of the others; `look` shows what it left."""
    runs: list[Run] = []
    unreadable: list[JournalUnreadable] = []
    for run_id in sorted(run_ids(host.journals)):
        try:
            runs.append(show_run(host, run_id))
        except RunUnknown:
            continue
        except JournalUnreadable as error:
            unreadable.append(error)
    shown = seen(look) if look and unreadable else None
    told = tuple(error.told_of(host.node, shown) for error in unreadable)
    return RunList(tuple(sorted(runs, key=lambda run: run.started_at, reverse=True)), told)


def seen(look: Callable[[], Inventory]) -> Inventory | None:
    """What the host shows; None where it cannot be read."""
    try:
        return look()
    except HostError:
        return None


def watched(host: RunHost, goal: Goal, by: str, observe: Observer) -> Observer:
    """The same observer, and before it the host's own watcher of this stretch."""
    watch = host.watcher(goal, by)

    def both(run: Run) -> None:
        watch(run)
        observe(run)

    return both


def open_book(host: RunHost, run_id: str, observe: Observer) -> tuple[Logbook, Run]:
    """The logbook of an earlier run to write on in, and the run. The host lock is held by the caller.

    Raises:
        RunUnknown, JournalDamaged, JournalOfNewerRelease
    """
    journal = open_journal(host.journals, run_id)
    records, run = journal.read_run(host.node)
    book = Logbook(journal, host.node, host.clock, observe, list(records))
    return book, as_interrupted(run)  # the lock is ours, so nobody else is at it
