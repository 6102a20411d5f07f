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
    """A count reads every metadata block. A pool with faults has no reads to spare."""
    return Refused(
        "count-not-online",
        _("Pool {pool} is {state}, so its blocks were not counted. Nothing was changed."),
        {"pool": pool.name, "state": pool.state},
    )


def CountScan(pool: Pool) -> Refused:  # noqa: N802
    """A scrub or resilver reads everything a count would read. It should finish first, a resilver above all."""
    return Refused(
        "count-scan",
        _("Pool {pool} is busy with a {scan}, which counting its blocks would slow down. Try again when it has ended."),
        {"pool": pool.name, "scan": pool.scan},
    )


def CountBusy(pool: Pool, requests_per_s: float) -> Refused:  # noqa: N802
    """A count reads all metadata from the disks your users are waiting for. The more is written during the count, the
    less exact it is.
    """
    return Refused(
        "count-busy",
        _(
            "Pool {pool} is busy: one of its disks handled {requests} requests/s. Counting its blocks means reading "
            "all its metadata, which its users would notice. Try again when it is quiet."
        ),
        {"pool": pool.name, "requests": f"{requests_per_s:.0f}"},
    )
