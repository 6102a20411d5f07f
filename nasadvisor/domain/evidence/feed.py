"""How fast OpenZFS feeds caches: the most that they can be written, and how long they take to fill.

Up to OpenZFS 2.4 one thread feeds all caches of the host in turn, `l2arc_write_max` at a time, once in
`l2arc_feed_secs`; but every `l2arc_feed_min_ms` while more than half of that was written (`l2arc_feed_again`), with no
end to it (l2arc_write_interval() in module/zfs/arc.c). Where the module has `l2arc_dwpd_limit`, each cache has a thread
of its own that writes `l2arc_write_max` a second and never more; once a cache was filled, and the pool's caches are at
least two ARCs together, it writes that percentage of its own size a day (l2arc_get_write_rate(),
l2arc_dwpd_rate_limit()).
`l2arc_write_boost` adds to the former until memory has run short once (`arc_warm`), and is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.pool_facts import PoolFacts, Tunables
from nasadvisor.domain.evidence.workload import Workload
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage import releases
from nasadvisor.domain.units import DAY_S, MIB, size_text

FAST_FEED_BYTES: Final = 32 * MIB
SLOW_FEED_BYTES: Final = 8 * MIB
"""l2arc_write_max by default, from `releases.FAST_FEED` on and before it."""

BUDGET_ARCS: Final = 2
"""L2ARC_PERSIST_THRESHOLD in module/zfs/arc.c: smaller caches have no budget."""


@dataclass(frozen=True)
class Feed:
    """To each cache, in bytes a second: `filling` until it was written through once, and `steady` from then on.

    `budget_percent` is that of its size which it may be written a day; 0 where there is no such budget.
    """

    filling: float
    steady: float
    budget_percent: int = 0


def feed_of(tunables: Tunables, arc_most_bytes: int, sizes: Sequence[int], others: int = 0) -> Feed:
    """The most for each of a pool's caches; `sizes` are theirs, `others` is how many other pools have.

    Where caches of one pool differ in size, it is that of the largest.
    """
    turn = float(bytes_a_turn(tunables))
    if tunables.l2arc_dwpd_limit is None:
        each = turn * _turns_per_s(tunables) / max(len(sizes) + others, 1)
        return Feed(each, each)
    budget = tunables.l2arc_dwpd_limit if arc_most_bytes and sum(sizes) >= BUDGET_ARCS * arc_most_bytes else 0
    if not budget:
        return Feed(turn, turn)
    return Feed(turn, min(turn, max(sizes) * budget / 100 / DAY_S), budget)


def bytes_a_turn(tunables: Tunables) -> int:
    """The most that is written at a time."""
    return tunables.l2arc_write_max_bytes or _usual_feed(tunables)


def cache_feed(workload: Workload, facts: PoolFacts, caches: Sequence[int], others: int = 0) -> tuple[Feed, float]:
    """The most for each cache, and what the ARC drops for each, in bytes a second."""
    evicted = workload.sample.arc.evicted_eligible_bytes / workload.seconds if workload.seconds else 0.0
    feed = feed_of(facts.tunables, workload.sample.levels.arc_most_bytes, caches, others)
    return feed, evicted / max(len(caches) + others, 1)


def feed_notes(feed: Feed, tunables: Tunables, wanted: float, size_bytes: int, disk_bytes: int) -> Iterator[Statement]:
    """What to set where a budget counts a slice as if it were a whole SSD, or does not hold for caches so small.

    `wanted` is what the ARC drops for the cache, in bytes a second; `disk_bytes` the size of its SSD.
    """
    if not size_bytes or disk_bytes < size_bytes or not tunables.l2arc_dwpd_limit:
        return
    values = {
        "size": size_text(size_bytes),
        "limit": str(tunables.l2arc_dwpd_limit),
        "most": size_text(int(feed.steady * DAY_S)),
        "wanted": size_text(int(wanted * DAY_S)),
        "disk": size_text(disk_bytes),
        "value": str(100 * disk_bytes // size_bytes),
    }
    if feed.budget_percent and wanted > feed.steady and disk_bytes > size_bytes:
        template = _(
            "This OpenZFS writes at most {most} a day to a cache of {size}, because l2arc_dwpd_limit={limit} is a "
            "percentage of the slice, not of the SSD. The ARC evicts {wanted} a day for it. l2arc_dwpd_limit={value} "
            "would allow as much as one full write of the SSD ({disk}) a day."
        )
        yield Statement("slice-budget", template, values)
    elif not feed.budget_percent and min(wanted, feed.steady) * DAY_S > disk_bytes:
        template = _(
            "The limit l2arc_dwpd_limit={limit} applies only once the caches of a pool are twice the maximum size of "
            "the ARC. These are smaller, so up to {most} a day could be written to each: more than its SSD ({disk}) "
            "holds. Enlarge them, or lower l2arc_write_max."
        )
        yield Statement("no-budget", template, values)


def _usual_feed(tunables: Tunables) -> int:
    return SLOW_FEED_BYTES if releases.FAST_FEED.is_in(tunables.zfs_version) is False else FAST_FEED_BYTES


def _turns_per_s(tunables: Tunables) -> float:
    """How often the one thread comes round at the most."""
    usual = 1 / max(tunables.l2arc_feed_secs, 1)
    return max(1000 / max(tunables.l2arc_feed_min_ms, 1), usual) if tunables.l2arc_feed_again else usual
