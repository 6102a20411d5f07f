"""The rest of a reading: spare, errors, temperature, warnings, self-tests, power-loss protection, contradictions."""

import pytest

from nasadvisor.domain.health.smart.attributes import smart_values
from nasadvisor.domain.health.smart.power_loss import (
    Protection,
    id_ctrl_evidence,
    ocp_evidence,
    read_ocp_log,
    weigh,
    write_amplification,
)
from nasadvisor.domain.health.smart.reading import SmartReading, decode
from nasadvisor.stored.documents import from_document, to_document
from tests.unit.domain.health.smart.drives import GB, Row, nvme, sas, sata


def codes(reading: SmartReading) -> list[str]:
    return [finding.code for finding in reading.findings]


def test_an_nvme_log_is_read_whole() -> None:
    reading = decode(nvme(available_spare=97, media_errors=2))
    assert (reading.spare_percent, reading.spare_threshold_percent, reading.media_errors) == (97, 10, 2)
    assert (reading.temperature_celsius, reading.unsafe_shutdowns, reading.error_log_entries) == (41, 4, 2)


def test_sas_errors_and_defects_are_read() -> None:
    reading = decode(sas())
    assert (reading.media_errors, reading.reallocated) == (3, 1)


def test_bits_of_the_nvme_warning_and_of_smartctls_exit_have_names() -> None:
    document = nvme(critical_warning=0b10001) | {"smartctl": {"exit_status": 0b1001000}}
    reading = decode(document)
    assert reading.warnings == ("spare-below-threshold", "volatile-memory-backup-failed")
    assert reading.exit_bits == ("failing", "error-log-has-errors")


def test_self_tests_that_finished_are_counted() -> None:
    rows = [{"status": {"passed": True}}, {"status": {"passed": False}}, {"status": {"value": 249}}]
    tests = decode(sata() | {"ata_smart_self_test_log": {"extended": {"table": rows}}}).self_tests
    assert (tests.finished, tests.failed, tests.last_passed) == (2, 1, True)


def test_a_capacitor_test_confirms_power_loss_protection_and_says_if_it_failed() -> None:
    good = weigh(decode(sata((175, "Power_Loss_Cap_Test", 100, 643))).power_loss)
    bad = weigh(decode(sata((175, "Power_Loss_Cap_Test", 1, 643))).power_loss)
    assert (good.protection, good.failed, bad.failed) == (Protection.CONFIRMED, False, True)


def test_counters_of_power_losses_prove_nothing() -> None:
    rows = ((174, "Unexpect_Power_Loss_Ct", 100, 8), (175, "Program_Fail_Count_Chip", 100, 0))
    assert weigh(decode(sata(*rows)).power_loss).protection is Protection.UNKNOWN


def test_a_failed_backup_of_nvme_memory_is_evidence_of_a_failure() -> None:
    assert weigh(decode(nvme(critical_warning=16)).power_loss).failed


@pytest.mark.parametrize(
    "keys", [("Capacitor health", "Endurance estimate"), ("capacitor_health", "endurance_estimate")]
)
def test_the_ocp_log_tells_capacitors_flash_writes_and_endurance(keys: tuple[str, str]) -> None:
    media = "Physical media units written" if keys[0][0] == "C" else "physical_media_units_written"
    log = read_ocp_log({keys[0]: 98, keys[1]: 10**16, media: {"hi": 0, "lo": 3 * 10**12}})
    assert weigh(ocp_evidence(log)).protection is Protection.CONFIRMED
    assert log.endurance_bytes == 10**16
    assert write_amplification(log.media_bytes_written, 2 * 10**12) == 1.5


def test_a_capacitor_without_health_has_failed_and_an_unsupported_one_is_unknown() -> None:
    assert weigh(ocp_evidence(read_ocp_log({"capacitor_health": 0}))).failed
    assert ocp_evidence(read_ocp_log({"capacitor_health": 0xFFFF})) == ()
    assert ocp_evidence(read_ocp_log([])) == ()


def test_a_cache_that_is_not_volatile_is_a_hint_and_a_volatile_one_speaks_against_it() -> None:
    assert weigh(id_ctrl_evidence({"vwc": 6})).protection is Protection.LIKELY
    assert weigh(id_ctrl_evidence({"vwc": 7})).protection is Protection.UNLIKELY
    assert weigh(id_ctrl_evidence({"vwc": "7"})).protection is Protection.UNKNOWN


@pytest.mark.parametrize(
    ("page7", "row"),
    [
        (255, (233, "Media_Wearout_Indicator", 90, 0)),
        (5, (231, "SSD_Life_Left", 88, 12)),
        (2, (202, "Percent_Lifetime_Remain", 70, 30)),
        (9, (231, "SSD_Life_Left", 93, 7)),
    ],
)
def test_indicators_that_disagree_are_a_finding_and_none_is_dropped(page7: int, row: Row) -> None:
    reading = decode(sata(row, page7=page7))
    assert codes(reading) == ["indicator-conflict"]
    assert len(reading.indicators) == 2


@pytest.mark.parametrize(
    ("page7", "row"),
    [
        (70, (177, "Wear_Leveling_Count", 33, 1000)),
        (180, (177, "Wear_Leveling_Count", 1, 3887)),
        (246, (202, "Percent_Lifetime_Remain", 0, 100)),
        (1, (233, "Media_Wearout_Indicator", 100, 0)),
        (20, (202, "Percent_Lifetime_Remain", 77, 23)),
        (1, (231, "SSD_Life_Left", 98, 98)),
    ],
)
def test_rounding_and_attributes_at_their_end_are_no_conflict(page7: int, row: Row) -> None:
    assert codes(decode(sata(row, page7=page7))) == []


def test_wear_that_the_writes_cannot_have_caused_is_a_conflict() -> None:
    assert codes(decode(sata(page7=99, sectors=2**33))) == ["indicator-conflict"]
    assert codes(decode(sata(page7=0, sectors=2**50))) == ["indicator-conflict"]


def test_few_writes_contradict_a_percentage_only_where_the_counter_cannot_have_wrapped() -> None:
    assert codes(decode(sata(page7=9, sectors=432_060_870, capacity=240 * GB))) == []
    row = (241, "Lifetime_Writes_GiB", 0, 206)
    assert codes(decode(sata(row, page7=9, sectors=432_060_870, capacity=240 * GB))) == ["indicator-conflict"]


@pytest.mark.parametrize(
    ("page7", "row"),
    [
        (0, (173, "MaxAvgErase_Ct", 100, (1440 << 16) + 1464)),
        (1, (173, "MaxAvgErase_Ct", 100, (55 << 16) + 30)),
        (85, (173, "Ave_Block-Erase_Count", 15, 4_090_625_188)),
        (38, (167, "Average_Erase_Count", 100, 2)),
    ],
)
def test_erases_that_cannot_be_true_or_cannot_have_caused_the_wear_are_a_conflict(page7: int, row: Row) -> None:
    assert codes(decode(sata(row, page7=page7))) == ["indicator-conflict"]


@pytest.mark.parametrize(
    ("page7", "row"),
    [
        (19, (173, "MaxAvgErase_Ct", 100, (908 << 16) + 975)),
        (12, (173, "MaxAvgErase_Ct", 100, 0)),
        (1, (173, "Unknown_Attribute", 100, (55 << 16) + 30)),
        (95, (173, "Ave_Block-Erase_Count", 5, 12_884)),
        (0, (167, "Average_Erase_Count", 100, 0)),
    ],
)
def test_erases_that_fit_the_wear_or_mean_something_else_are_no_conflict(page7: int, row: Row) -> None:
    assert codes(decode(sata(row, page7=page7))) == []


def test_phisons_packed_erases_are_known_without_the_database() -> None:
    rows = [(number, "Unknown_Attribute", 100, 0) for number in (168, 170, 218)]
    rows.append((173, "Unknown_Attribute", 100, (85 << 16) + 66))
    assert codes(decode(sata(*rows, family="", page7=6))) == ["indicator-conflict"]


def test_byte_counters_far_apart_are_a_finding() -> None:
    row = (241, "Lifetime_Writes_GiB", 100, 400_000)
    assert codes(decode(sata(row, page7=3, sectors=2**37))) == ["byte-counter-conflict"]


def test_a_drive_without_a_maker_is_unverified() -> None:
    assert codes(decode(sata(page7=3, model="SATA SSD"))) == ["indicator-unverified"]
    assert codes(decode(sata(page7=3, model="SPCC Solid State Disk"))) == []


def test_a_reading_is_a_document() -> None:
    for document in (nvme(), sas(), sata((202, "Percent_Lifetime_Remain", 30, 70), page7=9, sectors=10**9), None):
        reading = decode(document)
        assert from_document(SmartReading, to_document(reading)) == reading


@pytest.mark.parametrize(
    ("version", "told", "elements"),
    [([7, 0], 56, 7), ([7, 1], 56, 7), ([7, 1], 12, 3), ([7, 2], 56, 56), ([7, 5], 7, 7), (None, 7, 7), ([7, 1], 0, 0)],
)
def test_grown_defects_are_elements_also_where_smartctl_wrote_bytes(
    version: list[int] | None, told: int, elements: int
) -> None:
    document = sas() | {"smartctl": {"version": version}, "scsi_grown_defect_list": told}
    assert decode(document).reallocated == elements
    assert {each.raw for each in smart_values(document) if each.key == "grown_defects"} == {elements}


def test_a_sas_disk_that_logs_nothing_but_its_defects_is_read() -> None:
    alone = {"device": {"protocol": "SCSI"}, "scsi_grown_defect_list": 7}
    assert (decode(alone).reallocated, decode(alone).media_errors) == (7, None)


@pytest.mark.parametrize("key", ["scsi_pending_defects", "pending_defects"])
def test_pending_defects_of_a_sas_disk_are_read_under_both_names(key: str) -> None:
    document = {"device": {"protocol": "SCSI"}, key: {"count": 3, "table": []}}
    assert decode(document).pending == 3
    assert [(each.key, each.raw) for each in smart_values(document)] == [("pending_defects", 3)]
