"""The model of a cache: how much of the time programs wait for reads that the ARC missed, and how much of that goes.

OpenZFS's ghost lists tell what would have been a hit in an ARC larger by about one ARC, of the whole host. Nothing in
the kernel tells more, so the most that a cache takes away is known from a curve only (`curve`). A cache that is there
is held against the data disks by its own time.
"""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint, size_from_curve
from nasadvisor.domain.evidence.feed import cache_feed
from nasadvisor.domain.evidence.histogram import Histogram, bounds_of_mean
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.recommendation import cache_size_by, recommend_cache
from nasadvisor.domain.evidence.samples import ArcActivity
from nasadvisor.domain.evidence.thresholds import STREAM_STARTS
from nasadvisor.domain.evidence.verdict import Demand, Relief, Waiting
from nasadvisor.domain.evidence.waited import NO_WAIT, Wait
from nasadvisor.domain.evidence.workload import Workload, reads_of
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import DAY_S

CACHES: Final = (VdevClass.CACHE,)

SHORTFALL: Final = 0.26
"""[measured] So much less of the misses did real caches answer than their curves said, until memory had run short once
(docs/explanation/evidence.md): nothing tells whether it has.
"""

SSD_BEFORE_SSD: Final = 0.04
"""[policy] So much of the waiting for SSDs another SSD takes away at best: hardly anything."""


def demand_of_reads(workload: Workload) -> Demand:
    """How much of the time somebody waits for a read of this pool that the ARC missed: at the most if each took as long
    as the disks' reads do, those of a scrub among them.
    """
    pace, (_, likely_ns, most_ns) = workload.read_pace, workload.read_bounds_ns
    return Demand(pace.felt(likely_ns / 1e9), pace.felt(most_ns / 1e9), pace.ever(likely_ns / 1e9))


def ghost_share(arc: ArcActivity) -> float:
    """The share of misses that an ARC larger by about its own size would have served."""
    return min(arc.ghost_hits / arc.misses, 1.0) if arc.misses else 0.0


def own_ghost_share(workload: Workload) -> float:
    """The same of one pool's misses, at least: ghost hits are the host's, so those of others may be among them."""
    return _of_own(ghost_share(workload.sample.arc), workload)[0]


def stream_share(arc: ArcActivity) -> float:
    """The share of misses that were read ahead."""
    return arc.prefetch_misses / arc.misses if arc.misses else 0.0


def random_share(arc: ArcActivity) -> float:
    """The share of the misses that programs wait for which no stream explains."""
    return max(1 - STREAM_STARTS * arc.prefetch_misses / arc.demand_misses, 0.0) if arc.demand_misses else 0.0


def _of_own(share: float, workload: Workload) -> tuple[float, float]:
    """Between which bounds the share of one pool's misses lies, of which the share of all misses is known."""
    own = workload.misses_share
    return (max((share - (1 - own)) / own, 0.0), min(share / own, 1.0)) if own else (0.0, 1.0)


def relief_by_cache(workload: Workload, facts: PoolFacts, curve: CacheCurve | None) -> Relief:
    """What a cache takes away: the least that counters or curve say, and the most that the curve says of any size."""
    low = own_ghost_share(workload) * _fed_share(workload, facts, curve)
    if curve is None or not curve.is_followed:
        return Relief(Waiting.READS, low, None)
    point = size_from_curve(curve, workload.sample.levels.arc_most_bytes)
    low = max(low, least_at(curve, point) if point else 0.0)
    return Relief(Waiting.READS, low, max(low, *map(curve.at_most, curve.points)))


def relief_at(curve: CacheCurve, point: CurvePoint) -> Relief:
    """What a cache of that size takes away, by the curve alone."""
    return Relief(Waiting.READS, least_at(curve, point), curve.at_most(point))


def least_at(curve: CacheCurve, point: CurvePoint) -> float:
    """The share of the misses that a cache of that size answers at the least; 0 of a short trace."""
    return max(point.low - SHORTFALL, 0.0) if curve.is_followed else 0.0


def _fed_share(workload: Workload, facts: PoolFacts, curve: CacheCurve | None) -> float:
    """How much of what the ARC drops is copied to a cache: what never gets there is never read from it."""
    size = cache_size_by(curve, workload.sample.levels.arc_most_bytes, recommend_cache(workload))
    feed, dropped = cache_feed(workload, facts, [size.size_bytes if size else 0])
    return min(feed.filling / dropped, 1.0) if dropped else 1.0


@dataclass(frozen=True)
class CacheInUse:
    """The caches of a pool and their own reads."""

    workload: Workload
    reads: Histogram

    @property
    def share(self) -> float:
        """The share of what the ARC missed that the caches of the host serve."""
        arc = self.workload.sample.arc
        asked = arc.l2_hits + arc.l2_misses
        return arc.l2_hits / asked if asked else 0.0

    @property
    def relief(self) -> Relief:
        """What it takes away: what it serves, as far as it is quicker; where it is not known how quick, all of that."""
        workload = self.workload
        quicker = max(1 - self.reads.mean_ns / workload.read_ns, 0.0) if self.is_timed else 1.0
        if workload.is_flash:
            quicker = min(quicker, SSD_BEFORE_SSD)
        low, high = _of_own(self.share, workload)
        return Relief(Waiting.READS, low * quicker, high * quicker)

    @property
    def is_timed(self) -> bool:
        """Whether the times of both are known."""
        return bool(self.reads.total and self.workload.read_ns)

    @property
    def saved(self) -> Wait:
        """Seconds a day: reads that programs waited for and that it served, each by what the disks take longer."""
        workload, arc = self.workload, self.workload.sample.arc
        if not arc.misses:
            return NO_WAIT
        days = max(workload.seconds, 1e-9) / DAY_S
        a_day = arc.l2_hits * workload.misses_share * arc.demand_misses / arc.misses / days
        of_cache = reversed(bounds_of_mean(self.reads.mean_ns))
        each_ns = (disks - cache for disks, cache in zip(workload.read_bounds_ns, of_cache, strict=True))
        return Wait(*(a_day * max(each, 0.0) / 1e9 for each in each_ns))


def cache_in_use(workload: Workload, facts: PoolFacts) -> CacheInUse:
    """The caches of a pool, as they were seen."""
    return CacheInUse(workload, reads_of(workload.sample, facts.leaves_of(*CACHES)))
