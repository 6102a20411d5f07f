"""What the attributes of an ATA disk count, by their names, and the count in a raw value that holds several.

The number of an attribute says little: 198 is `Offline_Uncorrectable` on most disks and `Host_Reads_GiB` on some. The
name is what smartctl's drive database says of this very model; where the model is not in it, smartctl prints its
default for the number, which is one of these names too. Names: smartmontools drivedb/drivedb.h, and the options of
`-v` in lib/atacmds.cpp. Forms of raw values: ata_format_attr_raw_value() there.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from nasadvisor.domain.health.smart.values import LARGEST

WORD: Final = 0xFFFF
MOST_EVENTS: Final = 2**32 - 1
"""No disk replaces or misses so many sectors: a larger value holds several counts, of which the lowest word is ours."""

BELOW_ZERO: Final = tuple(range(2**bits - WORD, 2**bits) for bits in (32, 48))
"""Counts that went below zero, in numbers of these lengths. Some disks start so, as with -1 (smartmontools#116)."""

MOST_HOURS: Final = 0xFFFFFF
"""Of power-on time; more is bogus, as smartctl has it too (`set_json_globals_from_smart_attrib()`)."""

_LEADING: Final = re.compile(r"(-?\d+)(?: \(.*\)|/\d+|h\+.*|\.\d+)")
""" "168 (0 18)", "35 (Min/Max 15/45)", "150 (Average 131)", "0/9781000", "18211h+25m+20.134s", "35.5"."""

_WORDS: Final = re.compile(r"(?:\d+ ){2,5}(\d+)")
"""raw16 and raw8: words or bytes, the lowest last."""


@dataclass(frozen=True)
class CountName:
    """Names under which disks count one thing, and the numbers that an attribute of that name must have, if any."""

    names: frozenset[str]
    numbers: frozenset[int] = frozenset()


REALLOCATED: Final = CountName(
    frozenset(
        {
            "Later_Bad_Block",
            "New_Bad_Blk_Count",
            "New_Bad_Block_Count",
            "Realloc_Flash_Blocks_Ct",
            "Reallocate_NAND_Blk_Cnt",
            "Reallocated_Block_Count",
            "Reallocated_Sector_Ct",
            "Retired_Block_Count",
            "Retried_Blk_Ct",
            "Runtime_Bad_Block",  # 183 of this name counts something else
        }
    ),
    frozenset({5}),
)
PENDING: Final = CountName(frozenset({"Current_Pending_Sector", "Pending_Sector_Count"}))
"""`Current_Pending_ECC_Cnt` and `Bogus_Current_Pend_Sect` are not: the firmware of Crucial's MX500 shows 1 there now
and 0 an hour later (smartmontools ticket 1227)."""

UNCORRECTABLE: Final = CountName(
    frozenset(
        {
            "Lifetime_UECC_Ct",
            "Offline_Scan_UNC_SectCt",
            "Offline_UErr_Media_Scan",
            "Offline_Uncorrectable",
            "Reported_UE_Counts",
            "Reported_Uncorr_Errors",
            "Reported_Uncorrect",
            "Total_Offl_Uncorrectabl",
            "Total_Pending_Sectors",  # `-v 197,increasing`: it never falls, so it says nothing of this moment
            "Total_Unc_Read_Failures",
            "UECC_Ct",
            "UECC_Sector_Count",
            "Uncor_Read_Error_Ct",
            "Uncorrectable_ECC_Cnt",
            "Uncorrectable_ECC_Ct",
            "Uncorrectable_Err_Ct",
            "Uncorrectable_Error_Cnt",
            "Uncorrectable_Sector_Ct",
            "Uncorrectable_Sectors",
        }
    )
)
CRC: Final = CountName(
    frozenset(
        {
            "CRC_Error_Count",
            "CRC_Errors",
            "SATA_CRC_Error",
            "SATA_CRC_Error_Count",
            "SATA_Error_Ct_CRC",
            "SATA_FIS_CRC_Errors",
            "UDMA_CRC_Error_Count",
        }
    )
)
"""Transfers that arrived damaged. They tell of the cable and the backplane, not of the disk."""

TEMPERATURE: Final = CountName(
    frozenset(
        {
            "Airflow_Temperature_Cel",
            "Case_Temperature",
            "Device_Temperature",
            "Drive_Temperature",
            "Temperature_Case",
            "Temperature_Celsius",
            "Temperature_Internal",
        }
    ),
    frozenset({190, 194}),
)
POWER_ON: Final = CountName(frozenset({"Power_On_Hours", "Power_On_Hours_and_Msec"}), frozenset({9}))


class Named(Protocol):
    """An attribute as far as its meaning goes."""

    @property
    def number(self) -> int | None:
        """Its number; None of what is no attribute of an ATA disk."""

    @property
    def name(self) -> str:
        """What smartctl calls it."""


Row = TypeVar("Row", bound=Named)


def meaning(rows: Iterable[Row], one: CountName) -> list[Row]:
    """The attributes that count this, in the disk's order."""
    return [row for row in rows if row.name in one.names and (not one.numbers or row.number in one.numbers)]


def first_number(raw: int | None, shown: str) -> int | None:
    """The number that a person reads first in a raw value: the whole of it where it holds one count only."""
    if found := _LEADING.fullmatch(shown) or _WORDS.fullmatch(shown):
        number = int(found[1])
        return number if abs(number) <= LARGEST else None
    return raw


def events(raw: int | None, shown: str) -> int | None:
    """How often something happened to a disk, or to how many of its sectors; None where nobody can tell."""
    number = first_number(raw, shown)
    if number is None or number < 0 or any(number in each for each in BELOW_ZERO):
        return None
    return number if number <= MOST_EVENTS else number & WORD
