"""What is worth knowing about the traffic of logs and caches, from the differences of counters over some time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool, VdevClass
from nasadvisor.domain.units import GIB, size_text

LEAST_HOURS: Final = 24.0
"""A cache warms up, and a day has its own course: nothing shorter is judged."""

LEAST_BYTES: Final = GIB
"""Less traffic than this says nothing."""

WARM_UP_HOURS: Final = 24
"""A new cache is filled before it can serve; `l2arc_write_max` makes that take about a day."""

SPILLED_SHARE: Final = 0.05
"""Of the log blocks; a log that is full now and then is no fault."""


@dataclass(frozen=True)
class Traffic:
    """What was counted for one pool within some hours.

    `cache_read_bytes` and `cache_written_bytes` are differences of l2_read_bytes and l2_write_bytes in arcstats, which
    count for all pools of the host together. `log_bytes` and `spilled_bytes` are differences of
    zil_itx_metaslab_slog_alloc and zil_itx_metaslab_normal_alloc of the pool (include/sys/zil.h).
    """

    hours: float
    cache_read_bytes: int = 0
    cache_written_bytes: int = 0
    log_bytes: int = 0
    spilled_bytes: int = 0


@dataclass(frozen=True)
class PoolTraffic:
    """What one pool's log and caches did in the hours before `until` (seconds since 1970), each since it was added."""

    until: int
    log: Traffic
    cache: Traffic


def pool_traffic(hours: Sequence[Sample], facts: PoolFacts) -> PoolTraffic:
    """Add up hours, oldest first. What happened before a log or cache was there says nothing about it."""
    logged = _since_first_used(hours, {leaf.guid for leaf in facts.leaves_of(VdevClass.LOG)}, 1)
    cached = _since_first_used(hours, {leaf.guid for leaf in facts.leaves_of(VdevClass.CACHE)}, WARM_UP_HOURS)
    return PoolTraffic(
        until=hours[-1].at if hours else 0,
        log=Traffic(
            hours=_hours(logged),
            log_bytes=sum(each.log_bytes for hour in logged for each in hour.datasets),
            spilled_bytes=sum(each.pool_bytes for hour in logged for each in hour.datasets),
        ),
        cache=Traffic(
            hours=_hours(cached),
            cache_read_bytes=sum(hour.arc.l2_read_bytes for hour in cached),
            cache_written_bytes=sum(hour.arc.l2_written_bytes for hour in cached),
        ),
    )


def _hours(samples: Sequence[Sample]) -> float:
    return sum(each.seconds for each in samples) / 3600


def _since_first_used(hours: Sequence[Sample], guids: set[str], skipped: int) -> Sequence[Sample]:
    """All hours where these vdevs were written in the first of them, for then they are older; else the later ones.

    `skipped` is how many hours after the first use do not count yet.
    """
    used = (index for index, hour in enumerate(hours) if any(each.guid in guids for each in hour.vdevs))
    first = next(used, len(hours))
    return hours if first == 0 else hours[first + skipped :]


def traffic_findings(pool: Pool, traffic: Traffic) -> Iterator[Finding]:
    """A cache that wears more than it serves, and a log that does not hold what is written to it."""
    if traffic.hours < LEAST_HOURS:
        return
    if pool.caches and LEAST_BYTES <= traffic.cache_written_bytes > traffic.cache_read_bytes:
        yield Finding(
            "cache-serves-little",
            _("In {hours} h, {written} were written to the cache of pool {pool}, but it served only {read}."),
            {
                "pool": pool.name,
                "written": size_text(traffic.cache_written_bytes),
                "read": size_text(traffic.cache_read_bytes),
                "hours": f"{traffic.hours:.0f}",
            },
            Level.WARNING,
            _(
                "It wears its SSD for little gain. Better options: more memory for the ARC, `secondarycache=metadata` "
                "on datasets that are only streamed, or removing the cache."
            ),
            subject=pool.guid,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )
    written = traffic.log_bytes + traffic.spilled_bytes
    if pool.logs and written >= LEAST_BYTES and traffic.spilled_bytes > SPILLED_SHARE * written:
        yield Finding(
            "log-spills",
            _("In {hours} h, {share} % of the log blocks of pool {pool} went to the pool itself instead of its log."),
            {
                "pool": pool.name,
                "share": f"{100 * traffic.spilled_bytes / written:.0f}",
                "hours": f"{traffic.hours:.0f}",
            },
            Level.WARNING,
            _("The log is too small or was unavailable. No data is at risk; those synchronous writes were slower."),
            subject=pool.guid,
            step=NextStep.ADD_LOG_OR_CACHE,
            place=pool.guid,
        )
