"""One reading of one drive: everything that health pages, alerts and forecasts are made from, and nothing else.

A `SmartReading` is what is kept for years; it goes through `nasadvisor.stored.documents` like every other document.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from nasadvisor.domain.health.smart.conflicts import conflicts
from nasadvisor.domain.health.smart.ocp import read_ocp_log
from nasadvisor.domain.health.smart.power_loss import (
    ProtectionEvidence,
    id_ctrl_evidence,
    ocp_evidence,
    power_loss_evidence,
)
from nasadvisor.domain.health.smart.report import Protocol, SmartReport, read_report
from nasadvisor.domain.health.smart.values import LARGEST
from nasadvisor.domain.health.smart.wear import WearIndicator, wear_indicators
from nasadvisor.domain.health.smart.written import ByteCounter, byte_counters
from nasadvisor.domain.statements import Finding

REALLOCATED: Final = 5
UNCORRECTABLE: Final = (187, 198)
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
ALL_TIME_ERRORS: Final = (4, 8)
"""ATA device statistics, General Errors: Number of Reported Uncorrectable Errors (ACS-4, table A.16)."""

TEMPERATURE_PAGE: Final = (5, 8)
"""ATA device statistics, Temperature Statistics: Current Temperature (ACS-4, table A.20)."""

WARNINGS: Final = (
    (1 << 0, "spare-below-threshold"),
    (1 << 1, "temperature-out-of-range"),
    (1 << 2, "reliability-degraded"),
    (1 << 3, "media-read-only"),
    (1 << 4, "volatile-memory-backup-failed"),
    (1 << 5, "persistent-memory-unreliable"),
)
"""Bits of the NVMe critical warning (NVMe 1.4, SMART / health information log)."""

EXIT_BITS: Final = (
    (1 << 0, "command-line"),
    (1 << 1, "not-opened"),
    (1 << 2, "command-failed"),
    (1 << 3, "failing"),
    (1 << 4, "prefail-below-threshold"),
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
    """The drive's own log of finished self-tests; `last_passed` is None if there were none."""

    finished: int
    failed: int
    last_passed: bool | None


@dataclass(frozen=True)
class SmartReading:
    """One reading, decoded. Unknown is None, never zero.

    `percent_used` is the most trusted wear indicator and `bytes_written` the best counter; all of them are kept
    beside, and where they contradict each other `findings` says so. `hours` are power-on hours.
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
    warnings: tuple[str, ...]
    exit_bits: tuple[str, ...]
    self_tests: SelfTests
    power_loss: tuple[ProtectionEvidence, ...]
    findings: tuple[Finding, ...]


def decode_answer(smartctl: object, id_ctrl: object, ocp: object) -> SmartReading:
    """What smartctl said of a disk, with what nvme-cli adds about power-loss protection, each as JSON. Never raises."""
    reading = decode(smartctl)
    more = (*id_ctrl_evidence(id_ctrl), *ocp_evidence(read_ocp_log(ocp)))
    return replace(reading, power_loss=(*reading.power_loss, *more))


def decode(document: object) -> SmartReading:
    """Read one `smartctl -x -j` document, or anything else that was meant to be one. Never raises."""
    report = read_report(document)
    solid = _solid_state(report)
    indicators = wear_indicators(report) if solid is not False else ()
    counters = byte_counters(report)
    return SmartReading(
        identity=Identity(
            report.protocol, report.model, report.family, report.firmware, report.serial, report.capacity_bytes, solid
        ),
        hours=report.hours,
        passed=report.passed,
        percent_used=indicators[0].percent_used if indicators else None,
        indicators=indicators,
        bytes_written=counters[0].bytes_written if counters else None,
        counters=counters,
        spare_percent=_spare(report),
        spare_threshold_percent=report.nvme.spare_threshold_percent if report.nvme else None,
        media_errors=_media_errors(report),
        error_log_entries=report.nvme.error_log_entries if report.nvme else report.ata_errors,
        reallocated=_raw(report, REALLOCATED) if report.scsi is None else report.scsi.grown_defects,
        pending=report.pending_defects if report.pending_defects is not None else _raw(report, 197),
        unsafe_shutdowns=_unsafe_shutdowns(report),
        temperature_celsius=_temperature(report),
        warnings=tuple(_named_bits(WARNINGS, report.nvme.critical_warning if report.nvme else None)),
        exit_bits=tuple(_named_bits(EXIT_BITS, report.exit_status)),
        self_tests=SelfTests(
            len(report.self_tests), report.self_tests.count(False), next(iter(report.self_tests), None)
        ),
        power_loss=power_loss_evidence(report),
        findings=conflicts(report, indicators, counters),
    )


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
    counted = [report.statistics.get(ALL_TIME_ERRORS), *(_raw(report, number) for number in UNCORRECTABLE)]
    known = [count for count in counted if count is not None and count < 2**32]
    return max(known) if known else None


def _unsafe_shutdowns(report: SmartReport) -> int | None:
    if report.nvme:
        return report.nvme.unsafe_shutdowns
    attribute = report.named(*UNSAFE_NAMES)
    return attribute.raw if attribute else None


def _temperature(report: SmartReport) -> int | None:
    if report.temperature_celsius is not None:
        return report.temperature_celsius
    return report.statistics.get(TEMPERATURE_PAGE)


def _raw(report: SmartReport, number: int) -> int | None:
    attribute = report.numbered(number)
    return attribute.raw if attribute and attribute.raw is not None and attribute.raw <= LARGEST else None


def _named_bits(names: tuple[tuple[int, str], ...], value: int | None) -> Iterator[str]:
    return (name for bit, name in names if value is not None and value & bit)
