"""When a drive's rated endurance will be used up, as a range, and what it writes until then.

Method: the write rate is a mean of past intervals in which the newest weigh most (`rates`). Wear per byte is the
drive's own lifetime ratio, corrected by how the last interval differed from it, and shrunk towards it by one whole
step because percentages come in whole steps. The range is the spread that such forecasts had on other drives
(`calibration`). It is a forecast of the *rating*, not of failure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.statements import Finding
from nasadvisor.domain.wear import calibration
from nasadvisor.domain.wear.findings import history_findings
from nasadvisor.domain.wear.gain import expected_gain, rebound
from nasadvisor.domain.wear.history import History
from nasadvisor.domain.wear.rates import write_rate

MILESTONES: Final = (80, 90, 100)
"""Percents of rated endurance that get a date."""

LONGEST_DAYS: Final = 3653.0
"""Ten years: no forecast looks further, and nobody keeps a drive so long."""

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
    enough = history.enough
    return Forecast(
        horizon_days=horizon,
        percent_used=used,
        percent_at=None if used is None or per_day is None else _percent_after(history, used, per_day, horizon),
        bytes_per_day=None if rate is None else Spread(*calibration.rate_spread(rate, nvme=history.nvme)),
        percent_per_year=None if per_day is None else _yearly(history, per_day),
        exhaustion=() if used is None or per_day is None or not enough else _milestones(history, used, per_day),
        enough_history=enough,
        findings=history_findings(history),
    )


def _percent_after(history: History, used: float, per_day: float, days: float) -> Spread:
    phase = history.phase
    low, middle, high = (
        used + gain
        for gain in calibration.gain_spread(per_day * days, phase, rebound(history), whole=history.whole_percents)
    )
    return Spread(low, middle, high)


def _yearly(history: History, per_day: float) -> Spread:
    return Spread(*calibration.smooth_spread(per_day * DAYS_PER_YEAR, rebound(history)))


def _milestones(history: History, used: float, per_day: float) -> tuple[Exhaustion, ...]:
    """A milestone that is reached already is reached in zero days."""
    return tuple(
        Exhaustion(
            percent,
            earliest_days=_days_until(percent - used, lambda days: _smooth(history, per_day, days)[2]),
            expected_days=_days_until(percent - used, lambda days: _smooth(history, per_day, days)[1]),
            latest_days=_days_until(percent - used, lambda days: _smooth(history, per_day, days)[0]),
        )
        for percent in MILESTONES
    )


def _smooth(history: History, per_day: float, days: float) -> tuple[float, float, float]:
    return calibration.smooth_spread(per_day * days, rebound(history))


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
