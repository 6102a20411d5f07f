"""One reading of one drive: everything that health pages, alerts and forecasts are made from, and nothing else.

A `SmartReading` is what is kept for years; it goes through `nasadvisor.stored.documents` like every other document.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from nasadvisor.domain.health.smart.conflicts import conflicts
from nasadvisor.domain.health.smart.counts import (
    MOST_HOURS,
    PENDING,
    POWER_ON,
    REALLOCATED,
    TEMPERATURE,
    UNCORRECTABLE,
    CountName,
    events,
    first_number,
    meaning,
)
from nasadvisor.domain.health.smart.power_loss import (
    ProtectionEvidence,
    id_ctrl_evidence,
    ocp_evidence,
    power_loss_evidence,
    read_ocp_log,
)
from nasadvisor.domain.health.smart.report import (
    COLDEST_CELSIUS,
    HOTTEST_CELSIUS,
    Attribute,
    Protocol,
    SmartReport,
    limit_celsius,
    read_report,
)
from nasadvisor.domain.health.smart.self_tests import still_failed
from nasadvisor.domain.health.smart.values import at, whole
from nasadvisor.domain.health.smart.wear import WearIndicator, wear_indicators
from nasadvisor.domain.health.smart.written import ByteCounter, byte_counters
from nasadvisor.domain.statements import Finding

RESERVED_NAMES: Final = frozenset({"Available_Reservd_Space", "Perc_Avail_Resrvd_Space"})
UNSAFE_NAMES: Final = frozenset(
    {
        "Unexpect_Power_Loss_Ct",
        "Unexpect_Power_Loss",
        "Unexpected_Power_Loss",
        "POR_Recovery_Count",
        "Unclean_Shutdown_Ct",
    }
)
FULL: Final = 100
NAMED_BY_NUMBER: Final = frozenset({197, 198})
"""What smartctl calls so on every SSD that its database does not know, though makers of SSDs count other things there,
as what was read (henrygd/beszel#2296). A surface that is scanned is a matter of hard disks."""

BAD_BLOCKS: Final = frozenset({5, 187, 196, *NAMED_BY_NUMBER})
FLIPPING: Final = re.compile(r"(?:Crucial_)?CT\d+MX500SSD\d")
"""Models whose count of unreadable sectors is 1 now and 0 an hour later, also where the database does not know their
size yet and so not what is wrong with them (smartmontools tickets 1227, smartmontools#161)."""

ALL_TIME_ERRORS: Final = (4, 8)
"""ATA device statistics, General Errors: Number of Reported Uncorrectable Errors (ACS-4, table A.16)."""

TEMPERATURE_PAGE: Final = (5, 8)
"""ATA device statistics, Temperature Statistics: Current Temperature (ACS-4, table A.20)."""

LIMIT: Final = (5, 88)
"""The same: Specified Maximum Operating Temperature."""

TEMPERATURE_WARNING: Final = "temperature-out-of-range"
WARNINGS: Final = (
    (1 << 0, "spare-below-threshold"),
    (1 << 1, TEMPERATURE_WARNING),
    (1 << 2, "reliability-degraded"),
    (1 << 3, "media-read-only"),
    (1 << 4, "volatile-memory-backup-failed"),
    (1 << 5, "persistent-memory-unreliable"),
)
"""Bits of the NVMe critical warning (NVMe 1.4, SMART / health information log)."""

NO_FAILURE: Final = 1 << 1 | 1 << 4
"""Bits that say nothing of whether the SSD keeps what it holds: its temperature, and its power-loss protection."""

WARNS: Final = 0x0B
PREDICTS_FAILURE: Final = 0x5D
"""ASC of an informational exception of a SAS disk."""

FIRST_OF_VENDORS: Final = 0x80
"""ASCQ of which only the vendor knows what they say, as "slow response" of Oracle's disks (smartmontools#326)."""

SCSI_WARNINGS: Final = {
    **dict.fromkeys(((WARNS, each) for each in (0x01, *range(0x0A, 0x0E))), TEMPERATURE_WARNING),
    **dict.fromkeys(((WARNS, each) for each in (0x06, 0x07)), "volatile-memory-backup-failed"),
    **dict.fromkeys(((WARNS, each) for each in range(0x0E, 0x12)), "humidity-out-of-range"),
    **dict.fromkeys(((WARNS, each) for each in (0x12, 0x13)), "firmware-not-trusted"),
    **dict.fromkeys(((WARNS, each) for each in range(FIRST_OF_VENDORS, 0x100)), "vendor-warning"),
    (WARNS, 0x02): "enclosure-degraded",
    (WARNS, 0x08): "power-loss-expected",
}
"""Informational exceptions that are no failure of the disk, with the warning that they are (SPC-6, "ASC and ASCQ";
scsiGetIEString() in smartmontools). smartctl calls a disk failing whatever it says."""

NO_WARNINGS: Final = frozenset({(WARNS, 0x09), (PREDICTS_FAILURE, 0xFF)})
"""… and those that say nothing: that a statistic is to be read, and a failure that is predicted for a test."""

ZERO_CELSIUS_K: Final = 273

PREFAIL: Final = 1 << 4
EXIT_BITS: Final = (
    (1 << 0, "command-line"),
    (1 << 1, "not-opened"),
    (1 << 2, "command-failed"),
    (1 << 3, "failing"),
    (PREFAIL, "prefail-below-threshold"),
    (1 << 5, "was-below-threshold"),
    (1 << 6, "error-log-has-errors"),
    (1 << 7, "self-test-log-has-errors"),
)
"""Bits of smartctl's exit status (smartctl(8), section "EXIT STATUS")."""


@dataclass(frozen=True)
class Identity:
    """Which drive a reading is of, as far as it said."""

    protocol: Protocol
    model: str
    family: str
    firmware: str
    serial: str
    capacity_bytes: int | None
    solid_state: bool | None


@dataclass(frozen=True)
class SelfTests:
    """The drive's own log of finished self-tests; `last_passed` is None if there were none.

    `failed` are those that count still: a newer extended test that passes outdates them, a short one does not.
    """

    finished: int
    failed: int
    last_passed: bool | None


@dataclass(frozen=True)
class SmartReading:
    """One reading, decoded. Unknown is None, never zero.

    `passed` is the disk's own verdict on its health: that it is too hot, or its power-loss protection has failed, is
    told by `warnings` and is no failure of the disk. `percent_used` is the most trusted wear indicator and
    `bytes_written` the best counter; all of them are kept beside, and where they contradict each other `findings` says
    so. `hours` are power-on hours.
    """

    identity: Identity
    hours: int | None
    passed: bool | None
    percent_used: float | None
    indicators: tuple[WearIndicator, ...]
    bytes_written: int | None
    counters: tuple[ByteCounter, ...]
    spare_percent: int | None
    spare_threshold_percent: int | None
    media_errors: int | None
    error_log_entries: int | None
    reallocated: int | None
    pending: int | None
    unsafe_shutdowns: int | None
    temperature_celsius: int | None
    temperature_limit_celsius: int | None
    warnings: tuple[str, ...]
    exit_bits: tuple[str, ...]
    self_tests: SelfTests
    power_loss: tuple[ProtectionEvidence, ...]
    findings: tuple[Finding, ...]


def decode_answer(smartctl: object, id_ctrl: object, ocp: object) -> SmartReading:
    """What smartctl said of a disk, with what nvme-cli adds about power-loss protection, each as JSON. Never raises."""
    reading = decode(smartctl)
    more = (*id_ctrl_evidence(id_ctrl), *ocp_evidence(read_ocp_log(ocp)))
    limit = reading.temperature_limit_celsius
    if limit is None:
        limit = next((each for key in ("wctemp", "cctemp") if (each := _from_kelvin(at(id_ctrl, key)))), None)
    return replace(reading, power_loss=(*reading.power_loss, *more), temperature_limit_celsius=limit)


def decode(document: object) -> SmartReading:
    """Read one `smartctl -x -j` document, or anything else that was meant to be one. Never raises."""
    report = read_report(document)
    solid = _solid_state(report)
    indicators = wear_indicators(report) if solid is not False else ()
    counters = byte_counters(report)
    results = [each.passed for each in report.self_tests if each.passed is not None]
    return SmartReading(
        identity=Identity(
            report.protocol, report.model, report.family, report.firmware, report.serial, report.capacity_bytes, solid
        ),
        hours=report.hours if report.hours is not None else _hours(report),
        passed=_passed(report),
        percent_used=indicators[0].percent_used if indicators else None,
        indicators=indicators,
        bytes_written=counters[0].bytes_written if counters else None,
        counters=counters,
        spare_percent=_spare(report),
        spare_threshold_percent=report.nvme.spare_threshold_percent if report.nvme else None,
        media_errors=_media_errors(report),
        error_log_entries=report.nvme.error_log_entries if report.nvme else report.ata_errors,
        reallocated=report.scsi.grown_defects if report.scsi else _counted(report, REALLOCATED),
        pending=_pending(report),
        unsafe_shutdowns=_unsafe_shutdowns(report),
        temperature_celsius=_temperature(report),
        temperature_limit_celsius=report.temperature_limit_celsius or limit_celsius(report.statistics.get(LIMIT)),
        warnings=_warnings(report),
        exit_bits=_exit_bits(report),
        self_tests=SelfTests(len(results), still_failed(report.self_tests), next(iter(results), None)),
        power_loss=tuple(power_loss_evidence(report)),
        findings=conflicts(report, indicators, counters),
    )


def _from_kelvin(told: object) -> int | None:
    kelvin = whole(told)
    return None if kelvin is None else limit_celsius(kelvin - ZERO_CELSIUS_K)


def _passed(report: SmartReport) -> bool | None:
    """smartctl calls an SSD failing whatever bit of its critical warning is set, also one that passes by itself."""
    if report.passed is not False:
        return report.passed
    bits = report.nvme.critical_warning if report.nvme else None
    is_no_failure = report.scsi_exception in SCSI_WARNINGS or report.scsi_exception in NO_WARNINGS
    return is_no_failure or (bool(bits) and not (bits or 0) & ~NO_FAILURE)


def _warnings(report: SmartReport) -> tuple[str, ...]:
    if report.scsi_exception in SCSI_WARNINGS:
        return (SCSI_WARNINGS[report.scsi_exception],)
    return tuple(_named_bits(WARNINGS, report.nvme.critical_warning if report.nvme else None))


def _exit_bits(report: SmartReport) -> tuple[str, ...]:
    """Those of smartctl, and bit 4 where its table says the same."""
    has_failed = any(attribute.has_failed_now for attribute in report.attributes)
    return tuple(_named_bits(EXIT_BITS, (report.exit_status or 0) | (PREFAIL if has_failed else 0)))


def _solid_state(report: SmartReport) -> bool | None:
    """NVMe is; else a rotation rate of zero is, and one above is not. Without one, a wear indicator tells."""
    if report.protocol is Protocol.NVME:
        return True
    if report.rotation_rate is not None:
        return report.rotation_rate == 0
    return True if report.scsi and report.scsi.percent_used is not None else None


def _spare(report: SmartReport) -> int | None:
    """Spare blocks left in percent: the NVMe log's, or the VALUE of an attribute of that name."""
    if report.nvme:
        return report.nvme.spare_percent
    attribute = report.named(*RESERVED_NAMES)
    value = attribute.value if attribute else None
    return value if value is not None and 0 < value <= FULL else None


def _media_errors(report: SmartReport) -> int | None:
    """Errors that cost data: NVMe media errors, SAS and ATA uncorrectable errors."""
    if report.nvme:
        return report.nvme.media_errors
    if report.scsi:
        return report.scsi.uncorrected_errors
    reported = report.statistics.get(ALL_TIME_ERRORS)
    known = [events(reported, "")] if reported is not None else []
    return max((each for each in (*known, *_all_counted(report, UNCORRECTABLE)) if each is not None), default=None)


def _pending(report: SmartReport) -> int | None:
    """Sectors that cannot be read now. The log of a SATA disk may be empty beside an attribute that counts some."""
    if report.scsi:
        return report.scsi.pending_defects
    return max((each for each in (report.pending_defects, _counted(report, PENDING)) if each is not None), default=None)


def _unsafe_shutdowns(report: SmartReport) -> int | None:
    if report.nvme:
        return report.nvme.unsafe_shutdowns
    attribute = report.named(*UNSAFE_NAMES)
    return attribute.events if attribute else None


def _hours(report: SmartReport) -> int | None:
    """Power-on hours of an attribute whose unit smartctl knows, where it draws no conclusion of its own."""
    hours = [first_number(each.raw, each.shown) for each in meaning(report.attributes, POWER_ON)]
    return next((each for each in hours if each is not None and 0 <= each <= MOST_HOURS), None)


def _temperature(report: SmartReport) -> int | None:
    """The first that a sensor can have measured: a SATA or SAS disk without one says 0 (smartctl too takes that for
    nothing, `ata_return_temperature_value()`)."""
    shown = [first_number(each.raw, each.shown) for each in meaning(report.attributes, TEMPERATURE)]
    told = (report.temperature_celsius, *shown, report.statistics.get(TEMPERATURE_PAGE))
    if report.nvme:
        return report.temperature_celsius
    return next((each for each in told if each and COLDEST_CELSIUS <= each <= HOTTEST_CELSIUS), None)


def _counted(report: SmartReport, what: CountName) -> int | None:
    return next(_all_counted(report, what), None)


def _all_counted(report: SmartReport, what: CountName) -> Iterator[int]:
    found = (each.events for each in meaning(report.attributes, what) if _is_meant(each, report))
    return (count for count in found if count is not None)


def _is_meant(attribute: Attribute, report: SmartReport) -> bool:
    """Whether an attribute counts what its name says. Where it has the name of its number alone, something else must
    speak of bad blocks too: another count, the log of errors, or the vendor's own scale."""
    if attribute.number == 197 and FLIPPING.fullmatch(report.model):
        return False
    if report.family or report.rotation_rate != 0 or attribute.number not in NAMED_BY_NUMBER or not attribute.events:
        return True
    others = (each.events for each in report.attributes if each.number in BAD_BLOCKS - {attribute.number})
    told = (report.ata_errors, report.pending_defects, events(report.statistics.get(ALL_TIME_ERRORS), ""), *others)
    return any(told) or 0 < (attribute.value or 0) < FULL


def _named_bits(names: tuple[tuple[int, str], ...], value: int | None) -> Iterator[str]:
    return (name for bit, name in names if value is not None and value & bit)
