"""How many points of wear a drive gains a day: its own wear per byte, times what it writes."""

from collections.abc import Callable

from nasadvisor.domain.wear import calibration
from nasadvisor.domain.wear.history import HOURS_PER_DAY, History, WearPoint

Exposure = Callable[[WearPoint], float | None]


def expected_gain(history: History, bytes_per_day: float | None) -> float | None:
    """Points a day, or None without a percentage. Without a byte counter, days take the place of bytes."""
    last = history.last
    if last is None or last.percent is None:
        return None
    if history.stopped:
        return 0.0
    if bytes_per_day is not None and last.bytes_written:
        return _per_unit(history, _bytes) * bytes_per_day
    return _per_unit(history, _days) if last.hours > 0 else None


def _per_unit(history: History, exposure: Exposure) -> float:
    """Points per byte (or day): the lifetime ratio, corrected by the newest interval.

    The correction is (observed + 1) / (expected + 1) steps of a percent: an interval in which nothing was due says
    nothing, one in which many steps were due is believed. A quarter point is added to the percentage for the part of
    the next whole percent that a drive has used already.
    """
    known = [point for point in history.points if point.percent is not None and exposure(point) is not None]
    last = known[-1]
    lifetime = ((last.percent or 0.0) + calibration.UNSEEN_POINTS) / max(exposure(last) or 0.0, 1.0)
    recent = [point for point in history.segment if point in known]
    if len(recent) < 2:
        return lifetime
    before = recent[-2]
    steps = max((last.percent or 0.0) - (before.percent or 0.0), 0.0)
    due = lifetime * max((exposure(last) or 0.0) - (exposure(before) or 0.0), 0.0)
    return lifetime * (steps + calibration.PRIOR_STEPS) / (due + calibration.PRIOR_STEPS)


def _bytes(point: WearPoint) -> float | None:
    return point.bytes_written


def _days(point: WearPoint) -> float | None:
    return point.hours / HOURS_PER_DAY
