"""What reads that were followed say of a cache, where the counters of OpenZFS end.

The counters speak for about one more ARC; a curve of an hour goes on from there. It decides only what it would decide
even if it were as wrong as it was at the worst, beside real caches.
"""

from dataclasses import replace
from typing import Final

from nasadvisor.domain.evidence.curve import CacheCurve, CurvePoint, size_from_curve
from nasadvisor.domain.evidence.thresholds import GHOSTS_HELP, GHOSTS_LITTLE, Span
from nasadvisor.domain.evidence.verdict import Answer, Verdict, not_yet
from nasadvisor.domain.figures import duration, percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import size_text

SHORTFALL: Final = 0.26
"""[measured] So much less of the misses did real caches answer than their curves said, until memory had run short once
(docs/evidence.md): nothing tells whether it has.
"""

COUNTERS_END: Final = frozenset({"some-ghosts", "no-ghosts", "ghosts-of-all", "streams-again"})
"""Rules of the verdict on a cache that say of larger ones that OpenZFS cannot tell."""


def with_curve(verdict: Verdict, curve: CacheCurve | None, arc_most_bytes: int, span: Span) -> Verdict:
    """The verdict on a cache, decided by the curve where the counters left it open and the curve leaves no doubt.

    `arc_most_bytes` is the limit of the ARC, of which the headers of a cache take a share.
    """
    if verdict.rule.code not in COUNTERS_END or curve is None or not curve.is_followed:
        return verdict
    point = size_from_curve(curve, arc_most_bytes)
    if point and least_at(curve, point) >= GHOSTS_HELP:
        helps = replace(verdict, answer=Answer.HELPS, rule=_helps(curve, point))
        return not_yet(helps, span.yes_s - verdict.seconds)
    most = max(map(curve.at_most, curve.points))
    if most < GHOSTS_LITTLE:
        little = replace(verdict, answer=Answer.LITTLE, rule=_little(curve, most), before=())
        return not_yet(little, span.no_s - verdict.seconds)
    return verdict


def least_at(curve: CacheCurve, point: CurvePoint) -> float:
    """The share of the misses that a cache of that size answers at the least; 0 of a short trace."""
    return max(point.low - SHORTFALL, 0.0) if curve.is_followed else 0.0


def _helps(curve: CacheCurve, point: CurvePoint) -> Statement:
    return Statement(
        "curve-helps",
        _(
            "A trace of {time} shows that a cache of {size} would serve at least {least} of the reads that now go to "
            "the disks: {low} from the curve, minus {shortfall} points, its worst known error."
        ),
        {
            "time": duration(curve.traced.seconds),
            "size": size_text(point.size_bytes),
            "least": percent(least_at(curve, point)),
            "low": percent(point.low),
            "shortfall": f"{SHORTFALL * 100:.0f}",
        },
    )


def _little(curve: CacheCurve, most: float) -> Statement:
    return Statement(
        "curve-little",
        _(
            "A trace of {time} shows that no cache up to {size} would serve more than {most} of the reads that now go "
            "to the disks."
        ),
        {
            "time": duration(curve.traced.seconds),
            "size": size_text(curve.points[-1].size_bytes),
            "most": percent(most),
        },
    )
