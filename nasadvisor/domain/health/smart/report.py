"""The parts of a `smartctl -x -j` document that say something of an SSD's health, with types.

Keys as written by smartctl 7.0 to 7.5 (smartmontools: src/ataprint.cpp, src/nvmeprint.cpp, src/scsiprint.cpp).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from nasadvisor.domain.health.smart.counts import events
from nasadvisor.domain.health.smart.self_tests import SelfTestEntry, self_tests_in
from nasadvisor.domain.health.smart.values import at, decimal, flag, items, mapping, objects, text, whole
from nasadvisor.domain.units import GIGABYTE

COLDEST_CELSIUS: Final = -60
HOTTEST_CELSIUS: Final = 150
"""No disk works beyond: a sensor that says so is not there (-273 is 0 K), or counts in another unit."""

PENDING_KEYS: Final = ("scsi_pending_defects", "pending_defects")
"""As smartctl 7.3 and those before it call them."""

IN_BYTES: Final = (0, 1)
"""smartctl 7.0 and 7.1 write the length of the list of grown defects in bytes (fixed in 7.2: `dl_len / div`)."""

LONG_ELEMENT: Final = 8
SHORT_ELEMENT: Final = 4
"""Bytes of an element: 8 in the format that smartctl asks for, 4 where a disk answers in short blocks."""


LOWEST_LIMIT_CELSIUS: Final = 40
HIGHEST_LIMIT_CELSIUS: Final = 110


class Protocol(StrEnum):
    """How the drive is spoken to."""

    NVME = "nvme"
    ATA = "ata"
    SCSI = "scsi"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Attribute:
    """One row of the ATA attribute table.

    `value` is the vendor's normalised number, usually counting down from 100; `raw` a counter in the vendor's unit,
    which may hold several counts in one, and `shown` how smartctl parts them. `has_failed_now` is whether the vendor
    says by it that the disk is about to fail: of a pre-failure attribute that is at its threshold.
    """

    number: int
    name: str
    value: int | None
    raw: int | None
    shown: str = ""
    has_failed_now: bool = False

    @property
    def title(self) -> str:
        """What it is called beside other counters of the disk."""
        return f"{self.name or 'without a name'} (attribute {self.number})"

    @property
    def named(self) -> bool:
        """Whether smartctl's drive database knows what this drive means by it."""
        return bool(self.name) and not self.name.startswith("Unknown")

    @property
    def events(self) -> int | None:
        """How often what it counts has happened."""
        return events(self.raw, self.shown)


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
    pending_defects: int | None


NO_LOGS: Final = ScsiLogs(None, None, None, None, None)


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
    scsi_exception: tuple[int, int] | None
    """Why a SAS disk did not pass: ASC and ASCQ of its informational exception (SPC-6, annex "ASC and ASCQ")."""
    temperature_celsius: int | None
    temperature_limit_celsius: int | None
    """The warmest that the disk itself is made for, as far as smartctl tells."""
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
    self_tests: tuple[SelfTestEntry, ...] = ()
    """The log of self-tests, newest first."""

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
        capacity_bytes=_first_whole(
            at(document, "user_capacity", "bytes"), at(document, "user_capacity"), at(document, "nvme_total_capacity")
        ),
        rotation_rate=whole(at(document, "rotation_rate")),
        hours=whole(at(document, "power_on_time", "hours")),
        passed=flag(at(document, "smart_status", "passed")),
        scsi_exception=_scsi_exception(document),
        temperature_celsius=_temperature_now(document),
        temperature_limit_celsius=_temperature_limit(document),
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
        self_tests=self_tests_in(document),
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


def _first_whole(*values: object) -> int | None:
    return next((found for found in map(whole, values) if found is not None), None)


def _scsi_exception(document: object) -> tuple[int, int] | None:
    asc, ascq = (whole(at(document, "smart_status", "scsi", key), 0, 255) for key in ("asc", "ascq"))
    return None if asc is None or ascq is None else (asc, ascq)


def _temperature_now(document: object) -> int | None:
    """Some SAS disks tell it in their environmental reports alone, and 0 or nothing beside (smartctl 7.4 and later)."""
    told = (
        at(document, "temperature", "current"),
        at(document, "scsi_environmental_reports", "temperature_1", "current"),
    )
    known = [now for each in told if (now := whole(each, COLDEST_CELSIUS, HOTTEST_CELSIUS)) is not None]
    return next(filter(None, known), known[0] if known else None)


def _temperature_limit(document: object) -> int | None:
    """Of an NVMe SSD its warning threshold, of a SATA disk its highest temperature of operation by SCT or its device
    statistics, of a SAS disk its trip temperature; nothing that no disk can mean."""
    told = (
        at(document, "nvme_composite_temperature_threshold", "warning"),
        at(document, "nvme_composite_temperature_threshold", "critical"),
        at(document, "temperature", "op_limit_max"),
        at(document, "temperature", "critical_limit_max"),
        at(document, "temperature", "drive_trip"),
    )
    return next((limit for each in told if (limit := limit_celsius(each)) is not None), None)


def limit_celsius(told: object) -> int | None:
    """A limit that a disk can mean: many tell 0, 127 or nonsense."""
    return whole(told, LOWEST_LIMIT_CELSIUS, HIGHEST_LIMIT_CELSIUS)


def _attributes(table: object) -> Iterator[Attribute]:
    for row in objects(table):
        number = whole(row.get("id"), 1, 255)
        if number is not None:
            raw, shown = whole(at(row, "raw", "value")), text(at(row, "raw", "string"))
            failed = flag(at(row, "flags", "prefailure")) is True and row.get("when_failed") == "now"
            yield Attribute(number, text(row.get("name")), whole(row.get("value"), 0, 255), raw, shown, failed)


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
    written = decimal(at(counters, "write", "gigabytes_processed"))
    uncorrected = [whole(at(counters, kind, "total_uncorrected_errors")) for kind in ("read", "write", "verify")]
    known = [errors for errors in uncorrected if errors is not None]
    logs = ScsiLogs(
        percent_used=whole(at(document, "scsi_percentage_used_endurance_indicator"), 0, 255),
        bytes_written=None if written is None else whole(round(written * GIGABYTE)),
        uncorrected_errors=whole(sum(known)) if known else None,
        grown_defects=grown_defects(document),
        pending_defects=_first_whole(*(at(document, key, "count") for key in PENDING_KEYS)),
    )
    return None if logs == NO_LOGS else logs


def grown_defects(document: object) -> int | None:
    """Elements in the list of grown defects of a SAS disk."""
    told = whole(at(document, "scsi_grown_defect_list"))
    major, minor = (*items(at(document, "smartctl", "version")), None, None)[:2]
    if told is None or major != 7 or minor not in IN_BYTES:
        return told
    return told // (LONG_ELEMENT if told % LONG_ELEMENT == 0 else SHORT_ELEMENT)
