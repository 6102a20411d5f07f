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


def clock_findings(node: str, ahead: timedelta) -> Iterator[Finding]:
    """That a host's clock is wrong, or its console's."""
    if abs(ahead) < APART:
        return
    values = {"node": node, "difference": duration(round(abs(ahead).total_seconds()))}
    explanation = _(
        "A host timestamps its data with its own clock, so its graphs, runs and readings appear at the wrong time. "
        "Nothing is lost, and runs continue normally. If every host shows this, the console's clock is wrong."
    )
    if ahead > timedelta():
        template = _(
            "The clock of {node} is {difference} ahead of the console's. Set it there with `timedatectl set-ntp "
            "true`, which requires chrony or systemd-timesyncd."
        )
        yield Finding("clock-ahead", template, values, Level.WARNING, explanation, subject=node)
    else:
        template = _(
            "The clock of {node} is {difference} behind the console's. Set it there with `timedatectl set-ntp true`, "
            "which requires chrony or systemd-timesyncd."
        )
        yield Finding("clock-behind", template, values, Level.WARNING, explanation, subject=node)
