"""How many reads the memory and the cache answered, over time: for all pools of a host, as OpenZFS counts them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from django.utils.translation import gettext as _

from nasadvisor.console.charts.history_chart import HistoryChart, Series, history_charts
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.evidence.series import hours_of_each
from nasadvisor.domain.evidence.samples import Levels, Sample
from nasadvisor.domain.units import DAY_S

SHOWN_S: Final = 7 * DAY_S


@dataclass(frozen=True)
class ArcHistory:
    """The picture for wide and narrow screens, and how large the ARC was at its end."""

    charts: tuple[HistoryChart, ...]
    levels: Levels


def arc_history(series: SampledPool | None, now: datetime) -> ArcHistory | None:
    """The last week; None where too little was read for a line."""
    if series is None:
        return None
    until = int(now.timestamp()) + 60  # hosts' clocks differ a little
    samples = hours_of_each([series], until - SHOWN_S, until)[series.guid]
    lines = [Series(_("memory (ARC)"), _memory(samples)), Series(_("cache (L2ARC), of ARC misses"), _cache(samples))]
    if not samples:
        return None
    charts = history_charts(lines, _moment(samples[0]), now, " %", (0, 100))
    return ArcHistory(charts, samples[-1].levels) if charts else None


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
