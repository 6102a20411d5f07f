"""Who writes to each SSD: from the hours of samples to shares, alerts, and the page."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts.models import ApiToken
from nasadvisor.console.change.plans import store_plan
from nasadvisor.console.evidence import series
from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health import bytes_by_role
from nasadvisor.console.health.alerts.collect_findings import view
from nasadvisor.console.health.bytes_by_role import Written, written_by_role
from nasadvisor.console.health.models import RatedEndurance, StoredDisk, WrittenDay
from nasadvisor.console.health.readings import keep_readings
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.evidence.pool_facts import LeafFacts, PoolFacts
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import ArcActivity, DatasetActivity, DiskActivity, Sample, VdevActivity
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory, VdevClass
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.stored.documents import to_document
from nasadvisor.stored.packing import DiskReading
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.health.health_data import watched as watched_machine
from tests.unit.console.test_pages import page
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    TANK,
    home_server,
    leaf_on,
    partition,
    plan_for,
    with_partitions,
    with_pool,
)

LOG, CACHE = "31", "32"
ROLE_METRIC = "nasadvisor_disk_written_by_role_bytes_per_day{"
NOW = timezone.now().replace(minute=0, second=0, microsecond=0)


def machine() -> Inventory:
    """The home server with a log and a cache for tank on slices of one SSD."""
    inventory = home_server()
    disk = inventory.disk(NVME1)
    assert disk
    hold = Hold(HoldKind.POOL, "tank")
    disk = with_partitions(disk, partition(disk, 1, MIB, 4 * GIB, hold), partition(disk, 2, 5 * GIB, 400 * GIB, hold))
    disks = tuple(disk if each.key == NVME1 else each for each in inventory.disks)
    changed = replace(inventory, disks=disks)
    return with_pool(changed, logs=(leaf_on(disk, LOG, 1),), caches=(leaf_on(disk, CACHE, 2),))


def seen_at(inventory: Inventory, at: datetime) -> None:
    """The host reports itself."""
    document = to_document(replace(inventory, read_at=at.isoformat(timespec="seconds")))
    take_answer("nas", "inventory", document)
    Node.objects.update(last_contact=at)


def hour(at: datetime, **changes: object) -> Sample:
    """An hour in which the log was written 1 GiB, the cache 6 GiB and the whole SSD 8 GiB."""
    sample = Sample(
        TANK,
        "tank",
        int(at.timestamp()),
        3600.0,
        datasets=(DatasetActivity("tank/db", commits=100, log_bytes=GIB),),
        vdevs=(VdevActivity(LOG, written_bytes=GIB), VdevActivity(CACHE, written_bytes=6 * GIB)),
        disks=(DiskActivity("nvme0n1", written_bytes=8 * GIB),),
        arc=ArcActivity(l2_read_bytes=20 * GIB, l2_written_bytes=6 * GIB),
    )
    return replace(sample, **changes)  # type: ignore[arg-type]


def watch_hours(*samples: Sample) -> None:
    """These hours are complete."""
    leaves = (
        LeafFacts(LOG, VdevClass.LOG, "log", "nvme0n1", False),
        LeafFacts(CACHE, VdevClass.CACHE, "cache", "nvme0n1", False),
    )
    take_answer("nas", "reading", to_document(Reading((), (PoolFacts(TANK, "tank", "", leaves=leaves),))))
    series.save_samples(SampledPool.objects.get(), Resolution.HOUR, samples)
    bytes_by_role.add_up()


def last_hours(count: int, **changes: object) -> list[Sample]:
    return [hour(NOW - timedelta(hours=age), **changes) for age in range(count - 1, -1, -1)]


def ssd() -> StoredDisk:
    return StoredDisk.objects.get(serial="N1")


def written() -> Written | None:
    return written_by_role([ssd()], NOW).get(ssd().pk)


@pytest.fixture
def watched_for_days() -> None:
    seen_at(machine(), NOW - timedelta(days=9))
    seen_at(machine(), NOW)


@pytest.mark.usefixtures("watched_for_days")
def test_each_role_has_its_share_of_what_the_drive_was_written() -> None:
    watch_hours(*last_hours(48))
    found = written()
    assert found
    assert {line.role: round(found.bill.share_of(line), 3) for line in found.bill.lines} == {
        "cache": 0.75,
        "log": 0.125,
        "other": 0.125,
    }
    assert found.bytes_per_day("log") == 24 * GIB
    assert [part.role for part in found.parts] == ["log", "cache", "other"]


@pytest.mark.usefixtures("watched_for_days")
def test_an_hour_counts_once_however_often_it_is_added_up() -> None:
    watch_hours(*last_hours(3))
    bytes_by_role.add_up()
    bytes_by_role.add_up()
    assert sum(day.cache_bytes for day in WrittenDay.objects.all()) == 18 * GIB


@pytest.mark.usefixtures("watched_for_days")
def test_less_than_a_day_is_not_enough() -> None:
    watch_hours(*last_hours(20))
    found = written()
    assert found
    assert not found.is_enough
    assert found.bytes_per_day("log") is None


def test_another_role_begins_anew_and_the_hour_in_between_belongs_to_neither() -> None:
    seen_at(machine(), NOW - timedelta(days=9))
    watch_hours(*last_hours(5)[:3])
    without_cache = with_pool(machine(), caches=())
    seen_at(without_cache, NOW - timedelta(minutes=90))
    watch_hours(*last_hours(5)[3:])
    assert WrittenDay.objects.values("segment_at").distinct().count() == 2
    found = written()
    assert found
    assert found.seconds == 3600


def test_a_disk_of_two_pools_is_counted_once() -> None:
    seen_at(machine(), NOW - timedelta(days=9))
    watch_hours(*last_hours(2))
    other = SampledPool.objects.create(node=Node.objects.get(), guid="77", name="other")
    series.save_samples(other, Resolution.HOUR, [hour(NOW)])
    bytes_by_role.add_up()
    assert sum(day.drive_bytes for day in WrittenDay.objects.all()) == 16 * GIB


@pytest.mark.usefixtures("watched_for_days")
def test_a_cache_that_serves_less_than_it_writes_is_an_alert() -> None:
    watch_hours(*last_hours(30, arc=ArcActivity(l2_read_bytes=GIB, l2_written_bytes=6 * GIB)))
    assert "cache-serves-little" in codes()


@pytest.mark.usefixtures("watched_for_days")
def test_a_log_that_spills_is_an_alert_and_over_once_it_holds() -> None:
    watch_hours(*last_hours(30, datasets=(DatasetActivity("tank/db", log_bytes=GIB, pool_bytes=GIB),)))
    assert "log-spills" in codes()
    later = view(Node.objects.get(), NOW + timedelta(hours=5))
    assert f"samples/nas/{TANK}" not in later.sources


@pytest.mark.usefixtures("watched_for_days")
def test_what_went_to_the_pool_before_the_log_was_there_is_no_spill() -> None:
    before = last_hours(60, vdevs=(), datasets=(DatasetActivity("tank/db", pool_bytes=9 * GIB),))[:32]
    watch_hours(*before, *last_hours(28))
    assert "log-spills" not in codes()


def codes() -> set[str]:
    return {seen.finding.code for seen in view(Node.objects.get(), NOW).seen}


@pytest.mark.usefixtures("watched_for_days")
def test_the_pages_say_who_writes(viewer: Client) -> None:
    watch_hours(*last_hours(48))
    assert "75 %" in page(viewer, "/disks/")
    text = page(viewer, f"/disks/{ssd().key}/")
    assert "144.0 GiB" not in text
    assert "154.6 GB" in text
    assert 'class="day-chart"' in text


def test_a_page_says_where_there_is_too_little(viewer: Client) -> None:
    seen_at(machine(), NOW)
    assert "at least a day of samples" in page(viewer, f"/disks/{ssd().key}/")


@pytest.mark.usefixtures("watched_for_days")
def test_the_fleet_asks_for_all_drives_at_once(viewer: Client, django_assert_max_num_queries: object) -> None:
    watch_hours(*last_hours(48))
    StoredDisk.objects.update(is_rotational=False)
    with django_assert_max_num_queries(25):  # type: ignore[operator]
        viewer.get("/disks/")


@pytest.mark.usefixtures("watched_for_days")
def test_the_table_for_other_programs_has_the_roles(viewer: Client) -> None:
    watch_hours(*last_hours(48))
    response = viewer.get("/wear.csv")
    lines = b"".join(response.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[0].endswith("log_bytes_per_day,cache_bytes_per_day,data_bytes_per_day,other_bytes_per_day")
    row = next(line for line in lines if ",N1," in line)
    assert row.endswith(f"{24 * GIB},{144 * GIB},0,{24 * GIB}")


def test_a_rating_that_somebody_enters_counts_for_every_drive_of_the_model(operator: Client) -> None:
    seen_at(machine(), NOW)
    StoredDisk.objects.filter(model__contains="960 EVO").update(bytes_written=60 * 10**12)
    operator.post(f"/wear/{ssd().pk}/rating/", {"terabytes": "200", "erases": "", "write_amplification": "2"})
    text = page(operator, f"/disks/{StoredDisk.objects.get(serial='N2').key}/")
    assert "30 %" in text
    assert page(operator, "/disks/").count("TBW 30 %") == 2


def test_a_rating_of_nothing_is_refused(operator: Client) -> None:
    seen_at(machine(), NOW)
    operator.post(f"/wear/{ssd().pk}/rating/", {"terabytes": "0", "write_amplification": "2"})
    assert RatedEndurance.objects.count() == 0


def test_a_viewer_enters_no_rating(viewer: Client) -> None:
    seen_at(machine(), NOW)
    assert viewer.post(f"/wear/{ssd().pk}/rating/", {"terabytes": "200"}).status_code == 403


def test_the_preview_says_what_a_plan_does_to_the_wear_of_its_disks(operator: Client) -> None:
    fill(3)
    user = User.objects.get(username="operator")
    stored = store_plan(plan_for(MIRROR_AND_CACHES, home_server()), Node.objects.get(), user)
    text = page(operator, f"/plans/{stored.pk}/")
    assert "Effect on SSD wear" in text
    assert text.count("as log and cache together") == 2


def test_the_devices_step_shows_how_the_disks_are(operator: Client) -> None:
    inventory = home_server()
    watched_machine(inventory, days=0)
    text = page(operator, f"/wizard/{TANK}/devices/")
    assert "Power-loss protection:" in text
    assert f'href="/disks/{ssd().key}/"' in text


@pytest.mark.usefixtures("watched_for_days")
def test_the_page_of_the_pool_says_what_its_log_does(viewer: Client) -> None:
    watch_hours(*last_hours(30, datasets=(DatasetActivity("tank/db", log_bytes=GIB, pool_bytes=GIB),)))
    assert "log blocks of pool tank went to the pool itself" in page(viewer, f"/pools/{TANK}/")


@pytest.mark.usefixtures("watched_for_days")
def test_the_metrics_have_the_roles(viewer: Client) -> None:
    watch_hours(*last_hours(48))
    maker = User.objects.create_user("maker", is_superuser=True)
    ApiToken.objects.create(name="t", digest=ApiToken.digest_of("t"), created_by=maker)
    text = viewer.get("/metrics", headers={"Authorization": "Bearer t"}).content.decode()
    [line] = [each for each in text.splitlines() if each.startswith(ROLE_METRIC) and 'by="cache"' in each]
    assert float(line.split()[-1]) == 144 * GIB


def test_the_page_of_a_drive_has_its_range_of_temperatures(viewer: Client) -> None:
    watched_machine(home_server(), days=20)
    keep_readings([(ssd(), DiskReading(int((NOW - timedelta(days=3)).timestamp()), temperature_c=61))])
    assert "61 °C in the last 30 days" in page(viewer, f"/disks/{ssd().key}/")
