"""Trials: keeping a run that is tried, and taking it back when its time is over.

The undo at the deadline is an ordinary one. It was asked for, with the password, when the run was; it is begun once,
and only for a run that is applied. Whatever stands in its way leaves the run as it is, and is said.
"""

import logging
from dataclasses import dataclass, field
from typing import Final

from nasadvisor.domain.lifecycle import Goal, Kept, Run, TrialEnded
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.trial import trials_due
from nasadvisor.host.errors import HostError
from nasadvisor.host.journal import open_journal, run_ids
from nasadvisor.host.lock import host_lock
from nasadvisor.host.logbook import Observer
from nasadvisor.host.runs import LOCK_WAIT_S, RunHost, WrongMoment, open_book, watched
from nasadvisor.host.undo import undo_checked

log = logging.getLogger(__name__)

NO_TRIAL: Final = _(
    "The run {run} is {state} and not on trial, so there is nothing to keep. Nothing was changed. "
    "`nasadvisor show {run}` tells what became of it."
)


def keep_run(host: RunHost, run_id: str, by: str) -> Run:
    """Keep a run that is on trial: it is not taken back by itself any more. One that was kept before stays so.

    Raises:
        HostBusy, RunUnknown, JournalDamaged, JournalUnwritable, WrongMoment: nothing was changed.
    """
    with host_lock(host.locks, LOCK_WAIT_S):
        book, run = open_book(host, run_id, _nobody)
        if run.trial and run.trial.kept_at:
            return run
        if not run.can_keep:
            raise WrongMoment(run, NO_TRIAL)
        return book.write(Kept(book.now(), by))


def end_trial(host: RunHost, run_id: str, observe: Observer) -> Run:
    """Take a run back if its time is over now; one that was kept or taken back meanwhile stays as it is.

    Raises:
        HostBusy, RunUnknown, JournalDamaged, JournalUnwritable: nothing was changed.
    """
    with host_lock(host.locks, LOCK_WAIT_S) as descriptors:
        book, run = open_book(host, run_id, watched(host, Goal.UNDO, "trial", observe))
        if not trials_due((run,), host.clock()):
            return run
        book.journal.keep_reserve()
        # First: whatever happens from here on, the undo is not begun by itself a second time.
        book.write(TrialEnded(book.now()))
        return undo_checked(run.plan, book, host.executor(descriptors), run.by, host.vetoes)


@dataclass
class TrialWatch:
    """Knows which runs are on trial. It reads a journal again only if that has changed: most never do."""

    host: RunHost
    _known: dict[str, tuple[tuple[int, int], Run | None]] = field(default_factory=dict)

    def due(self) -> tuple[str, ...]:
        """The ids of the runs whose time is over."""
        ids = run_ids(self.host.journals)
        for gone in self._known.keys() - set(ids):
            del self._known[gone]
        for run_id in ids:
            try:
                self._look_at(run_id)
            except (HostError, OSError) as error:
                log.warning("trials: %s", error)
        runs = [run for _, run in self._known.values() if run]
        return tuple(run.id for run in trials_due(runs, self.host.clock()))

    def _look_at(self, run_id: str) -> None:
        journal = open_journal(self.host.journals, run_id)
        found = journal.path.stat()
        stamp = (found.st_mtime_ns, found.st_size)
        if run_id in self._known and self._known[run_id][0] == stamp:
            return
        self._known[run_id] = (stamp, None)  # so that one that cannot be read is said once
        _, run = journal.read_run(self.host.node)
        self._known[run_id] = (stamp, run if run.is_on_trial else None)


def _nobody(run: Run) -> None:
    """Watches nothing: a keep is one record, and the caller has the run."""
    del run
