"""Trials: keeping a run that is tried, and taking it back when its time is over.

The undo at the deadline is an ordinary one. It was asked for, with the password, when the run was; it is begun once,
and only for a run that is applied. Whatever stands in its way leaves the run as it is, and is said.
"""

import logging
from dataclasses import dataclass, field
from typing import Final

from nasadvisor.domain.change.runs import Goal, Kept, Run, TrialEnded, TrialMoved
from nasadvisor.domain.change.trial import Moment, TrialClock, begin_clock, count_on, is_over, moved_end
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import MINUTE_S
from nasadvisor.host.change.gate import Gate
from nasadvisor.host.change.journal import open_journal, run_ids
from nasadvisor.host.change.lock import host_lock
from nasadvisor.host.change.logbook import Observer
from nasadvisor.host.change.runs import LOCK_WAIT_S, RunHost, WrongMoment, check_asker, open_book, watched
from nasadvisor.host.change.trial_clock import keep_clock, read_clock
from nasadvisor.host.change.undo import undo_checked
from nasadvisor.host.errors import HostError

log = logging.getLogger(__name__)

NO_TRIAL: Final = _(
    "The run {run} is {state} and not on trial, so there is nothing to keep. Nothing was changed. `nasadvisor show "
    "{run}` shows its details."
)

MOVED: Final = _(
    "The clock of this host was changed, the host was off while no time source kept its clock right, or it previously "
    "ran a release of NAS Advisor that did not count the time. A trial counts only time that has really passed, so "
    "this trial now ends at {until} UTC. You can keep or undo the run before then."
)

KEPT_EVERY_S: Final = 15 * MINUTE_S
"""[policy] So much of a trial can be lost at a power cut, where no time source proves it afterwards."""


def keep_run(host: RunHost, run_id: str, by: str) -> Run:
    """Keep a run that is on trial: it is no longer reverted automatically. One that was kept before stays so.

    Raises:
        HostBusy, NobodyAsks, RunUnknown, JournalDamaged, JournalUnwritable, WrongMoment: nothing was changed.
    """
    check_asker(by)
    with host_lock(host.locks, LOCK_WAIT_S):
        book, run = open_book(host, run_id, lambda _run: None)
        if run.trial and run.trial.kept_at:
            return run
        if not run.can_keep:
            raise WrongMoment(run, NO_TRIAL)
        return book.write(Kept(book.now(), by))


def end_trial(host: RunHost, run_id: str, observe: Observer) -> Run:
    """Take a run back whose time is over; one that was kept or taken back meanwhile stays as it is.

    Raises:
        HostBusy, RunUnknown, JournalDamaged, JournalUnwritable: nothing was changed.
    """
    with host_lock(host.locks, LOCK_WAIT_S) as descriptors:
        book, run = open_book(host, run_id, watched(host, Goal.UNDO, "trial", observe))
        if not run.is_on_trial:
            return run
        book.journal.keep_reserve()
        # First: whatever happens from here on, the undo is not begun by itself a second time.
        book.write(TrialEnded(book.now()))
        with book.kept():
            return undo_checked(
                run.plan, book, Gate(host.executor(descriptors), run.plan.request.pool_guid), run.by, host.vetoes
            )


def move_trial(host: RunHost, run_id: str, until: str, observe: Observer) -> Run:
    """Say that a trial ends at another time than was said; one that was kept or taken back meanwhile stays as it is.

    Raises:
        HostBusy, RunUnknown, JournalDamaged, JournalUnwritable: nothing was changed.
    """
    with host_lock(host.locks, LOCK_WAIT_S):
        book, run = open_book(host, run_id, observe)
        if not run.is_on_trial:
            return run
        why = Finding(
            "trial-moved",
            MOVED,
            {"until": until[:16].replace("T", " ")},
            Level.WARNING,
            explanation=_(
                "The length of a trial is counted by a host clock that cannot be set, so a wrong wall clock never "
                "ends a trial too early."
            ),
        )
        return book.write(TrialMoved(book.now(), until, why))


@dataclass
class TrialWatch:
    """Knows which runs are on trial and how much of it was spent. It reads a journal again only if that has changed."""

    host: RunHost
    _known: dict[str, tuple[tuple[int, int], Run | None]] = field(default_factory=dict)
    _clocks: dict[str, TrialClock] = field(default_factory=dict)
    _kept_s: dict[str, float] = field(default_factory=dict)

    def due(self) -> tuple[str, ...]:
        """The ids of the runs whose time is over; counts on those whose time is not."""
        now = self.host.moment()
        return tuple(run.id for run in self._on_trial() if is_over(run, self._count_on(run.id, now)))

    def moved(self) -> dict[str, str]:
        """The trials that end at another time by the wall clock than is said of them, with that time."""
        now = self.host.moment()
        ends = {run.id: moved_end(run, self._count_on(run.id, now), now) for run in self._on_trial()}
        return {run_id: end for run_id, end in ends.items() if end}

    def _on_trial(self) -> list[Run]:
        ids = run_ids(self.host.journals)
        for gone in self._known.keys() - set(ids):
            del self._known[gone]
            self._forget(gone)
        for run_id in ids:
            try:
                self._look_at(run_id)
            except (HostError, OSError) as error:
                log.warning("trials: %s", error)
        return [run for _, run in self._known.values() if run]

    def _look_at(self, run_id: str) -> None:
        journal = open_journal(self.host.journals, run_id)
        found = journal.path.stat()
        stamp = (found.st_mtime_ns, found.st_size)
        if run_id in self._known and self._known[run_id][0] == stamp:
            return
        self._known[run_id] = (stamp, None)  # so that one that cannot be read is said once
        _, run = journal.read_run(self.host.node)
        self._known[run_id] = (stamp, run if run.is_on_trial else None)
        if not run.is_on_trial:
            self._forget(run_id)

    def _count_on(self, run_id: str, now: Moment) -> TrialClock:
        """What was spent of a trial by now; kept every so often, and at once after a start of the machine."""
        before = self._clocks.get(run_id) or read_clock(self.host.journals, run_id)
        clock = count_on(before, now) if before else begin_clock(now)
        self._clocks[run_id] = clock
        is_new = before is None or before.boot != now.boot
        if is_new or clock.spent_s - self._kept_s.get(run_id, 0.0) >= KEPT_EVERY_S:
            self._kept_s[run_id] = clock.spent_s
            keep_clock(self.host.journals, run_id, clock)
        return clock

    def _forget(self, run_id: str) -> None:
        self._clocks.pop(run_id, None)
        self._kept_s.pop(run_id, None)
