"""Controllers recognised by the attributes they show together, for drives that smartctl's database does not know.

A new drive is mostly an old controller: the set of attribute numbers tells which, and with it what they mean. Sources:
the entries of the same controllers in smartmontools drivedb/drivedb.h.
"""

from collections.abc import Iterator
from typing import Final

from nasadvisor.domain.health.smart.report import Attribute, SmartReport
from nasadvisor.domain.health.smart.vendor_wear import FULL, UNNAMED, WORD, complement, left_in_raw, percent_words

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
