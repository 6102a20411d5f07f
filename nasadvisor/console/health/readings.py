"""What disks said: readings month by month, each month packed in one row, and counts day by day where they change.

A row for each reading would take ten times the room: the names of indicators and counters repeat themselves in all of
them, and the database has to find each by its disk and moment.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from nasadvisor.console.health.models import RawAnswer, ReadingMonth, SmartDay, StoredDisk
from nasadvisor.domain.health.disk_findings import Growth
from nasadvisor.domain.health.smart.attributes import SmartValue, smart_values
from nasadvisor.domain.units import DAY_S
from nasadvisor.stored.documents import DocumentError, unpack
from nasadvisor.stored.packing import DiskReading, pack_readings, unpack_readings


def document_of(text: str) -> Any:
    """JSON, whatever it holds; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def values_in(answer: RawAnswer) -> tuple[SmartValue, ...]:
    """All that a disk counted then; nothing where the answer is damaged."""
    try:
        return smart_values(document_of(unpack(answer.smartctl)))
    except DocumentError:
        return ()


log = logging.getLogger(__name__)

ALL_KEPT: Final = timedelta(days=90)
"""Older months are thinned to a reading a day, which is as fine as any forecast looks."""

THINNED_AT_ONCE: Final = 200
"""Months in one transaction, for which other writers wait."""


@dataclass(frozen=True)
class Temperatures:
    """The lowest and the highest of some time, in degrees Celsius."""

    least: int
    most: int


def keep_readings(told: Iterable[tuple[StoredDisk, DiskReading]]) -> None:
    """Add readings; within a transaction. One of a moment that is known already is left as it was."""
    new: dict[tuple[int, date], list[DiskReading]] = {}
    for disk, reading in told:
        new.setdefault((disk.pk, month_of(reading.taken_at)), []).append(reading)
    disks, months = {disk for disk, _ in new}, {month for _, month in new}
    # Who adds to a disk's months waits for whoever is about to: each takes what is there and puts all of it back.
    list(StoredDisk.objects.select_for_update(no_key=True).filter(pk__in=disks).order_by("pk").values_list("pk"))
    stored = ReadingMonth.objects.filter(disk__in=disks, month__in=months)
    known = {(row.disk_id, row.month): row for row in stored}
    rows = []
    for (disk_pk, month), readings in new.items():
        row = known.get((disk_pk, month))
        before = _readable(row) if row else None
        by_moment = {each.at: each for each in readings} | {each.at: each for each in before or ()}
        packed = pack_readings(by_moment[at] for at in sorted(by_moment))
        rows.append(ReadingMonth(disk_id=disk_pk, month=month, packed=packed))
    ReadingMonth.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["disk", "month"], update_fields=["packed", "is_thinned"]
    )


def readings_of(disk: StoredDisk, since: datetime | None = None) -> list[DiskReading]:
    """What a disk said, oldest first; from a moment on, if asked."""
    return readings_of_each([disk], since).get(disk.pk, [])


def readings_of_each(disks: Iterable[StoredDisk], since: datetime | None = None) -> dict[int, list[DiskReading]]:
    """The same of several disks at once, by their numbers; nothing of those that said nothing."""
    months = ReadingMonth.objects.filter(disk__in=[disk.pk for disk in disks])
    if since:
        months = months.filter(month__gte=month_of(since))
    found: dict[int, list[DiskReading]] = {}
    begin = since.timestamp() if since else 0
    for month in months.order_by("month"):
        found.setdefault(month.disk_id, []).extend(each for each in _readable(month) or () if each.at >= begin)
    return found


def temperatures_of(disks: Iterable[StoredDisk], since: datetime) -> dict[int, Temperatures]:
    """Those of each disk since then, by its number; nothing of those that told none."""
    found = {}
    for disk, readings in readings_of_each(disks, since).items():
        told = [each.temperature_c for each in readings if each.temperature_c is not None]
        if told:
            found[disk] = Temperatures(min(told), max(told))
    return found


def thin_readings(now: datetime) -> None:
    """Thin months that have long ended to the first reading of each day."""
    old = ReadingMonth.objects.filter(is_thinned=False, month__lt=month_of(now - ALL_KEPT))
    due = list(old.values_list("pk", flat=True))
    for begin in range(0, len(due), THINNED_AT_ONCE):
        with transaction.atomic():
            _thin(due[begin : begin + THINNED_AT_ONCE])


def month_of(moment: datetime) -> date:
    """The first day of its month, in UTC."""
    return moment.astimezone(UTC).date().replace(day=1)


def _thin(due: list[int]) -> None:
    """New rows take the place of the old ones: SQLite gives the room of rows back that go, not of those that shrink."""
    months = ReadingMonth.objects.select_for_update().filter(pk__in=due).order_by("disk_id", "month")
    thinned = []
    for month in months:
        readings = _readable(month)
        if readings is not None:
            first_of_days: dict[date, DiskReading] = {}
            for reading in readings:
                first_of_days.setdefault(timezone.localtime(reading.taken_at).date(), reading)
            packed = pack_readings(first_of_days.values())
            thinned.append(ReadingMonth(disk_id=month.disk_id, month=month.month, packed=packed, is_thinned=True))
    ReadingMonth.objects.filter(pk__in=due).delete()
    ReadingMonth.objects.bulk_create(thinned)


def _readable(month: ReadingMonth) -> list[DiskReading] | None:
    """What a month holds; None where it is damaged, or where a later release packed it: that is a gap."""
    try:
        return unpack_readings(bytes(month.packed))
    except ValueError as error:
        log.warning("the readings of disk %d in %s are left out: %s", month.disk_id, month.month, error)
        return None


DAYS_KEPT: Final = 90
"""Older days are put together to weeks."""

TREND: Final = timedelta(days=30)
"""How far back a trend looks."""


@dataclass(frozen=True)
class Trend:
    """One count: what it is now, and how it moved since `since`. None where nobody looked before today."""

    value: SmartValue
    change: int | None
    since: date | None
    changed_on: date | None


Days = Sequence[tuple[date, Mapping[str, int]]]
"""The days of one disk in order, each with the counts that changed on it."""

Counted = tuple[StoredDisk, Iterable[SmartValue], datetime]
"""What a disk counts in an answer, and when that was taken."""


def note_counts(told: Sequence[Counted]) -> None:
    """Keep what differs from the answers before, of disks that are all different ones.

    Call it before these answers are stored. Doing it twice adds nothing.
    """
    before = _counts_before({disk.pk: taken_at for disk, _, taken_at in told})
    days = {timezone.localtime(taken_at).date() for _, _, taken_at in told}
    noted = SmartDay.objects.filter(disk__in=[disk for disk, _, _ in told], day__in=days)
    known = {(each.disk_id, each.day): each.counts for each in noted}
    kept = []
    for disk, values, taken_at in told:
        day = timezone.localtime(taken_at).date()
        changed = {each.key: each.raw for each in values if before.get(disk.pk, {}).get(each.key) != each.raw}
        if changed:
            kept.append(SmartDay(disk=disk, day=day, counts=known.get((disk.pk, day), {}) | changed))
    SmartDay.objects.bulk_create(kept, update_conflicts=True, unique_fields=["disk", "day"], update_fields=["counts"])


def _counts_before(taken: Mapping[int, datetime]) -> dict[int, dict[str, int]]:
    """What each disk counted in its newest answer before a moment; nothing of one of which no day was noted yet."""
    noted = SmartDay.objects.filter(disk__in=list(taken)).order_by().values_list("disk", flat=True).distinct()
    answers = RawAnswer.objects.filter(disk__in=list(noted)).order_by("taken_at")
    newest = {disk: pk for pk, disk, at in answers.values_list("pk", "disk", "taken_at") if at < taken[disk]}
    found = RawAnswer.objects.in_bulk(list(newest.values()))
    return {answer.disk_id: {each.key: each.raw for each in values_in(answer)} for answer in found.values()}


def told_per_day(disk: StoredDisk, since: datetime) -> float | None:
    """Bytes a day that the disk's own counter gained since; None where it has none, or too little was read."""
    counted = [each for each in readings_of(disk, since) if each.bytes_written is not None]
    days = (counted[-1].at - counted[0].at) / DAY_S if counted else 0.0
    gained = (counted[-1].bytes_written or 0) - (counted[0].bytes_written or 0) if counted else 0
    return gained / days if days >= 1 and gained >= 0 else None


def newest_values(answers: QuerySet[RawAnswer]) -> tuple[SmartValue, ...]:
    """All that the newest of some answers of a disk counts; nothing where none is kept."""
    newest = answers.order_by("-taken_at").first()
    return values_in(newest) if newest else ()


def trends_of(disk: StoredDisk, values: Iterable[SmartValue], now: datetime) -> list[Trend]:
    """Each of the counts that a disk told last, with its movement over the last weeks as far as they were seen."""
    days = list(disk.smart_days.values_list("day", "counts"))
    today = timezone.localtime(now).date()
    found = []
    for value in values:
        change = change_of(value.key, value.raw, days, today)
        seen = [day for day, counts in days if value.key in counts]
        changed_on = seen[-1] if len(seen) > 1 else None
        found.append(Trend(value, *change, changed_on) if change else Trend(value, None, None, None))
    return found


def days_of(disks: Iterable[StoredDisk]) -> dict[int, list[tuple[date, Mapping[str, int]]]]:
    """The days of some disks, by the numbers of those."""
    found: dict[int, list[tuple[date, Mapping[str, int]]]] = {}
    rows = SmartDay.objects.filter(disk__in=[disk.pk for disk in disks]).order_by("day")
    for disk, day, counts in rows.values_list("disk", "day", "counts"):
        found.setdefault(disk, []).append((day, counts))
    return found


def growth_of(value: SmartValue | None, days: Days, today: date) -> Growth | None:
    """How much one count has grown lately; None where the disk does not have it, or nobody looked before today."""
    change = change_of(value.key, value.raw, days, today) if value else None
    if value is None or change is None:
        return None
    more, since = change
    return Growth(value.raw, more, max(1, (today - since).days))


def change_of(key: str, value: int, days: Days, today: date) -> tuple[int, date] | None:
    """How much `value` is more than it was when the trend began, and when that was; None if nobody looked before
    today."""
    seen = [(day, counts[key]) for day, counts in days if key in counts]
    if not seen or days[0][0] >= today:
        return None
    begin = max(days[0][0], today - TREND)
    then = [raw for day, raw in seen if day <= begin]
    return value - (then[-1] if then else seen[0][1]), begin


def counts_of(disk: StoredDisk, key: str, since: date) -> list[tuple[date, int]]:
    """What one count was, day by day where it changed; the first is what it was when `since` began."""
    days = [(day, counts[key]) for day, counts in disk.smart_days.values_list("day", "counts") if key in counts]
    before = [(max(day, since), raw) for day, raw in days if day <= since]
    return [*before[-1:], *((day, raw) for day, raw in days if day > since)]


def thin_out(now: datetime) -> None:
    """Put days of long ago together: the last day of a week then says what the whole week said."""
    oldest = timezone.localtime(now).date() - timedelta(days=DAYS_KEPT)
    old = SmartDay.objects.filter(day__lt=oldest).order_by("disk_id", "day")
    surplus: list[int] = []
    for _, group in groupby(old.iterator(), key=lambda each: (each.disk_id, each.day.isocalendar()[:2])):
        days = list(group)
        if len(days) > 1:
            last = days[-1]
            last.counts = {key: raw for each in days for key, raw in each.counts.items()}
            last.save(update_fields=["counts"])
            surplus += [each.pk for each in days[:-1]]
    SmartDay.objects.filter(pk__in=surplus).delete()
