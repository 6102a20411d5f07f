"""Whether the blocks of a pool may be counted now: that reads all its metadata, so its users would feel it."""

from collections.abc import Iterator
from typing import Final

from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import HOUR_S, MINUTE_S

SHORTEST_S: Final = MINUTE_S
LONGEST_S: Final = 8 * HOUR_S
"""How long it may take at the most: a minute is enough for a small pool, a night for a large one."""

BUSY_REQUESTS_PER_S: Final = 50.0
"""[policy] About half of what a hard disk does in a second: a disk that does more has users who would feel it, and what
they free meanwhile is miscounted."""


def against_count(pool: Pool, load: Sample | None) -> Iterator[Refused]:
    """Why the blocks of a pool should not be counted now; `load` is what happened on it in the last seconds, None if
    unknown.
    """
    if pool.suspended or pool.state != "ONLINE":
        yield CountNotOnline(pool)
    if pool.scan:
        yield CountScan(pool)
    if load is None or load.seconds <= 0:
        return
    busiest = max((each.reads + each.writes for each in load.disks), default=0) / load.seconds
    if busiest > BUSY_REQUESTS_PER_S:
        yield CountBusy(pool, busiest)


def CountNotOnline(pool: Pool) -> Refused:  # noqa: N802
    """Counting reads every block of metadata. A pool in trouble has no reads to spare."""
    return Refused(
        "count-not-online",
        _("Pool {pool} is {state}, so its blocks are not counted. Nothing was changed."),
        {"pool": pool.name, "state": pool.state},
    )


def CountScan(pool: Pool) -> Refused:  # noqa: N802
    """A scrub or a resilver reads all that a count would read, and wants to be through: a resilver above all."""
    return Refused(
        "count-scan",
        _("Pool {pool} is busy with a {scan}, which a count of its blocks would slow down. Try again when it is over."),
        {"pool": pool.name, "scan": pool.scan},
    )


def CountBusy(pool: Pool, requests_per_s: float) -> Refused:  # noqa: N802
    """A count reads all metadata from the disks that the users wait for, and is the less exact the more is written."""
    return Refused(
        "count-busy",
        _(
            "Pool {pool} is busy: one of its disks was asked {requests} times a second. To count its blocks, all its "
            "metadata has to be read, which its users would feel. Try again when it is quiet."
        ),
        {"pool": pool.name, "requests": f"{requests_per_s:.0f}"},
    )
