"""Too hot by the disk's own limit where it tells one, else by its kind; and heat alone is no failure."""

from typing import Any

import pytest

from nasadvisor.domain.health.disk_findings import Subject, disk_findings
from nasadvisor.domain.health.smart.reading import SmartReading, decode, decode_answer
from nasadvisor.domain.statements import Level
from tests.unit.domain.health.smart.drives import Json, nvme, sas, sata

HARD_DISK = {"rotation_rate": 7200}


def told(reading: SmartReading) -> dict[str, Level]:
    return {each.code: each.level for each in disk_findings(Subject("Disk", "key", "1", ""), reading)}


def at(celsius: int, document: Json, **temperature: object) -> Json:
    return document | {"temperature": {"current": celsius, **temperature}}


def hottest_untold(document: Json, id_ctrl: object = None, **temperature: object) -> int:
    """The highest temperature of which nothing is told."""
    is_hot = [
        "too-hot" in told(decode_answer(at(celsius, document, **temperature), id_ctrl, None))
        for celsius in range(20, 120)
    ]
    first = is_hot.index(True)
    assert all(is_hot[first:])
    return 20 + first - 1


@pytest.mark.parametrize(
    ("document", "limit"),
    [
        (sata(), 70),
        (sata() | HARD_DISK, 55),
        (sas(), 70),
        (sas() | HARD_DISK, 55),
        (nvme(), 70),
        (nvme() | {"nvme_composite_temperature_threshold": {"warning": 80, "critical": 85}}, 80),
        (nvme() | {"nvme_composite_temperature_threshold": {"warning": 90}}, 90),
        (nvme() | {"nvme_composite_temperature_threshold": {"critical": 85}}, 85),
        (nvme() | {"nvme_composite_temperature_threshold": {"warning": -273, "critical": 0}}, 70),
    ],
)
def test_the_limit_is_the_disks_own_or_that_of_its_kind(document: Json, limit: int) -> None:
    assert hottest_untold(document) == limit


@pytest.mark.parametrize(
    ("document", "key", "own", "limit"),
    [
        (sata(), "op_limit_max", 85, 85),  # SCT, or smartctl from the device statistics
        (sata() | HARD_DISK, "op_limit_max", 60, 60),
        (sata() | HARD_DISK, "op_limit_max", 65, 65),
        (sata() | HARD_DISK, "op_limit_max", 127, 55),
        (sata(), "op_limit_max", 0, 70),
        (sata(), "limit_max", 90, 70),  # where it may be damaged, not where it may work
        (sas() | HARD_DISK, "drive_trip", 68, 68),
        (sas() | HARD_DISK, "drive_trip", 85, 70),
        (sas(), "drive_trip", 75, 75),
        (sas(), "drive_trip", 0, 70),
        (nvme(), "op_limit_max", 82, 82),
        (nvme(), "critical_limit_max", 84, 84),
    ],
)
def test_limits_stand_in_several_places(document: Json, key: str, own: int, limit: int) -> None:
    assert hottest_untold(document, **{key: own}) == limit


def test_the_specified_maximum_of_the_device_statistics_is_a_limit() -> None:
    row = {"offset": 88, "value": 75, "flags": {"valid": True}}
    assert hottest_untold(sata() | {"ata_device_statistics": {"pages": [{"number": 5, "table": [row]}]}}) == 75


@pytest.mark.parametrize(
    ("id_ctrl", "limit"),
    [
        ({"wctemp": 353, "cctemp": 358}, 80),
        ({"wctemp": 0, "cctemp": 358}, 85),
        ({"wctemp": 0, "cctemp": 0}, 70),
        ({"wctemp": "353"}, 70),
        (None, 70),
    ],
)
def test_what_nvme_cli_tells_is_a_limit_where_smartctl_has_none(id_ctrl: object, limit: int) -> None:
    assert hottest_untold(nvme(), id_ctrl) == limit


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        (0b000001, {"disk-failing": Level.CRITICAL, "disk-spare-below-threshold": Level.CRITICAL}),
        (0b000010, {"too-hot": Level.WARNING}),
        (0b000100, {"disk-failing": Level.CRITICAL, "disk-reliability-degraded": Level.CRITICAL}),
        (0b001000, {"disk-failing": Level.CRITICAL, "disk-media-read-only": Level.CRITICAL}),
        (0b010000, {"power-loss-protection-failed": Level.WARNING}),
        (0b010010, {"power-loss-protection-failed": Level.WARNING, "too-hot": Level.WARNING}),
        (0b100000, {"disk-failing": Level.CRITICAL, "disk-persistent-memory-unreliable": Level.CRITICAL}),
        (0b1000000, {"disk-failing": Level.CRITICAL}),
    ],
)
def test_each_bit_of_the_nvme_warning_says_what_it_says_and_no_more(bits: int, expected: dict[str, Level]) -> None:
    document: dict[str, Any] = nvme(critical_warning=bits) | {
        "smart_status": {"passed": False, "nvme": {"value": bits}}
    }
    assert told(decode(document)) == expected


@pytest.mark.parametrize(
    ("asc", "ascq", "expected"),
    [
        (0x0B, 0x01, {"too-hot": Level.WARNING}),
        (0x0B, 0x0A, {"too-hot": Level.WARNING}),  # above its critical limit, below it, above and below that of work
        (0x0B, 0x0B, {"too-hot": Level.WARNING}),
        (0x0B, 0x0C, {"too-hot": Level.WARNING}),
        (0x0B, 0x0D, {"too-hot": Level.WARNING}),
        (0x0B, 0x06, {"power-loss-protection-failed": Level.WARNING}),
        (0x0B, 0x07, {"power-loss-protection-failed": Level.WARNING}),
        (0x0B, 0x02, {"disk-warns": Level.WARNING}),
        (0x0B, 0x08, {"disk-warns": Level.WARNING}),
        (0x0B, 0x0E, {"disk-warns": Level.WARNING}),
        (0x0B, 0x11, {"disk-warns": Level.WARNING}),
        (0x0B, 0x12, {"disk-warns": Level.WARNING}),
        (0x0B, 0x96, {"disk-warns": Level.WARNING}),  # "slow response" of Oracle's disks (smartmontools#326)
        (0x0B, 0x09, {}),
        (0x5D, 0xFF, {}),  # "failure prediction (false)": a test
        (0x0B, 0x00, {"disk-failing": Level.CRITICAL}),
        (0x0B, 0x03, {"disk-failing": Level.CRITICAL}),
        (0x0B, 0x05, {"disk-failing": Level.CRITICAL}),
        (0x0B, 0x14, {"disk-failing": Level.CRITICAL}),
        (0x5D, 0x00, {"disk-failing": Level.CRITICAL}),
        (0x5D, 0x10, {"disk-failing": Level.CRITICAL}),
        (0x5D, 0x1D, {"disk-failing": Level.CRITICAL}),
        (0x5D, 0x73, {"disk-failing": Level.CRITICAL}),
    ],
)
def test_a_sas_disk_that_warns_of_what_is_no_failure_of_it_is_not_failing(
    asc: int, ascq: int, expected: dict[str, Level]
) -> None:
    status = {"passed": False, "scsi": {"asc": asc, "ascq": ascq, "ie_string": "x"}}
    document = {"device": {"protocol": "SCSI"}, "smart_status": status, "temperature": {"current": 40}}
    assert told(decode(document)) == expected


def test_a_sata_disk_that_fails_is_failing_however_warm_it_is() -> None:
    assert told(decode(at(40, sata() | {"smart_status": {"passed": False}}))) == {"disk-failing": Level.CRITICAL}


def test_a_sas_disk_may_tell_its_temperature_in_its_environmental_reports_alone() -> None:
    hot = sas() | HARD_DISK | {"scsi_environmental_reports": {"temperature_1": {"parameter_code": 0, "current": 61}}}
    assert decode(hot).temperature_celsius == 61
    assert told(decode(hot))["too-hot"] is Level.WARNING
    assert decode(at(0, hot)).temperature_celsius == 61
    assert decode(at(38, hot)).temperature_celsius == 38
