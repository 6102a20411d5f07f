"""How much a drive writes a day, from its history."""

import math
from collections.abc import Sequence

from nasadvisor.domain.health.wear import calibration
from nasadvisor.domain.health.wear.calibration import Steadiness
from nasadvisor.domain.health.wear.history import HOURS_PER_DAY, LEAST_HOURS, History, WearPoint, intervals, spaced


def write_rate(history: History) -> float | None:
    """Host bytes a day expected from now on, or None without a counter.

    A geometric mean of the rates of the weeks of the present segment, each weighted by how recent it is
    (exponentially, `calibration.MEMORY_DAYS`), with the lifetime average as one day of evidence beside them. A
    geometric mean, because write rates differ by factors: one burst must not count more than a quiet month.
    """
    lifetime = lifetime_rate(history)
    points = _counted(history.segment)
    if lifetime is None:
        return None
    if len(points) < 2:
        points = _counted(history.points)
    now = points[-1].hours
    total, weights = math.log(_floor(lifetime)) * calibration.LIFETIME_DAYS, calibration.LIFETIME_DAYS
    for days, before, after in intervals(spaced(points, calibration.RATE_DAYS)):
        weight = _recency(now, before, after)
        written = (after.bytes_written or 0) - (before.bytes_written or 0)
        total += weight * math.log(_floor(written / days))
        weights += weight
    return math.exp(total / weights) * calibration.growth(now / HOURS_PER_DAY)


def lifetime_rate(history: History) -> float | None:
    """Host bytes a day since the drive was new: its counter over its power-on time."""
    known = _counted(history.points)
    if not known or known[-1].hours < LEAST_HOURS:
        return None
    return (known[-1].bytes_written or 0) * HOURS_PER_DAY / known[-1].hours


def steadiness(history: History, horizon_days: float) -> Steadiness:
    """How even the writing was in the last two intervals, and how far they reach beside the horizon."""
    found = list(intervals(spaced(_counted(history.segment), calibration.STEADY_DAYS)))[-2:]
    rates = [_floor(((after.bytes_written or 0) - (before.bytes_written or 0)) / days) for days, before, after in found]
    change = abs(math.log2(rates[1] / rates[0])) if len(rates) > 1 else None
    far = horizon_days > calibration.LONG_HORIZON_DAYS or any(
        days > calibration.LONG_INTERVAL_DAYS for days, _before, _after in found[-1:]
    )
    if change is not None and change < calibration.STEADY_LOG2:
        return Steadiness.USUAL if far else Steadiness.STEADY
    if far or (change is not None and change > calibration.UNSTEADY_LOG2):
        return Steadiness.UNSTEADY
    return Steadiness.USUAL


def _counted(points: Sequence[WearPoint]) -> list[WearPoint]:
    return [point for point in points if point.bytes_written is not None]


def _recency(now: float, before: WearPoint, after: WearPoint) -> float:
    """The integral of exp(-age / memory) over an interval, in days."""
    memory = calibration.MEMORY_DAYS
    younger, older = ((now - point.hours) / HOURS_PER_DAY for point in (after, before))
    return memory * (math.exp(-younger / memory) - math.exp(-older / memory))


def _floor(rate: float) -> float:
    return max(rate, calibration.LEAST_BYTES_PER_DAY)
