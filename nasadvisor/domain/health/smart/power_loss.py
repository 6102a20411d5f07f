"""Evidence of power-loss protection. There is no standard flag, so evidence is listed, and weighed in the open.

Capacitor self-tests are recognised by attribute *name* (smartmontools drivedb/drivedb.h): the same numbers count
program failures or power losses on other drives, which prove nothing. A cache that is not volatile is a hint: Linux
sends it no flushes. Whether a SATA write cache is enabled says nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from nasadvisor.domain.health.smart.report import SmartReport
from nasadvisor.domain.health.smart.values import LARGEST, at, whole

NOT_SUPPORTED: Final = 0xFFFF
WORD_BITS: Final = 64


@dataclass(frozen=True)
class OcpLog:
    """What it adds to the standard log. Bytes, and capacitor health in percent (0 is failed)."""

    media_bytes_written: int | None
    endurance_bytes: int | None
    capacitor_health: int | None


def read_ocp_log(document: object) -> OcpLog:
    """Read it; anything may be passed, and what is not there is None."""
    health = whole(_either(document, "Capacitor health", "capacitor_health"), 0, NOT_SUPPORTED)
    return OcpLog(
        media_bytes_written=_wide(_either(document, "Physical media units written", "physical_media_units_written")),
        endurance_bytes=whole(_either(document, "Endurance estimate", "endurance_estimate"), 1),
        capacitor_health=None if health == NOT_SUPPORTED else health,
    )


def write_amplification(media_bytes: int | None, host_bytes: int | None) -> float | None:
    """Bytes that flash took per byte that the host wrote; None where either is unknown or nothing was written."""
    return None if media_bytes is None or not host_bytes else media_bytes / host_bytes


def _either(document: object, *keys: str) -> object:
    return next((found for found in (at(document, key) for key in keys) if found is not None), None)


def _wide(value: object) -> int | None:
    """A number of 128 bits in two halves."""
    high, low = whole(at(value, "hi")), whole(at(value, "lo"))
    return None if high is None or low is None else whole((high << WORD_BITS) + low, 0, LARGEST)


CAPACITOR_NAMES: Final = frozenset(
    {
        "Capacitor_Health",
        "Capacitor_Life",
        "PLP_Failure",
        "PLP_Tests_Min_Us",
        "Power_Loss_Cap_Test",
        "SuperCap_Charge_Status",
        "SuperCap_Health",
        "Supercap_Status",
    }
)
FAILED_VALUE: Final = 1
"""VALUE of Power_Loss_Cap_Test after a failed test (Intel SSD DC S3500 product specification, attribute 175)."""

BACKUP_FAILED_BIT: Final = 1 << 4
"""NVMe critical warning: volatile memory backup device has failed (NVMe 1.4, SMART / health information log)."""


VOLATILE_CACHE_BIT: Final = 1


class Protection(StrEnum):
    """How sure power-loss protection is. "Confirmed" says that it is there, and `failed` whether it still works."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    UNLIKELY = "unlikely"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ProtectionEvidence:
    """One observation about power-loss protection."""

    source: str
    says: Protection
    failed: bool = False


@dataclass(frozen=True)
class PowerLossProtection:
    """What the evidence amounts to, with the evidence."""

    protection: Protection
    failed: bool
    evidence: tuple[ProtectionEvidence, ...]


def ocp_evidence(log: OcpLog) -> tuple[ProtectionEvidence, ...]:
    """What the OCP log proves: capacitors whose health it reports are there."""
    if log.capacitor_health is None:
        return ()
    source = f"capacitor health {log.capacitor_health} % in the OCP log"
    return (ProtectionEvidence(source, Protection.CONFIRMED, log.capacitor_health == 0),)


def id_ctrl_evidence(document: object) -> tuple[ProtectionEvidence, ...]:
    """What `nvme id-ctrl -o json` hints at: bit 0 of VWC says that a volatile write cache is present (NVMe 1.4)."""
    cache = whole(at(document, "vwc"), 0, 255)
    if cache is None:
        return ()
    if cache & VOLATILE_CACHE_BIT:
        return (ProtectionEvidence("NVMe controller: volatile write cache present", Protection.UNLIKELY),)
    return (ProtectionEvidence("NVMe controller: no volatile write cache", Protection.LIKELY),)


def weigh(evidence: Iterable[ProtectionEvidence]) -> PowerLossProtection:
    """The strongest evidence decides; without any, nothing is known."""
    found = tuple(evidence)
    said = {one.says for one in found}
    strongest = next((level for level in Protection if level in said), Protection.UNKNOWN)
    return PowerLossProtection(strongest, any(one.failed for one in found), found)


def power_loss_evidence(report: SmartReport) -> Iterator[ProtectionEvidence]:
    """What this report proves."""
    for attribute in report.attributes:
        if attribute.name in CAPACITOR_NAMES:
            source = f"capacitor self-test in {attribute.name} (attribute {attribute.number})"
            has_failed = attribute.name == "Power_Loss_Cap_Test" and attribute.value == FAILED_VALUE
            yield ProtectionEvidence(source, Protection.CONFIRMED, has_failed)
    warning = report.nvme.critical_warning if report.nvme else None
    if warning is not None and warning & BACKUP_FAILED_BIT:
        yield ProtectionEvidence("NVMe warning: volatile memory backup failed", Protection.CONFIRMED, failed=True)
