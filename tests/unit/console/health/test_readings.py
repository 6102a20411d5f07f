"""The readings of disks: packed by the month, and nothing of them lost."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import ReadingMonth, StoredDisk
from nasadvisor.console.health.readings import (
    Temperatures,
    keep_readings,
    readings_of,
    readings_of_each,
    temperatures_of,
    thin_readings,
    told_per_day,
)
from nasadvisor.domain.units import DAY_S, HOUR_S
from nasadvisor.stored.packing import DiskReading
from tests.unit.stored.readings import said

NOW = datetime(2026, 8, 25, 12, 0, tzinfo=UTC)
END = int(NOW.timestamp())


@pytest.fixture
def disk() -> StoredDisk:
    """A disk that said nothing yet."""
    return a_disk("N1")


def a_disk(serial: str) -> StoredDisk:
    node, _ = Node.objects.get_or_create(name="nas")
    return StoredDisk.objects.create(node=node, key=serial, first_seen_at=NOW, last_seen_at=NOW)


def every_six_hours(days: int) -> Iterator[DiskReading]:
    return (said(END - age * HOUR_S) for age in range(0, days * 24, 6))


def kept_of(disk: StoredDisk) -> list[datetime]:
    return [each.taken_at for each in readings_of(disk)]


def test_readings_come_back_in_order_whatever_order_they_came_in(disk: StoredDisk) -> None:
    readings = list(every_six_hours(70))
    keep_readings((disk, each) for each in readings)
    assert readings_of(disk) == readings[::-1]
    assert ReadingMonth.objects.count() == 3


def test_a_reading_of_a_moment_that_is_known_changes_nothing(disk: StoredDisk) -> None:
    keep_readings([(disk, said(END))])
    keep_readings([(disk, said(END)._replace(percent_used=99.0)), (disk, said(END - 60))])
    assert readings_of(disk) == [said(END - 60), said(END)]


def test_the_readings_of_several_disks_are_kept_apart(disk: StoredDisk) -> None:
    other = a_disk("N2")
    keep_readings([(disk, said(END)), (other, said(END)._replace(role="cache"))])
    found = readings_of_each([disk, other])
    assert [each.role for each in (*found[disk.pk], *found[other.pk])] == ["log+cache", "cache"]


def test_only_readings_from_a_moment_on_are_told(disk: StoredDisk) -> None:
    keep_readings((disk, each) for each in every_six_hours(70))
    since = NOW - timedelta(days=30)
    assert kept_of(disk)[-121:] == [each.taken_at for each in readings_of(disk, since)]


def test_what_a_disk_says_it_was_written_a_day_is_of_the_time_asked_for(disk: StoredDisk) -> None:
    assert told_per_day(disk, NOW - timedelta(days=30)) is None
    keep_readings((disk, DiskReading(END - age * DAY_S, bytes_written=(90 - age) * 10**9)) for age in (60, 20, 10, 0))
    assert told_per_day(disk, NOW - timedelta(days=30)) == 10**9
    assert told_per_day(disk, NOW - timedelta(hours=1)) is None


def test_temperatures_are_those_of_the_time_asked_for(disk: StoredDisk) -> None:
    told = {0: 40, 3: 61, 29: None, 31: 80}
    keep_readings(
        (disk, said(END - age * DAY_S)._replace(temperature_c=temperature)) for age, temperature in told.items()
    )
    assert temperatures_of([disk, a_disk("N2")], NOW - timedelta(days=30)) == {disk.pk: Temperatures(40, 61)}


def test_months_that_ended_long_ago_are_thinned_to_the_first_reading_of_each_day(disk: StoredDisk) -> None:
    keep_readings((disk, each) for each in every_six_hours(200))
    before = kept_of(disk)
    thin_readings(NOW)
    after = kept_of(disk)
    recent = [at for at in before if at >= datetime(2026, 5, 1, tzinfo=UTC)]
    assert after[-len(recent) :] == recent
    thinned = after[: -len(recent)]
    days = [timezone.localtime(at).date() for at in before if at not in recent]
    assert [timezone.localtime(at).date() for at in thinned] == sorted(set(days))
    assert all(at in before for at in thinned)


def test_what_was_thinned_is_not_looked_at_again_until_something_is_added_to_it(disk: StoredDisk) -> None:
    keep_readings((disk, each) for each in every_six_hours(200))
    thin_readings(NOW)
    rows = set(ReadingMonth.objects.values_list("pk", flat=True))
    thin_readings(NOW)
    assert set(ReadingMonth.objects.values_list("pk", flat=True)) == rows
    oldest = readings_of(disk)[0]
    keep_readings([(disk, oldest._replace(at=oldest.at + 60))])
    thin_readings(NOW)
    assert readings_of(disk)[0] == oldest
    assert readings_of(disk)[1].at > oldest.at + 60


@pytest.mark.parametrize("packed", [b"", b"damaged"])
def test_a_month_that_is_damaged_is_a_gap_and_takes_no_other_with_it(disk: StoredDisk, packed: bytes) -> None:
    keep_readings((disk, each) for each in every_six_hours(70))
    may = ReadingMonth.objects.order_by("month")[1]
    ReadingMonth.objects.filter(pk=may.pk).update(packed=packed)
    assert {at.month for at in kept_of(disk)} == {6, 8}
    keep_readings([(disk, said(int(datetime(2026, 7, 4, tzinfo=UTC).timestamp())))])
    assert {at.month for at in kept_of(disk)} == {6, 7, 8}
