"""How often a drive's blocks were erased, where an attribute is known to say so.

Sources: smartmontools drivedb/drivedb.h. The names say "average" there; Phison's `MaxAvgErase_Ct` is printed as
raw16(avg16), so that its lower word is the most-erased block and the upper one the average.
"""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.smart.report import Attribute, SmartReport
from nasadvisor.domain.health.smart.vendor_wear import UNNAMED, WORD

AVERAGE_NAMES: Final = (
    "Average_Erase_Count",
    "Ave_Block-Erase_Count",
    "Avg_Block-Erase_Count",
    "Average_Block-Erase_Ct",
    "Avg_Erase_Count",
    "Avg_Erase_Cnt",
    "Avg_Program/Erase_Ct",
    "Avg_Write/Erase_Count",
    "Average_PE_Cycles_TLC",
)
"""RAW is a plain count. `Wear_Leveling_Count` is not here: some drives have sums of something else in it."""

PACKED_NAME: Final = "MaxAvgErase_Ct"
PACKED: Final = 173
PHISON_PACKED: Final = frozenset({168, 170, 173, 218})
"""Attributes by which every Phison controller is known that packs two counts into 173; 231 and 241 are newer."""


@dataclass(frozen=True)
class Erases:
    """Erases per block: the average, and the most-erased block where the drive tells it."""

    name: str
    average: int
    most: int | None


def erases(report: SmartReport) -> Erases | None:
    """The first erase counter that says anything, or None."""
    packed = report.numbered(PACKED)
    if packed and packed.raw is not None and WORD < packed.raw < 2**32 and _is_packed(report, packed):
        return Erases(_title(packed), packed.raw >> 16, packed.raw & WORD)
    found = (attribute for attribute in report.attributes if attribute.name in AVERAGE_NAMES)
    return next((Erases(_title(one), one.raw, None) for one in found if one.raw), None)


def _is_packed(report: SmartReport, attribute: Attribute) -> bool:
    return attribute.name == PACKED_NAME or (attribute.name in UNNAMED and report.numbers >= PHISON_PACKED)


def _title(attribute: Attribute) -> str:
    return f"{attribute.name or 'without a name'} (attribute {attribute.number})"
