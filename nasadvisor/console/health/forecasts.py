"""The forecast of one disk, worked out when a reading arrives and kept beside it, so that pages only show it; and the
warranty's clock: what data sheets promise, as somebody entered it, against what was written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, ClassVar, Final, TypeVar

from django import forms
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext

from nasadvisor.console.health.models import RatedEndurance, StoredDisk
from nasadvisor.console.health.readings import readings_of
from nasadvisor.domain.health.smart.wear import WearIndicator
from nasadvisor.domain.health.smart.written import ByteCounter
from nasadvisor.domain.health.wear.forecast import (
    LONGEST_DAYS,
    MILESTONES,
    Exhaustion,
    Forecast,
    Spread,
    WarrantyClock,
    erase_clock,
    forecast,
    percents_at,
    tbw_clock,
)
from nasadvisor.domain.health.wear.history import History, RoleChange, Snapshot, history_of
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import DAY_S
from nasadvisor.stored.documents import document_or_none, to_document
from nasadvisor.stored.kinds import Kind, register
from nasadvisor.stored.packing import DiskReading

T = TypeVar("T", WearIndicator, ByteCounter)

SPACING_S: Final = 14 * DAY_S
"""Between the readings that a forecast is made from: percentages move by whole points, in weeks."""

HORIZON_DAYS: Final = 90.0
FAN_STEPS: Final = 12
SHORTEST_FAN_DAYS: Final = 365.0
LONGEST_FAN_DAYS: Final = 3650.0
SOON: Final = timedelta(days=90)
HOURS_PER_DAY: Final = 24


@dataclass(frozen=True)
class FanPoint:
    """The range of the percentage after so many days."""

    days: float
    spread: Spread


@dataclass(frozen=True)
class StoredForecast:
    """A forecast as it is kept. Days are calendar days from `made_at`, which is UTC in ISO 8601."""

    made_at: str
    forecast: Forecast
    fan: tuple[FanPoint, ...]

    def milestone(self, percent: int) -> Exhaustion | None:
        """When a percentage is reached, if that is known."""
        return next((each for each in self.forecast.exhaustion if each.percent == percent), None)


register(Kind("forecast", StoredForecast))


@dataclass(frozen=True)
class ForecastInput:
    """What is needed of one stored reading."""

    taken_at: datetime
    hours: int
    indicators: tuple[WearIndicator, ...]
    counters: tuple[ByteCounter, ...]
    role: str


def renew_forecast(disk: StoredDisk, now: datetime) -> None:
    """Work the forecast of an SSD out anew from all its readings; not saved yet."""
    reading = disk.reading
    if reading is None or reading.identity.solid_state is False:
        return
    rows = rows_of(disk)
    snapshots = [
        Snapshot(row.hours, replace(reading, hours=row.hours, indicators=row.indicators, counters=row.counters))
        for row in rows
    ]
    changes = [RoleChange(after.hours, after.role) for before, after in pairwise(rows) if before.role != after.role]
    history = history_of(snapshots, changes)
    scale = calendar_days(rows)
    made = forecast(history, HORIZON_DAYS / scale)
    fan = _fan(history, made, scale)
    kept = StoredForecast(now.isoformat(timespec="seconds"), in_calendar_days(made, scale), fan)
    disk.forecast_document = to_document(kept)
    disk.bytes_per_day = round(kept.forecast.bytes_per_day.middle) if kept.forecast.bytes_per_day else None
    full = kept.milestone(MILESTONES[-1])
    disk.has_forecast = full is not None
    disk.worn_out_at = _date(now, full.expected_days if full else None)
    disk.worn_out_earliest_at = _date(now, full.earliest_days if full else None)
    disk.worn_out_latest_at = _date(now, full.latest_days if full else None)
    placed = (
        replace(
            finding,
            values={**finding.values, "disk": disk.label},
            subject=str(disk.pk),
            step=NextStep.LOOK_AT_DISK,
            place=disk.key,
        )
        for finding in (*kept.forecast.findings, *_soon(disk, kept))
    )
    disk.finding_documents = [*disk.finding_documents, *map(to_document, placed)]


def _fan(history: History, made: Forecast, scale: float) -> tuple[FanPoint, ...]:
    """The range at a few moments to come. Wear never falls, so what one moment reaches, a later one has too."""
    full = next((each for each in made.exhaustion if each.percent == MILESTONES[-1]), None)
    # As far as the expected end of the rating, within limits.
    wanted = full.expected_days * 1.1 if full and full.expected_days else LONGEST_FAN_DAYS
    longest = min(max(wanted, SHORTEST_FAN_DAYS), LONGEST_FAN_DAYS)
    found: list[FanPoint] = []
    floor = Spread(0.0, 0.0, 0.0)
    moments = [longest * step / FAN_STEPS for step in range(FAN_STEPS + 1)]
    for days, ahead in zip(moments, percents_at(history, moments), strict=False):  # none where nothing is known
        floor = Spread(max(floor.low, ahead.low), max(floor.middle, ahead.middle), max(floor.high, ahead.high))
        found.append(FanPoint(days * scale, floor))
    return tuple(found)


def stored_forecast(disk: StoredDisk) -> StoredForecast | None:
    """The forecast that is kept; None where there is none, or one of an older form."""
    return document_or_none(StoredForecast, disk.forecast_document)


def rows_of(disk: StoredDisk) -> list[ForecastInput]:
    """The readings of a disk, thinned: the newest, one every `SPACING_S`, the oldest, and where the role changed."""
    readings = [each for each in readings_of(disk) if each.power_on_hours is not None]
    return [
        ForecastInput(
            each.taken_at,
            each.power_on_hours or 0,
            _readable(WearIndicator, each.indicators),
            _readable(ByteCounter, each.counters),
            each.role,
        )
        for each in (readings[index] for index in _kept(readings))
    ]


def _kept(readings: Sequence[DiskReading]) -> list[int]:
    """Indexes of the readings to keep, in order."""
    kept: list[int] = []
    for index in range(len(readings) - 1, -1, -1):
        is_edge = index in (0, len(readings) - 1)
        changes = not is_edge and readings[index].role != readings[index - 1].role
        if is_edge or changes or readings[kept[-1]].at - readings[index].at >= SPACING_S:
            kept.append(index)
    return kept[::-1]


def calendar_days(rows: Sequence[ForecastInput]) -> float:
    """Calendar days in one day of power-on time, as observed; 1 where nothing tells otherwise."""
    if len(rows) < 2:
        return 1.0
    powered = rows[-1].hours - rows[0].hours
    passed = (rows[-1].taken_at - rows[0].taken_at).total_seconds() / 3600
    return passed / powered if powered >= HOURS_PER_DAY and passed > powered else 1.0


def _readable(kind: type[T], documents: Any) -> tuple[T, ...]:
    """What can be read: one value that is damaged or foreign takes neither the others nor the forecast away."""
    kept = documents if isinstance(documents, list) else ()
    return tuple(found for document in kept if (found := document_or_none(kind, document)) is not None)


def in_calendar_days(made: Forecast, scale: float) -> Forecast:
    """The disk's own clock counts only while it has power. What is later than ten years then is not foretold."""

    def slower(spread: Spread | None) -> Spread | None:
        return Spread(spread.low / scale, spread.middle / scale, spread.high / scale) if spread else None

    def later(days: float | None) -> float | None:
        return None if days is None or days * scale > LONGEST_DAYS else days * scale

    milestones = (
        Exhaustion(each.percent, later(each.earliest_days), later(each.expected_days), later(each.latest_days))
        for each in made.exhaustion
    )
    return replace(
        made,
        horizon_days=made.horizon_days * scale,
        bytes_per_day=slower(made.bytes_per_day),
        percent_per_year=slower(made.percent_per_year),
        exhaustion=tuple(milestones),
    )


def _date(now: datetime, days: float | None) -> datetime | None:
    """In so many days; None beyond what is foretold."""
    return None if days is None or days > LONGEST_DAYS else now + timedelta(days=days)


def _soon(disk: StoredDisk, kept: StoredForecast) -> list[Finding]:
    full = kept.milestone(MILESTONES[-1])
    is_soon = full and full.expected_days and timedelta(days=full.expected_days) <= SOON
    if not full or not is_soon:
        return []
    return [
        Finding(
            "worn-soon",
            _("The disk {disk} is expected to reach the end of its rated endurance in about {days} days."),
            {"disk": disk.label, "days": f"{full.expected_days:.0f}"},
            Level.WARNING,
            _("Order a replacement now. The forecast is based on recent writes; the disk's page shows its range."),
        )
    ]


@dataclass(frozen=True)
class RatedClock:
    """One clock with its dates; they are None where the writing is unknown or it takes longer than ten years."""

    name: str
    rated_bytes: int
    used_percent: float
    earliest: datetime | None
    expected: datetime | None
    latest: datetime | None


class RatingForm(forms.ModelForm):  # type: ignore[type-arg]
    """What the data sheet of a model promises."""

    class Meta:
        model = RatedEndurance
        fields: ClassVar = ["terabytes", "erases", "write_amplification", "price"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["terabytes"].widget.attrs |= {"min": "0.1", "step": "any"}
        self.fields["write_amplification"].widget.attrs |= {"min": "0.1", "step": "any"}
        self.fields["price"].widget.attrs |= {"min": "0.01", "step": "any"}

    def clean(self) -> dict[str, Any]:
        """Only numbers above zero are ratings."""
        cleaned = super().clean() or {}
        for name in self.fields:
            value = cleaned.get(name)
            if value is not None and value <= 0:
                self.add_error(name, gettext("A number above zero."))
        return cleaned


def with_ratings(disks: QuerySet[StoredDisk]) -> QuerySet[Any]:
    """The same disks, each with `rated_terabytes`, None where nobody has entered it."""
    rating = RatedEndurance.objects.filter(model=OuterRef("model"), size_bytes=OuterRef("size_bytes"))
    return disks.annotate(rated_terabytes=Subquery(rating.values("terabytes")[:1]))


def rating_of(disk: StoredDisk) -> RatedEndurance | None:
    """What was entered for a disk's model."""
    return RatedEndurance.objects.filter(model=disk.model, size_bytes=disk.size_bytes).first()


def clocks_of(
    disk: StoredDisk, rating: RatedEndurance | None, per_day: Spread | None, now: datetime
) -> list[RatedClock]:
    """The clocks that can be told of one disk."""
    if rating is None or disk.bytes_written is None:
        return []
    found = []
    if rating.terabytes:
        clock = tbw_clock(rating.terabytes, disk.bytes_written, per_day)
        found.append(_clock(gettext("Terabytes written (TBW)"), clock, now))
    if rating.erases:
        clock = erase_clock(disk.size_bytes, rating.erases, rating.write_amplification, disk.bytes_written, per_day)
        found.append(_clock(gettext("Program/erase cycles"), clock, now))
    return found


def _clock(name: str, clock: WarrantyClock, now: datetime) -> RatedClock:
    days = clock.days_left
    ends = (days.low, days.middle, days.high) if days else (None, None, None)
    earliest, expected, latest = (_date(now, each) for each in ends)
    return RatedClock(name, clock.rated_bytes, clock.used_percent, earliest, expected, latest)
