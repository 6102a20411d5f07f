"""The pools of a host on the first page: a line each, with how they fill and the SSD that wears soonest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from django.utils import timezone

from nasadvisor.console.evidence.sparks import HEIGHT, WIDTH, Spark, sparks_of, waiting_sparks_of
from nasadvisor.console.evidence.verdict_badges import VerdictBadge, series_on, verdict_badges_on
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.disk_badges import DiskBadge, DiskBadges, badges_in
from nasadvisor.console.health.inventory import COMPARED, WATCHED_AT_LEAST
from nasadvisor.console.health.models import LARGE_FIELDS, PoolDay, StoredDisk
from nasadvisor.console.storage.diagrams import PoolDrawing
from nasadvisor.console.wording.badges import QUIET
from nasadvisor.domain.storage.inventory import Pool

FORESEEN: Final = timedelta(days=5 * 365)
"""Nobody plans for a pool that is full later than that."""


@dataclass(frozen=True)
class Filling:
    """How a pool fills: a line over the last days, what was added since the first of them, when it is full."""

    path: str
    days: int
    change_bytes: int
    full_at: datetime | None
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def less_bytes(self) -> int:
        """How many bytes were freed, 0 where it grew."""
        return max(0, -self.change_bytes)


@dataclass(frozen=True)
class PoolLine:
    """A pool in a line.

    `waiting` is how long programs wait for it or when that is known, `waits` the same by hour, and `spark` its commits
    as long as there are no such hours. `advice` is what would help or what is wrong. `filling` is None on the first
    day. Of its `disks`, each counted once, so many are `unchecked` that have not said how they are.
    """

    drawing: PoolDrawing
    waiting: VerdictBadge
    waits: Spark | None
    spark: Spark | None
    filling: Filling | None
    unwell: list[DiskBadge]
    advice: tuple[VerdictBadge, ...]
    disks: int
    unchecked: int


def pool_lines(node: Node, drawings: Sequence[PoolDrawing], badges: DiskBadges, now: datetime) -> tuple[PoolLine, ...]:
    """A line for each pool of a host."""
    watched = series_on(node).values()
    waits = waiting_sparks_of(watched, now)
    sparks = sparks_of((each for each in watched if each.guid not in waits), now)
    verdicts = verdict_badges_on(node, (drawing.pool for drawing in drawings), now)
    fillings = _fillings(node, [drawing.pool for drawing in drawings], now)

    def line(drawing: PoolDrawing) -> PoolLine:
        guid = drawing.pool.guid
        waiting, *others = verdicts[guid]
        leaves = (leaf for group in drawing.groups for vdev in group.vdevs for leaf in vdev.leaves)
        disks = {leaf.marked_key or leaf.vdev.guid for leaf in leaves}
        return PoolLine(
            drawing=drawing,
            waiting=waiting,
            waits=waits.get(guid),
            spark=sparks.get(guid),
            filling=fillings.get(guid),
            unwell=badges_in(drawing, badges),
            advice=tuple(badge for badge in others if (badge.look.colour, badge.look.icon) != QUIET),
            disks=len(disks),
            unchecked=len(disks - badges.well),
        )

    return tuple(map(line, drawings))


def _fillings(node: Node, pools: Iterable[Pool], now: datetime) -> dict[str, Filling]:
    today = timezone.localtime(now).date()
    kept = PoolDay.objects.filter(node=node, day__gte=today - COMPARED, day__lt=today).order_by("day")
    days: dict[str, list[tuple[date, int]]] = {}
    for guid, day, used in kept.values_list("guid", "day", "allocated_bytes"):
        days.setdefault(guid, []).append((day, used))
    return {
        pool.guid: _filling([*days[pool.guid], (today, pool.allocated_bytes)], pool, now)
        for pool in pools
        if pool.guid in days and pool.size_bytes
    }


def _filling(days: Sequence[tuple[date, int]], pool: Pool, now: datetime) -> Filling:
    (first, used_then), (last, used_now) = days[0], days[-1]
    length, change = last - first, used_now - used_then
    places = [
        ((day - first) / length * WIDTH, HEIGHT - 1 - used / pool.size_bytes * (HEIGHT - 2)) for day, used in days
    ]
    free_bytes, full_at = pool.size_bytes - used_now, None
    if length >= WATCHED_AT_LEAST and change > 0 and free_bytes / change * length < FORESEEN:
        full_at = now + free_bytes / change * length
    return Filling("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places), length.days, change, full_at)


def soonest_worn(node: Node) -> StoredDisk | None:
    """The SSD of a host whose endurance is used up first, else the one that is worn most."""
    ssds = StoredDisk.objects.filter(
        node=node, is_present=True, is_forgotten=False, is_rotational=False, percent_used__isnull=False
    ).defer(*LARGE_FIELDS)
    return (
        ssds.filter(worn_out_at__isnull=False).order_by("worn_out_at").first() or ssds.order_by("-percent_used").first()
    )
