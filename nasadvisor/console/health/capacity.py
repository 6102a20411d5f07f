"""How full a pool is and was, day by day."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _

from nasadvisor.console.charts.history_chart import HistoryChart, Series, history_charts, start_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import PoolDay
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.units import GIB, TIB

SHOWN: Final = timedelta(days=365)
COMPARED: Final = timedelta(days=30)
WATCHED_AT_LEAST: Final = timedelta(days=7)
"""Less says nothing of how a pool grows."""


@dataclass(frozen=True)
class Capacity:
    """How full a pool was on earlier days, and how much more is used now than on `since`; None on the first day."""

    pool: Pool
    days: tuple[tuple[date, int], ...]
    now: datetime
    since: date | None
    change_bytes: int

    @cached_property
    def charts(self) -> tuple[HistoryChart, ...]:
        """The picture for wide and narrow screens; none before the second day."""
        if not self.days:
            return ()
        unit, name = (TIB, " TiB") if self.pool.size_bytes >= 4 * TIB else (GIB, " GiB")
        points = [(start_of(day), used / unit) for day, used in self.days]
        series = Series(_("Used"), [*points, (self.now, self.pool.allocated_bytes / unit)])
        return history_charts([series], points[0][0], self.now, name)

    @property
    def more_bytes(self) -> int:
        """How many bytes were added, 0 where it shrank."""
        return max(0, self.change_bytes)

    @property
    def less_bytes(self) -> int:
        """How many bytes were freed, 0 where it grew."""
        return max(0, -self.change_bytes)


def note_pools(node: Node, inventory: Inventory, read_at: datetime) -> None:
    """Keep how full each pool that could be read is, once a day."""
    day = timezone.localtime(read_at).date()
    noted = set(PoolDay.objects.filter(node=node, day=day).values_list("guid", flat=True))
    PoolDay.objects.bulk_create(
        (
            PoolDay(node=node, guid=p.guid, day=day, allocated_bytes=p.allocated_bytes, size_bytes=p.size_bytes)
            for p in inventory.pools
            if p.guid not in noted and not p.problem
        ),
        ignore_conflicts=True,
    )


def growth_on(node: Node, now: datetime) -> dict[str, float]:
    """How many bytes each pool of a node took up a day lately, by its guid; those hardly known are left out."""
    since = timezone.localtime(now).date() - COMPARED
    days: dict[str, list[tuple[date, int]]] = {}
    kept = PoolDay.objects.filter(node=node, day__gte=since).order_by("day")
    for guid, day, used in kept.values_list("guid", "day", "allocated_bytes"):
        days.setdefault(guid, []).append((day, used))
    ends = {guid: (found[0], found[-1]) for guid, found in days.items()}
    return {
        guid: (last_used - first_used) / (last - first).days
        for guid, ((first, first_used), (last, last_used)) in ends.items()
        if last - first >= WATCHED_AT_LEAST
    }


def capacity_of(node: Node, pool: Pool, now: datetime) -> Capacity:
    """How full a pool was on the days that it was watched, and is now."""
    today = timezone.localtime(now).date()
    kept = PoolDay.objects.filter(node=node, guid=pool.guid, day__gte=today - SHOWN, day__lt=today)
    days = tuple(kept.values_list("day", "allocated_bytes"))
    if not days:
        return Capacity(pool, (), now, None, 0)
    since, used_then = next((each for each in days if each[0] >= today - COMPARED), days[-1])
    return Capacity(pool, days, now, since, pool.allocated_bytes - used_then)
