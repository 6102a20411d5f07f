"""How much of a trial was spent: kept beside its journal, so that it outlives the worker and the machine.

The file is no part of the journal: whoever loses it loses time that was spent, and the trial ends later.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.change.trial import Moment, TrialClock, begin_clock
from nasadvisor.host.change.checked_file import read_checked, write_checked
from nasadvisor.host.change.journal import JournalUnwritable
from nasadvisor.stored.documents import DocumentError

FILE_NAME: Final = "trial.json"

Clocks = Callable[[Callable[[], datetime]], Moment]
"""Reads all clocks at once; it is given the wall clock."""

log = logging.getLogger(__name__)


def wall_clock_alone(clock: Callable[[], datetime]) -> Moment:
    """The clocks of a host that has no other than this one, as a simulated one has."""
    now = clock()
    return Moment("", now.timestamp(), now, is_synchronised=True)


def noted(run: Run, journals: Path, now: Callable[[], Moment]) -> Run:
    """The same run; if it is on trial from now on, its clock begins."""
    if run.is_on_trial:
        keep_clock(journals, run.id, begin_clock(now()))
    return run


def read_clock(journals: Path, run_id: str) -> TrialClock | None:
    """What was kept of a trial; None where nothing was, or nothing that can be read."""
    path = _path(journals, run_id)
    try:
        return read_checked(path, TrialClock)
    except FileNotFoundError:
        return None
    except DocumentError as error:
        log.warning("trial %s: its time is counted from now on, for %s cannot be read: %s", run_id, path, error)
        return None


def keep_clock(journals: Path, run_id: str, clock: TrialClock) -> None:
    """Make durable what was spent. That it could not be is said, and is no reason to stop: the trial ends later."""
    try:
        write_checked(_path(journals, run_id), clock)
    except JournalUnwritable as error:
        log.warning("trial %s: %s", run_id, error)


def _path(journals: Path, run_id: str) -> Path:
    return journals / run_id / FILE_NAME
