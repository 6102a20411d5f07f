"""What it does to an SSD's sustained writing to leave a share of it unwritten, as a test of it found.

An SSD erases in units much larger than what is written. Before it erases one, it writes elsewhere what is still valid
in it: the less of its flash is in use, the less that is, and the faster it stays (Desnoyers, "Analytic Modeling of SSD
Write Performance", SYSTOR 2012). How much flash an SSD has beyond what it sells is in no data sheet, so it is measured.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Final

from nasadvisor.domain.figures import duration
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import DAY_S, HOUR_S, KIB, size_text

FREE_PERCENTS: Final = (50, 30, 10)
"""In this order: what is written to only grows, so that what is free was not written since everything was discarded."""

BLOCK_BYTES: Final = 16 * KIB
WRITERS: Final = 4

LONGEST_S: Final = 3 * DAY_S
"""[policy] Nothing else is done on the host meanwhile."""

SETTLED_SHARE: Final = 0.9
"""[policy] It has settled if the last quarter was at least so fast as the one before, by when it was written over."""

AS_FAST_SHARE: Final = 0.9
"""[policy] Nobody feels a tenth."""


class Part(StrEnum):
    """What is done for each share, in this order."""

    FILL = "fill"  # everything but the free share is written once, in one piece
    SETTLE = "settle"  # scattered writes, until blocks must be moved
    EARLIER = "earlier"  # the same on, measured
    LATER = "later"  # the same again, to see whether it still gets slower


QUARTERS: Final = {Part.FILL: 4, Part.SETTLE: 2, Part.EARLIER: 1, Part.LATER: 1}
"""How many quarters of the time of a share's scattered writes each part takes, filling at the most."""

QUARTERS_OF_A_SHARE: Final = sum(QUARTERS.values())
QUARTERS_IN_ALL: Final = len(FREE_PERCENTS) * QUARTERS_OF_A_SHARE


@dataclass(frozen=True)
class ReserveOrder:
    """What somebody wants measured. `quarter_s` is how long each quarter of the scattered writing takes."""

    id: str
    pool_guid: str
    disk_key: str
    quarter_s: int

    @property
    def most_s(self) -> int:
        """How long it takes at the most, without making and removing the slice."""
        return QUARTERS_IN_ALL * self.quarter_s


@dataclass(frozen=True)
class ReserveProgress:
    """What begins: with how much of the SSD free, and how long it and all that follows takes at the most."""

    free_percent: int
    part: Part
    most_left_s: int


Begin = Callable[[ReserveProgress], None]


@dataclass(frozen=True)
class ReserveFigures:
    """What was measured with `free_percent` of the SSD free.

    `area_bytes` is what was written to, `filled_bytes` how much of it was written in one piece before. `written_bytes`
    are of the scattered writes until the last quarter of their time, whose rate and that of the one before are kept.
    """

    free_percent: int
    area_bytes: int
    filled_bytes: int
    written_bytes: int
    earlier_bytes_per_s: float
    later_bytes_per_s: float

    @property
    def is_settled(self) -> bool:
        """Whether longer would have found the same: it was full, was written over once, and got no slower any more."""
        has_seen_all = min(self.filled_bytes, self.written_bytes) >= self.area_bytes
        return has_seen_all and self.later_bytes_per_s >= SETTLED_SHARE * self.earlier_bytes_per_s


@dataclass(frozen=True)
class ReserveResult:
    """A test of an SSD. `disk` is how it is called, `at` is UTC in ISO 8601."""

    order: ReserveOrder
    disk: str
    at: str
    figures: tuple[ReserveFigures, ...]

    @property
    def finding(self) -> Finding:
        """What to make of it."""
        unsettled = [each for each in self.figures if not each.is_settled]
        if unsettled:
            return _not_settled(self.order, unsettled)
        best = max(self.figures, key=lambda each: each.later_bytes_per_s)
        fast = [each for each in self.figures if each.later_bytes_per_s >= AS_FAST_SHARE * best.later_bytes_per_s]
        enough, least = (min(some, key=lambda each: each.free_percent) for some in (fast, self.figures))
        most = max(self.figures, key=lambda each: each.free_percent)
        return _little(least, most) if enough is least else _gains(least, enough)


def _not_settled(order: ReserveOrder, figures: list[ReserveFigures]) -> Finding:
    """How long would be enough: so many times as long as the part that was furthest from its end had needed."""
    passes = min(min(each.filled_bytes, each.written_bytes) / each.area_bytes for each in figures)
    wanted_s = order.most_s / passes if 0 < passes < 1 else 2 * order.most_s
    return Finding(
        "reserve-not-settled",
        _(
            "With {percents} % free, the SSD was not written over once in this time, or was still getting slower. So "
            "these figures are better than what lasts. {longer}"
        ),
        {"percents": ", ".join(str(each.free_percent) for each in figures), "longer": _longer(wanted_s)},
        Level.WARNING,
        _(
            "An SSD that was discarded is fast until all of its flash was written once. Only then must it move blocks "
            "before it can erase, and only from then on does a reserve tell."
        ),
    )


def _longer(wanted_s: float) -> Statement:
    if wanted_s > LONGEST_S:
        template = _(
            "It would take about {time}, longer than a test may: so slow an SSD is no cache, whatever is free."
        )
        return Statement("reserve-too-slow", template, {"time": duration(wanted_s)})
    hours = str(max(ceil(wanted_s / HOUR_S), 1))
    return Statement(
        "reserve-longer",
        _("About {time} would be enough: `--hours {hours}`."),
        {"time": duration(wanted_s), "hours": hours},
    )


def _little(least: ReserveFigures, most: ReserveFigures) -> Finding:
    return Finding(
        "reserve-little",
        _("With {least} % free the SSD keeps {kept}, with {most} % {other}: more than {least} % free gains little."),
        {
            "least": str(least.free_percent),
            "kept": _per_second(least),
            "most": str(most.free_percent),
            "other": _per_second(most),
        },
        Level.INFO,
        _(
            "SSDs made for servers have much more flash than they sell, and some move blocks while nobody writes. They "
            "gain nothing from space that is left free."
        ),
    )


def _gains(least: ReserveFigures, enough: ReserveFigures) -> Finding:
    return Finding(
        "reserve-gains",
        _(
            "With {least} % free the SSD keeps {kept}, with {enough} % {fast}, {times} times as much. If log and cache "
            "shall stay fast there, leave {enough} % free: `--reserve {enough}%`."
        ),
        {
            "least": str(least.free_percent),
            "kept": _per_second(least),
            "enough": str(enough.free_percent),
            "fast": _per_second(enough),
            "times": f"{enough.later_bytes_per_s / least.later_bytes_per_s:.1f}" if least.later_bytes_per_s else "∞",
        },
        Level.INFO,
        _(
            "What is written in the test is scattered over all of it, which is harder than what a log and a cache "
            "write. Read the difference between the shares, not the figures. The less is moved, the less it wears, too."
        ),
    )


def _per_second(figures: ReserveFigures) -> str:
    return f"{size_text(int(figures.later_bytes_per_s))}/s"
