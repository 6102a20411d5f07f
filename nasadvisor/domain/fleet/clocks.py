"""The clock of a host beside that of its console, whose message service tells the console's time (TIME in Redis)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from nasadvisor.domain.figures import duration
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _

APART: Final = timedelta(minutes=1)
"""Less than that nobody notices on a page; time sources keep clocks within milliseconds."""


def ahead(told: tuple[int, int], before: datetime, after: datetime) -> timedelta:
    """How far this host's clock is ahead of the console's, less than nothing where it is behind; `told` is what the
    console said in seconds and microseconds, asked for and answered at these moments of ours.
    """
    theirs = datetime.fromtimestamp(told[0], UTC) + timedelta(microseconds=told[1])
    return before + (after - before) / 2 - theirs


def are_apart(ahead: timedelta) -> bool:
    """Whether two clocks differ by more than anybody should live with."""
    return abs(ahead) >= APART


def clock_findings(node: str, ahead: timedelta) -> Iterator[Finding]:
    """That a host's clock is wrong, or its console's."""
    if are_apart(ahead):
        difference = duration(round(abs(ahead).total_seconds()))
        yield _ahead(node, difference) if ahead > timedelta() else _behind(node, difference)


_WHY: Final = _(
    "A host dates what it tells by its own clock, so its graphs, runs and readings are shown at a wrong time. Nothing "
    "is lost, and runs go on as they should. If all hosts say so, it is the console's clock that is wrong."
)


def _ahead(node: str, difference: str) -> Finding:
    return Finding(
        "clock-ahead",
        _(
            "The clock of {node} is {difference} ahead of the console's. Set it there, with chrony or "
            "systemd-timesyncd installed: `timedatectl set-ntp true`."
        ),
        {"node": node, "difference": difference},
        Level.WARNING,
        _WHY,
        subject=node,
    )


def _behind(node: str, difference: str) -> Finding:
    return Finding(
        "clock-behind",
        _(
            "The clock of {node} is {difference} behind the console's. Set it there, with chrony or "
            "systemd-timesyncd installed: `timedatectl set-ntp true`."
        ),
        {"node": node, "difference": difference},
        Level.WARNING,
        _WHY,
        subject=node,
    )
