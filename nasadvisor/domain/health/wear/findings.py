"""What is worth saying about a history of wear."""

from collections.abc import Iterator

from nasadvisor.domain.health.wear.history import FALL, History, intervals
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _


def history_findings(history: History) -> tuple[Finding, ...]:
    """Why a forecast is missing or weak, and what in the history contradicts itself."""
    return tuple(_findings(history))


def _findings(history: History) -> Iterator[Finding]:
    last = history.last
    if last is None or last.percent is None:
        yield Finding(
            "wear-unknown",
            _("The drive does not say how much of its endurance is used, so there is no forecast."),
            explanation=_(
                "Behind some RAID controllers and USB adapters drives tell nothing, and hard "
                "disks do not wear by writing."
            ),
        )
    elif not history.enough:
        yield Finding(
            "not-enough-history",
            _(
                "There is not enough history for a date: it takes two weeks of readings, or two steps of the "
                "percentage. What is shown is the average since the drive was new."
            ),
            explanation=_(
                "A percentage that moves in whole steps says little until it has moved; a date "
                "made of less would be a guess."
            ),
        )
    if history.stopped:
        yield Finding(
            "wear-stopped-counting",
            _(
                "The drive stands at its last possible percentage, although much was written since: it has stopped "
                "counting. Plan its replacement."
            ),
            level=Level.WARNING,
            explanation=_(
                "Some drives count to 99, 100 or 255 and then stand still. From then on only "
                "errors and spare blocks tell how the drive is."
            ),
        )
    if any(_fell(before.percent, after.percent) for _days, before, after in intervals(history.points)):
        yield Finding(
            "indicator-conflict",
            _("The percentage of used endurance went down between readings, which wear cannot do."),
            level=Level.WARNING,
            explanation=_(
                "A new firmware can count differently, and some drives report nonsense once. A forecast begins anew "
                "where the counter fell."
            ),
        )


def _fell(before: float | None, after: float | None) -> bool:
    return before is not None and after is not None and after < before - FALL
