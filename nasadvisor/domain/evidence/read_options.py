"""The rows of what answers reads: more memory, a cache, one for metadata only, special vdevs."""

from dataclasses import replace
from typing import Final

from nasadvisor.domain.evidence.cache_verdict import CACHES, own_ghost_share, read_waiting_share
from nasadvisor.domain.evidence.curve import CurvePoint, MemoryPoint, curve_in_words, size_from_curve
from nasadvisor.domain.evidence.curve_verdict import COUNTERS_END, least_at
from nasadvisor.domain.evidence.feed import cache_feed
from nasadvisor.domain.evidence.options import (
    AT_ANY_TIME,
    COPIES_ONLY,
    DAYS_PER_YEAR,
    NOTHING_LOST,
    SETTINGS,
    UNLESS_CHECKPOINT,
    Cost,
    Known,
    Option,
    OptionRow,
    watch_longer,
)
from nasadvisor.domain.evidence.recommendation import mean_block_bytes
from nasadvisor.domain.evidence.thresholds import GHOSTS_HELP, GHOSTS_LITTLE, READ_WAITING_SHARE
from nasadvisor.domain.evidence.verdict import Answer, Relief, Verdict, Waiting, not_yet
from nasadvisor.domain.figures import percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.sizing import header_memory_bytes
from nasadvisor.domain.units import size_text

OF_ALL_READS: Final = frozenset({"arc-is-enough", "other-pools", "arc-fills", "no-arcstats"})
"""Rules of the verdict on a cache that speak of the reads themselves, so of whatever would answer them."""

CURVE_TELLS: Final = COUNTERS_END | {"metadata-only"}
"""Rules that end where the counters of OpenZFS do, and a curve goes on."""

FOLLOW: Final = Statement(
    "option-follow-reads",
    _("Trace reads for an hour or a day to get figures for every size (`nasadvisor curve POOL`)."),
)

_FULL_ARC: Final = Statement("option-arc-fills", _("The ARC must fill up first."))


def memory_row(known: Known) -> OptionRow:
    """What more memory for the ARC would answer: off the curve, else what the ghost lists say of about one more ARC."""
    judged, relief, more_bytes = _judged_memory(known)
    is_known = relief is not None and not judged.wait_s
    is_open = judged.answer is Answer.CANNOT_TELL and (is_known or judged.rule.code == "option-memory-open")
    return OptionRow(
        Option.MEMORY,
        judged.answer,
        judged.rule,
        lost=NOTHING_LOST,
        back=AT_ANY_TIME,
        relief=relief if is_known else None,
        cost=Cost(memory_bytes=more_bytes) if is_known else None,
        missing=missing_of(judged) or ((FOLLOW,) if is_open else ()),
    )


def cache_row(known: Known) -> OptionRow:
    """The verdict on a cache; where it ends, or says yes, with what the curve says of a size."""
    verdict, curve = known.cache, known.readable_curve
    is_there = bool(known.facts.leaves_of(*CACHES))
    is_open = not is_there and verdict.rule.code in CURVE_TELLS
    is_shared = is_there and verdict.rule.code == "caches-of-all"
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
        missing=missing_of(verdict) or (_would_tell(known, is_there) if is_open or is_shared else ()),
        is_there=is_there,
    )


def _would_tell(known: Known, is_there: bool) -> tuple[Statement, ...]:
    """What tells where counters do not: following the reads, and where that was done, switching the cache there is."""
    if not (known.readable_curve and known.readable_curve.tells_size):
        return (FOLLOW,)
    template = _("A randomised cache test over some days shows it: `nasadvisor switching {pool} --start`.")
    return (Statement("option-switch", template, {"pool": known.facts.name}),) if is_there else ()


def missing_of(judged: Verdict) -> tuple[Statement, ...]:
    """What an answer still lacks before it can be given."""
    return (_FULL_ARC,) if judged.rule.code == "arc-fills" else watch_longer(judged.wait_s)


def judged_on(known: Known, answer: Answer, because: Statement) -> Verdict:
    """An answer that rests on what the verdict on a cache rests on, unless too little was watched."""
    enough_s = known.span.yes_s if answer is Answer.HELPS else known.span.no_s
    return not_yet(replace(known.cache_at_once, answer=answer, rule=because), enough_s - known.workload.seconds)


def against_all(known: Known) -> Verdict | None:
    """What speaks of all reads, whoever would answer them."""
    at_once = known.cache_at_once
    if at_once.rule.code in OF_ALL_READS:
        return judged_on(known, at_once.answer, at_once.rule)
    share = read_waiting_share(known.workload)
    if share >= READ_WAITING_SHARE:
        return None
    template = _("Programs wait for disk reads only {share} of the time.")
    return judged_on(known, Answer.NO, Statement("option-no-waits", template, {"share": percent(share)}))


def _judged_memory(known: Known) -> tuple[Verdict, Relief | None, int]:
    against = against_all(known)
    if against:
        return against, None, 0
    point = _memory_point(known)
    if point:
        template = _(
            "{more} more for the ARC would serve about {share} ({low} to {high}) of the reads that now go to the disks."
        )
        bounds = {"share": percent(point.served), "low": percent(point.low), "high": percent(point.high)}
        because = Statement("option-memory-curve", template, {"more": size_text(point.more_bytes), **bounds})
        relief = Relief(Waiting.READS, point.low, point.high)
        answer = Answer.HELPS if point.served >= GHOSTS_HELP else Answer.LITTLE
        return judged_on(known, answer, because), relief, point.more_bytes
    share, more = own_ghost_share(known.workload), known.workload.sample.levels.arc_target_bytes
    if not share:
        template = _("The OpenZFS counters do not show whether {more} more for the ARC would serve reads of this pool.")
        because = Statement("option-memory-open", template, {"more": size_text(more)})
        return judged_on(known, Answer.CANNOT_TELL, because), None, 0
    template = _("About {more} more for the ARC would serve at least {share} of the reads that now go to the disks.")
    because = Statement("option-memory", template, {"more": size_text(more), "share": percent(share)})
    answer = Answer.HELPS if share >= GHOSTS_HELP else Answer.CANNOT_TELL  # of still more memory they tell nothing
    return judged_on(known, answer, because), Relief(Waiting.READS, share, None), more


def _memory_point(known: Known) -> MemoryPoint | None:
    """As much as would do what the cache at the knee does, else the most that was looked at."""
    curve = known.readable_curve
    if curve is None or not curve.memory:
        return None
    knee = curve.knee
    return (curve.memory_for(knee.served) if knee else None) or curve.memory[-1]


def _point_of_cache(known: Known) -> CurvePoint | None:
    """What the curve says of the cache that is proposed; None where it says that none is worth it, or nothing."""
    curve, proposed = known.readable_curve, known.recommended_cache
    return curve.point_near(proposed.size_bytes) if curve and curve.knee and proposed else None


def _cache_relief(known: Known, point: CurvePoint | None) -> Relief | None:
    if point and known.curve:
        return Relief(Waiting.READS, least_at(known.curve, point), known.curve.at_most(point))
    share = own_ghost_share(known.workload) * _fed_share(known)
    return Relief(Waiting.READS, share, None) if share >= GHOSTS_LITTLE and not known.readable_curve else None


def _fed_share(known: Known) -> float:
    """How much of what the ARC drops is copied to a cache: what never gets there is never read from it."""
    size = known.recommended_cache
    feed, dropped = cache_feed(known.workload, known.facts, [size.size_bytes if size else 0])
    return min(feed.filling / dropped, 1.0) if dropped else 1.0


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
