"""What disks answered, and how the console keeps it."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health import sweep_store, sweeps
from nasadvisor.console.health.forecasts import (
    calendar_days,
    in_calendar_days,
    rows_of,
    stored_forecast,
)
from nasadvisor.console.health.models import NodeHealth, RawAnswer, SelfTestResult, StoredDisk
from nasadvisor.console.health.readings import readings_of, readings_of_each
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.console.worker.schedules import create_schedules
from nasadvisor.domain.health.sweep import Answers, DiskAnswer, SweepOutcome, SweepReport
from nasadvisor.domain.health.wear.forecast import LONGEST_DAYS, forecast
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Bus, Disk
from nasadvisor.domain.units import DAY_S
from nasadvisor.host.simulated.smart import simulated_answer, simulated_smartctl
from nasadvisor.stored.documents import pack, to_document, unpack
from nasadvisor.stored.packing import DiskReading
from tests.unit.console.conftest import Sent
from tests.unit.console.health.health_data import say_only
from tests.unit.domain.health.wear.histories import history
from tests.unit.machines import NVME1, NVME2, home_server, with_disk

NOW = datetime(2026, 8, 25, 12, 0, tzinfo=UTC)
NODE = "nas"


def nvme() -> Disk:
    disk = home_server().disk(NVME1)
    assert disk is not None
    return disk


def store(*found: DiskAnswer) -> StoredDisk:
    take_answer(NODE, "answers", to_document(Answers(NODE, found)))
    return StoredDisk.objects.get(serial=found[0].identity.serial)


def saying(days_ago: float = 0, **changes: Any) -> DiskAnswer:
    """The answer of the first NVMe SSD, its health log changed."""
    answer = simulated_answer(nvme(), NOW, days_ago)
    document = simulated_smartctl(nvme(), days_ago)
    document["nvme_smart_health_information_log"] |= changes
    return replace(answer, smartctl=pack(json.dumps(document)))


def codes(disk: StoredDisk) -> set[str]:
    return {finding.code for finding in disk.findings}


def test_a_reading_is_kept_decoded_and_as_it_came() -> None:
    disk = store(saying(percentage_used=12))
    assert (disk.percent_used, disk.outcome) == (12, "read")
    assert [each.percent_used for each in readings_of(disk)] == [12]
    assert disk.raw_answers.get().smartctl.isascii()


def test_the_same_answer_twice_is_one_reading() -> None:
    store(saying())
    disk = store(saying())
    assert (len(readings_of(disk)), RawAnswer.objects.count(), StoredDisk.objects.count()) == (1, 1, 1)


def test_the_disks_of_a_message_are_stored_together(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    """A statement for the forecast of a disk, and one for the disk; the others are for all of them."""
    disks = home_server().disks
    store(*(simulated_answer(disk, NOW, 1) for disk in disks))
    with django_assert_max_num_queries(2 * len(disks) + 19):
        store(*(simulated_answer(disk, NOW) for disk in disks))
    readings = readings_of_each(StoredDisk.objects.all()).values()
    assert sum(map(len, readings)) == RawAnswer.objects.count() == 2 * len(disks)


def test_an_answer_that_cannot_be_stored_keeps_no_other_of_its_message_from_it() -> None:
    other = home_server().disk(NVME2)
    assert other
    with pytest.raises(ValueError, match="never"):
        store(replace(saying(), taken_at="never"), simulated_answer(other, NOW))
    assert [disk.serial for disk in StoredDisk.objects.all()] == [other.identity.serial]


def test_two_answers_of_one_disk_in_a_message_are_two_readings_and_the_later_is_shown() -> None:
    disk = store(saying(percentage_used=12), saying(days_ago=3, percentage_used=11))
    assert (disk.percent_used, len(readings_of(disk))) == (12, 2)


def test_a_disk_that_comes_back_under_another_name_keeps_its_history() -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    store(saying(days_ago=1))
    moved = with_disk(home_server(), NVME1, kernel_name="nvme7n1", path="/dev/disk/by-id/other", links=())
    take_answer(NODE, "inventory", to_document(replace(moved, read_at="2026-08-25T21:00:00+00:00")))
    disk = store(saying())
    assert len(readings_of(disk)) == 2


def bay(number: int = 0) -> Disk:
    """A disk behind a bridge that shows its own serial; in one of several bays, if a number is given."""
    identity = replace(nvme().identity, model="Dock", serial="152D00539000", wwn="")
    return replace(nvme(), identity=identity, bus=Bus.USB, place=f"usb-0:{number}" if number else "")


def told_by_bay(serial: str, days_ago: float = 0, number: int = 0, **changes: Any) -> DiskAnswer:
    answer = saying(days_ago, **changes)
    document = json.loads(unpack(answer.smartctl)) | {"serial_number": serial}
    disk = bay(number)
    return replace(answer, disk_key=disk.key, identity=disk.identity, smartctl=pack(json.dumps(document)))


def stored(*found: DiskAnswer) -> None:
    sweep_store.store_answers(NODE, to_document(Answers(NODE, found)))


def shown(*disks: Disk) -> None:
    machine = replace(home_server(), disks=disks, pools=(), read_at=NOW.isoformat())
    take_answer(NODE, "inventory", to_document(machine))


def test_two_disks_in_a_dock_in_turn_are_two_with_histories_of_their_own() -> None:
    shown(bay())
    stored(told_by_bay("WORN0001", 30, percentage_used=80))
    stored(told_by_bay("FRESH002", 0, percentage_used=3))
    worn, fresh = (StoredDisk.objects.get(serial=serial) for serial in ("WORN0001", "FRESH002"))
    assert StoredDisk.objects.count() == 2
    assert [each.percent_used for each in readings_of(worn)] == [80]
    assert [each.percent_used for each in readings_of(fresh)] == [3]
    assert "indicator-conflict" not in codes(fresh)
    assert (worn.is_present, worn.is_forgotten, fresh.is_present) == (False, True, True)


def test_a_disk_that_comes_back_into_the_dock_goes_on_with_its_history() -> None:
    shown(bay())
    for serial, days in (("WORN0001", 30), ("FRESH002", 20), ("WORN0001", 10)):
        stored(told_by_bay(serial, days))
    worn, fresh = (StoredDisk.objects.get(serial=serial) for serial in ("WORN0001", "FRESH002"))
    assert (len(readings_of(worn)), len(readings_of(fresh))) == (2, 1)
    assert (worn.is_present, worn.is_forgotten, fresh.is_present) == (True, False, False)
    shown(bay())
    assert StoredDisk.objects.get(is_present=True) == worn


def test_while_the_disk_in_the_dock_tells_nothing_it_is_the_one_that_told_last() -> None:
    shown(bay())
    stored(told_by_bay("FRESH002", 2))
    stored(replace(told_by_bay("", 1), outcome=SweepOutcome.ASLEEP, smartctl=""))
    disk = StoredDisk.objects.get()
    assert (disk.serial, disk.outcome) == ("FRESH002", "asleep")


def test_an_answer_that_comes_late_takes_nobodys_place() -> None:
    shown(bay())
    stored(told_by_bay("FRESH002", 0))
    stored(told_by_bay("WORN0001", 30))
    assert StoredDisk.objects.get(serial="FRESH002").is_present


def test_the_bays_of_a_dock_are_disks_of_their_own() -> None:
    shown(bay(1), bay(2))
    stored(told_by_bay("WORN0001", number=1), told_by_bay("FRESH002", number=2))
    assert dict(StoredDisk.objects.values_list("serial", "key")) == {"WORN0001": bay(1).key, "FRESH002": bay(2).key}
    assert StoredDisk.objects.filter(is_present=True, outcome="read").count() == 2


def test_volumes_of_a_controller_that_share_a_serial_are_disks_of_their_own() -> None:
    volumes = [replace(nvme(), identity=replace(nvme().identity, wwn=f"0x600508b1001c{n}")) for n in range(3)]
    shown(*volumes)
    assert StoredDisk.objects.filter(is_present=True).count() == 3


def test_serials_that_a_host_makes_up_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    shown(bay())
    monkeypatch.setattr(quotas, "MOST_DISKS", 2)
    for number in range(5):
        stored(told_by_bay(f"SERIAL{number}"))
    assert StoredDisk.objects.count() == 2


def test_a_disk_that_moves_to_another_node_keeps_its_history() -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    store(saying(days_ago=1))
    without = replace(home_server(), disks=home_server().disks[:-2], read_at="2026-08-25T21:00:00+00:00")
    take_answer(NODE, "inventory", to_document(without))
    other = replace(home_server(), host=replace(home_server().host, node="nas2"), disks=(nvme(),))
    take_answer("nas2", "inventory", to_document(other))
    disk = StoredDisk.objects.get(serial=nvme().identity.serial)
    assert (disk.node.name, len(readings_of(disk))) == ("nas2", 1)


def test_a_shelf_that_two_nodes_see_stays_with_the_first() -> None:
    take_answer(NODE, "inventory", to_document(home_server()))
    other = replace(home_server(), host=replace(home_server().host, node="nas2"))
    take_answer("nas2", "inventory", to_document(other))
    assert set(StoredDisk.objects.values_list("node__name", flat=True)) == {NODE}


def test_a_sleeping_disk_keeps_what_it_said_before() -> None:
    store(saying(days_ago=1, percentage_used=12))
    disk = store(replace(saying(), outcome=SweepOutcome.ASLEEP, smartctl=""))
    assert (disk.outcome, disk.percent_used, len(readings_of(disk))) == ("asleep", 12, 1)


def test_an_answer_that_arrives_late_is_kept_but_not_shown() -> None:
    store(saying(percentage_used=12))
    disk = store(saying(days_ago=3, percentage_used=11))
    assert (disk.percent_used, len(readings_of(disk))) == (12, 2)


def test_only_the_newest_answers_are_kept_as_they_came() -> None:
    for days in range(20, 0, -1):
        disk = store(saying(days_ago=days))
    assert RawAnswer.objects.count() == sweep_store.RAW_KEPT
    assert len(readings_of(disk)) == 20


@pytest.mark.parametrize("text", ["", "null", "[1]", '{"smartctl": 7}', "{", "[" * 50_000])
def test_an_answer_that_makes_no_sense_is_a_reading_that_knows_nothing(text: str) -> None:
    disk = store(replace(saying(), smartctl=pack(text)))
    assert disk.percent_used is None


def test_answers_of_another_node_are_not_stored() -> None:
    with pytest.raises(ValueError, match="not stored"):
        take_answer("nas2", "answers", to_document(Answers(NODE, (saying(),))))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"critical_warning": 1}, "disk-spare-below-threshold"),
        ({"critical_warning": 8}, "disk-media-read-only"),
        ({"critical_warning": 16}, "power-loss-protection-failed"),
        ({"media_errors": 2}, "media-errors"),
        ({"percentage_used": 93}, "worn"),
        ({"percentage_used": 120}, "worn"),
    ],
)
def test_what_a_disk_says_becomes_a_finding(changes: dict[str, int], code: str) -> None:
    disk = store(saying(**changes))
    assert code in codes(disk)
    finding = next(each for each in disk.findings if each.code == code)
    assert "Samsung SSD 960 EVO 500GB (N1)" in str(finding)
    assert (finding.place, finding.subject) == (NVME1, str(disk.pk))


def counting(days_ago: float, **attributes: tuple[int, int]) -> DiskAnswer:
    """The answer of the same disk where it is a SATA one that counts this, by name: number of the attribute, count."""
    table = [
        {"id": number, "name": name, "raw": {"value": raw, "string": str(raw)}}
        for name, (number, raw) in attributes.items()
    ]
    document = {"device": {"protocol": "ATA"}, "ata_smart_attributes": {"table": table}}
    return replace(simulated_answer(nvme(), NOW, days_ago), smartctl=pack(json.dumps(document)))


def test_counts_that_grew_within_thirty_days_are_told_with_their_figures() -> None:
    for days_ago, bad, damaged in ((80, 2, 0), (40, 5, 7), (10, 130, 7)):
        disk = store(
            counting(days_ago, Reallocated_Sector_Ct=(5, bad), SATA_CRC_Error_Count=(210, damaged), Host=(199, 9))
        )
    grown = {each.code: each for each in disk.findings}["reallocated-growing"]
    assert (grown.values["more"], grown.values["count"], grown.values["days"]) == ("125", "130", "30")
    assert disk.worst_level == "warning"
    assert "crc-growing" not in codes(disk)
    disk = store(counting(0, Reallocated_Sector_Ct=(5, 275), SATA_CRC_Error_Count=(210, 19), Host=(199, 9)))
    found = {each.code: each.values["more"] for each in disk.findings if "growing" in each.code}
    assert found == {"reallocated-growing": "270", "crc-growing": "12"}
    assert disk.crc_errors == 19


def test_a_count_that_was_there_when_the_disk_was_seen_first_has_not_grown() -> None:
    store(counting(3, Reallocated_Sector_Ct=(5, 270)))
    assert "reallocated-growing" not in codes(store(counting(0, Reallocated_Sector_Ct=(5, 270))))


def test_a_failed_protection_is_worse_on_a_log() -> None:
    store(saying())
    StoredDisk.objects.update(role="log+cache")
    disk = store(saying(days_ago=-1, critical_warning=16))
    assert [each.level for each in disk.findings if each.code == "power-loss-protection-failed"] == ["critical"]


def test_self_tests_are_kept_once() -> None:
    document = simulated_smartctl(nvme(), 0) | {
        "nvme_self_test_log": {
            "table": [
                {
                    "self_test_code": {"value": 1, "string": "Short"},
                    "self_test_result": {"value": 0, "string": "Completed without error"},
                    "power_on_hours": 100,
                },
                {
                    "self_test_code": {"value": 2, "string": "Extended"},
                    "self_test_result": {"value": 7, "string": "Completed: failed segments"},
                    "power_on_hours": 90,
                },
                {"self_test_code": "broken"},
            ]
        }
    }
    for days in (1, 0):
        store(replace(saying(days_ago=days), smartctl=pack(json.dumps(document))))
    assert list(SelfTestResult.objects.values_list("kind", "passed", "hours")) == [
        ("Short", True, 100),
        ("Extended", False, 90),
    ]


def year_of(percent_a_year: float) -> StoredDisk:
    """A year of readings, one each five days, of a disk that wears evenly."""
    for days in range(365, -1, -5):
        used = int(20 + percent_a_year * (365 - days) / 365)
        store(saying(days_ago=days, percentage_used=used, data_units_written=10_000_000 + (365 - days) * 500_000))
    return StoredDisk.objects.get()


def test_after_a_year_there_is_a_forecast_with_a_range_and_a_fan() -> None:
    disk = year_of(30)
    kept = stored_forecast(disk)
    assert kept is not None
    full = kept.milestone(100)
    assert full is not None
    assert full.earliest_days is not None
    assert full.expected_days is not None
    assert full.earliest_days < full.expected_days
    assert 180 < full.expected_days < 1200
    assert disk.worn_out_at == NOW + timedelta(days=full.expected_days)
    assert kept.fan[0].days == 0
    for before, after in pairwise(kept.fan):
        assert before.spread.low <= after.spread.low <= after.spread.middle <= after.spread.high
        assert before.spread.high <= after.spread.high


@pytest.mark.parametrize("damaged", [None, {}, [], "x", {"version": 99}, {"of": "another release"}])
def test_a_stored_value_that_cannot_be_read_hurts_only_itself(damaged: object) -> None:
    disk = year_of(30)
    before = rows_of(disk)
    readings = readings_of(disk)
    middle = next(each for each in readings if each.taken_at == before[len(before) // 2].taken_at)
    others = [each for each in readings if each is not middle]
    partly = middle._replace(indicators=[damaged, *middle.indicators], counters=[*middle.counters, damaged])
    say_only(disk, *others, partly)
    assert rows_of(disk) == before
    say_only(disk, *others, middle._replace(indicators=[damaged], counters=[damaged]))
    after = rows_of(store(saying(days_ago=-1, percentage_used=50)))
    assert len(after) >= len(before)
    disk.refresh_from_db()
    assert disk.percent_used == 50
    assert stored_forecast(disk) is not None


def test_a_disk_that_is_worn_within_three_months_is_told() -> None:
    disk = year_of(78)
    assert {"worn", "worn-soon"} <= codes(disk)


def test_a_forecast_is_made_from_readings_two_weeks_apart() -> None:
    rows = rows_of(year_of(10))
    gaps = [(after.taken_at - before.taken_at).days for before, after in pairwise(rows)]
    assert all(gap >= 14 for gap in gaps[1:])


def test_a_disk_that_sleeps_half_the_time_wears_half_as_fast_by_the_calendar() -> None:
    disk = store(saying())
    begin = int(NOW.timestamp())
    say_only(disk, *(DiskReading(begin + days * DAY_S, power_on_hours=1000 + days * 12) for days in (0, 100)))
    assert calendar_days(rows_of(disk)) == pytest.approx(2)


def test_dates_stretch_with_the_time_the_disk_is_off_and_end_after_ten_years() -> None:
    found = forecast(history([(300, 9, 30), (400, 12, 40), (500, 15, 50), (600, 18, 60)]), 0)
    full, stretched = found.exhaustion[-1], in_calendar_days(found, 2).exhaustion[-1]
    assert full.earliest_days
    assert full.expected_days
    assert stretched.earliest_days == 2 * full.earliest_days
    assert full.expected_days * 2 > LONGEST_DAYS
    assert stretched.expected_days is None


@pytest.mark.parametrize(
    ("id_ctrl", "ocp", "protection"),
    [
        ("", "", "unknown"),
        ('{"vwc": 0}', "", "likely"),
        ('{"vwc": 1}', "", "unlikely"),
        ('{"vwc": 1}', '{"Capacitor health": 98}', "confirmed"),
        ("not JSON", "[]", "unknown"),
    ],
)
def test_what_nvme_cli_says_of_power_loss_protection_is_kept_with_its_evidence(
    id_ctrl: str, ocp: str, protection: str
) -> None:
    nvme = home_server().disk(NVME1)
    assert nvme
    answer = replace(simulated_answer(nvme, NOW), id_ctrl=id_ctrl and pack(id_ctrl), ocp=ocp and pack(ocp))
    take_answer(NODE, "answers", to_document(Answers(NODE, (answer,))))
    disk = StoredDisk.objects.get()
    assert disk.power_loss == protection
    reading = disk.reading
    assert reading
    assert bool(reading.power_loss) == (protection != "unknown")


def test_a_sweep_is_asked_for_at_once_for_a_new_host_and_again_when_it_is_overdue(sent: list[Sent]) -> None:
    create_schedules()
    Node.objects.create(name=NODE)

    def asked(now: datetime) -> int:
        sweeps.request_missing_sweeps(now)
        return sum(each.task == "host.smart_sweep" for each in sent)

    assert [asked(NOW), asked(NOW + timedelta(minutes=5)), asked(NOW + timedelta(minutes=11))] == [1, 1, 2]
    report = SweepReport(NODE, NOW.isoformat(), (NOW + timedelta(minutes=12)).isoformat(), (), read=7)
    take_answer(NODE, "sweep-report", to_document(report))
    assert NodeHealth.objects.get().read == 7
    assert [asked(NOW + timedelta(hours=6)), asked(NOW + timedelta(hours=6, minutes=30))] == [2, 3]


def test_why_a_sweep_could_not_be_made_is_kept_until_one_is() -> None:
    reason = Statement("tool-missing", "The program smartctl is not installed.")
    take_error(NODE, "smart_sweep", "", to_document(reason))
    assert NodeHealth.objects.get().error == reason
    take_answer(NODE, "sweep-report", to_document(SweepReport(NODE, NOW.isoformat(), NOW.isoformat(), ())))
    assert NodeHealth.objects.get().error is None
