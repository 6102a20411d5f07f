"""The parts of a `smartctl -x -j` document that say something of an SSD's health, with types.

Keys as written by smartctl 7.0 to 7.5 (smartmontools: src/ataprint.cpp, src/nvmeprint.cpp, src/scsiprint.cpp).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from nasadvisor.domain.health.smart.values import at, decimal, flag, items, mapping, objects, text, whole
from nasadvisor.domain.units import GIGABYTE

ZERO_CELSIUS_K: Final = 273
HOTTEST_CELSIUS: Final = 200


class Protocol(StrEnum):
    """How the drive is spoken to."""

    NVME = "nvme"
    ATA = "ata"
    SCSI = "scsi"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Attribute:
    """One row of the ATA attribute table.

    `value` is the vendor's normalised number, usually counting down from 100; `raw` a counter in the vendor's unit.
    """

    number: int
    name: str
    value: int | None
    raw: int | None

    @property
    def named(self) -> bool:
        """Whether smartctl's drive database knows what this drive means by it."""
        return bool(self.name) and not self.name.startswith("Unknown")


@dataclass(frozen=True)
class NvmeLog:
    """The NVMe SMART / health information log; percent_used may exceed 100 and stops at 255."""

    percent_used: int | None
    spare_percent: int | None
    spare_threshold_percent: int | None
    data_units_written: int | None
    media_errors: int | None
    error_log_entries: int | None
    unsafe_shutdowns: int | None
    critical_warning: int | None


@dataclass(frozen=True)
class ScsiLogs:
    """Log pages of a SAS drive."""

    percent_used: int | None
    bytes_written: int | None
    uncorrected_errors: int | None
    grown_defects: int | None


@dataclass(frozen=True)
class SmartReport:
    """One document, typed. Everything is what the drive or smartctl said; nothing is concluded yet."""

    protocol: Protocol
    model: str
    family: str
    firmware: str
    serial: str
    capacity_bytes: int | None
    rotation_rate: int | None
    hours: int | None
    passed: bool | None
    temperature_celsius: int | None
    exit_status: int | None
    attributes: tuple[Attribute, ...] = ()
    statistics: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Valid ATA device statistics by (page, offset)."""
    nvme: NvmeLog | None = None
    scsi: ScsiLogs | None = None
    endurance_used_percent: int | None = None
    """smartctl 7.5's own conclusion."""
    ata_errors: int | None = None
    pending_defects: int | None = None
    self_tests: tuple[bool, ...] = ()
    """Results of the finished self-tests in the log, newest first: passed or not."""

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of its attributes."""
        return frozenset(attribute.number for attribute in self.attributes)

    def named(self, *names: str) -> Attribute | None:
        """The first attribute with one of these names."""
        return next((found for found in self.attributes if found.name in names), None)

    def numbered(self, number: int) -> Attribute | None:
        """The attribute with this number."""
        return next((found for found in self.attributes if found.number == number), None)


def read_report(document: object) -> SmartReport:
    """Name what a document holds. Anything at all may be passed; what is not there or not right is None."""
    return SmartReport(
        protocol=_protocol(document),
        model=text(at(document, "model_name")) or text(at(document, "scsi_model_name")),
        family=text(at(document, "model_family")),
        firmware=text(at(document, "firmware_version")),
        serial=text(at(document, "serial_number")),
        capacity_bytes=_capacity(document),
        rotation_rate=whole(at(document, "rotation_rate")),
        hours=whole(at(document, "power_on_time", "hours")),
        passed=flag(at(document, "smart_status", "passed")),
        temperature_celsius=whole(at(document, "temperature", "current"), -ZERO_CELSIUS_K, HOTTEST_CELSIUS),
        exit_status=whole(at(document, "smartctl", "exit_status"), 0, 255),
        attributes=tuple(_attributes(at(document, "ata_smart_attributes", "table"))),
        statistics=dict(_statistics(at(document, "ata_device_statistics", "pages"))),
        nvme=_nvme(at(document, "nvme_smart_health_information_log")),
        scsi=_scsi(document),
        endurance_used_percent=whole(at(document, "endurance_used", "current_percent"), 0, 255),
        ata_errors=_first_whole(
            at(document, "ata_smart_error_log", "extended", "count"),
            at(document, "ata_smart_error_log", "summary", "count"),
        ),
        pending_defects=whole(at(document, "ata_pending_defects_log", "count")),
        self_tests=tuple(_self_tests(document)),
    )


def _protocol(document: object) -> Protocol:
    told = text(at(document, "device", "protocol")).lower()
    if told in (Protocol.NVME, Protocol.ATA, Protocol.SCSI):
        return Protocol(told)
    if isinstance(at(document, "nvme_smart_health_information_log"), dict):
        return Protocol.NVME
    if isinstance(at(document, "ata_smart_attributes"), dict):
        return Protocol.ATA
    if isinstance(at(document, "scsi_error_counter_log"), dict):
        return Protocol.SCSI
    return Protocol.UNKNOWN


def _capacity(document: object) -> int | None:
    return _first_whole(
        at(document, "user_capacity", "bytes"),
        at(document, "user_capacity"),
        at(document, "nvme_total_capacity"),
    )


def _first_whole(*values: object) -> int | None:
    return next((found for found in map(whole, values) if found is not None), None)


def _attributes(table: object) -> Iterator[Attribute]:
    for row in objects(table):
        number = whole(row.get("id"), 1, 255)
        if number is not None:
            raw = whole(at(row, "raw", "value"))
            yield Attribute(number, text(row.get("name")), whole(row.get("value"), 0, 255), raw)


def _statistics(pages: object) -> Iterator[tuple[tuple[int, int], int]]:
    for page in objects(pages):
        number = whole(page.get("number"), 0, 255)
        for row in objects(page.get("table")):
            offset, value = whole(row.get("offset"), 0, 511), whole(row.get("value"))
            valid = flag(at(row, "flags", "valid")) is not False
            if number is not None and offset is not None and value is not None and valid:
                yield (number, offset), value


def _nvme(log: object) -> NvmeLog | None:
    if not isinstance(log, dict):
        return None
    return NvmeLog(
        percent_used=whole(log.get("percentage_used"), 0, 255),
        spare_percent=whole(log.get("available_spare"), 0, 255),
        spare_threshold_percent=whole(log.get("available_spare_threshold"), 0, 255),
        data_units_written=whole(log.get("data_units_written")),
        media_errors=whole(log.get("media_errors")),
        error_log_entries=whole(log.get("num_err_log_entries")),
        unsafe_shutdowns=whole(log.get("unsafe_shutdowns")),
        critical_warning=whole(log.get("critical_warning"), 0, 255),
    )


def _scsi(document: object) -> ScsiLogs | None:
    counters = mapping(at(document, "scsi_error_counter_log"))
    endurance = whole(at(document, "scsi_percentage_used_endurance_indicator"), 0, 255)
    if not counters and endurance is None:
        return None
    written = decimal(at(counters, "write", "gigabytes_processed"))
    uncorrected = [whole(at(counters, kind, "total_uncorrected_errors")) for kind in ("read", "write", "verify")]
    known = [errors for errors in uncorrected if errors is not None]
    return ScsiLogs(
        percent_used=endurance,
        bytes_written=None if written is None else whole(round(written * GIGABYTE)),
        uncorrected_errors=whole(sum(known)) if known else None,
        grown_defects=whole(at(document, "scsi_grown_defect_list")),
    )


def _self_tests(document: object) -> Iterator[bool]:
    """Finished tests only: a test that runs or was interrupted by a restart says nothing."""
    for kind in ("extended", "standard"):
        table = items(at(document, "ata_smart_self_test_log", kind, "table"))
        if table:
            found = (flag(at(row, "status", "passed")) for row in table)
            yield from (passed for passed in found if passed is not None)
            return
    for row in objects(at(document, "nvme_self_test_log", "table")):
        # Completed without error 0; fatal error, failed segment, unknown segment 5 to 7. Source: NVMe 1.4, figure 202.
        result = whole(at(row, "self_test_result", "value"), 0, 15)
        if result in (0, 5, 6, 7):
            yield result == 0
    for index in range(20):
        result = whole(at(document, f"scsi_self_test_{index}", "result", "value"), 0, 15)
        # Completed 0; unknown error 3, failed segments 4 to 7. Source: SPC-4, self-test results log page.
        if result in (0, 3, 4, 5, 6, 7):
            yield result == 0
