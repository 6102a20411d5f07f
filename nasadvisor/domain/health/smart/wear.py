"""Every indicator of wear in a report, each as percent of rated endurance used. None is preferred silently.

Three kinds are standard (NVMe log, ATA device statistics page 7, SAS endurance indicator). The others are vendor
attributes, recognised by the *name* that smartctl's drive database gives them, since the same number means different
things on different drives. Source of the meanings: smartmontools drivedb/drivedb.h and the comments in it; where two
encodings exist behind one name, VALUE and RAW together tell which. Percentages are of rated endurance used and may
exceed 100.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from nasadvisor.domain.health.smart.report import Attribute, SmartReport

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


SILICON_MOTION: Final = frozenset({160, 161, 163, 164, 165, 166, 167, 168})
"""167 is the average, 168 the rated number of erases."""

PHISON: Final = frozenset({168, 173, 218, 231, 241})
"""231 RAW is percent left, 173 packs average and maximum erases."""

PHISON_LIFE: Final = 231

LARGEST_BYTE: Final = 255
RATED_ERASES: Final = (
    # average erases, rated erases: names of the drive database
    ("Average_Erase_Count", "Max_Erase_Count_of_Spec"),
    ("Average_Erase_Count", "Rated_Erase_Count"),
    ("Average_Erase_Count", "Max_PE_Count_Spec"),
    ("Average_Erase_Count", "Max_Rated_PE_Count"),
    ("Avg_Erase_Count", "Max_Rated_PE_Count"),
)


def erase_ratio(report: SmartReport) -> tuple[Attribute, float] | None:
    """Average erases per rated erases in percent, and the attribute that counts them; finer than whole percents."""
    pairs = [(report.named(average), report.named(rated)) for average, rated in RATED_ERASES]
    if report.numbers >= SILICON_MOTION:
        pairs.append((report.numbered(167), report.numbered(168)))
    for average, rated in pairs:
        if average and rated and average.raw is not None and average.raw <= WORD and rated.raw:
            return average, FULL * average.raw / rated.raw
    return None


def is_phison(report: SmartReport) -> bool:
    """Whether this is a Phison controller, whose 231 is read by `phison_life` and by nothing else."""
    return report.numbers >= PHISON or report.named("MaxAvgErase_Ct") is not None


def phison_life(report: SmartReport) -> tuple[Attribute, float] | None:
    """Phison's 231: RAW = percent left, while VALUE is left, used or stuck at 100, depending on the firmware."""
    found = report.numbered(PHISON_LIFE)
    percent = left_in_raw(found) if found and is_phison(report) else None
    return None if found is None or percent is None else (found, percent)


def dell_life(report: SmartReport) -> tuple[Attribute, float] | None:
    """Dell's layout on Intel drives: 233 counts sectors written, so that 245 VALUE is the percentage left."""
    counter, life = report.numbered(233), report.numbered(245)
    if not counter or not life or life.value is None or counter.raw is None:
        return None
    if life.name in UNNAMED and counter.raw > LARGEST_BYTE and life.raw in {0, life.value} and life.value <= FULL:
        return life, FULL - life.value
    return None


def _guess(attribute: Attribute, *, in_database: bool) -> float | None:
    """Of an attribute without a name whose VALUE and RAW look like wear; the more a guess while it is near zero."""
    if attribute.named and (in_database or attribute.number != 231):  # 231 is a temperature by default, in old tables
        return None
    if attribute.number in {202, 231}:
        return complement(attribute)
    if attribute.number == 230 and attribute.raw is not None and attribute.raw > WORD:
        return percent_words(attribute)
    if attribute.number == 173 and attribute.value is not None:
        # Several counters in RAW beside a VALUE that never moved: this one does not tell wear by VALUE.
        is_packed_and_new = attribute.value == FULL and attribute.raw is not None and attribute.raw > WORD
        if not is_packed_and_new:
            return next((top - attribute.value for top in (FULL, 2 * FULL) if attribute.value <= top), None)
    return None


PAGE_7: Final = (7, 8)
"""ATA device statistics, Solid State Device Statistics: Percentage Used Endurance Indicator (ACS-4, table A.26)."""

STANDARD_CEILING: Final = 255
"""The standard indicators go on above 100 and stop here."""

ATTRIBUTE_CEILING: Final = 100


class Trust(StrEnum):
    """Who says what an indicator means."""

    STANDARD = "standard"
    DOCUMENTED = "documented"
    GUESSED = "guessed"


@dataclass(frozen=True)
class WearIndicator:
    """One way to read the wear: percent of rated endurance used, and the value at which it stops counting."""

    code: str
    name: str
    percent_used: float
    trust: Trust
    ceiling: float


def wear_indicators(report: SmartReport) -> tuple[WearIndicator, ...]:
    """All that this report offers, the most trustworthy first; of the guesses, the most worn first.

    An attribute that smartctl cannot name may simply never move, so of two guesses the higher one is believed.
    """
    of_layouts = filter(None, (dell_life(report), erase_ratio(report), phison_life(report)))  # whatever the names are
    layouts = [_indicator(*each, Trust.DOCUMENTED, ATTRIBUTE_CEILING) for each in of_layouts]
    if is_phison(report):
        report = replace(report, attributes=tuple(one for one in report.attributes if one.number != PHISON_LIFE))
    guessed = sorted(_guessed(report), key=lambda found: -found.percent_used)
    named = _by_name(report, Trust.DOCUMENTED, found=len(layouts)) if report.family else ()
    found: dict[str, WearIndicator] = {}
    for indicator in (*_standard(report), *layouts, *named, *guessed):
        found.setdefault(indicator.code, indicator)  # one attribute is one indicator: the most trusted reading of it
    return tuple(found.values())


def _standard(report: SmartReport) -> Iterator[WearIndicator]:
    nvme = report.nvme.percent_used if report.nvme else None
    scsi = report.scsi.percent_used if report.scsi else None
    found = (
        ("nvme-percentage-used", "Percentage Used of the NVMe health log", nvme),
        ("ata-page-7", "Percentage Used of ATA device statistics page 7", report.statistics.get(PAGE_7)),
        ("scsi-endurance", "Percentage used endurance indicator (SAS)", scsi),
    )
    for code, name, percent in found:
        if percent is not None and percent <= STANDARD_CEILING:
            yield WearIndicator(code, name, float(percent), Trust.STANDARD, STANDARD_CEILING)


def _guessed(report: SmartReport) -> Iterator[WearIndicator]:
    """Attributes without a name; and without an entry in the database even known names are only smartctl's defaults."""
    if not report.family:
        yield from _by_name(report, Trust.GUESSED)
    for attribute in report.attributes:
        percent = _guess(attribute, in_database=bool(report.family))
        if percent is not None:
            yield _indicator(attribute, percent, Trust.GUESSED, ATTRIBUTE_CEILING)
    if report.endurance_used_percent is not None and not tuple(_standard(report)):
        percent = report.endurance_used_percent
        yield WearIndicator("smartctl-endurance", "endurance_used of smartctl", float(percent), Trust.GUESSED, FULL)


def _by_name(report: SmartReport, trust: Trust, found: int = 0) -> Iterator[WearIndicator]:
    for rule in RULES:
        if rule.fallback and found:
            continue
        for attribute in report.attributes:
            if attribute.name in rule.names and (not rule.numbers or attribute.number in rule.numbers):
                percent = rule.read(attribute)
                if percent is not None:
                    found += 1
                    yield _indicator(attribute, percent, trust, rule.ceiling)


def _indicator(attribute: Attribute, percent: float, trust: Trust, ceiling: float) -> WearIndicator:
    return WearIndicator(f"attribute-{attribute.number}", attribute.title, float(percent), trust, ceiling)
