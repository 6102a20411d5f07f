"""Indicators that contradict each other, or what was written. A contradiction is shown; it never picks a winner."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.smart.report import SmartReport
from nasadvisor.domain.health.smart.wear import UNNAMED, WORD, Trust, WearIndicator
from nasadvisor.domain.health.smart.written import ByteCounter
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import TERABYTE

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
    by_name = packed and packed.name == PACKED_NAME
    by_controller = packed and packed.name in UNNAMED and report.numbers >= PHISON_PACKED
    if packed and packed.raw is not None and WORD < packed.raw < 2**32 and (by_name or by_controller):
        return Erases(packed.title, packed.raw >> 16, packed.raw & WORD)
    found = (attribute for attribute in report.attributes if attribute.name in AVERAGE_NAMES)
    return next((Erases(one.title, one.raw, None) for one in found if one.raw), None)


POINTS: Final = 3.0
"""Two honest indicators of one drive differ by rounding, and by when each was last refreshed."""

SHARE: Final = 0.1
"""Above 30 %, a tenth: some drives count their own percentage a little faster than the vendor attribute."""

SMALL_POINTS: Final = 1.0
SMALL_SHARE: Final = 0.15
"""Below that, more than a point and more than this share: 9 % beside 11 % is not rounding. Indicators of the fit half
(docs/explanation/wear.md) agree so well that a half or a seventh flags the same believable drives; a tenth begins to
cost some."""

MOVED: Final = 3.0
"""A guessed indicator below a standard one counts against it only once it has moved at all."""

STOPS_BEFORE: Final = 99.0
"""Vendor attributes stop at 99 or 100: above that they say only "at least"."""

LEAST_REWRITES: Final = 30
MOST_REWRITES: Final = 100_000
"""Full drive writes that 100 % may stand for. The lowest ratings of flash sold are some 100 erases per cell, and no
flash has 100,000; the factor left on each side is for write amplification and over-provisioning. The same bounds hold
for the erases themselves."""

LEAST_PERCENT: Final = 5.0
"""Below it a percentage is too coarse to be compared with what was written."""


NO_MAKER: Final = re.compile(
    r"(?:(?:\d+ ?[GT]B|M\.?2|mSATA|SATA(?: ?(?:3|III))?|SSD|Solid State D(?:isk|rive))\s*)+", re.IGNORECASE
)
"""Model names without a maker: "OEM drives with a very weak information in the model" (smartmontools drivedb.h)."""


CONFLICT_WHY: Final = _(
    "A wear forecast is only as good as the disk's own counters. Where they contradict each other, errors and spare "
    "blocks are more reliable, and the maker can say which counter is right."
)


def conflicts(
    report: SmartReport, indicators: Sequence[WearIndicator], counters: Sequence[ByteCounter]
) -> tuple[Finding, ...]:
    """What contradicts what, and what nobody can check."""
    return (
        *_between(indicators),
        *_with_written(indicators, counters, report.capacity_bytes),
        *_with_erases(indicators, erases(report)),
        *_of_counters(counters),
        *_unverified(report, indicators),
    )


def _unverified(report: SmartReport, indicators: Sequence[WearIndicator]) -> Iterator[Finding]:
    if indicators and NO_MAKER.fullmatch(report.model):
        yield Finding(
            "indicator-unverified",
            _(
                "The disk identifies itself only as {model}, without a maker, so it is unclear which endurance its "
                "percentage refers to. The firmware of such disks is known to count wrongly."
            ),
            {"model": report.model},
            Level.INFO,
            explanation=_("Base your plans on errors and spare blocks rather than on the percentage."),
        )


def _between(indicators: Sequence[WearIndicator]) -> Iterator[Finding]:
    """The first two that disagree; the others are in the list of indicators anyway."""
    if not indicators:
        return
    shown = indicators[0]
    other = next((one for one in indicators[1:] if _disagree(shown, one)), None)
    if other is not None:
        yield Finding(
            "indicator-conflict",
            _(
                "The disk contradicts itself about its wear: {shown} says {shown_percent} % used, {other} says "
                "{other_percent} %. Plan with the higher value, and ask the maker which one counts for the warranty."
            ),
            {
                "shown": shown.name,
                "shown_percent": f"{shown.percent_used:.0f}",
                "other": other.name,
                "other_percent": f"{other.percent_used:.0f}",
            },
            Level.WARNING,
            CONFLICT_WHY,
        )


def _disagree(shown: WearIndicator, other: WearIndicator) -> bool:
    cap = min(_stops_at(shown), _stops_at(other))
    here, there = min(shown.percent_used, cap), min(other.percent_used, cap)
    apart, larger = abs(here - there), max(here, there)
    guessed = Trust.GUESSED in {shown.trust, other.trust}
    if guessed and there < min(here, MOVED):
        return False
    if guessed:
        return apart > max(2 * POINTS, 2 * SHARE * larger)
    return apart > max(POINTS, SHARE * larger) or (apart > SMALL_POINTS and apart > SMALL_SHARE * larger)


def _stops_at(indicator: WearIndicator) -> float:
    """Where it says only "at least": at its ceiling, and for every vendor attribute that stands at 99 or 100."""
    if indicator.trust is not Trust.STANDARD and STOPS_BEFORE <= indicator.percent_used <= STOPS_BEFORE + 1:
        return STOPS_BEFORE
    return indicator.ceiling if indicator.ceiling > STOPS_BEFORE + 1 else STOPS_BEFORE


def _with_written(
    indicators: Sequence[WearIndicator], counters: Sequence[ByteCounter], capacity_bytes: int | None
) -> Iterator[Finding]:
    """Whether the percentage can come from what was written, if the counter has not wrapped."""
    if not indicators or not counters or not capacity_bytes:
        return
    percent = indicators[0].percent_used
    written = max(counter.bytes_written for counter in counters)
    rewrites = written / capacity_bytes
    unwrapped = not all(counter.may_wrap for counter in counters) or percent > 2 * LEAST_PERCENT
    if percent >= LEAST_PERCENT and rewrites * 100 < LEAST_REWRITES * percent and unwrapped:
        template = _(
            "The disk reports {percent} % of its endurance used, after {rewrites} full overwrites. No flash wears so "
            "fast: one of the two counters is wrong."
        )
    elif rewrites * 100 > MOST_REWRITES * max(percent, 1.0):
        template = _(
            "The disk reports {percent} % of its endurance used, despite {rewrites} full overwrites. No flash lasts "
            "so long: one of the two counters is wrong."
        )
    else:
        return
    values = {"percent": f"{percent:.0f}", "rewrites": f"{rewrites:.0f}"}
    yield Finding("indicator-conflict", template, values, Level.WARNING, CONFLICT_WHY)


def _with_erases(indicators: Sequence[WearIndicator], counted: Erases | None) -> Iterator[Finding]:
    """Whether the percentage can come from the erases, and whether the erases can be true."""
    if not indicators or counted is None:
        return
    percent = indicators[0].percent_used
    values = {"counter": counted.name, "average": f"{counted.average}", "percent": f"{percent:.0f}"}
    too_few = percent >= LEAST_PERCENT and counted.average * 100 < LEAST_REWRITES * percent
    if counted.most is not None and counted.average > counted.most:
        template = _(
            "{counter} says that blocks were erased {average} times on average, but the most erased block only {most} "
            "times. The disk counts its erases wrongly, so its {percent} % of endurance used may also be wrong."
        )
        values["most"] = f"{counted.most}"
    elif too_few or counted.average * 100 > MOST_REWRITES * max(percent, 1.0):
        template = _(
            "The disk reports {percent} % of its endurance used, and {counter} says that blocks were erased {average} "
            "times on average. No flash is made for that: one of the two counters is wrong."
        )
    else:
        return
    yield Finding("indicator-conflict", template, values, Level.WARNING, CONFLICT_WHY)


def _of_counters(counters: Sequence[ByteCounter]) -> Iterator[Finding]:
    """Counters of the same writes that are more than a factor of two apart, without a wrap that explains it."""
    if len(counters) > 1:
        first, last = counters[0], max(counters[1:], key=lambda one: abs(one.bytes_written - counters[0].bytes_written))
        less, more = sorted((first.bytes_written, last.bytes_written))
        if more > 2 * less + TERABYTE and not last.may_wrap:
            yield Finding(
                "byte-counter-conflict",
                _(
                    "The disk contradicts itself about the data written to it: {first} says {first_tb} TB, {last} "
                    "says {last_tb} TB. Its write rate is measured between readings of the first counter."
                ),
                {
                    "first": first.name,
                    "first_tb": f"{first.bytes_written / TERABYTE:.1f}",
                    "last": last.name,
                    "last_tb": f"{last.bytes_written / TERABYTE:.1f}",
                },
                Level.INFO,
                explanation=_(
                    "Vendors count in their own units, and some change them with the firmware. Only differences of "
                    "one counter are used, so a forecast holds as long as that counter advances evenly."
                ),
            )
