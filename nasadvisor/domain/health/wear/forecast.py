"""When a drive's rated endurance will be used up, as a range, what it writes until then, and the warranty's clock.

Method: the write rate is a mean of past intervals in which the newest weigh most (`write_rate`). Wear per byte is the
drive's own lifetime ratio, corrected by how the last interval differed from it, and shrunk towards it by one whole
step because percentages come in whole steps. The range is the spread that such forecasts had on other drives
(`calibration`). It is a forecast of the *rating*, not of failure.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.wear import calibration
from nasadvisor.domain.health.wear.calibration import Steadiness
from nasadvisor.domain.health.wear.history import (
    FALL,
    HOURS_PER_DAY,
    LEAST_HOURS,
    History,
    WearPoint,
    has_fallen,
    intervals,
    phase_of,
    spaced,
)
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import DAYS_PER_YEAR, TERABYTE


def history_findings(history: History) -> Iterator[Finding]:
    """Why a forecast is missing or weak, and what in the history contradicts itself."""
    last = history.last
    if last is None or last.percent is None:
        yield Finding(
            "wear-unknown",
            _("The disk does not report how much of its endurance is used, so there is no forecast."),
            explanation=_(
                "Disks behind some RAID controllers and USB adapters report nothing, and hard disks do not wear by "
                "writing."
            ),
        )
    elif not history.enough:
        yield Finding(
            "not-enough-history",
            _(
                "Not enough history for a date: two weeks of readings or two steps of the percentage are needed. The "
                "value shown is the average since the disk was new."
            ),
            explanation=_(
                "A percentage that moves in whole steps says little until it has moved; a date based on less would be "
                "a guess."
            ),
        )
    if history.stopped:
        yield Finding(
            "wear-stopped-counting",
            _(
                "The disk is at its highest possible percentage, although much has been written since: it has stopped "
                "counting. Plan its replacement."
            ),
            level=Level.WARNING,
            explanation=_(
                "Some disks count to 99, 100 or 255 and then stop. From then on, only errors and spare blocks show "
                "their condition."
            ),
        )
    if any(has_fallen(before.percent, after.percent, FALL) for _days, before, after in intervals(history.points)):
        yield Finding(
            "indicator-conflict",
            _("The percentage of endurance used went down between readings, which wear cannot do."),
            level=Level.WARNING,
            explanation=_(
                "New firmware can count differently, and some disks report nonsense once. A forecast restarts where "
                "the counter fell."
            ),
        )


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


MILESTONES: Final = (80, 90, 100)
"""Percents of rated endurance that get a date."""

LONGEST_DAYS: Final = 3653.0
"""Ten years: no forecast looks further, and nobody keeps a drive so long."""

LARGEST_PERCENT: Final = 255.0
"""Where the standard indicators stop counting."""


@dataclass(frozen=True)
class Spread:
    """A value as a range: one in twenty is expected below `low`, half below `middle`, one in twenty above `high`."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Exhaustion:
    """Days from now (of the history's clock) until this percent is reached; None is later than ten years.

    `earliest` comes from the high end of the wear, `latest` from its low end.
    """

    percent: int
    earliest_days: float | None
    expected_days: float | None
    latest_days: float | None


@dataclass(frozen=True)
class Forecast:
    """What is expected of one drive. Whatever is not known is None; `findings` say why.

    `percent_at` is the reading expected after `horizon_days`; where the drive counts whole percents its middle is one.
    """

    horizon_days: float
    percent_used: float | None
    percent_at: Spread | None
    bytes_per_day: Spread | None
    percent_per_year: Spread | None
    exhaustion: tuple[Exhaustion, ...]
    enough_history: bool
    findings: tuple[Finding, ...]


def forecast(history: History, horizon_days: float) -> Forecast:
    """Look ahead from the newest point of a history; a horizon in the past is now."""
    horizon = min(max(horizon_days, 0.0), LONGEST_DAYS)
    last = history.last
    rate = write_rate(history)
    used = last.percent if last else None
    per_day = expected_gain(history, rate)
    near, far = steadiness(history, horizon), steadiness(history, LONGEST_DAYS)
    return Forecast(
        horizon_days=horizon,
        percent_used=used,
        percent_at=None if used is None or per_day is None else _percent_after(history, used, per_day * horizon, near),
        bytes_per_day=None if rate is None else Spread(*calibration.rate_spread(rate, near)),
        percent_per_year=None if per_day is None else Spread(*calibration.smooth_spread(per_day * DAYS_PER_YEAR, far)),
        exhaustion=() if used is None or per_day is None or not history.enough else _milestones(used, per_day, far),
        enough_history=history.enough,
        findings=tuple(history_findings(history)),
    )


def percents_at(history: History, horizons: Iterable[float]) -> tuple[Spread, ...]:
    """`Forecast.percent_at` after each of several numbers of days; nothing where it is not known."""
    used = history.last.percent if history.last else None
    per_day = expected_gain(history, write_rate(history))
    if used is None or per_day is None:
        return ()
    within = [min(max(horizon, 0.0), LONGEST_DAYS) for horizon in horizons]
    return tuple(_percent_after(history, used, per_day * days, steadiness(history, days)) for days in within)


def _percent_after(history: History, used: float, gain: float, steady: Steadiness) -> Spread:
    if history.whole_percents:
        gains = calibration.stepped_spread(gain, phase_of(history), steady)
    else:
        gains = calibration.smooth_spread(gain, steady)
    low, middle, high = (min(used + points, max(used, LARGEST_PERCENT)) for points in gains)
    return Spread(low, middle, high)


def _milestones(used: float, per_day: float, steady: Steadiness) -> tuple[Exhaustion, ...]:
    """A milestone that is reached already is reached in zero days."""
    return tuple(
        Exhaustion(percent, *(_days_until(percent - used, _end(per_day, steady, end)) for end in (2, 1, 0)))
        for percent in MILESTONES
    )


def _end(per_day: float, steady: Steadiness, end: int) -> Callable[[float], float]:
    """The low (0), middle (1) or high (2) end of the gain, as a curve over days."""
    return lambda days: calibration.smooth_spread(per_day * days, steady)[end]


def _days_until(gain: float, curve: Callable[[float], float]) -> float | None:
    """The first day on which a rising curve reaches a gain, by bisection to a tenth of a day."""
    if gain <= 0:
        return 0.0
    low, high = 0.0, LONGEST_DAYS
    if curve(high) < gain:
        return None
    while high - low > 0.1:
        middle = (low + high) / 2
        low, high = (low, middle) if curve(middle) >= gain else (middle, high)
    return high


# The warranty clock beside the wear clock. A rating (TBW) says when the maker stops paying. It is no measure of wear:
# drives of one model were seen to need from a third to three times their rating per 100 %.

MOST_DAYS: Final = 36_525.0


@dataclass(frozen=True)
class WarrantyClock:
    """How much of a rating is written, and when the rest will be. `days_left` is None above a century."""

    rated_bytes: int
    used_percent: float
    days_left: Spread | None


def tbw_clock(rated_terabytes: float, bytes_written: int, bytes_per_day: Spread | None) -> WarrantyClock:
    """Against the terabytes written that the data sheet allows.

    Raises:
        ValueError: if the rating is not above zero.
    """
    if rated_terabytes <= 0:
        raise ValueError("A rating of terabytes written is a number above zero.")
    return _clock(round(rated_terabytes * TERABYTE), bytes_written, bytes_per_day)


def erase_clock(
    capacity_bytes: int, rated_erases: int, write_amplification: float, bytes_written: int, bytes_per_day: Spread | None
) -> WarrantyClock:
    """Against the erases that the flash is rated for: capacity times erases, divided by the write amplification.

    Raises:
        ValueError: if a number is not above zero.
    """
    if min(capacity_bytes, rated_erases, write_amplification) <= 0:
        raise ValueError("Capacity, rated erases and write amplification are numbers above zero.")
    return _clock(round(capacity_bytes * rated_erases / write_amplification), bytes_written, bytes_per_day)


def _clock(rated: int, written: int, per_day: Spread | None) -> WarrantyClock:
    left = max(rated - written, 0)
    days = None
    if per_day is not None and per_day.low > 0 and left / per_day.middle <= MOST_DAYS:
        days = Spread(*(min(left / rate, MOST_DAYS) for rate in (per_day.high, per_day.middle, per_day.low)))
    return WarrantyClock(rated, 100 * written / rated, days)
