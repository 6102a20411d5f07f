"""The quantiles behind `nasadvisor/domain/health/wear/calibration.py`, computed again on the half it was fitted on."""

from collections.abc import Iterator
from typing import Final

from benchmarks.figure import Figure
from benchmarks.wear_forecast import DATA, fitted_on, scorer
from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.health.wear.calibration import ENDS, Steadiness
from nasadvisor.domain.health.wear.gain import expected_gain
from nasadvisor.domain.health.wear.history import HOURS_PER_DAY, Snapshot, history_of
from nasadvisor.domain.health.wear.rates import steadiness, write_rate

LEAST_GAIN: Final = 2.0
"""Smaller gains are mostly rounding to whole percents."""


def figures() -> Iterator[Figure]:
    """The constants as budget, the quantiles of the fit half as measured."""
    rates, gains = _ratios()
    for steady in Steadiness:
        ends = ENDS[steady]
        low, high = _quantiles(rates[steady])
        name = f"{steady.value} ({len(rates[steady])} drives): true rate / expected, 5 % and 95 %"
        yield Figure(name, f"{ends.rate[0]:.2f} {ends.rate[1]:.2f}", f"{low:.2f} {high:.2f}")
        low, high = _quantiles(gains[steady])
        name = f"{steady.value} ({len(gains[steady])} drives): true gain / expected, 5 % and 95 %"
        yield Figure(name, f"{ends.low:.2f} {ends.high_beyond:.2f}-{ends.high:.2f}", f"{low:.2f} {high:.2f}")


def _ratios() -> tuple[dict[Steadiness, list[float]], dict[Steadiness, list[float]]]:
    module = scorer()
    jobs, rows = module.load_series(str(DATA))
    rates: dict[Steadiness, list[float]] = {steady: [] for steady in Steadiness}
    gains: dict[Steadiness, list[float]] = {steady: [] for steady in Steadiness}
    for job in (job for job in jobs if fitted_on(job["drive"])):
        row = rows[job["drive"]]
        history = history_of([Snapshot(entry["hours"], decode(entry["smartctl"])) for entry in job["history"]])
        days = (job["predict_hours"] - job["history"][-1]["hours"]) / HOURS_PER_DAY
        rate, steady = write_rate(history), steadiness(history, days)
        gain = (expected_gain(history, rate) or 0.0) * days
        if row["rate_scored"] == "1" and rate:
            true = (float(row["bytes_hidden"]) - float(row["bytes_previous"])) / days
            if true >= module.MIN_RATE:
                rates[steady].append(true / rate)
        if row["percent_scored"] == "1" and gain > LEAST_GAIN:
            gains[steady].append((float(row["percent_hidden"]) - float(row["percent_previous"])) / gain)
    return rates, gains


def _quantiles(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return ordered[int(0.05 * len(ordered))], ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
