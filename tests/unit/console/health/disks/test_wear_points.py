"""What the picture of a disk's wear is drawn from."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from nasadvisor.console.health.disks.disk_page import history_of
from nasadvisor.console.health.disks.wear_chart import DrawnWear, wear_chart, wear_points
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.readings import keep_readings
from nasadvisor.stored.packing import DiskReading
from tests.unit.console.health.health_data import disk_of, say_only, watched
from tests.unit.machines import home_server

pytestmark = pytest.mark.django_db

PAGE_7 = {"code": "ata-page-7", "name": "Page 7", "percent_used": 7.0, "trust": "standard", "ceiling": 255.0}
WEAR_OUT = {"code": "attribute-233", "name": "Wear", "percent_used": 60.0, "trust": "documented", "ceiling": 100.0}


def told(now: datetime, *readings: list[dict[str, Any]]) -> StoredDisk:
    """A disk that said so of its wear on the last days, one list of indicators a day, the most trusted first."""
    disk = disk_of("N1")
    said = [
        DiskReading(
            int((now - timedelta(days=age)).timestamp()),
            percent_used=indicators[0]["percent_used"] if indicators else None,
            indicators=indicators,
        )
        for age, indicators in enumerate(reversed(readings))
    ]
    say_only(disk, *said)
    return disk


def test_it_follows_what_the_newest_reading_is_read_from_through_all_readings() -> None:
    now = watched(home_server(), days=0)
    disk = told(now, [WEAR_OUT], [PAGE_7, WEAR_OUT], [WEAR_OUT])
    assert [point.percent for point in wear_points(disk)] == [60.0, 60.0, 60.0]


def test_no_line_joins_readings_of_two_sources() -> None:
    now = watched(home_server(), days=0)
    disk = told(now, [WEAR_OUT], [WEAR_OUT], [PAGE_7], [WEAR_OUT], [WEAR_OUT])
    chart = wear_chart(wear_points(disk), (), now)
    assert re.sub(r"[^ML]", "", chart.history) == "MLMML"
    assert chart.is_broken


@pytest.mark.parametrize(("used", "top", "has_limit"), [(0.4, 5, False), (7.0, 10, False), (60.0, 100, True)])
def test_the_axis_fits_what_was_used_so_that_a_new_ssd_has_a_line_to_see(
    used: float, top: int, has_limit: bool
) -> None:
    now = timezone.now()
    chart = wear_chart([DrawnWear(now - timedelta(days=40), 0.0, ""), DrawnWear(now, used, "")], (), now)
    assert chart.levels[-1].label == f"{top} %"
    assert (chart.full is not None) is has_limit


def test_readings_of_one_source_are_one_line() -> None:
    now = watched(home_server(), days=0)
    chart = wear_chart(wear_points(told(now, [PAGE_7], [PAGE_7], [PAGE_7])), (), now)
    assert re.sub(r"[^ML]", "", chart.history) == "MLL"
    assert not chart.is_broken


def test_the_wear_over_time_shows_one_source_alone() -> None:
    now = watched(home_server(), days=0)
    disk = told(now, [WEAR_OUT], [PAGE_7], [WEAR_OUT])
    history = history_of(disk, (), QueryDict("show=percent_used&days=30"), now)
    (line,) = history.charts[0].lines
    assert len(set(re.findall(r" ([\d.]+)", line.path))) == 1


def test_a_reading_that_somebody_damaged_is_left_out() -> None:
    now = watched(home_server(), days=0)
    disk = told(now, [PAGE_7], [PAGE_7])
    damaged = DiskReading(int((now - timedelta(days=9)).timestamp()), percent_used=3.0, indicators=["x"])
    keep_readings([(disk, damaged)])
    assert [point.percent for point in wear_points(disk)] == [3.0, 7.0, 7.0]


def test_the_page_says_why_the_line_is_broken(viewer: Client) -> None:
    now = watched(home_server(), days=0)
    disk = told(now, [WEAR_OUT], [WEAR_OUT], [PAGE_7])
    page = " ".join(viewer.get(f"/disks/{disk.key}/").content.decode().split())
    assert "The line is broken where the disk began to report its wear in another way" in page
