"""What switching a cache says, for the page of a pool and for the report of a run, on the page and on paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import exp, log
from typing import Final

from nasadvisor.console.charts.svg import BOTTOM, NARROW, RIGHT, TOP, WIDE, ChartFrame, Tick, time_labels
from nasadvisor.domain.evidence.switch_words import not_back, result_of, whole_pairs
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.domain.evidence.switching import Period
from nasadvisor.domain.statements import Finding, Statement

LEFT: Final = 64
HEIGHT: Final = 240
LEVELS: Final = 4
FEWEST: Final = 2


@dataclass(frozen=True)
class PeriodMark:
    """A period: where its middle stands, and how high."""

    at: float
    height: float


@dataclass(frozen=True)
class LatencyLine:
    """A line across the picture, and the nanoseconds that it stands for."""

    at: float
    ns: float


@dataclass(frozen=True)
class SwitchChart(ChartFrame):
    """All that the template draws; `mean_with` and `mean_without` are the heights of the two middles."""

    with_cache: tuple[PeriodMark, ...]
    without: tuple[PeriodMark, ...]
    mean_with: float
    mean_without: float
    levels: tuple[LatencyLine, ...]
    days: tuple[Tick, ...]


def switch_charts(record: CacheSwitching | None) -> tuple[SwitchChart, ...]:
    """For wide and for narrow screens; none before a period of each kind was counted."""
    values = record.values if record else {}
    kinds = {period.in_service for period in values}
    if record is None or len(kinds) < FEWEST:
        return ()
    return tuple(_chart(record, list(values.items()), width) for width in (WIDE, NARROW))


def _chart(record: CacheSwitching, values: Sequence[tuple[Period, float]], width: int) -> SwitchChart:
    """By logarithms: what is half stands as far below as what is twice stands above."""
    least, most = min(value for _, value in values) / 1.15, max(value for _, value in values) * 1.15
    begin, end = record.plan.start, record.plan.end
    right, bottom = width - RIGHT, HEIGHT - BOTTOM

    def x(at: float) -> float:
        return round(LEFT + (at - begin) / (end - begin) * (right - LEFT), 1)

    def y(value: float) -> float:
        return round(bottom - log(value / least) / log(most / least) * (bottom - TOP), 1)

    def marks(in_service: bool) -> tuple[PeriodMark, ...]:
        of_kind = [each for each in values if each[0].in_service is in_service]
        return tuple(PeriodMark(x((period.start + period.end) / 2), y(value)) for period, value in of_kind)

    def middle(in_service: bool) -> float:
        logs = [log(value) for period, value in values if period.in_service is in_service]
        return y(exp(sum(logs) / len(logs)))

    first, last = (datetime.fromtimestamp(at, UTC) for at in (begin, end))
    steps = [least * (most / least) ** (step / LEVELS) for step in range(LEVELS + 1)]
    return SwitchChart(
        width=width,
        height=HEIGHT,
        left=LEFT,
        right=right,
        top=TOP,
        bottom=bottom,
        with_cache=marks(in_service=True),
        without=marks(in_service=False),
        mean_with=middle(in_service=True),
        mean_without=middle(in_service=False),
        levels=tuple(LatencyLine(y(ns), ns) for ns in steps),
        days=tuple(Tick(x(moment.timestamp()), label) for moment, label in time_labels(first, last, width)),
    )


@dataclass(frozen=True)
class Shown:
    """What a record says: the sentence, the picture, how many periods were counted of how many, and whose end it has.

    `until` is when its plan is over, `problem` a cache that could not be put back.
    """

    record: CacheSwitching
    words: Statement
    charts: tuple[SwitchChart, ...]
    counted: int
    periods: int
    pairs: int
    until: datetime
    problem: Finding | None


def shown(record: CacheSwitching | None) -> Shown | None:
    """What a record says; None of none."""
    if record is None:
        return None
    _effect, words = result_of(record)
    return Shown(
        record=record,
        words=words,
        charts=switch_charts(record),
        counted=len(record.seen),
        periods=2 * record.plan.pairs,
        pairs=whole_pairs(record),
        until=datetime.fromtimestamp(record.plan.end, UTC),
        problem=not_back(record),
    )
