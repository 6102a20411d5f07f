"""The pools of a report: how full each is and becomes, and what its last scrub found."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from nasadvisor.console.badges import Badge, badge_of_state
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.capacity import Capacity, capacity_of
from nasadvisor.console.history_chart import HistoryChart
from nasadvisor.domain.storage.inventory import Pool

LISTED: Final = 100
DRAWN: Final = 6


@dataclass(frozen=True)
class PoolRow:
    """A pool, its use over the last weeks, and when its last scrub ended; None where none is on record."""

    node: Node
    pool: Pool
    capacity: Capacity
    scrubbed_at: datetime | None

    @property
    def look(self) -> Badge:
        """Its state."""
        return badge_of_state(self.pool.state)

    @property
    def used(self) -> float:
        """The share that is allocated."""
        return self.pool.allocated_bytes / self.pool.size_bytes if self.pool.size_bytes else 0.0

    @property
    def chart(self) -> HistoryChart | None:
        """The narrow picture of its use; None before the second day."""
        return self.capacity.charts[-1] if self.capacity.charts else None


def pool_rows(nodes: Iterable[Node], now: datetime) -> list[PoolRow]:
    """The pools of all hosts."""
    found = [(node, pool) for node in nodes for pool in (node.inventory.pools if node.inventory else ())]
    return [PoolRow(node, pool, capacity_of(node, pool, now), _scrubbed_at(pool)) for node, pool in found[:LISTED]]


def drawn_pools(rows: Iterable[PoolRow]) -> list[PoolRow]:
    """Those that have a picture, as many as a report has room for."""
    return [row for row in rows if row.chart][:DRAWN]


def _scrubbed_at(pool: Pool) -> datetime | None:
    if pool.last_scan is None or not pool.last_scan.ended_at:
        return None
    return timezone.localtime(datetime.fromisoformat(pool.last_scan.ended_at))
