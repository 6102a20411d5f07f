"""The readings of each disk: kept month by month, each month packed in one row.

A row for each reading would take ten times the room: the names of indicators and counters repeat themselves in all of
them, and the database has to find each by its disk and moment.
"""

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from nasadvisor.console.health.models import RawAnswer, ReadingMonth, StoredDisk
from nasadvisor.domain.health.smart.attributes import SmartValue, smart_values
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
    rows = [
        ReadingMonth(disk_id=disk, month=month, packed=pack_readings(_together(known.get((disk, month)), readings)))
        for (disk, month), readings in new.items()
    ]
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
    thinned = [
        ReadingMonth(
            disk_id=month.disk_id, month=month.month, packed=pack_readings(_first_of_days(readings)), is_thinned=True
        )
        for month in months
        if (readings := _readable(month)) is not None
    ]
    ReadingMonth.objects.filter(pk__in=due).delete()
    ReadingMonth.objects.bulk_create(thinned)


def _first_of_days(readings: Iterable[DiskReading]) -> Iterator[DiskReading]:
    days = set()
    for reading in readings:
        day = timezone.localtime(reading.taken_at).date()
        if day not in days:
            yield reading
        days.add(day)


def _together(month: ReadingMonth | None, new: Iterable[DiskReading]) -> list[DiskReading]:
    before = _readable(month) if month else None
    by_moment = {each.at: each for each in new} | {each.at: each for each in before or ()}
    return [by_moment[at] for at in sorted(by_moment)]


def _readable(month: ReadingMonth) -> list[DiskReading] | None:
    """What a month holds; None where it is damaged, or where a later release packed it: that is a gap."""
    try:
        return unpack_readings(bytes(month.packed))
    except ValueError as error:
        log.warning("the readings of disk %d in %s are left out: %s", month.disk_id, month.month, error)
        return None
