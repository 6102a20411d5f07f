"""How many points of wear a drive gains a day: its own wear per byte, times what it writes."""

from collections.abc import Callable, Sequence
from typing import Final

from nasadvisor.domain.health.wear import calibration
from nasadvisor.domain.health.wear.history import HOURS_PER_DAY, LEAST_HOURS, History, WearPoint, spaced

ALL_POINTS: Final = 100.0
Exposure = Callable[[WearPoint], float | None]


def expected_gain(history: History, bytes_per_day: float | None) -> float | None:
    """Points a day, or None without a percentage. Without a byte counter, days take the place of bytes."""
    last = history.last
    if last is None or last.percent is None:
        return None
    if history.stopped:
        return 0.0
    if bytes_per_day is not None and last.bytes_written is not None:
        usual = calibration.USUAL_REWRITES * (history.capacity_bytes or 0)
        return _per_unit(history, _bytes, usual) * bytes_per_day
    return _per_unit(history, _days, calibration.USUAL_DAYS) if last.hours >= LEAST_HOURS else None


def _per_unit(history: History, exposure: Exposure, usual: float) -> float:
    """Points per byte (or day): the lifetime ratio, corrected by the newest months.

    A whole percentage hides up to a point more; a quarter of one is added, as if a usual drive had used it on top of
    what this one did. So a new drive starts at the usual wear, `usual` bytes (or days) per 100 %, and soon has its own.
    The correction is (observed + 1) / (expected + 1) steps of a percent: a time in which nothing was due says nothing,
    one in which many steps were due is believed.
    """
    last = _known(history.points, exposure)[-1]
    unseen = usual * calibration.UNSEEN_POINTS / ALL_POINTS
    lifetime = ((last.percent or 0.0) + calibration.UNSEEN_POINTS) / max((exposure(last) or 0.0) + unseen, 1.0)
    recent = spaced(_known(history.segment, exposure), calibration.WEAR_DAYS)
    if len(recent) < 2:
        return lifetime
    before = recent[-2]
    steps = max((last.percent or 0.0) - (before.percent or 0.0), 0.0)
    due = lifetime * max((exposure(last) or 0.0) - (exposure(before) or 0.0), 0.0)
    return lifetime * (steps + calibration.PRIOR_STEPS) / (due + calibration.PRIOR_STEPS)


def _known(points: Sequence[WearPoint], exposure: Exposure) -> list[WearPoint]:
    return [point for point in points if point.percent is not None and exposure(point) is not None]


def _bytes(point: WearPoint) -> float | None:
    return point.bytes_written


def _days(point: WearPoint) -> float | None:
    return point.hours / HOURS_PER_DAY
