"""Which failed self-tests still count: only a newer extended one that passes outdates them."""

from collections.abc import Sequence

import pytest

from nasadvisor.domain.health.disk_findings import Subject, disk_findings
from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.health.smart.self_tests import self_tests_in
from tests.unit.domain.health.smart.drives import Json, nvme, sas, sata

Log = Sequence[tuple[str, str]]
"""Kind and end of each test, the newest first."""

ATA_KINDS = {"short": 1, "extended": 2, "conveyance": 3, "selective": 4, "extended captive": 0x82, "offline": 0}
ATA_ENDS = {"passed": 0x00, "aborted": 0x19, "fatal": 0x30, "read": 0x79, "handling": 0x80, "runs": 0xF9}
NVME_KINDS = {"short": 1, "extended": 2, "vendor": 14}
NVME_ENDS = {"passed": 0, "aborted": 2, "fatal": 5, "failed": 7, "sanitized": 9}
SCSI_KINDS = {"short": 1, "extended": 2, "foreground short": 5, "foreground extended": 6}
SCSI_ENDS = {"passed": 0, "aborted": 1, "unknown": 3, "failed": 7, "runs": 15}


def ata(log: Log) -> Json:
    rows = [
        {
            "type": {"value": ATA_KINDS[kind], "string": kind},
            "status": {"value": ATA_ENDS[end], "string": end, "passed": end in ("passed", "runs")},
            "lifetime_hours": 900 - age,
        }
        for age, (kind, end) in enumerate(log)
    ]
    return sata() | {"ata_smart_self_test_log": {"extended": {"table": rows}}}


def of_nvme(log: Log) -> Json:
    rows = [
        {
            "self_test_code": {"value": NVME_KINDS[kind], "string": kind},
            "self_test_result": {"value": NVME_ENDS[end], "string": end},
            "power_on_hours": 900 - age,
        }
        for age, (kind, end) in enumerate(log)
    ]
    return nvme() | {"nvme_self_test_log": {"table": rows}}


def of_sas(log: Log) -> Json:
    return sas() | {
        f"scsi_self_test_{age}": {
            "code": {"value": SCSI_KINDS[kind], "string": kind},
            "result": {"value": SCSI_ENDS[end], "string": end},
            "power_on_time": {"hours": 900 - age},
        }
        for age, (kind, end) in enumerate(log)
    }


def is_told(document: Json) -> bool:
    found = disk_findings(Subject("Disk", "key", "1", ""), decode(document))
    return "self-test-failed" in {finding.code for finding in found}


@pytest.mark.parametrize(
    ("log", "failed"),
    [
        ([], 0),
        ([("extended", "passed")], 0),
        ([("short", "read")], 1),
        ([("short", "passed"), ("extended", "read")], 1),
        ([("short", "passed"), ("short", "passed"), ("short", "read"), ("extended", "read")], 2),
        ([("selective", "passed"), ("extended", "read")], 1),
        ([("conveyance", "passed"), ("short", "read")], 1),
        ([("extended", "passed"), ("extended", "read")], 0),
        ([("extended captive", "passed"), ("short", "read")], 0),
        ([("extended", "runs"), ("extended", "read")], 1),
        ([("extended", "aborted"), ("extended", "read")], 1),
        ([("extended", "read"), ("extended", "passed"), ("short", "read")], 1),
        ([("extended", "fatal")], 1),
        ([("selective", "handling")], 1),
    ],
)
def test_a_failure_of_a_sata_disk_counts_until_an_extended_test_passes(log: Log, failed: int) -> None:
    document = ata(log)
    assert decode(document).self_tests.failed == failed
    assert is_told(document) is bool(failed)


@pytest.mark.parametrize(
    ("log", "failed"),
    [
        ([("short", "passed"), ("extended", "failed")], 1),
        ([("extended", "passed"), ("extended", "failed")], 0),
        ([("vendor", "passed"), ("short", "fatal")], 1),
        ([("extended", "sanitized"), ("extended", "aborted")], 0),
    ],
)
def test_the_same_of_an_nvme_ssd(log: Log, failed: int) -> None:
    assert decode(of_nvme(log)).self_tests.failed == failed
    assert is_told(of_nvme(log)) is bool(failed)


@pytest.mark.parametrize(
    ("log", "failed"),
    [
        ([("short", "passed"), ("extended", "failed")], 1),
        ([("foreground short", "passed"), ("short", "unknown")], 1),
        ([("foreground extended", "passed"), ("short", "failed")], 0),
        ([("extended", "passed"), ("extended", "failed")], 0),
        ([("extended", "runs"), ("short", "aborted")], 0),
    ],
)
def test_the_same_of_a_sas_disk(log: Log, failed: int) -> None:
    assert decode(of_sas(log)).self_tests.failed == failed
    assert is_told(of_sas(log)) is bool(failed)


def test_where_smartctl_shows_no_log_its_exit_bit_tells_of_a_failed_test() -> None:
    bit = {"smartctl": {"version": [7, 2], "exit_status": 1 << 7}}
    assert is_told(sas() | bit)
    assert not is_told(of_sas([("extended", "passed"), ("short", "failed")]) | bit)


def test_an_entry_tells_what_was_run_and_when() -> None:
    first, second = self_tests_in(ata([("extended captive", "passed"), ("short", "runs")]))
    assert (first.kind, first.status, first.hours, first.passed, first.is_extended) == (
        "extended captive",
        "passed",
        900,
        True,
        True,
    )
    assert (second.passed, second.is_extended) == (None, False)
    assert self_tests_in({"ata_smart_self_test_log": [], "scsi_self_test_0": 3, "nvme_self_test_log": {}}) == ()
