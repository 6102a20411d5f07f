"""The log of self-tests in an answer of smartctl: what was run, when, how it ended, and which failure still counts.

Keys as written by smartctl 7.0 to 7.5 (smartmontools: src/ataprint.cpp, src/nvmeprint.cpp, src/scsiprint.cpp); those of
SAS disks have no log there before 7.3, only bit 7 of the exit status.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from nasadvisor.domain.health.smart.values import at, flag, items, objects, text, whole

MOST_HOURS: Final = 2**31 - 1
SCSI_ENTRIES: Final = 20

ATA_PASSED: Final = 0
ATA_FAILED: Final = range(3, 9)
"""Upper half of the status: fatal or unknown error, unknown, electrical, servo, read, handling (ACS-4, table A.37)."""

ATA_EXTENDED: Final = 0x02
ATA_CAPTIVE: Final = 0x80
NVME_FAILED: Final = range(5, 8)
"""Fatal error, a failed segment that is not known, failed segments (NVMe 1.4, figure 202)."""

NVME_EXTENDED: Final = 2
SCSI_FAILED: Final = range(3, 8)
"""Unknown error, and failed segments (SPC-4, self-test results log page)."""

SCSI_EXTENDED: Final = frozenset({2, 6})
"""In the background and in the foreground."""


@dataclass(frozen=True)
class SelfTestEntry:
    """A self-test; `hours` are the disk's power-on hours at its end, `passed` is None where it runs or was broken off.

    `is_extended` is whether it read the whole surface; a short, conveyance or selective one reads a part of it.
    """

    kind: str
    status: str
    passed: bool | None
    hours: int | None
    is_extended: bool


def self_tests_in(document: object) -> tuple[SelfTestEntry, ...]:
    """The entries of whichever log the disk has, the newest first. Anything may be passed; never raises."""
    return (*_ata(document), *_nvme(document), *_scsi(document))


def still_failed(entries: Iterable[SelfTestEntry]) -> int:
    """How many failures no newer extended test that passed has outdated: smartctl's own rule for bit 7."""
    newer = takewhile(lambda each: not (each.is_extended and each.passed), entries)
    return sum(each.passed is False for each in newer)


def _ata(document: object) -> Iterator[SelfTestEntry]:
    logs = (at(document, "ata_smart_self_test_log", kind, "table") for kind in ("extended", "standard"))
    table = next((log for log in logs if items(log)), None)
    for row in objects(table):
        status, kind = whole(at(row, "status", "value"), 0, 255), whole(at(row, "type", "value"), 0, 255)
        # smartctl writes "passed": true for a test that runs, and nothing for one that ended with a fatal error.
        passed = flag(at(row, "status", "passed")) if status is None else _ended(status >> 4, ATA_PASSED, ATA_FAILED)
        yield SelfTestEntry(
            text(at(row, "type", "string")),
            text(at(row, "status", "string")),
            passed,
            whole(row.get("lifetime_hours"), 0, MOST_HOURS),
            kind is not None and kind & ~ATA_CAPTIVE == ATA_EXTENDED,
        )


def _nvme(document: object) -> Iterator[SelfTestEntry]:
    for row in objects(at(document, "nvme_self_test_log", "table")):
        yield SelfTestEntry(
            text(at(row, "self_test_code", "string")),
            text(at(row, "self_test_result", "string")),
            _ended(whole(at(row, "self_test_result", "value"), 0, 15), 0, NVME_FAILED),
            whole(row.get("power_on_hours"), 0, MOST_HOURS),
            whole(at(row, "self_test_code", "value"), 0, 15) == NVME_EXTENDED,
        )


def _scsi(document: object) -> Iterator[SelfTestEntry]:
    for number in range(SCSI_ENTRIES):
        row = at(document, f"scsi_self_test_{number}")
        if isinstance(row, dict):
            yield SelfTestEntry(
                text(at(row, "code", "string")),
                text(at(row, "result", "string")),
                _ended(whole(at(row, "result", "value"), 0, 15), 0, SCSI_FAILED),
                whole(at(row, "power_on_time", "hours"), 0, MOST_HOURS),
                whole(at(row, "code", "value"), 0, 7) in SCSI_EXTENDED,
            )


def _ended(result: int | None, good: int, bad: range) -> bool | None:
    """Whether a test that came to its end passed; None of one that did not."""
    return True if result == good else False if result in bad else None
