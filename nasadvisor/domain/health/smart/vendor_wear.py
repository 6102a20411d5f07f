"""Vendor attributes that tell wear: their names, their encodings, and how VALUE and RAW together tell one from another.

Names and meanings: smartmontools drivedb/drivedb.h. Percentages are of rated endurance used and may exceed 100.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.smart.report import Attribute

FULL: Final = 100
BYTE: Final = 256
"""Normalised values are one byte: Micron's 202 counts on below zero, so that 216 % used is shown as VALUE 140."""

LARGEST_PERCENT: Final = 255
WORD: Final = 0xFFFF

Reader = Callable[[Attribute], float | None]


@dataclass(frozen=True)
class WearRule:
    """Attributes of these names (and numbers, where a name has two meanings) are read in this way up to the ceiling.

    A fallback is read only where no rule before it found anything: its VALUE is known to stand still, or to mean the
    opposite, on some drives that have a better attribute.
    """

    names: frozenset[str]
    read: Reader
    numbers: frozenset[int] = frozenset()
    ceiling: float = FULL
    fallback: bool = False


def left_in_value(attribute: Attribute) -> float | None:
    """A life-left attribute: VALUE counts down from 100, RAW may repeat it or be its complement."""
    agreed = complement(attribute)
    if agreed is not None:
        return agreed
    if attribute.value is None:
        return left_in_raw(attribute)
    return FULL - attribute.value if attribute.value <= FULL else None


def left_in_raw(attribute: Attribute) -> float | None:
    """RAW = percent left (Phison's 231, Silicon Motion's 169). Where RAW is not filled, VALUE counts down instead.

    VALUE 100 beside RAW 0 may be a new drive or one at its end (CrystalDiskInfo, issue 162): it says nothing.
    """
    value, raw = attribute.value, attribute.raw
    if raw == 0 and value is not None:
        return FULL - value if value < FULL else None
    return FULL - raw if raw is not None and raw <= FULL else None


def used_in_raw(attribute: Attribute) -> float | None:
    """A life-used attribute: RAW is percent used, VALUE its complement ("norm = max(100-raw,0)", drivedb.h)."""
    agreed = complement(attribute)
    if agreed is not None:
        return agreed
    value, raw = attribute.value, attribute.raw
    if raw is not None and raw <= LARGEST_PERCENT and value in {None, 0, 1, FULL}:
        return raw
    return FULL - value if value is not None and value <= FULL else None


def complement(attribute: Attribute) -> float | None:
    """What VALUE and RAW agree on, as complements (RAW = used) or as equals (RAW = left); None where they do neither.

    The second is how Crucial's BX500 with firmware M6CR013 differs from every other Micron drive.
    """
    value, raw = attribute.value, attribute.raw
    if value is None or raw is None or raw > LARGEST_PERCENT:
        return None
    if (value + raw) % BYTE == FULL:
        return raw
    return FULL - raw if raw == value and 0 < raw <= FULL else None


def value_from_100(attribute: Attribute) -> float | None:
    """VALUE = percent left; above 100 it has wrapped below zero."""
    return None if attribute.value is None else (FULL - attribute.value) % BYTE


def value_from_200(attribute: Attribute) -> float | None:
    """VALUE starts at 200, is 100 at the rated erases, and goes on down (Toshiba, JMicron, SATADOM-ML)."""
    value = attribute.value
    return 2 * FULL - value if value is not None and value <= 2 * FULL else None


def wear_leveling(attribute: Attribute) -> float | None:
    """VALUE = percent left (Samsung). At 100 beside many erases in RAW it never moves, so it says nothing."""
    stuck = attribute.value == FULL and attribute.raw is not None and attribute.raw > FULL
    return None if stuck else value_from_100(attribute)


def media_wearout(attribute: Attribute) -> float | None:
    """Intel's Media_Wearout_Indicator: VALUE = percent left, RAW = 0. With a counter in RAW it is something else."""
    return value_from_100(attribute) if attribute.raw in {0, attribute.value} else None


def hundredths_left(attribute: Attribute) -> float | None:
    """RAW = hundredths of a percent left (SanDisk CloudSpeed)."""
    raw = attribute.raw
    return FULL - raw / FULL if raw is not None and raw <= FULL * FULL else None


def oem_life_left(attribute: Attribute) -> float | None:
    """Dell's layout on drives of any maker: attribute 245 has VALUE = RAW = percent left."""
    raw = attribute.raw
    return FULL - raw if raw is not None and raw == attribute.value and raw <= FULL else None


def percent_words(attribute: Attribute) -> float | None:
    """WD and SanDisk attribute 230: 16-bit words of percent used and hundredths; the second word counts all erases.

    Older Marvell-based SanDisk drives have one word only. SandForce has a constant 100 here.
    """
    raw = attribute.raw
    if raw is None or raw == FULL:
        return None
    word = raw >> 16 & WORD if raw > WORD else raw
    return (word >> 8) + min(word & 0xFF, FULL - 1) / FULL


UNNAMED: Final = frozenset({"", "Unknown_Attribute", "Unknown_SSD_Attribute"})
LEFT_NAMES: Final = frozenset(
    {
        "DriveLife_Remaining%",
        "Drive_Life_Remaining%",
        "Life_Remaining_Percent",
        "Lifetime_Left",
        "Lifetime_Remaining%",
        "PCT_Life_Remaining",
        "Perc_Rated_Life_Remain",
        "Percent_Life_Remaining",
        "Percent_Lifetime_Remain",
        "Remaining_Life",
        "SSD_Life_Left",
        "SSD_Life_Left_Perc",
        "SSD_Remaining_Life_Perc",
        "Sys_Percent_Life_Remain",
    }
)
USED_NAMES: Final = frozenset({"DriveLife_Used%", "Drive_Life_Used%", "Percent_Life_Used"})
MICRON_NAMES: Final = frozenset({"Percent_Lifetime_Remain", "Percent_Lifetime_Used", "Perc_Rated_Life_Used"})
WD_NAMES: Final = frozenset({"Life_Curve_Status", "Media_Wearout_Indicator", "Perc_Write/Erase_Count"})
ERASE_NAMES: Final = frozenset(
    {"Ave_Block-Erase_Count", "Avg_Block-Erase_Count", "Avg_Program/Erase_Ct", "Wear_Leveling_Count"}
)

RULES: Final = (
    WearRule(frozenset({"SSD_LifeLeft(0.01%)"}), hundredths_left),
    WearRule(WD_NAMES, percent_words, frozenset({230}), LARGEST_PERCENT),
    WearRule(UNNAMED | LEFT_NAMES, oem_life_left, frozenset({245})),
    WearRule(MICRON_NAMES, used_in_raw, frozenset({202}), LARGEST_PERCENT),
    WearRule(USED_NAMES, used_in_raw),
    WearRule(frozenset({"Remaining_Lifetime_Perc"}), left_in_raw),
    WearRule(LEFT_NAMES, left_in_value),
    WearRule(frozenset({"Media_Wearout_Indicator"}), media_wearout, frozenset({233})),
    WearRule(frozenset({"Wear_Leveling_Count"}), wear_leveling, frozenset({177}), fallback=True),
    WearRule(ERASE_NAMES, value_from_100, frozenset({173}), LARGEST_PERCENT, fallback=True),
    WearRule(frozenset({"Erase_Count"}), value_from_200, frozenset({173}), 2 * FULL),
)
"""In the order in which they are believed. The first rules are finer than whole percents or cannot be mistaken."""
