"""When a drive's rated endurance will be used up, as a range, and what it writes until then.

Method: the write rate is a mean of past intervals in which the newest weigh most (`rates`). Wear per byte is the
drive's own lifetime ratio, corrected by how the last interval differed from it, and shrunk towards it by one whole
step because percentages come in whole steps. The range is the spread that such forecasts had on other drives
(`calibration`). It is a forecast of the *rating*, not of failure.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.wear import calibration
from nasadvisor.domain.health.wear.calibration import Steadiness
from nasadvisor.domain.health.wear.findings import history_findings
from nasadvisor.domain.health.wear.gain import expected_gain
from nasadvisor.domain.health.wear.history import History
from nasadvisor.domain.health.wear.phase import phase_of
from nasadvisor.domain.health.wear.rates import steadiness, write_rate
from nasadvisor.domain.statements import Finding

MILESTONES: Final = (80, 90, 100)
"""Percents of rated endurance that get a date."""

LONGEST_DAYS: Final = 3653.0
"""Ten years: no forecast looks further, and nobody keeps a drive so long."""

LARGEST_PERCENT: Final = 255.0
"""Where the standard indicators stop counting."""

DAYS_PER_YEAR: Final = 365.25


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
        findings=history_findings(history),
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
