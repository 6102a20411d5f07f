"""How many reads the memory and the cache answered, over time: for all pools of a host, as OpenZFS counts them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from django.utils.translation import gettext as _

from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.series import samples_of
from nasadvisor.console.history_chart import HistoryChart, Series, history_charts
from nasadvisor.domain.evidence.samples import Levels, Sample
from nasadvisor.domain.units import DAY_S

SHOWN_S: Final = 7 * DAY_S
FEW_HOURS: Final = 3
"""As long as there are no more whole hours, minutes are shown."""


@dataclass(frozen=True)
class ArcHistory:
    """The picture for wide and narrow screens, and how large the ARC was at its end."""

    charts: tuple[HistoryChart, ...]
    levels: Levels


def arc_history(series: SampledPool | None, now: datetime) -> ArcHistory | None:
    """The last week; None where too little was read for a line."""
    if series is None:
        return None
    samples = _samples(series, int(now.timestamp()) + 60)  # hosts' clocks differ a little
    lines = [Series(_("memory (ARC)"), _memory(samples)), Series(_("cache (L2ARC), of the rest"), _cache(samples))]
    if not samples:
        return None
    charts = history_charts(lines, _moment(samples[0]), now, " %")
    return ArcHistory(charts, samples[-1].levels) if charts else None


def _samples(series: SampledPool, until: int) -> Sequence[Sample]:
    hours = list(samples_of(series, Resolution.HOUR, until - SHOWN_S, until))
    if len(hours) >= FEW_HOURS:
        return hours
    return list(samples_of(series, Resolution.MINUTE, until - FEW_HOURS * Resolution.HOUR, until))


def _memory(samples: Sequence[Sample]) -> list[tuple[datetime, float]]:
    """The share of the reads that somebody waited for; prefetches are not among them."""
    asked = ((each, each.arc.demand_hits, each.arc.demand_hits + each.arc.demand_misses) for each in samples)
    return [(_moment(each), 100 * hits / reads) for each, hits, reads in asked if reads]


def _cache(samples: Sequence[Sample]) -> list[tuple[datetime, float]]:
    """Its hits and misses are counted for pools that have one (arc_read() in module/zfs/arc.c): none where none has."""
    asked = ((each, each.arc.l2_hits, each.arc.l2_hits + each.arc.l2_misses) for each in samples)
    return [(_moment(each), 100 * hits / reads) for each, hits, reads in asked if reads]


def _moment(sample: Sample) -> datetime:
    return datetime.fromtimestamp(sample.at, UTC)
