"""The last day of a pool's commits in a picture of a few pixels."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.evidence.series import hours_of_each
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.units import DAY_S, HOUR_S

WIDTH: Final = 240
HEIGHT: Final = 32


@dataclass(frozen=True)
class Spark:
    """A line over the `hours` of the last day that were seen; `most` and `last` are commits a second."""

    path: str
    area: str
    most: float
    last: float
    hours: int
    width: int = WIDTH
    height: int = HEIGHT


def sparks_of(pools: Iterable[SampledPool], now: datetime) -> dict[str, Spark]:
    """The pictures of some pools by their guids; none of a pool before its first whole minutes."""
    moment = int(now.timestamp())
    found = hours_of_each(pools, moment - DAY_S, moment + 60)  # hosts' clocks differ a little
    drawn = {guid: _drawn(samples, moment) for guid, samples in found.items()}
    return {guid: spark for guid, spark in drawn.items() if spark}


def _drawn(samples: Iterable[Sample], now: int) -> Spark | None:
    """The right edge is now: where nothing was seen lately, the line ends before."""
    rates = [(each.at, each.commits / each.seconds) for each in samples if each.seconds]
    if len(rates) < 2:
        return None
    begin, end = rates[0][0], max(now, rates[-1][0])
    most = max(rate for _, rate in rates)
    scale = (HEIGHT - 2) / most if most else 0.0
    places = [((at - begin) / (end - begin) * WIDTH, HEIGHT - 1 - rate * scale) for at, rate in rates]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    area = f"{path}L{places[-1][0]:.1f} {HEIGHT}L0 {HEIGHT}Z"
    return Spark(path, area, most, rates[-1][1], (end - begin) // HOUR_S)
