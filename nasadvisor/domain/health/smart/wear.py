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

from nasadvisor.domain.health.smart.layouts import (
    PHISON_LIFE,
    dell_life,
    erase_ratio,
    is_phison,
    phison_life,
    unnamed_wear,
)
from nasadvisor.domain.health.smart.report import Attribute, SmartReport
from nasadvisor.domain.health.smart.vendor_wear import FULL, RULES

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
