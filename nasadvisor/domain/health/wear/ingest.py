"""How much a pool's work would write to a log and to each cache, from what was measured of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from nasadvisor.domain.evidence.feed import cache_feed
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.recommendation import recommend_cache
from nasadvisor.domain.evidence.workload import Reach, Workload
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import DAY_S


@dataclass(frozen=True)
class Ingest:
    """Bytes a day. `log` goes to each side of a log, `cache` to each cache, where `cache_limit` is the most it can be.

    `cache` is what the ARC evicts of late and a cache may take (arcstats' evict_l2_eligible), up to the limit.
    `cache_fills_s` is how long the largest takes to fill at that; None where nothing is evicted or its size is unknown.
    """

    seconds: float
    log: float
    cache: float
    cache_limit: float
    cache_fills_s: float | None = None


def ingest_of(workload: Workload, facts: PoolFacts, caches: Sequence[int], others: int = 0) -> Ingest:
    """From a workload, for caches of these sizes, while other pools of the host have so many."""
    synchronous = sum(each.sync_bytes_per_s for each in workload.datasets if each.reach is Reach.LOG)
    feed, evicted = cache_feed(workload, facts, caches, others)
    filling = min(evicted, feed.filling)
    return Ingest(
        seconds=workload.seconds,
        log=synchronous * workload.block_overhead * DAY_S,
        cache=min(evicted, feed.steady) * DAY_S,
        cache_limit=feed.steady * DAY_S,
        cache_fills_s=max(caches) / filling if filling and any(caches) else None,
    )


def expected_ingest(workload: Workload, facts: PoolFacts) -> Ingest:
    """For the caches that are there, or one as large as is recommended."""
    sizes = [leaf.size_bytes for leaf in facts.leaves_of(VdevClass.CACHE)]
    recommended = recommend_cache(workload)
    return ingest_of(workload, facts, sizes or [recommended.size_bytes if recommended else 0])
