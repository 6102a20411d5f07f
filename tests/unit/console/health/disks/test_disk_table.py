"""The one table of disks and the one page of each: nothing that a host sees is missing, nothing is said unasked."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health import readings
from nasadvisor.console.health.models import SmartDay, StoredDisk
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.health.smart.attributes import SmartValue, smart_values
from nasadvisor.domain.health.sweep import Answers
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.host.simulated.smart import simulated_answer
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import large, typical
from tests.unit.console.health.health_data import watched
from tests.unit.console.home.test_overview import on_host
from tests.unit.console.test_pages import load, page
from tests.unit.machines import home_server

WORN = "S6Z1NJ0W401234"


def hard_disk() -> Disk:
    return next(disk for disk in typical().disks if disk.rotational)


def answered(disk: Disk, days_ago: float = 0) -> None:
    """A disk of the typical machine answers a sweep."""
    answer = simulated_answer(disk, timezone.now(), days_ago)
    take_answer("nas1", "answers", to_document(Answers("nas1", (answer,))))


def test_a_disk_that_was_not_asked_is_not_called_all_right(viewer: Client) -> None:
    load(typical())
    text = page(viewer, "/disks/")
    assert "Healthy" not in text
    assert text.count("Not checked yet") == len(typical().disks)
    assert "Not checked yet" in page(viewer, f"/disks/{hard_disk().key}/")


def test_a_disk_boots_a_machine_once_by_however_many_partitions(viewer: Client) -> None:
    load(typical())
    assert "Boots this host (/boot/efi, /), Swap space" in page(viewer, "/disks/")


def test_nobody_is_led_to_use_a_free_disk_that_something_is_said_of(operator: Client) -> None:
    watched(typical())
    text = page(operator, "/disks/")
    assert "Media errors" in text
    named = re.findall(r'Use it<span class="visually-hidden">: [^<]*\((\w+)\)<', text)
    assert "S6Z1NJ0W405678" in named
    assert WORN not in named
    worn = StoredDisk.objects.get(serial=WORN)
    assert "Use it" not in page(operator, f"/disks/{worn.key}/")


def test_a_disk_that_its_pool_has_given_up_is_not_called_all_right(viewer: Client) -> None:
    watched(large(), days=0)
    faulted, erring = (StoredDisk.objects.get(serial=serial) for serial in ("8CG00004", "8CG00007"))
    text = page(viewer, "/disks/")
    first_rows = text[: text.index("Healthy")]
    assert "FAULTED" in first_rows
    assert "217 I/O errors" in first_rows
    assert f"/disks/{erring.key}/" in first_rows
    assert "Healthy" not in page(viewer, f"/disks/{faulted.key}/").partition("</h1>")[2].partition("<nav")[0]
    assert "12 I/O errors" in page(viewer, f"/disks/{erring.key}/").partition("</h1>")[2].partition("<nav")[0]


def test_a_spare_and_a_disk_without_errors_are_all_right_for_their_pool(viewer: Client) -> None:
    watched(large(), days=0)
    for serial in ("8CG00000", "8CG00180"):
        assert "Healthy" in page(viewer, f"/disks/?q={serial}")


def test_the_sectors_and_cable_errors_of_a_hard_disk_are_in_the_table(viewer: Client) -> None:
    watched(typical(), days=0)
    StoredDisk.objects.filter(key=hard_disk().key).update(reallocated=8, pending=0, crc_errors=3)
    text = page(viewer, f"/disks/?q={hard_disk().identity.serial}")
    assert "8 reallocated" in text
    assert "0 pending" in text
    assert "3 CRC" in text


def test_a_range_of_temperatures_is_one_only_where_they_differ(viewer: Client) -> None:
    watched(typical(), days=0)
    assert "°C in the last 30 days" not in page(viewer, f"/disks/{hard_disk().key}/")
    watched(typical(), days=3, every=1)
    worn = StoredDisk.objects.get(serial=WORN)
    assert "°C in the last 30 days" in page(viewer, f"/disks/{worn.key}/")


def test_what_smartctl_calls_a_self_test_is_said_in_german_as_far_as_it_is_known(viewer: Client) -> None:
    watched(typical(), days=0)
    disk = StoredDisk.objects.get(key=hard_disk().key)
    disk.self_tests.create(hours=1, kind="Short offline", status="A new word", passed=True, seen_at=timezone.now())
    viewer.cookies["nasadvisor_language"] = "de"
    text = page(viewer, f"/disks/{disk.key}/")
    assert "Ohne Fehler beendet" in text
    assert "Completed without error" not in text
    assert "A new word" in text


def test_what_a_hard_disk_does_not_tell_is_not_called_zero(viewer: Client) -> None:
    load(typical())
    assert "0 reallocated" not in page(viewer, "/disks/")


@pytest.mark.parametrize(("number", "shown"), [(1, 50), (2, 50), (4, None)])
def test_two_hundred_disks_come_fifty_at_a_time(viewer: Client, number: int, shown: int | None) -> None:
    load(large())
    rest = len(large().disks) - 150
    text = page(viewer, f"/disks/?page={number}")
    assert text.count('<th scope="row">') == (shown or rest)
    assert f"{number} / 4" in text
    assert f"{len(large().disks)} disks" in text


def test_every_disk_that_the_host_sees_is_on_some_page(viewer: Client) -> None:
    load(large())
    text = "".join(page(viewer, f"/disks/?page={number}") for number in range(1, 5))
    assert [disk.identity.serial for disk in large().disks if disk.identity.serial not in text] == []


def test_a_table_of_a_thousand_disks_asks_the_database_as_often_as_one_of_ten(
    viewer: Client, django_assert_max_num_queries: object
) -> None:
    watched(large(), days=0)
    with django_assert_max_num_queries(16):  # type: ignore[operator]
        page(viewer, "/disks/")


def test_a_second_click_on_a_head_sorts_the_other_way_round(viewer: Client) -> None:
    watched(typical())
    assert "?sort=-worn&" in page(viewer, "/disks/").replace("&amp;", "&")
    text = page(viewer, "/disks/?sort=-worn")
    assert 'aria-sort="descending"' in text
    assert "?sort=worn&" in text.replace("&amp;", "&")


def test_a_copy_of_a_disk_is_listed_too(viewer: Client) -> None:
    twin = replace(typical().disks[0], kernel_name="sdzz")
    load(replace(typical(), disks=(*typical().disks, twin)))
    text = page(viewer, "/disks/")
    assert "Also seen by this host" in text
    assert "sdzz" in text


def test_the_disk_of_another_host_has_its_page_without_choosing_that_host(viewer: Client) -> None:
    on_host("nas1", typical())
    on_host("nas2", home_server())
    viewer.post("/node/", {"node": "nas2"})
    text = page(viewer, f"/disks/{hard_disk().key}/")
    assert "nas1 ·" in text
    assert "Persistent names" in text


def test_a_disk_that_is_gone_keeps_its_page_without_a_layout(viewer: Client) -> None:
    watched(typical(), days=0)
    load(replace(typical(), disks=typical().disks[1:]))
    text = page(viewer, f"/disks/{typical().disks[0].key}/")
    assert "This disk is missing from its host" in text
    assert "Persistent names" not in text


def test_every_count_of_smart_is_shown_with_how_it_moved(viewer: Client) -> None:
    load(typical())
    for days_ago in (40, 20, 0):
        answered(hard_disk(), days_ago)
    text = page(viewer, f"/disks/{hard_disk().key}/")
    known = readings.newest_values(StoredDisk.objects.get(key=hard_disk().key).raw_answers.all())
    assert known
    assert [value.name for value in known if value.name not in text] == []
    assert "unchanged" in text
    assert "+" in text.partition("All SMART values")[2]


def test_a_count_has_no_trend_on_the_first_day() -> None:
    load(typical())
    answered(hard_disk())
    disk = StoredDisk.objects.get(key=hard_disk().key)
    found = readings.trends_of(disk, readings.newest_values(disk.raw_answers.all()), timezone.now())
    assert found
    assert {trend.change for trend in found} == {None}


def test_only_what_changed_is_kept_of_a_day_and_twice_is_as_good_as_once() -> None:
    load(typical())
    disk = StoredDisk.objects.get(key=hard_disk().key)
    answered(hard_disk(), 1)
    answered(hard_disk(), 0)
    answered(hard_disk(), 0)
    first, second = disk.smart_days.all()
    assert set(second.counts) < set(first.counts)
    counts = dict(readings.counts_of(disk, "9", first.day))
    assert list(counts) == [first.day, second.day]


def test_a_week_of_long_ago_says_what_its_last_day_said() -> None:
    load(typical())
    disk = StoredDisk.objects.get(key=hard_disk().key)
    now = timezone.now()
    monday = (now - timedelta(days=200)).date()
    monday -= timedelta(days=monday.weekday())
    for days, counts in ((0, {"5": 0, "9": 100}), (1, {"9": 124}), (3, {"5": 8, "9": 172}), (7, {"9": 268})):
        SmartDay.objects.create(disk=disk, day=monday + timedelta(days=days), counts=counts)
    readings.thin_out(now)
    kept = [(each.day - monday, each.counts) for each in disk.smart_days.all()]
    assert kept == [(timedelta(days=3), {"5": 8, "9": 172}), (timedelta(days=7), {"9": 268})]


@pytest.mark.parametrize("show", ["temperature_c", "bytes_written", "9", "no-such-figure"])
def test_any_figure_is_drawn_over_time(viewer: Client, show: str) -> None:
    load(typical())
    for days_ago in (40, 20, 0):
        answered(hard_disk(), days_ago)
    text = page(viewer, f"/disks/{hard_disk().key}/?show={show}&days=365")
    assert 'class="line line-0"' in text
    assert " style=" not in text


def test_the_disks_of_a_mirror_are_drawn_beside_each_other(viewer: Client) -> None:
    load(typical())
    disk = StoredDisk.objects.filter(vdev_name="mirror-1").order_by("serial")[0]
    for each in typical().disks:
        answered(each, 3)
        answered(each, 0)
    assert 'class="line line-1"' not in page(viewer, f"/disks/{disk.key}/")
    assert 'class="line line-1"' in page(viewer, f"/disks/{disk.key}/?beside=yes")


def test_what_is_too_little_for_a_line_is_said_and_not_drawn(viewer: Client) -> None:
    load(typical())
    words = "Not enough data in this period for a chart"
    assert words in page(viewer, f"/disks/{hard_disk().key}/")
    answered(hard_disk())
    text = page(viewer, f"/disks/{hard_disk().key}/")
    assert words in text
    assert "history-chart" not in text


def test_a_disk_page_of_a_console_with_no_host_is_not_found(viewer: Client) -> None:
    Node.objects.all().delete()
    assert viewer.get("/disks/nothing/").status_code == 404


def test_smart_counts_are_read_of_every_kind_of_disk_and_of_nothing_else() -> None:
    sata = {
        "ata_smart_attributes": {"table": [{"id": 199, "name": "CRC", "raw": {"value": 3, "string": "3"}}, {"id": 0}]}
    }
    assert smart_values(sata) == (SmartValue("199", "CRC", 3, "3"),)
    nvme = {"nvme_smart_health_information_log": {"media_errors": 2, "temperature_sensors": [1], "odd": "x"}}
    assert smart_values(nvme) == (SmartValue("media_errors", "media_errors", 2),)
    sas = {"scsi_grown_defect_list": 4, "scsi_error_counter_log": {"read": {"total_uncorrected_errors": 1}}}
    assert [each.key for each in smart_values(sas)] == ["grown_defects", "read_total_uncorrected_errors"]
    odd: list[object] = [None, [], "x", {"ata_smart_attributes": 3}, {"scsi_error_counter_log": {"read": []}}]
    for nonsense in odd:
        assert smart_values(nonsense) == ()


def test_a_value_at_its_makers_threshold_has_failed() -> None:
    assert SmartValue("5", "x", 0, value=5, threshold=5).is_below_threshold
    assert not SmartValue("5", "x", 0, value=6, threshold=5).is_below_threshold
    assert not SmartValue("5", "x", 0, value=0, threshold=0).is_below_threshold
