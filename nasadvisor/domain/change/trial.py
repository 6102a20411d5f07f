"""Trying for some time: how long, and when the time is over.

A trial is over once so much time was really spent. The wall clock is no measure of that: it may be years wrong until a
time source is reached.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.units import DAY_S, HOUR_S, MINUTE_S

SHORTEST_S: Final = MINUTE_S
LONGEST_S: Final = 90 * DAY_S
"""[policy] Who has not decided after three months has forgotten the trial, and would be surprised by its end."""

AFTER_START_S: Final = 5 * MINUTE_S
"""[policy] As long a host is left alone after its start before a trial is taken back: pools are imported and clocks are
set meanwhile, and whoever looks after the machine may still keep the run."""

NEAR_S: Final = 5 * MINUTE_S
"""[policy] By less than this an end that was said is not corrected."""

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


@dataclass(frozen=True)
class Moment:
    """The clocks of a host, read together.

    `boot` tells one start of the machine from another. `up_s` is the time since that start, suspended or not, which
    nobody can set (CLOCK_BOOTTIME; clock_gettime(2)). `at` is the wall clock in UTC, which anybody can;
    `is_synchronised` is whether the kernel holds it to be right, because a time source keeps it (adjtimex(2)).
    """

    boot: str
    up_s: float
    at: datetime
    is_synchronised: bool


@dataclass(frozen=True)
class TrialClock:
    """How much of a trial was surely spent: never more than there really was.

    `seen_up_s` is where the clock of `boot` stood when that was last added up. `proven_at` is the last moment at which
    the wall clock was known to be right, "" where there was none, and `proven_boot` and `proven_s` are the start of the
    machine and what was spent by then.
    """

    spent_s: float
    boot: str
    seen_up_s: float
    proven_at: str = ""
    proven_boot: str = ""
    proven_s: float = 0.0


def begin_clock(now: Moment) -> TrialClock:
    """The clock of a trial of which nothing is known to be spent yet."""
    return _proven(TrialClock(0.0, now.boot, now.up_s), now)


def count_on(clock: TrialClock, now: Moment) -> TrialClock:
    """Add the time that was surely spent since.

    While the machine runs, that is what its own clock counted, whatever the wall clock was set to. Over a restart it is
    what passed since the start; the time that the machine was off counts only if the wall clock was known to be right
    both before and after, for a clock that a battery or an administrator got wrong proves nothing.
    """
    passed = max(now.up_s - clock.seen_up_s, 0.0) if now.boot == clock.boot else now.up_s
    spent = max(clock.spent_s + passed, _spent_by_wall_clock(clock, now))
    return _proven(replace(clock, spent_s=spent, boot=now.boot, seen_up_s=now.up_s), now)


def _spent_by_wall_clock(clock: TrialClock, now: Moment) -> float:
    if not clock.proven_at or not now.is_synchronised or now.boot == clock.proven_boot:
        return 0.0
    return clock.proven_s + (now.at - datetime.fromisoformat(clock.proven_at)).total_seconds()


def _proven(clock: TrialClock, now: Moment) -> TrialClock:
    if not now.is_synchronised:
        return clock
    return replace(clock, proven_at=now.at.isoformat(), proven_boot=now.boot, proven_s=clock.spent_s)


def is_over(run: Run, clock: TrialClock) -> bool:
    """Whether the run was to be taken back by now, and nobody kept it.

    Only a run that is applied is one: whatever was interrupted or needs attention is left to people.
    """
    return run.is_on_trial and run.trial is not None and clock.spent_s >= run.trial.seconds


def moved_end(run: Run, clock: TrialClock, now: Moment) -> str:
    """When the trial ends by the wall clock of now, if that is far from what was said; "" if it is not."""
    if run.trial is None or not run.is_on_trial or is_over(run, clock):
        return ""
    try:
        end = now.at + timedelta(seconds=run.trial.seconds - clock.spent_s)
    except OverflowError:  # a wall clock at the end of the calendar
        end = now.at
    said = datetime.fromisoformat(run.trial.until)
    return "" if abs((end - said).total_seconds()) <= NEAR_S else end.isoformat(timespec="milliseconds")
