"""Would a cache help, or does the one that is there? Read off what it takes away (`reads`), with what bounds that.

Never is a hit rate of a larger cache guessed: where counters end, a curve tells, or nothing does.
"""

from collections.abc import Iterator
from typing import Final

from nasadvisor.domain.evidence.curve import CacheCurve, size_from_curve
from nasadvisor.domain.evidence.excluded_reads import NOTHING, also_kept_out, kept_out, kept_out_of, metadata_share
from nasadvisor.domain.evidence.feed import cache_feed, feed_notes
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.reads import (
    CACHES,
    SHORTFALL,
    SSD_BEFORE_SSD,
    CacheInUse,
    cache_in_use,
    demand_of_reads,
    ghost_share,
    least_at,
    own_ghost_share,
    random_share,
    relief_by_cache,
    stream_share,
)
from nasadvisor.domain.evidence.samples import Levels
from nasadvisor.domain.evidence.thresholds import (
    ARC_AT_LIMIT,
    ARC_FULL,
    ARC_LIMIT_SHARE,
    ARC_SHRUNK,
    HEADER_SHARE,
    STREAM_SHARE,
    Span,
)
from nasadvisor.domain.evidence.verdict import (
    FELT_SHARE,
    HELPS_SHARE,
    LEAST_SHARE,
    Answer,
    Device,
    Evidence,
    Relief,
    Verdict,
    Waiting,
    in_time,
    measured,
    read_off,
    read_off_one,
)
from nasadvisor.domain.evidence.workload import Workload
from nasadvisor.domain.figures import duration, milliseconds, percent, rate
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import size_text

UNKNOWN: Final = Relief(Waiting.READS, 0.0, None)


def judge_cache(workload: Workload, facts: PoolFacts, span: Span, curve: CacheCurve | None = None) -> Verdict:
    """Whether a cache would help, or whether the one that is there does.

    `curve` is of reads that were followed lately, None without.
    """
    answer, rule = _decide(workload, facts, curve)
    judged = in_time(answer, rule, workload.seconds, span.missing_s(answer, workload.seconds))
    return Verdict(
        device=Device.CACHE,
        answer=judged.answer,
        rule=judged.because,
        evidence=tuple(_evidence(workload)),
        seconds=workload.seconds,
        wait_s=judged.wait_s,
        before=tuple(_first(workload.sample.levels, facts)) if answer in (Answer.HELPS, Answer.CANNOT_TELL) else (),
        beside=tuple(_beside(workload, facts, rule)),
    )


def judge_reads(workload: Workload) -> tuple[Answer, Statement] | None:
    """What speaks of all reads, whatever would answer them; None where somebody waits for them."""
    levels, demand = workload.sample.levels, demand_of_reads(workload)
    if not levels.arc_bytes:
        return Answer.CANNOT_TELL, Statement("no-arcstats", _("The ARC counters could not be read on this host."))
    if demand.most < FELT_SHARE:
        return read_off(demand, UNKNOWN), _hardly_waited(workload)
    return None


def filling(workload: Workload) -> Statement | None:
    """That the ARC is still filling, so that nothing is known of what is read again."""
    levels = workload.sample.levels
    if not levels.arc_target_bytes or levels.arc_bytes >= ARC_FULL * levels.arc_target_bytes:
        return None
    template = _(
        "The ARC holds {size} of {target} and is still filling, so most misses are first reads. Wait until it is full."
    )
    values = {"size": size_text(levels.arc_bytes), "target": size_text(levels.arc_target_bytes)}
    return Statement("arc-fills", template, values)


def _decide(workload: Workload, facts: PoolFacts, curve: CacheCurve | None) -> tuple[Answer, Statement]:
    of_all = judge_reads(workload)
    if of_all:
        return of_all
    demand = demand_of_reads(workload)
    if facts.leaves_of(*CACHES):
        return _of_cache_in_use(cache_in_use(workload, facts), facts)
    for relief, because in _bounds(workload, facts):
        return read_off(demand, relief), because
    answer = read_off(demand, relief_by_cache(workload, facts, curve))
    return answer, _of_size(workload, facts, answer, curve)


def _hardly_waited(workload: Workload) -> Statement:
    """Nobody waits, because the ARC serves the reads, or because those that it misses are of other pools."""
    arc, demand, own = workload.sample.arc, demand_of_reads(workload), workload.misses_share
    if not own or demand.most / own >= FELT_SHARE:
        template = _("Only {share} of ARC misses belong to this pool.")
        return Statement("other-pools", template, {"share": percent(own)})
    asked = arc.demand_hits + arc.demand_misses
    template = _(
        "The ARC already serves {hits} of reads; programs spend only {share} of their time waiting for the rest."
    )
    waited = workload.read_pace.all_day * workload.read_ns / 1e9
    values = {"hits": percent(arc.demand_hits / asked if asked else 1.0), "share": percent(waited)}
    return Statement("arc-is-enough", template, values)


def _bounds(workload: Workload, facts: PoolFacts) -> Iterator[tuple[Relief, Statement]]:
    """What keeps a cache from taking more away, the closest first; nothing where its size alone decides."""
    arc = workload.sample.arc
    out, fills = kept_out(workload, facts), filling(workload)
    if out:
        yield out
    if random_share(arc) < LEAST_SHARE and not facts.tunables.reads_streams_from_cache:
        template = _(
            "{share} of misses are prefetches for long sequential reads, which this release of OpenZFS never serves "
            "from a cache (l2arc_noprefetch=1)."
        )
        yield NOTHING, Statement("streams", template, {"share": percent(stream_share(arc))})
    if fills:
        yield UNKNOWN, fills
    if workload.is_flash:
        yield before_flash(workload)


def before_flash(workload: Workload) -> tuple[Relief, Statement]:
    """What SSDs take away of the waiting for a pool of SSDs."""
    template = _("The pool consists of SSDs and reads in about {read}; a cache would hardly be faster.")
    because = Statement("flash-pool", template, {"read": milliseconds(workload.read_ns)})
    return Relief(Waiting.READS, 0.0, SSD_BEFORE_SSD), because


def _of_size(workload: Workload, facts: PoolFacts, answer: Answer, curve: CacheCurve | None) -> Statement:
    """What counters and curve say of caches of all sizes."""
    relief = relief_by_cache(workload, facts, curve)
    if curve and answer is Answer.LITTLE:
        return _little_by_curve(curve, relief)
    point = size_from_curve(curve, workload.sample.levels.arc_most_bytes) if curve else None
    by_curve = least_at(curve, point) if curve and point else 0.0
    if curve and point and answer is Answer.HELPS and by_curve >= relief.low:
        template = _(
            "A trace of {time} shows that a cache of {size} would serve at least {least} of the reads that now go to "
            "the disks: {low} from the curve, minus {shortfall} points, its worst known error."
        )
        values = {
            "time": duration(curve.traced.seconds),
            "size": size_text(point.size_bytes),
            "least": percent(by_curve),
            "low": percent(point.low),
            "shortfall": f"{SHORTFALL * 100:.0f}",
        }
        return Statement("curve-helps", template, values)
    return _by_ghosts(workload, answer, relief_by_cache(workload, facts, None).low)


def _little_by_curve(curve: CacheCurve, relief: Relief) -> Statement:
    template = _(
        "A trace of {time} shows that no cache up to {size} would serve more than {most} of the reads that now go to "
        "the disks."
    )
    values = {
        "time": duration(curve.traced.seconds),
        "size": size_text(curve.points[-1].size_bytes),
        "most": percent(relief.at_best),
    }
    return Statement("curve-little", template, values)


def _by_ghosts(workload: Workload, answer: Answer, least: float) -> Statement:
    arc, levels, own = workload.sample.arc, workload.sample.levels, workload.misses_share
    share = ghost_share(arc)
    values = {"share": percent(share), "arc": size_text(levels.arc_target_bytes)}
    if answer is Answer.HELPS:
        template = _(
            "At least {share} of misses were for blocks the ARC had just evicted; {arc} more would have held them."
        )
        return Statement("ghosts", template, {**values, "share": percent(own_ghost_share(workload))})
    if share >= HELPS_SHARE > own_ghost_share(workload) or share >= LEAST_SHARE > least:
        template = _(
            "{share} of the host's misses were for blocks the ARC had just evicted, but at most {own} of the misses "
            "belong to this pool. OpenZFS does not show whose blocks they were."
        )
        return Statement("ghosts-of-all", template, {**values, "own": percent(own)})
    if share < LEAST_SHARE and stream_share(arc) >= STREAM_SHARE:
        template = _(
            "{share} of misses are prefetches for long sequential reads. A cache helps only with files that are read "
            "again and fit into it; OpenZFS does not show whether they are."
        )
        return Statement("streams-again", template, {"share": percent(stream_share(arc))})
    if share < LEAST_SHARE:
        template = _(
            "A cache of about {arc} would serve hardly any misses. OpenZFS does not show what a much larger one, or "
            "one for metadata only, would do. Add one and compare; you can undo it at any time."
        )
        return Statement("no-ghosts", template, values)
    template = _(
        "A cache of about {arc} would serve at least {share} of misses. OpenZFS does not show what a much larger one, "
        "or one for metadata only, would do. Add one and compare; you can undo it at any time."
    )
    return Statement("some-ghosts", template, {**values, "share": percent(least)})


def _of_cache_in_use(cache: CacheInUse, facts: PoolFacts) -> tuple[Answer, Statement]:
    """The cache that is there: that it serves reads is use, and no help yet."""
    workload, arc, relief = cache.workload, cache.workload.sample.arc, cache.relief
    demand = demand_of_reads(workload)
    answer = read_off_one(demand, relief)
    values = {
        "share": percent(cache.share),
        "read": size_text(arc.l2_read_bytes),
        "written": size_text(arc.l2_written_bytes),
        "own": percent(workload.misses_share),
        "pool": milliseconds(workload.read_ns),
    }
    if answer is Answer.HELPS:
        template = _("The cache serves {share} of ARC misses ({read} read from it, {written} written to it).")
        return answer, Statement("cache-serves", template, values)
    if answer is Answer.CANNOT_TELL:
        template = _(
            "The host's caches serve {share} of ARC misses, but at most {own} of the misses belong to this pool. "
            "OpenZFS does not show whose reads they serve."
        )
        return answer, Statement("caches-of-all", template, values)
    out = kept_out(workload, facts)
    return (read_off(demand, out[0]), out[1]) if out else (Answer.LITTLE, _serves_little(cache, values))


def _serves_little(cache: CacheInUse, values: dict[str, str]) -> Statement:
    """Why programs wait hardly less for a cache that is used."""
    arc = cache.workload.sample.arc
    if cache.share >= HELPS_SHARE and (cache.is_timed or cache.workload.is_flash):
        template = _(
            "The cache serves {share} of ARC misses, but the pool itself reads in about {pool}: the cache is hardly "
            "faster."
        )
        return Statement("cache-slow", template, values)
    if arc.l2_read_bytes >= arc.l2_written_bytes:
        template = _("The cache serves only {share} of what the ARC misses. A cache needs hours to fill.")
        return Statement("cache-serves-little", template, values)
    template = _(
        "The cache serves {share} of ARC misses ({read} read from it, {written} written to it): more wear than "
        "benefit. A cache needs hours to fill."
    )
    return Statement("cache-wears", template, values)


def _beside(workload: Workload, facts: PoolFacts, rule: Statement) -> Iterator[Statement]:
    """What is to be known beside the rule that decided."""
    found = also_kept_out(kept_out_of(workload, facts))
    if found and found.values["datasets"] != rule.values.get("datasets"):
        yield found
    caches, levels = facts.leaves_of(*CACHES), workload.sample.levels
    if levels.arc_target_bytes < ARC_SHRUNK * levels.arc_most_bytes:
        template = _(
            "The ARC shrank to {arc}, far below its limit of {limit}, because memory was needed elsewhere. Find out "
            "what uses it before you buy an SSD: cache headers need even more memory."
        )
        values = {"arc": size_text(levels.arc_target_bytes), "limit": size_text(levels.arc_most_bytes)}
        yield Statement("arc-shrunk", template, values)
    if levels.l2_header_bytes and levels.l2_header_bytes >= HEADER_SHARE * levels.arc_target_bytes:
        template = _(
            "The cache headers take {headers} of the ARC's {arc}; that memory could serve reads itself. A smaller "
            "cache takes less."
        )
        values = {"headers": size_text(levels.l2_header_bytes), "arc": size_text(levels.arc_target_bytes)}
        yield Statement("cache-headers", template, values)
    if caches:
        feed, wanted = cache_feed(workload, facts, [leaf.size_bytes for leaf in caches])
        largest = max(caches, key=lambda leaf: leaf.size_bytes)
        yield from feed_notes(feed, facts.tunables, wanted, largest.size_bytes, largest.disk_bytes)


def _first(levels: Levels, facts: PoolFacts) -> Iterator[Statement]:
    """Memory serves reads faster than any SSD, so what costs nothing comes first."""
    memory, most = facts.tunables.memory_bytes, levels.arc_most_bytes
    at_limit = levels.arc_target_bytes >= ARC_AT_LIMIT * most
    if memory and most and at_limit and most < ARC_LIMIT_SHARE * memory:
        yield Statement(
            "raise-arc-limit",
            _(
                "The ARC has reached its limit of {limit} on a host with {memory} of memory (zfs_arc_max; some "
                "installers set 10 %). If the memory is not needed elsewhere, raise the limit first: it costs nothing "
                "and is faster."
            ),
            {"limit": size_text(most), "memory": size_text(memory)},
        )
    else:
        yield Statement(
            "memory-first",
            _(
                "The same amount of memory would do the same, but faster: a cache needs memory for its headers, which "
                "shrinks the ARC."
            ),
        )


def _evidence(workload: Workload) -> Iterator[Evidence]:
    arc, levels, seconds = workload.sample.arc, workload.sample.levels, max(workload.seconds, 1e-9)
    asked = arc.demand_hits + arc.demand_misses
    read = milliseconds(workload.reads.quantile_ns(0.5))
    size = f"{size_text(levels.arc_bytes)} / {size_text(levels.arc_target_bytes)} / {size_text(levels.arc_most_bytes)}"
    eligible, not_eligible = (
        f"{size_text(int(each / seconds))}/s" for each in (arc.evicted_eligible_bytes, arc.evicted_ineligible_bytes)
    )
    yield measured(_("Monitored"), duration(workload.seconds))
    yield measured(_("ARC hit rate (whole host)"), percent(arc.demand_hits / asked) if asked else "–", "demand_*")
    yield measured(_("ARC misses (whole host)"), f"{rate(arc.demand_misses / seconds)}/s", "demand_*_misses")
    yield measured(_("Read latency of the data disks, median"), read, "zpool iostat -w")
    yield measured(_("Misses for blocks just evicted (at least)"), percent(ghost_share(arc)), "m?u_ghost_hits")
    yield measured(_("Misses from prefetching"), percent(stream_share(arc)), "prefetch_*_misses")
    yield measured(_("Metadata misses"), percent(metadata_share(arc)), "*_metadata_misses")
    yield measured(_("ARC size, target and limit"), size, "size, c, c_max")
    yield measured(_("Evicted from the ARC, eligible for a cache"), eligible, "evict_l2_eligible")
    yield measured(_("Evicted from the ARC, not eligible for a cache"), not_eligible, "evict_l2_ineligible")
