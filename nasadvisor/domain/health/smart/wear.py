"""Every indicator of wear in a report, each as percent of rated endurance used. None is preferred silently.

Three kinds are standard (NVMe log, ATA device statistics page 7, SAS endurance indicator). The others are vendor
attributes, recognised by the *name* that smartctl's drive database gives them, since the same number means different
things on different drives. Source of the meanings: smartmontools drivedb/drivedb.h and the comments in it; where two
encodings exist behind one name, VALUE and RAW together tell which (`vendor_wear`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from nasadvisor.domain.health.smart.report import Attribute, SmartReport
from nasadvisor.domain.health.smart.vendor_wear import (
    FULL,
    RULES,
    UNNAMED,
    WORD,
    complement,
    left_in_raw,
    percent_words,
)

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


def unnamed_wear(report: SmartReport) -> Iterator[tuple[Attribute, float]]:
    """Attributes without a name whose VALUE and RAW look like wear; a guess, the more so while it is near zero."""
    for attribute in report.attributes:
        percent = _guess(attribute, in_database=bool(report.family))
        if percent is not None:
            yield attribute, percent


def _guess(attribute: Attribute, *, in_database: bool) -> float | None:
    if attribute.named and (in_database or attribute.number != 231):  # 231 is a temperature by default, in old tables
        return None
    if attribute.number in {202, 231}:
        return complement(attribute)
    if attribute.number == 230 and attribute.raw is not None and attribute.raw > WORD:
        return percent_words(attribute)
    if attribute.number == 173 and attribute.value is not None and not _packed_and_new(attribute):
        return next((top - attribute.value for top in (FULL, 2 * FULL) if attribute.value <= top), None)
    return None


def _packed_and_new(attribute: Attribute) -> bool:
    """Several counters in RAW beside a VALUE that never moved: this one does not tell wear by VALUE."""
    return attribute.value == FULL and attribute.raw is not None and attribute.raw > WORD


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
    layouts = tuple(_layouts(report))
    if is_phison(report):
        report = replace(report, attributes=tuple(one for one in report.attributes if one.number != PHISON_LIFE))
    guessed = sorted(_guessed(report), key=lambda found: -found.percent_used)
    named = _by_name(report, Trust.DOCUMENTED, found=len(layouts)) if report.family else ()
    return _without_repeats((*_standard(report), *layouts, *named, *guessed))


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


def _layouts(report: SmartReport) -> Iterator[WearIndicator]:
    """What the layouts of known controllers tell, whatever the names are."""
    for found in (dell_life(report), erase_ratio(report), phison_life(report)):
        if found:
            yield _indicator(*found, Trust.DOCUMENTED, ATTRIBUTE_CEILING)


def _guessed(report: SmartReport) -> Iterator[WearIndicator]:
    """Attributes without a name; and without an entry in the database even known names are only smartctl's defaults."""
    if not report.family:
        yield from _by_name(report, Trust.GUESSED)
    for attribute, percent in unnamed_wear(report):
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
    name = f"{attribute.name or 'without a name'} (attribute {attribute.number})"
    return WearIndicator(f"attribute-{attribute.number}", name, float(percent), trust, ceiling)


def _without_repeats(indicators: Iterable[WearIndicator]) -> tuple[WearIndicator, ...]:
    """One attribute is one indicator: the first, most trusted reading of it."""
    found: dict[str, WearIndicator] = {}
    for indicator in indicators:
        found.setdefault(indicator.code, indicator)
    return tuple(found.values())
