"""The OCP log of data-centre NVMe drives (page C0h), as `nvme ocp smart-add-log -o json` prints it.

Keys of both output versions: nvme-cli plugins/ocp/ocp-print-json.c. Fields: OCP Datacenter NVMe SSD Specification.
"""

from dataclasses import dataclass
from typing import Final

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
