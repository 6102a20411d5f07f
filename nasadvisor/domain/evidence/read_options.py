"""The rows of what answers reads: more memory, a cache, one for metadata only, special vdevs."""

from typing import Final

from nasadvisor.domain.evidence.cache_verdict import filling, judge_reads
from nasadvisor.domain.evidence.curve import CurvePoint, curve_in_words, size_from_curve
from nasadvisor.domain.evidence.options import (
    AT_ANY_TIME,
    COPIES_ONLY,
    NOTHING_LOST,
    SETTINGS,
    UNLESS_CHECKPOINT,
    Cost,
    Known,
    Option,
    OptionRow,
    watch_longer,
)
from nasadvisor.domain.evidence.reads import CACHES, demand_of_reads, own_ghost_share, relief_at, relief_by_cache
from nasadvisor.domain.evidence.recommendation import mean_block_bytes
from nasadvisor.domain.evidence.verdict import LEAST_SHARE, Answer, Judged, Relief, Waiting, in_time, read_off_one
from nasadvisor.domain.figures import percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.sizing import header_memory_bytes
from nasadvisor.domain.units import DAYS_PER_YEAR, size_text

FOLLOW: Final = Statement(
    "option-follow-reads",
    _("Trace reads for an hour or a day to get figures for every size (`nasadvisor curve POOL`)."),
)

_FULL_ARC: Final = Statement("option-arc-fills", _("The ARC must fill up first."))


def memory_row(known: Known) -> OptionRow:
    """What more memory for the ARC would answer: off the curve, else what the ghost lists say of about one more ARC."""
    judged, relief, more_bytes = _judged_memory(known)
    is_known = relief is not None and not judged.wait_s
    is_open = judged.answer is Answer.CANNOT_TELL and (is_known or judged.because.code == "option-memory-open")
    return OptionRow(
        Option.MEMORY,
        judged.answer,
        judged.because,
        lost=NOTHING_LOST,
        back=AT_ANY_TIME,
        relief=relief if is_known else None,
        cost=Cost(memory_bytes=more_bytes) if is_known else None,
        missing=missing_of(judged) or ((FOLLOW,) if is_open else ()),
    )


def cache_row(known: Known) -> OptionRow:
    """The verdict on a cache; where it is open, or says yes, with what the curve says of a size."""
    verdict, curve = known.cache, known.readable_curve
    is_there = bool(known.facts.leaves_of(*CACHES))
    missing = missing_of(Judged(verdict.answer, verdict.rule, verdict.wait_s))
    is_open = verdict.answer is Answer.CANNOT_TELL and verdict.rule.code != "no-arcstats" and not missing
    point = _point_of_cache(known)
    says_more = not is_there and (verdict.answer is Answer.HELPS or is_open)
    return OptionRow(
        Option.CACHE,
        verdict.answer,
        verdict.rule,
        lost=COPIES_ONLY,
        back=UNLESS_CHECKPOINT,
        relief=_cache_relief(known, point) if says_more else None,
        cost=None if is_there or verdict.answer is Answer.NO else _cache_cost(known, point),
        beside=(
            *((curve_in_words(curve),) if curve and says_more else ()),
            *(each for each in verdict.beside if each.code not in SETTINGS),
        ),
        missing=missing or (_would_tell(known, is_there) if is_open else ()),
        is_there=is_there,
    )


def _would_tell(known: Known, is_there: bool) -> tuple[Statement, ...]:
    """What tells where counters do not: following the reads, and where that was done, switching the cache there is."""
    if not (known.readable_curve and known.readable_curve.tells_size):
        return (FOLLOW,)
    template = _("A randomised cache test over some days shows it: `nasadvisor switching {pool} --start`.")
    return (Statement("option-switch", template, {"pool": known.facts.name}),) if is_there else ()


def missing_of(judged: Judged) -> tuple[Statement, ...]:
    """What an answer still lacks before it can be given."""
    return (_FULL_ARC,) if judged.because.code == "arc-fills" else watch_longer(judged.wait_s)


def judged_on(known: Known, answer: Answer, because: Statement) -> Judged:
    """An answer, unless too little was watched."""
    return in_time(answer, because, known.workload.seconds, known.span.missing_s(answer, known.workload.seconds))


def against_all(known: Known) -> Judged | None:
    """What speaks of all reads, whoever would answer them."""
    found, fills = judge_reads(known.workload), filling(known.workload)
    if found:
        return judged_on(known, *found)
    return Judged(Answer.CANNOT_TELL, fills) if fills else None


def _judged_memory(known: Known) -> tuple[Judged, Relief | None, int]:
    against = against_all(known)
    if against:
        return against, None, 0
    curve, levels = known.readable_curve, known.workload.sample.levels
    if curve and curve.memory:
        point = (curve.memory_for(curve.knee.served) if curve.knee else None) or curve.memory[-1]
        template = _(
            "{more} more for the ARC would serve about {share} ({low} to {high}) of the reads that now go to the disks."
        )
        bounds = {"share": percent(point.served), "low": percent(point.low), "high": percent(point.high)}
        because = Statement("option-memory-curve", template, {"more": size_text(point.more_bytes), **bounds})
        relief, more = Relief(Waiting.READS, point.low, point.high), point.more_bytes
        return _judged_by(known, relief, because), relief, more
    relief, more = Relief(Waiting.READS, own_ghost_share(known.workload), None), levels.arc_target_bytes
    if not relief.low:
        template = _("The OpenZFS counters do not show whether {more} more for the ARC would serve reads of this pool.")
        because = Statement("option-memory-open", template, {"more": size_text(more)})
        return judged_on(known, Answer.CANNOT_TELL, because), None, 0
    template = _("About {more} more for the ARC would serve at least {share} of the reads that now go to the disks.")
    because = Statement("option-memory", template, {"more": size_text(more), "share": percent(relief.low)})
    return _judged_by(known, relief, because), relief, more


def _judged_by(known: Known, relief: Relief, because: Statement) -> Judged:
    return judged_on(known, read_off_one(demand_of_reads(known.workload), relief), because)


def _point_of_cache(known: Known) -> CurvePoint | None:
    """What the curve says of the cache that is proposed; None where it says that none is worth it, or nothing."""
    curve, proposed = known.readable_curve, known.recommended_cache
    return curve.point_near(proposed.size_bytes) if curve and curve.knee and proposed else None


def _cache_relief(known: Known, point: CurvePoint | None) -> Relief | None:
    if point and known.curve:
        return relief_at(known.curve, point)
    found = relief_by_cache(known.workload, known.facts, None)
    return found if found.low >= LEAST_SHARE and not known.readable_curve else None


def _cache_cost(known: Known, point: CurvePoint | None) -> Cost | None:
    if known.recommended_cache is None:
        return None
    size, curve = known.recommended_cache.size_bytes, known.readable_curve
    memory = curve.header_bytes(size) if curve else header_memory_bytes(size, mean_block_bytes(known.workload))
    written = point.written_bytes_per_year if point else known.cache_bytes_per_day * DAYS_PER_YEAR
    return Cost(memory, size, 1, written)


def cost_of(known: Known, point: CurvePoint) -> Cost:
    headers = known.curve.header_bytes(point.size_bytes) if known.curve else 0
    return Cost(headers, point.size_bytes, 1, point.written_bytes_per_year)


def largest_point(known: Known) -> CurvePoint | None:
    """The cache to recommend by the curve, else the one that would answer most."""
    curve = known.readable_curve
    if curve is None:
        return None
    return size_from_curve(curve, known.workload.sample.levels.arc_most_bytes) or curve.most
