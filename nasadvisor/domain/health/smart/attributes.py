"""Every number that a disk counts of itself, under the name that it has in smartctl, whatever kind of disk it is.

Nothing is concluded here: this is what pages show in full and what is kept to say how it moves. Keys as written by
smartctl 7.0 to 7.5 (smartmontools: src/ataprint.cpp, src/nvmeprint.cpp, src/scsiprint.cpp).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from nasadvisor.domain.health.smart.counts import CRC, REALLOCATED, CountName, events, first_number, meaning
from nasadvisor.domain.health.smart.power_loss import write_amplification
from nasadvisor.domain.health.smart.report import PENDING_KEYS, grown_defects
from nasadvisor.domain.health.smart.values import at, mapping, objects, text, whole
from nasadvisor.domain.units import GIB, MIB

GROWN_DEFECTS: Final = "grown_defects"
PENDING_DEFECTS: Final = "pending_defects"
SCSI_KINDS: Final = ("read", "write", "verify")
MAX_NAMED: Final = 64


@dataclass(frozen=True)
class SmartValue:
    """One number. `key` names it for ever: the attribute's number of an ATA disk, else the name in smartctl's JSON.

    `raw` is the count in the vendor's unit (the first one where an attribute packs several), `shown` how smartctl
    prints it. The vendor's own scale is `value`, the
    lowest that it was `worst`, and `threshold` where the vendor calls it failed; None where the disk has none.
    """

    key: str
    name: str
    raw: int
    shown: str = ""
    value: int | None = None
    worst: int | None = None
    threshold: int | None = None

    @property
    def number(self) -> int | None:
        """The number of an attribute of an ATA disk."""
        return int(self.key) if self.key.isdecimal() else None

    @property
    def words(self) -> str:
        """How smartctl words it where that says more than the count; "" where it is the count."""
        return "" if self.shown == str(self.raw) else self.shown

    @property
    def is_below_threshold(self) -> bool:
        """Whether the vendor's own scale says that it has failed. Zero means that there is no threshold."""
        return bool(self.threshold) and self.value is not None and self.value <= (self.threshold or 0)


def smart_values(document: object) -> tuple[SmartValue, ...]:
    """All that one `smartctl -x -j` document counts. Anything may be passed; never raises."""
    nvme = _named("", at(document, "nvme_smart_health_information_log"))
    return (*_ata(document), *nvme, *_scsi(document))


def crc_errors(values: tuple[SmartValue, ...]) -> SmartValue | None:
    """Transfers that arrived damaged: the cable and the backplane, not the disk; None where it does not count them."""
    return _first_count(values, CRC)


def reallocated(values: tuple[SmartValue, ...]) -> SmartValue | None:
    """Sectors or blocks that it has replaced."""
    of_sas = next((each for each in values if each.key == GROWN_DEFECTS), None)
    return of_sas or _first_count(values, REALLOCATED)


def _first_count(values: tuple[SmartValue, ...], what: CountName) -> SmartValue | None:
    """The first that is a count: one that begins at -1 would be four billion more than yesterday."""
    return next((each for each in meaning(values, what) if events(each.raw, each.shown) is not None), None)


FLASH_UNITS: Final = {
    "NAND_Writes_32MiB": 32 * MIB,
    "NAND_Writes_1GiB": GIB,
    "NAND_Writes_GiB": GIB,
    "Flash_Writes_GiB": GIB,
}
"""Bytes per count, by the name that smartmontools' drivedb.h gives what an SSD wrote to its flash."""


def in_flash(values: tuple[SmartValue, ...], host_bytes: int | None) -> float | None:
    """Bytes that flash took for each that the host wrote in the disk's whole life; None where it does not tell."""
    flash = next((each.raw * FLASH_UNITS[each.name] for each in values if each.name in FLASH_UNITS), None)
    return write_amplification(flash, host_bytes)


def _ata(document: object) -> Iterator[SmartValue]:
    for row in objects(at(document, "ata_smart_attributes", "table")):
        number, shown = whole(row.get("id"), 1, 255), text(at(row, "raw", "string"))
        raw = first_number(whole(at(row, "raw", "value")), shown)
        if number is not None and raw is not None:
            yield SmartValue(
                key=str(number),
                name=text(row.get("name")),
                raw=raw,
                shown=shown,
                value=whole(row.get("value"), 0, 255),
                worst=whole(row.get("worst"), 0, 255),
                threshold=whole(row.get("thresh"), 0, 255),
            )


def _scsi(document: object) -> Iterator[SmartValue]:
    defects = grown_defects(document)
    if defects is not None:
        yield SmartValue(GROWN_DEFECTS, GROWN_DEFECTS, defects)
    pending_now = next(
        (found for key in PENDING_KEYS if (found := whole(at(document, key, "count"))) is not None), None
    )
    if pending_now is not None:
        yield SmartValue(PENDING_DEFECTS, PENDING_DEFECTS, pending_now)
    counters = at(document, "scsi_error_counter_log")
    for kind in SCSI_KINDS:
        yield from _named(f"{kind}_", at(counters, kind))


def _named(before: str, counters: object) -> Iterator[SmartValue]:
    """The whole numbers of an object under their own names; no log has more than a few dozen."""
    for name, told in islice(mapping(counters).items(), MAX_NAMED):
        raw, key = whole(told), text(name)
        if raw is not None and key:
            yield SmartValue(before + key, before + key, raw)
