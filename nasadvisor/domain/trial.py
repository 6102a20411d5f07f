"""Trying for some time: how long, and when the time is over."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from nasadvisor.domain.lifecycle import Run

MINUTE_S: Final = 60
HOUR_S: Final = 60 * MINUTE_S
DAY_S: Final = 24 * HOUR_S

SHORTEST_S: Final = MINUTE_S
LONGEST_S: Final = 90 * DAY_S
"""[policy] Who has not decided after three months has forgotten the trial, and would be surprised by its end."""

AFTER_START_S: Final = 5 * MINUTE_S
"""[policy] As long a host is left alone after its start before a trial is taken back: pools are imported and clocks are
set meanwhile, and whoever looks after the machine may still keep the run."""

_SECONDS: Final = {"m": MINUTE_S, "h": HOUR_S, "d": DAY_S, "w": 7 * DAY_S}
_LENGTH: Final = re.compile(r"([0-9]{1,6}) ?([mhdw])", re.ASCII | re.IGNORECASE)


def parse_length(text: str) -> int:
    """Read "90m", "24h", "3d" or "1w" as the seconds of a trial.

    Raises:
        ValueError: with a sentence that says what is accepted.
    """
    match = _LENGTH.fullmatch(text.strip())
    seconds = int(match[1]) * _SECONDS[match[2].lower()] if match else 0
    if not is_length(seconds):
        raise ValueError(
            f"{text!r} is not a time for a trial. Write minutes, hours, days or weeks, for example 90m, 24h, 3d or 1w; "
            f"a minute at least and {LONGEST_S // DAY_S} days at most."
        )
    return seconds


def is_length(seconds: int) -> bool:
    """Whether a trial may last so long."""
    return SHORTEST_S <= seconds <= LONGEST_S


def trials_due(runs: Iterable[Run], now: datetime) -> tuple[Run, ...]:
    """The runs that were to be taken back by now, and that nobody kept.

    Only a run that is applied is one: whatever was interrupted or needs attention is left to people.
    """
    return tuple(run for run in runs if run.is_on_trial and _until(run) <= now)


def _until(run: Run) -> datetime:
    assert run.trial is not None  # noqa: S101 - it is on trial
    return datetime.fromisoformat(run.trial.until)
