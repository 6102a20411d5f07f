"""How the counts of a disk move: kept day by day where they change, told for as long as anybody has looked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from nasadvisor.console.health.models import RawAnswer, SmartDay, StoredDisk
from nasadvisor.console.health.readings import values_in
from nasadvisor.domain.health.disk_findings import Growth
from nasadvisor.domain.health.smart.attributes import SmartValue

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


def newest_values(answers: QuerySet[RawAnswer]) -> tuple[SmartValue, ...]:
    """All that the newest of some answers of a disk counts; nothing where none is kept."""
    newest = answers.order_by("-taken_at").first()
    return values_in(newest) if newest else ()


def trends_of(disk: StoredDisk, values: Iterable[SmartValue], now: datetime) -> list[Trend]:
    """Each of the counts that a disk told last, with its movement over the last weeks as far as they were seen."""
    days = list(disk.smart_days.values_list("day", "counts"))
    today = timezone.localtime(now).date()
    return [_trend(value, days, today) for value in values]


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


def _trend(value: SmartValue, days: list[tuple[date, Mapping[str, int]]], today: date) -> Trend:
    change = change_of(value.key, value.raw, days, today)
    if change is None:
        return Trend(value, None, None, None)
    seen = [day for day, counts in days if value.key in counts]
    return Trend(value, *change, seen[-1] if len(seen) > 1 else None)
