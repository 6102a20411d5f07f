"""What is made of each hour of samples once it is complete: who writes to the SSDs, and what logs and caches do."""

from typing import Final

from django.db import transaction
from django.db.models import Max

from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.series import whole_samples_of
from nasadvisor.console.health.bytes_by_role import add_hours
from nasadvisor.domain.health.traffic_findings import pool_traffic
from nasadvisor.domain.units import DAY_S
from nasadvisor.stored.documents import to_document

TRAFFIC_S: Final = 7 * DAY_S
"""Logs and caches are judged by a week, as verdicts are."""


def add_up() -> None:
    """Add up what is new. Each hour counts once, however often and by how many processes this is called."""
    for series in SampledPool.objects.select_related("node").defer("node__inventory_document"):
        newest = series.samples.filter(resolution=Resolution.HOUR).aggregate(last=Max("at"))["last"] or 0
        if newest > series.added_until:
            with transaction.atomic():
                _add_up(series, newest)


def _add_up(series: SampledPool, newest: int) -> None:
    """Whoever moves `added_until` on has the hours before it."""
    mine = SampledPool.objects.filter(pk=series.pk, added_until=series.added_until).update(added_until=newest)
    if not mine:
        return
    begin = newest - TRAFFIC_S
    week = list(whole_samples_of(series, Resolution.HOUR, begin, newest))
    add_hours(series, (hour for hour in week if hour.at > series.added_until))
    SampledPool.objects.filter(pk=series.pk).update(traffic_document=to_document(pool_traffic(week, series.facts)))
