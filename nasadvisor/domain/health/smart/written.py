"""Every counter of host writes in a report, in bytes. Units come from names, and are checked against each other.

An attribute *named* Total_LBAs_Written counts 512-byte sectors on most drives, 32 MiB or GiB on others: where ATA
device statistics page 1 is there, the unit is the one that agrees with it. That page itself wraps at 2**32 sectors on
some drives; then the attribute that agrees with it modulo the wrap is the same counter at full width.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from nasadvisor.domain.health.smart.report import Attribute, SmartReport
from nasadvisor.domain.health.smart.values import LARGEST, whole
from nasadvisor.domain.units import GIB, GIGABYTE, MIB

SECTOR: Final = 512
WRAP_BYTES: Final = 2**32 * SECTOR
"""Where 32-bit counters of sectors start again: 2.2 TB. Seen on Crucial, Silicon Motion and some Intel NVMe drives."""

NVME_UNIT: Final = 512_000
"""Bytes per data unit (NVMe 1.4, SMART / health information log)."""

PAGE_1_WRITTEN: Final = (1, 24)
"""ATA device statistics, General Statistics: Logical Sectors Written (ACS-4, table A.4)."""

UNITS: Final = {
    "Host_Writes_32MiB": 32 * MIB,
    "Host_Writes_MiB": MIB,
    "Host_Writes_GiB": GIB,
    "Lifetime_Writes_GiB": GIB,
    "Total_Writes_GiB": GIB,
    "Total_Writes_GB": GIB,
    "Lifetime_Wts_Frm_Hst_GB": GIB,
    "Total_Host_GB_Written": GIB,
    "Total_Host_Sector_Write": SECTOR,
}
"""Bytes per count by name. The four that say GB count GiB on drives whose page 1 could be compared."""

UNSURE_NAMES: Final = frozenset({"Host_Writes", "Total_Host_LBA_Written", "Total_LBAs_Written"})
NUMBERS: Final = frozenset({225, 241, 246})
"""Attributes that count host writes where they are named so, or prove it by agreeing with page 1."""

POSSIBLE_UNITS: Final = (SECTOR, 32 * MIB, GIB, GIGABYTE, MIB)
AGREEMENT: Final = 0.05
APART_BYTES: Final = 64 * MIB
"""Two counters of one drive are read a moment apart; that two others agree so well by chance is one in 10,000."""

LEAST_BYTES_PER_HOUR: Final = MIB
"""A powered drive that a host uses writes more than this; fewer "sectors" are larger units that nobody names."""


@dataclass(frozen=True)
class ByteCounter:
    """One counter of host writes. `may_wrap` where a fall may be the counter starting again at 2.2 TB."""

    code: str
    name: str
    bytes_written: int
    unit_bytes: int
    may_wrap: bool = False


def byte_counters(report: SmartReport) -> tuple[ByteCounter, ...]:
    """All counters whose unit is known, the best first."""
    standard = _standard(report)
    attributes = tuple(_attributes(report, standard))
    if not standard:
        return attributes
    wider = tuple(found for found in attributes if _same_but_wider(found, standard))
    others = tuple(found for found in attributes if found not in wider)
    return (*wider, standard, *others)


def _standard(report: SmartReport) -> ByteCounter | None:
    units = whole(report.nvme.data_units_written, highest=LARGEST // NVME_UNIT) if report.nvme else None
    if units is not None:
        written = units * NVME_UNIT
        return ByteCounter("nvme-data-units", "Data Units Written", written, NVME_UNIT, written < WRAP_BYTES)
    if report.scsi and report.scsi.bytes_written is not None:
        return ByteCounter("scsi-written", "Gigabytes processed (write)", report.scsi.bytes_written, 10**6)
    sectors = whole(report.statistics.get(PAGE_1_WRITTEN), highest=LARGEST // SECTOR)
    if sectors is None:
        return None
    written = sectors * SECTOR
    return ByteCounter("ata-page-1", "Logical Sectors Written", written, SECTOR, written < WRAP_BYTES)


def _attributes(report: SmartReport, standard: ByteCounter | None) -> Iterator[ByteCounter]:
    seen: set[int] = set()
    for attribute in report.attributes:
        unit = _unit(attribute, report, standard)
        written = None if unit is None or attribute.raw is None else attribute.raw * unit
        if unit is not None and written is not None and written <= LARGEST and written not in seen:
            seen.add(written)
            yield ByteCounter(f"attribute-{attribute.number}", attribute.title, written, unit)


def _unit(attribute: Attribute, report: SmartReport, standard: ByteCounter | None) -> int | None:
    """Bytes per count, or None if this is no counter of host writes or nobody can tell its unit."""
    told = UNITS.get(attribute.name)
    if told:
        return _told_by_page_1(attribute, told, standard) or told
    unnamed = not attribute.named and attribute.number in NUMBERS
    if not attribute.raw or not (unnamed or attribute.name in UNSURE_NAMES):
        return None
    if standard and standard.bytes_written:
        agreeing = (unit for unit in POSSIBLE_UNITS if _agrees(attribute.raw * unit, unit, standard))
        return next(agreeing, None)
    if unnamed or not report.family:
        return None
    little = report.hours is not None and attribute.raw * SECTOR < report.hours * LEAST_BYTES_PER_HOUR
    return None if little else SECTOR


def _told_by_page_1(attribute: Attribute, told: int, standard: ByteCounter | None) -> int | None:
    """Another unit, where page 1 counts the same writes in it and not in the one that the name tells: a family of the
    database has drives of several firmwares. Seen on a Kioxia Exceria, whose 241 is named for GiB and counts 32 MiB."""
    if not (standard and standard.bytes_written and attribute.raw):
        return None
    whole_page = replace(standard, may_wrap=False)
    if _agrees(attribute.raw * told, told, standard):
        return None
    return next((unit for unit in POSSIBLE_UNITS if _agrees(attribute.raw * unit, unit, whole_page)), None)


def _agrees(written: int, unit: int, standard: ByteCounter) -> bool:
    """Whether both count the same, to within a twentieth, or modulo the wrap to within a few units."""
    if abs(written - standard.bytes_written) <= AGREEMENT * standard.bytes_written + unit:
        return True
    return standard.may_wrap and _wrapped_apart(written, standard) <= unit + APART_BYTES


def _wrapped_apart(written: int, standard: ByteCounter) -> int:
    apart = (written - standard.bytes_written) % WRAP_BYTES
    return min(apart, WRAP_BYTES - apart)


def _same_but_wider(counter: ByteCounter, standard: ByteCounter) -> bool:
    """Whether this attribute goes on where the standard counter has started again."""
    wider = standard.may_wrap and counter.bytes_written >= standard.bytes_written + WRAP_BYTES // 2
    return wider and _wrapped_apart(counter.bytes_written, standard) <= counter.unit_bytes + APART_BYTES
