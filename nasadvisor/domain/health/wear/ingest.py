"""How much a pool's work would write to a log and to each cache, from what was measured of it."""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.workload import Reach, Workload
from nasadvisor.domain.health.wear.what_if import SECONDS_PER_DAY
from nasadvisor.domain.units import MIB

USUAL_FEED_BYTES_PER_S: Final = 32 * MIB
"""l2arc_write_max by default from OpenZFS 2.2.7 and 2.3.0 on (zfs(4))."""


@dataclass(frozen=True)
class Ingest:
    """Bytes a day. `log` goes to each side of a log, `cache` to each cache, where `cache_limit` is the most it can be.

    `cache` is what the ARC evicts of late and a cache may take (arcstats' evict_l2_eligible), up to the limit.
    """

    seconds: float
    log: float
    cache: float
    cache_limit: float


def ingest_of(workload: Workload, facts: PoolFacts, caches: int) -> Ingest:
    """From a workload, for so many caches.

    The caches of a host are fed in turn by one thread, `l2arc_write_max` a second for all of them together
    (l2arc_feed_thread() in module/zfs/arc.c of OpenZFS 2.2 to 2.4).
    """
    synchronous = sum(each.sync_bytes_per_s for each in workload.datasets if each.reach is Reach.LOG)
    limit = float(facts.tunables.l2arc_write_max_bytes or USUAL_FEED_BYTES_PER_S)
    evicted = workload.sample.arc.evicted_eligible_bytes / workload.seconds if workload.seconds else 0.0
    each_of = SECONDS_PER_DAY / max(caches, 1)
    return Ingest(
        seconds=workload.seconds,
        log=synchronous * workload.block_overhead * SECONDS_PER_DAY,
        cache=min(evicted, limit) * each_of,
        cache_limit=limit * each_of,
    )
