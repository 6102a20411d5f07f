"""Readings of one drive in order: one byte counter and one wear indicator followed through all of them.

Counters that wrap are unwrapped; a counter that falls otherwise, or a change of role, begins a new segment, since
what was written before says nothing about what is written now.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from nasadvisor.domain.health.smart.reading import SmartReading
from nasadvisor.domain.health.smart.wear import Trust
from nasadvisor.domain.health.smart.written import WRAP_BYTES

HOURS_PER_DAY: Final = 24.0
MIN_DAYS: Final = 14.0
MIN_STEPS: Final = 2.0
MIN_POINTS: Final = 2
"""What a forecast with a date takes: two weeks, or two steps of the percentage."""

LEAST_HOURS: Final = 1.0
"""A shorter time says nothing about a day."""

FALL: Final = 2.0
"""Points that a percentage may fall by and still be the same count: some drives correct themselves by one."""


@dataclass(frozen=True)
class Snapshot:
    """One reading at a time. `hours` are on any steady clock of hours; power-on hours are the usual one."""

    hours: float
    reading: SmartReading


@dataclass(frozen=True)
class RoleChange:
    """From this hour on the drive had another role in its pools ("log", "cache", …; "" for none)."""

    hours: float
    role: str


@dataclass(frozen=True)
class WearPoint:
    """What a forecast needs of one snapshot. `exact_percent` is finer than the whole percents of `percent`."""

    hours: float
    percent: float | None
    exact_percent: float | None
    bytes_written: int | None


@dataclass(frozen=True)
class History:
    """The life of a drive as far as it was watched.

    `points` are all of them, `segment_from` is the index of the first one that has the present regime. `stopped` says
    that the percentage has reached the value where this drive stops counting.
    """

    points: tuple[WearPoint, ...]
    segment_from: int
    capacity_bytes: int | None
    whole_percents: bool
    stopped: bool

    @property
    def last(self) -> WearPoint | None:
        """The newest point."""
        return self.points[-1] if self.points else None

    @property
    def enough(self) -> bool:
        """Whether the present regime was watched for two weeks, or for two steps of the percentage."""
        known = [point for point in self.segment if point.percent is not None]
        if len(known) < MIN_POINTS:
            return False
        days = (known[-1].hours - known[0].hours) / HOURS_PER_DAY
        return days >= MIN_DAYS or (known[-1].percent or 0.0) - (known[0].percent or 0.0) >= MIN_STEPS

    @property
    def segment(self) -> tuple[WearPoint, ...]:
        """The points of the present regime."""
        return self.points[self.segment_from :]


def history_of(snapshots: Sequence[Snapshot], changes: Iterable[RoleChange] = ()) -> History:
    """Follow one counter and one indicator through snapshots.

    They are put in order first; those before the newest change of model or serial number are another drive's.
    """
    ordered = _of_one_drive(sorted(snapshots, key=lambda snapshot: snapshot.hours))
    if not ordered:
        return History((), 0, None, whole_percents=True, stopped=False)
    newest = ordered[-1].reading
    shown = newest.indicators[0].code if newest.indicators else ""
    finer = _finer(newest)
    points = []
    for snapshot, written in zip(ordered, _unwrapped(ordered), strict=True):
        percents = {one.code: one.percent_used for one in reversed(snapshot.reading.indicators)}
        percent, exact = percents.get(shown), percents.get(finer)
        fits = percent is not None and exact is not None and 0 <= exact - percent < 1
        points.append(WearPoint(snapshot.hours, percent, exact if fits else None, written))
    return History(
        points=tuple(points),
        segment_from=_segment_from(points, changes),
        capacity_bytes=newest.identity.capacity_bytes,
        whole_percents=all((point.percent or 0.0).is_integer() for point in points),
        stopped=_stopped(points),
    )


def _of_one_drive(ordered: list[Snapshot]) -> list[Snapshot]:
    """From the newest change of model or serial number on."""
    begin = 0
    for index, (one, other) in enumerate(pairwise(ordered), 1):
        here, there = one.reading.identity, other.reading.identity
        names = ((here.model, there.model), (here.serial, there.serial))
        if any(before and after and before != after for before, after in names):
            begin = index
    return ordered[begin:]


def _finer(newest: SmartReading) -> str:
    """An indicator that shows fractions of the percent shown first; "" where there is none."""
    if not newest.indicators:
        return ""
    whole = newest.indicators[0].percent_used
    close = (
        one.code
        for one in newest.indicators
        if one.trust is Trust.DOCUMENTED and not one.percent_used.is_integer() and 0 <= one.percent_used - whole < 1
    )
    return next(close, "")


def _unwrapped(ordered: Sequence[Snapshot]) -> list[int | None]:
    """The counter that is best at the end, where a snapshot has it, with wraps at 2.2 TB added up."""
    counters = ordered[-1].reading.counters
    there = Counter(code for each in ordered for code in {one.code for one in each.reading.counters})
    code = max((counter.code for counter in counters), key=lambda wanted: min(2, there[wanted]), default="")
    added, before = 0, 0
    found: list[int | None] = []
    for snapshot in ordered:
        counter = next((one for one in snapshot.reading.counters if one.code == code), None)
        if counter is None:
            found.append(None)
            continue
        if counter.may_wrap and counter.bytes_written < before <= WRAP_BYTES:
            added += WRAP_BYTES
        before = counter.bytes_written
        found.append(counter.bytes_written + added)
    return found


def _segment_from(points: Sequence[WearPoint], changes: Iterable[RoleChange]) -> int:
    """The first point after the last change of role, fall of the counter, or fall of the percentage."""
    changed = max((change.hours for change in changes), default=float("-inf"))
    begin = sum(point.hours < changed for point in points)
    for index, (before, after) in enumerate(pairwise(points), 1):
        if has_fallen(before.bytes_written, after.bytes_written, 0) or has_fallen(before.percent, after.percent, FALL):
            begin = max(begin, index)
    return min(begin, len(points) - 1)


def has_fallen(before: float | None, after: float | None, allowed: float) -> bool:
    """Whether a count went down by more than is allowed; not where one of the two is unknown."""
    return before is not None and after is not None and after < before - allowed


def _stopped(points: Sequence[WearPoint]) -> bool:
    """Standing at exactly 100 or 255 while as much was written as took three points before."""
    known = [point for point in points if point.percent is not None and point.bytes_written]
    if len(known) < 2 or known[-1].percent not in {100.0, 255.0} or known[-2].percent != known[-1].percent:
        return False
    last, before = known[-1], known[-2]
    written = (last.bytes_written or 0) - (before.bytes_written or 0)
    return written * (last.percent or 0) > 3 * (last.bytes_written or 0)


def spaced(points: Sequence[WearPoint], least_days: float) -> list[WearPoint]:
    """The newest point and older ones that far apart; of a history shorter than that, its two ends.

    Readings hours apart show the hours of a day, and no step of a percentage: forecasts look at longer intervals.
    """
    if not points:
        return []
    kept = [points[-1]]
    for point in reversed(points[:-1]):
        if kept[-1].hours - point.hours >= least_days * HOURS_PER_DAY:
            kept.append(point)
    if len(kept) == 1 and points[0].hours < kept[0].hours:
        kept.append(points[0])
    return kept[::-1]


def intervals(points: Iterable[WearPoint]) -> Iterator[tuple[float, WearPoint, WearPoint]]:
    """Neighbours with the days between them, where that is an hour or more."""
    for before, after in pairwise(points):
        days = (after.hours - before.hours) / HOURS_PER_DAY
        if days >= LEAST_HOURS / HOURS_PER_DAY:
            yield days, before, after


@dataclass(frozen=True)
class Phase:
    """The least and the most of the present percent that is used, each from 0 to 1."""

    least: float
    most: float

    @property
    def middle(self) -> float:
        """Half way between."""
        return (self.least + self.most) / 2


UNKNOWN = Phase(0.0, 1.0)


def phase_of(history: History) -> Phase:
    """From a finer indicator where there is one, else from the bounds that the readings set; (0, 1) if they differ."""
    last = history.last
    if last is None or last.percent is None or not last.bytes_written:
        return UNKNOWN
    if last.exact_percent is not None:
        return Phase(last.exact_percent - last.percent, last.exact_percent - last.percent)
    known = [point for point in history.points if point.percent is not None and point.bytes_written]
    least = max((point.percent or 0.0) / (point.bytes_written or 1) for point in known) * last.bytes_written
    most = min(((point.percent or 0.0) + 1.0) / (point.bytes_written or 1) for point in known) * last.bytes_written
    found = Phase(max(least - last.percent, 0.0), min(most - last.percent, 1.0))
    return found if found.least < found.most else UNKNOWN
