"""Health that only exists in memory: made-up answers of smartctl for looking at pages, never about a real disk."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zlib import crc32

from nasadvisor.domain.health.sweep import DiskAnswer, SelfTest, SweepOutcome, SweepReport
from nasadvisor.domain.storage.inventory import Bus, Disk, Inventory
from nasadvisor.domain.units import GIGABYTE
from nasadvisor.host.health.sweep import HandOver, HealthServices, asked_disks
from nasadvisor.stored.documents import pack

HOURS_A_DAY = 24
NVME_UNIT_BYTES = 512_000
LBA_BYTES = 512


@dataclass(frozen=True)
class Course:
    """How a made-up disk fares that is not like the others; figures are of today, and what comes to them a day.

    `failing_days` is for how long sectors have been going bad, 0 where none has; SMART itself says so for the last two.
    """

    hours: int
    bytes_written: int = 0
    bytes_a_day: int = 0
    percent_used: float = 0.0
    percent_a_day: float = 0.0
    failing_days: int = 0


COURSES: Final = {
    "S64GNT0W700412": Course(640, 5_940 * GIGABYTE, 220 * GIGABYTE, 0.2, 0.006),
    "S64GNT0W700413": Course(640, 3_510 * GIGABYTE, 130 * GIGABYTE, 0.1, 0.004),
    "S6PTNM0T512931": Course(26_300, 548_000 * GIGABYTE, 410 * GIGABYTE, 92.0, 0.08),
    "8CSDY002": Course(38_200, failing_days=40),
}
"""By serial: the disks of `tests/story`."""

TOLD_DAYS: Final = 2
"""For how long SMART has said itself that a disk fails."""

BAD_A_DAY: Final = 9

DISK_FAILING: Final = 8
"""smartctl(8), exit status, bit 3."""


def simulated_health(inventory: Inventory, now: datetime) -> HealthServices:
    """Services that answer for every disk of the inventory."""

    def sweep(hand_over: HandOver) -> SweepReport:
        answers = tuple(simulated_answer(disk, now) for disk in asked_disks(inventory))
        hand_over(answers)
        keys = tuple(answer.disk_key for answer in answers)
        at = now.isoformat(timespec="seconds")
        return SweepReport(inventory.host.node, at, at, keys, read=len(keys))

    def start_test(disk_key: str, test: SelfTest) -> None:
        del disk_key, test

    def start_scrub(pool_guid: str) -> None:
        del pool_guid

    return HealthServices(sweep, start_test, start_scrub)


def simulated_answer(disk: Disk, at: datetime, days_ago: float = 0) -> DiskAnswer:
    """What a disk would have answered so many days before `at`; always the same for the same disk and age."""
    document = simulated_smartctl(disk, days_ago)
    taken_at = datetime.fromtimestamp(at.timestamp() - days_ago * HOURS_A_DAY * 3600, at.tzinfo)
    return DiskAnswer(
        disk_key=disk.key,
        identity=disk.identity,
        taken_at=taken_at.isoformat(timespec="seconds"),
        outcome=SweepOutcome.READ,
        exit_status=document["smartctl"]["exit_status"],
        device_type="",
        seconds=0.4,
        smartctl=pack(json.dumps(document)),
    )


def simulated_smartctl(disk: Disk, days_ago: float) -> dict[str, Any]:
    """A document in the shape of `smartctl -x -j`."""
    chance = crc32(disk.key.encode())
    course = COURSES.get(disk.identity.serial) or _usual(disk, chance)
    hours = course.hours - round(days_ago * HOURS_A_DAY)
    written = int(course.bytes_written - days_ago * course.bytes_a_day)
    passed = not course.failing_days or days_ago >= TOLD_DAYS
    percent = min(255, int(course.percent_used - days_ago * course.percent_a_day))
    common: dict[str, Any] = {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 4], "exit_status": 0 if passed else DISK_FAILING},
        "model_name": disk.identity.model,
        "serial_number": disk.identity.serial,
        "user_capacity": {"bytes": disk.identity.size_bytes},
        "rotation_rate": 7200 if disk.rotational else 0,
        "smart_status": {"passed": passed},
        "temperature": {"current": 31 + chance % 14 + (hours // 5) % 4},
        "power_on_time": {"hours": hours},
        "power_cycle_count": 20 + chance % 40,
    }
    if disk.bus is Bus.NVME:
        return common | _nvme(written, percent, hours, common["temperature"]["current"])
    bad = round(max(0.0, course.failing_days - days_ago) * BAD_A_DAY)
    return common | _ata(disk, written, percent, hours, list(_attributes(hours, chance, bad)))


def _usual(disk: Disk, chance: int) -> Course:
    hours = 9_000 + chance % 20_000
    a_day = disk.identity.size_bytes * 0.12 * (0.2 + chance % 7) / 7
    written = int(a_day * hours / HOURS_A_DAY)
    if disk.rotational:
        return Course(hours, written, int(a_day))
    per_percent = 6 * disk.identity.size_bytes
    return Course(hours, written, int(a_day), written / per_percent, a_day / per_percent)


def _nvme(written: int, percent: int, hours: int, celsius: int) -> dict[str, Any]:
    return {
        "device": {"type": "nvme", "protocol": "NVMe"},
        "nvme_smart_health_information_log": {
            "critical_warning": 0,
            "temperature": celsius,
            "available_spare": 100,
            "available_spare_threshold": 10,
            "percentage_used": percent,
            "data_units_read": written // NVME_UNIT_BYTES,
            "data_units_written": written // NVME_UNIT_BYTES,
            "power_on_hours": hours,
            "unsafe_shutdowns": 7,
            "media_errors": 0,
        },
    }


def _ata(disk: Disk, written: int, percent: int, hours: int, attributes: list[dict[str, Any]]) -> dict[str, Any]:
    pages = [{"number": 1, "table": [_statistic(24, "Logical Sectors Written", written // LBA_BYTES)]}]
    if not disk.rotational:
        pages.append({"number": 7, "table": [_statistic(8, "Percentage Used Endurance Indicator", percent)]})
    return {
        "device": {"type": "sat", "protocol": "ATA"},
        "ata_smart_attributes": {"table": attributes},
        "ata_device_statistics": {"pages": pages},
        "ata_smart_self_test_log": {
            "extended": {
                "table": [
                    {
                        "type": {"value": 1, "string": "Short offline"},
                        "status": {"value": 0, "string": "Completed without error", "passed": True},
                        "lifetime_hours": hours - 30,
                    }
                ]
            }
        },
    }


def _attributes(hours: int, chance: int, bad: int) -> Iterator[dict[str, Any]]:
    """The rows that every drive has; one in five has met a bad cable."""
    yield _attribute(5, "Reallocated_Sector_Ct", max(1, 100 - bad // 4), 10, bad)
    yield _attribute(9, "Power_On_Hours", 100 - hours // 1000, 0, hours)
    yield _attribute(12, "Power_Cycle_Count", 100, 20, 20 + chance % 40)
    yield _attribute(194, "Temperature_Celsius", 69 - chance % 14, 0, 31 + chance % 14 + (hours // 5) % 4)
    yield _attribute(197, "Current_Pending_Sector", 100, 0, bad // 20)
    yield _attribute(198, "Offline_Uncorrectable", 100, 0, bad // 30)
    yield _attribute(199, "UDMA_CRC_Error_Count", 200, 0, 2 if chance % 5 == 0 else 0)


def _attribute(number: int, name: str, value: int, threshold: int, raw: int) -> dict[str, Any]:
    shown = {"value": raw, "string": str(raw)}
    return {"id": number, "name": name, "value": value, "worst": value, "thresh": threshold, "raw": shown}


def _statistic(offset: int, name: str, value: int) -> dict[str, Any]:
    flags = {"value": 192, "string": "V--- ", "valid": True, "normalized": False}
    return {"offset": offset, "name": name, "size": 6, "value": value, "flags": flags}
