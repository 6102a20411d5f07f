"""The last day of a pool in a picture of a few pixels: how long programs waited; before that is known, its commits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.evidence.series import FEW_HOURS, hours_of_each
from nasadvisor.domain.units import DAY_S, HOUR_S

WIDTH: Final = 240
HEIGHT: Final = 32


@dataclass(frozen=True)
class Spark:
    """A line over the `hours` of the last day that were seen. `most` and `last` are seconds that programs waited in an
    hour, or commits a second; `most_at` is when there were most.
    """

    path: str
    area: str
    most: float
    last: float
    hours: int
    most_at: datetime
    width: int = WIDTH
    height: int = HEIGHT


def sparks_of(pools: Iterable[SampledPool], now: datetime) -> dict[str, Spark]:
    """The pictures of some pools by their guids; none of a pool before its first whole minutes."""
    moment = int(now.timestamp())
    found = hours_of_each(pools, moment - DAY_S, moment + 60)  # hosts' clocks differ a little
    rates = {
        guid: [(each.at, each.commits / each.seconds) for each in day if each.seconds] for guid, day in found.items()
    }
    return {guid: spark for guid, rate in rates.items() if (spark := _drawn(rate, moment))}


def waiting_sparks_of(pools: Iterable[SampledPool], now: datetime) -> dict[str, Spark]:
    """How long programs waited in each hour of the last day, by the guids of the pools; none before there are a few."""
    moment = int(now.timestamp())
    kept = {
        pool.guid: [(at, waited) for at, waited in pool.waited_hours if at > moment - DAY_S]
        for pool in pools
        if len(pool.waited_hours) >= FEW_HOURS
    }
    return {guid: spark for guid, hours in kept.items() if (spark := _drawn(hours, moment))}


def _drawn(values: Sequence[tuple[int, float]], now: int) -> Spark | None:
    """The right edge is now: where nothing was seen lately, the line ends before."""
    if len(values) < 2:
        return None
    begin, end = values[0][0], max(now, values[-1][0])
    most_at, most = max(values, key=lambda each: each[1])
    scale = (HEIGHT - 2) / most if most else 0.0
    places = [((at - begin) / (end - begin) * WIDTH, HEIGHT - 1 - value * scale) for at, value in values]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    area = f"{path}L{places[-1][0]:.1f} {HEIGHT}L0 {HEIGHT}Z"
    peak = datetime.fromtimestamp(most_at, UTC)
    return Spark(path, area, most, values[-1][1], (end - begin) // HOUR_S, peak)
