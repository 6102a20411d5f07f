"""The quantiles behind `nasadvisor/domain/health/wear/calibration.py`, computed again on the half it was fitted on, and
how the ranges hold for families of drives that were left out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from benchmarks.figure import Figure
from benchmarks.wear_forecast import DATA, RISEN_POINTS, fitted_on, scorer
from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.health.wear.calibration import ENDS, Steadiness, smooth_spread, stepped_spread
from nasadvisor.domain.health.wear.forecast import expected_gain, steadiness, write_rate
from nasadvisor.domain.health.wear.history import HOURS_PER_DAY, History, Snapshot, history_of, phase_of

LEAST_GAIN: Final = 2.0
"""Smaller gains are mostly rounding to whole percents."""

SURPRISES: Final = (0.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
"""What `Ends.surprise` is chosen from, with each family left out in turn."""

RISEN_SHARE: Final = 0.94
"""Of the risen drives of the other families, so many must lie in the range."""

Row = dict[str, str]


@dataclass(frozen=True)
class Drive:
    """A drive whose last report was hidden: what was expected of it, and what it did."""

    row: Row
    history: History
    days: float
    rate: float | None
    gain: float
    steady: Steadiness

    @property
    def rise(self) -> float:
        """Points between the last report that was shown and the hidden one."""
        return float(self.row["percent_hidden"]) - float(self.row["percent_previous"])

    @property
    def has_risen(self) -> bool:
        """Whether it is one of those that matter most."""
        return self.rise >= RISEN_POINTS

    def range(self) -> tuple[float, float]:
        """The points that it was expected to gain."""
        if self.history.whole_percents:
            low, _middle, high = stepped_spread(self.gain, phase_of(self.history), self.steady)
        else:
            low, _middle, high = smooth_spread(self.gain, self.steady)
        return low, high


def figures() -> Iterator[Figure]:
    """The constants as budget, the quantiles of the fit half as measured; then the families that were left out."""
    drives = list(_drives())
    least = scorer().MIN_RATE
    for steady in Steadiness:
        mine = [each for each in drives if each.steady is steady and fitted_on(each.row["drive"])]
        rates, gains, ends = list(_rates(mine, least)), list(_gains(mine)), ENDS[steady]
        low, high = _quantiles(rates)
        name = f"{steady.value} ({len(rates)} drives): true rate / expected, 5 % and 95 %"
        yield Figure(name, f"{ends.rate[0]:.2f} {ends.rate[1]:.2f}", f"{low:.2f} {high:.2f}")
        low, high = _quantiles(gains)
        name = f"{steady.value} ({len(gains)} drives): true gain / expected, 5 % and 95 %"
        yield Figure(name, f"{ends.low:.2f} {ends.high_beyond:.2f}-{ends.high:.2f}", f"{low:.2f} {high:.2f}")
    yield from _left_out([each for each in drives if each.row["percent_scored"] == "1"], "family")
    yield from _left_out([each for each in drives if each.row["percent_scored"] == "1"], "vendor")


def _drives() -> Iterator[Drive]:
    jobs, rows = scorer().load_series(str(DATA))
    for job in jobs:
        history = history_of([Snapshot(entry["hours"], decode(entry["smartctl"])) for entry in job["history"]])
        days = (job["predict_hours"] - job["history"][-1]["hours"]) / HOURS_PER_DAY
        rate = write_rate(history)
        gain = (expected_gain(history, rate) or 0.0) * days
        yield Drive(rows[job["drive"]], history, days, rate, gain, steadiness(history, days))


def _rates(drives: list[Drive], least: float) -> Iterator[float]:
    for each in drives:
        if each.row["rate_scored"] == "1" and each.rate:
            true = (float(each.row["bytes_hidden"]) - float(each.row["bytes_previous"])) / each.days
            if true >= least:
                yield true / each.rate


def _gains(drives: list[Drive]) -> Iterator[float]:
    return (each.rise / each.gain for each in drives if each.row["percent_scored"] == "1" and each.gain > LEAST_GAIN)


def _left_out(drives: list[Drive], by: str) -> Iterator[Figure]:
    """Each group judged by the `surprise` that was chosen without it."""
    covered = {value: _covered(drives, value) for value in SURPRISES}
    found: list[tuple[Drive, bool]] = []
    for group in {each.row[by] for each in drives}:
        rest = [index for index, each in enumerate(drives) if each.row[by] != group and each.has_risen]
        fits = (v for v in SURPRISES if sum(covered[v][at] for at in rest) >= RISEN_SHARE * len(rest))
        best = covered[next(fits, SURPRISES[-1])]
        found += [(each, best[index]) for index, each in enumerate(drives) if each.row[by] == group]
    for name, belongs in _GROUPS.items():
        hits = [hit for each, hit in found if belongs(each)]
        share = sum(hits) / len(hits)
        yield Figure(f"each {by} left out: 90 % range covers {name}", ">= 88 %", f"{share:.1%}", "-", share >= 0.88)


def _is(steady: Steadiness, drive: Drive) -> bool:
    return drive.steady is steady


_GROUPS: Final[dict[str, Callable[[Drive], bool]]] = {
    "all": lambda _: True,
    f"drives that rose {RISEN_POINTS} points": lambda each: each.has_risen,
    "expected to gain less than half a point": lambda each: each.gain < 0.5,
    "expected to gain half a point to two": lambda each: 0.5 <= each.gain < 2,
    f"expected to gain two points to {RISEN_POINTS}": lambda each: 2 <= each.gain < RISEN_POINTS,
    f"expected to gain {RISEN_POINTS} points or more": lambda each: each.gain >= RISEN_POINTS,
    **{f"{steady.value} drives": partial(_is, steady) for steady in Steadiness},
    "read twice before": lambda each: len(each.history.points) == 2,
    "read three times before or more": lambda each: len(each.history.points) > 2,
}
"""Which drives rise is known only afterwards; all but the first two groups are told apart by what is known before."""


def _covered(drives: list[Drive], surprise: float) -> list[bool]:
    """Whether each drive lies in its range, with another `surprise`."""
    changed: dict[Any, Any] = {Steadiness.UNSTEADY: replace(ENDS[Steadiness.UNSTEADY], surprise=surprise)}
    with patch.dict(ENDS, changed):
        ranges = [each.range() for each in drives]
    return [low <= each.rise <= high for each, (low, high) in zip(drives, ranges, strict=True)]


def _quantiles(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return ordered[int(0.05 * len(ordered))], ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
