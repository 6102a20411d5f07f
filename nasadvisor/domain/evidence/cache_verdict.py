"""Would a cache (L2ARC) help? The rules, in the order in which they are asked.

OpenZFS's ghost lists tell what would have been a hit in an ARC larger by about one ARC. Nothing in the kernel tells
more than that, so nothing more is said: never is a hit rate of a larger cache guessed.
"""

from collections.abc import Iterator, Mapping

from nasadvisor.domain.evidence.excluded_reads import also_kept_out, judge_kept_out, kept_out_of, metadata_share
from nasadvisor.domain.evidence.feed import cache_feed, feed_notes
from nasadvisor.domain.evidence.pool_facts import LeafFacts, PoolFacts
from nasadvisor.domain.evidence.samples import ArcActivity, Levels
from nasadvisor.domain.evidence.thresholds import (
    ARC_AT_LIMIT,
    ARC_FULL,
    ARC_LIMIT_SHARE,
    ARC_SHRUNK,
    ENOUGH_HITS,
    GAIN_LITTLE,
    GHOSTS_HELP,
    GHOSTS_LITTLE,
    HEADER_SHARE,
    L2_USEFUL,
    MOST_SHARE,
    POOL_SHARE,
    READ_FELT_SHARE,
    READ_WAITING_SHARE,
    STREAM_SHARE,
    Span,
)
from nasadvisor.domain.evidence.verdict import Answer, Device, Evidence, Verdict, not_yet
from nasadvisor.domain.evidence.workload import Workload, reads_of
from nasadvisor.domain.figures import duration, milliseconds, percent, rate
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import size_text

CACHES = (VdevClass.CACHE,)


def judge_cache(workload: Workload, facts: PoolFacts, span: Span) -> Verdict:
    """Whether a cache would help, or whether the one that is there does."""
    answer, rule = _decide(workload, facts)
    verdict = Verdict(
        device=Device.CACHE,
        answer=answer,
        rule=rule,
        evidence=tuple(_evidence(workload)),
        seconds=workload.seconds,
        before=tuple(_first(workload.sample.levels, facts)) if answer in (Answer.HELPS, Answer.CANNOT_TELL) else (),
        beside=tuple(_beside(workload, facts, rule)),
    )
    enough_s = span.yes_s if answer is Answer.HELPS else span.no_s
    return not_yet(verdict, enough_s - workload.seconds)


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
    if caches and levels.l2_header_bytes >= HEADER_SHARE * levels.arc_target_bytes:
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


def ghost_share(arc: ArcActivity) -> float:
    """The share of misses that an ARC larger by about its own size would have served."""
    return min(arc.ghost_hits / arc.misses, 1.0) if arc.misses else 0.0


def own_ghost_share(workload: Workload) -> float:
    """The same of one pool's misses, at least: ghost hits are the host's, so those of others may be among them."""
    own = workload.misses_share
    return max((ghost_share(workload.sample.arc) - (1 - own)) / own, 0.0) if own else 0.0


def stream_share(arc: ArcActivity) -> float:
    """The share of misses that were read ahead."""
    return arc.prefetch_misses / arc.misses if arc.misses else 0.0


def read_waiting_share(workload: Workload) -> float:
    """How much of the time somebody waits for a read of this pool that the ARC missed (more than 1 if several do)."""
    return workload.missed_reads_per_s * workload.read_ns / 1e9


def _decide(workload: Workload, facts: PoolFacts) -> tuple[Answer, Statement]:
    arc, levels = workload.sample.arc, workload.sample.levels
    if not levels.arc_bytes:
        return Answer.CANNOT_TELL, Statement("no-arcstats", _("The ARC counters could not be read on this host."))
    if facts.leaves_of(*CACHES):
        answer, rule = _cache_in_use(workload, facts.leaves_of(*CACHES))
        return (answer is Answer.LITTLE and judge_kept_out(workload, facts)) or (answer, rule)
    return (
        _others_miss(workload)
        or _nothing_missed(workload)
        or judge_kept_out(workload, facts)
        or _streams(arc, facts)
        or _filling(levels)
        or _flash(workload)
        or _ghosts(workload)
    )


def _cache_in_use(workload: Workload, caches: tuple[LeafFacts, ...]) -> tuple[Answer, Statement]:
    arc = workload.sample.arc
    asked = arc.l2_hits + arc.l2_misses
    share = arc.l2_hits / asked if asked else 0.0
    values = {
        "share": percent(share),
        "read": size_text(arc.l2_read_bytes),
        "written": size_text(arc.l2_written_bytes),
    }
    if share >= L2_USEFUL:
        found = _use_without_gain(workload, caches, values)
        if found:
            return found
        if arc.l2_read_bytes >= arc.l2_written_bytes:
            template = _("The cache serves {share} of ARC misses ({read} read from it, {written} written to it).")
            return Answer.HELPS, Statement("cache-serves", template, values)
    if arc.l2_read_bytes >= arc.l2_written_bytes:
        template = _("The cache serves only {share} of what the ARC misses. A cache needs hours to fill.")
        return Answer.LITTLE, Statement("cache-serves-little", template, values)
    template = _(
        "The cache serves {share} of ARC misses ({read} read from it, {written} written to it): more wear than "
        "benefit. A cache needs hours to fill."
    )
    return Answer.LITTLE, Statement("cache-wears", template, values)


def _use_without_gain(
    workload: Workload, caches: tuple[LeafFacts, ...], values: Mapping[str, str]
) -> tuple[Answer, Statement] | None:
    """Why a cache that serves reads makes none of this pool faster; None where it does."""
    if workload.misses_share < MOST_SHARE:
        template = _(
            "The host's caches serve {share} of ARC misses, but at most {own} of the misses belong to this pool. "
            "OpenZFS does not show whose reads they serve."
        )
        return Answer.CANNOT_TELL, Statement(
            "caches-of-all", template, {**values, "own": percent(workload.misses_share)}
        )
    pool, reads = milliseconds(workload.read_ns), reads_of(workload.sample, caches)
    cache_ns = reads.quantile_ns(0.5)
    if reads.total and cache_ns * GAIN_LITTLE >= workload.read_ns:
        template = _(
            "The cache serves {share} of ARC misses but takes about {cache} per read; the pool itself takes {pool}, "
            "so the cache is hardly faster."
        )
        return Answer.LITTLE, Statement(
            "cache-slow", template, {**values, "cache": milliseconds(cache_ns), "pool": pool}
        )
    if workload.is_flash:
        template = _(
            "The cache serves {share} of ARC misses, but the pool itself consists of SSDs and reads in about {pool}: "
            "the cache is hardly faster."
        )
        return Answer.LITTLE, Statement("cache-before-flash", template, {**values, "pool": pool})
    return None


def _nothing_missed(workload: Workload) -> tuple[Answer, Statement] | None:
    arc, share = workload.sample.arc, read_waiting_share(workload)
    hits = arc.demand_hits / (arc.demand_hits + arc.demand_misses) if arc.demand_hits + arc.demand_misses else 1.0
    if share >= READ_FELT_SHARE or (share >= READ_WAITING_SHARE and hits < ENOUGH_HITS):
        return None
    return Answer.NO, Statement(
        "arc-is-enough",
        _("The ARC already serves {hits} of reads; programs spend only {share} of their time waiting for the rest."),
        {"hits": percent(hits), "share": percent(share)},
    )


def _others_miss(workload: Workload) -> tuple[Answer, Statement] | None:
    """The ARC's counters are the host's. A pool's own misses are told from OpenZFS 2.3 on, and bounded by its disks."""
    if not workload.sample.arc.misses or workload.misses_share >= POOL_SHARE:
        return None
    return Answer.NO, Statement(
        "other-pools",
        _("Only {share} of ARC misses belong to this pool."),
        {"share": percent(workload.misses_share)},
    )


def _streams(arc: ArcActivity, facts: PoolFacts) -> tuple[Answer, Statement] | None:
    if stream_share(arc) < STREAM_SHARE or facts.tunables.reads_streams_from_cache:
        return None
    template = _(
        "{share} of misses are prefetches for long sequential reads, which this release of OpenZFS never serves from "
        "a cache (l2arc_noprefetch=1)."
    )
    return Answer.NO, Statement("streams", template, {"share": percent(stream_share(arc))})


def _filling(levels: Levels) -> tuple[Answer, Statement] | None:
    if not levels.arc_target_bytes or levels.arc_bytes >= ARC_FULL * levels.arc_target_bytes:
        return None
    return Answer.CANNOT_TELL, Statement(
        "arc-fills",
        _(
            "The ARC holds {size} of {target} and is still filling, so most misses are first reads. Wait until it is "
            "full."
        ),
        {"size": size_text(levels.arc_bytes), "target": size_text(levels.arc_target_bytes)},
    )


def _flash(workload: Workload) -> tuple[Answer, Statement] | None:
    if not workload.is_flash:
        return None
    return Answer.LITTLE, Statement(
        "flash-pool",
        _("The pool consists of SSDs and reads in about {read}; a cache would hardly be faster."),
        {"read": milliseconds(workload.read_ns)},
    )


def _ghosts(workload: Workload) -> tuple[Answer, Statement]:
    arc, levels, own = workload.sample.arc, workload.sample.levels, workload.misses_share
    share = ghost_share(arc)
    values = {"share": percent(share), "arc": size_text(levels.arc_target_bytes)}
    if share >= GHOSTS_HELP > own_ghost_share(workload):
        template = _(
            "{share} of the host's misses were for blocks the ARC had just evicted, but at most {own} of the misses "
            "belong to this pool. OpenZFS does not show whose blocks they were."
        )
        return Answer.CANNOT_TELL, Statement("ghosts-of-all", template, {**values, "own": percent(own)})
    if share >= GHOSTS_HELP:
        return Answer.HELPS, Statement(
            "ghosts",
            _("At least {share} of misses were for blocks the ARC had just evicted; {arc} more would have held them."),
            values,
        )
    if share < GHOSTS_LITTLE and stream_share(arc) >= STREAM_SHARE:
        template = _(
            "{share} of misses are prefetches for long sequential reads. A cache helps only with files that are read "
            "again and fit into it; OpenZFS does not show whether they are."
        )
        return Answer.CANNOT_TELL, Statement("streams-again", template, {"share": percent(stream_share(arc))})
    if share < GHOSTS_LITTLE:
        return Answer.CANNOT_TELL, Statement(
            "no-ghosts",
            _(
                "Only {share} of misses were for blocks the ARC had just evicted; a cache of about {arc} would serve "
                "at least that share. OpenZFS does not show what a much larger cache, or one for metadata only, would "
                "do."
            ),
            values,
        )
    return Answer.CANNOT_TELL, Statement(
        "some-ghosts",
        _(
            "A cache of about {arc} would serve at least {share} of misses. OpenZFS does not show whether a larger "
            "one would serve much more. Add one and compare; you can undo it at any time."
        ),
        values,
    )


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

    def row(template: str, value: str, source: str) -> Evidence:
        return Evidence(Statement("evidence", template), value, source)

    asked = arc.demand_hits + arc.demand_misses
    yield row(_("Monitored"), duration(workload.seconds), "")
    yield row(_("ARC hit rate (whole host)"), percent(arc.demand_hits / asked) if asked else "–", "demand_*")
    yield row(_("ARC misses (whole host)"), f"{rate(arc.demand_misses / seconds)}/s", "demand_*_misses")
    yield row(
        _("Read latency of the data disks, median"), milliseconds(workload.reads.quantile_ns(0.5)), "zpool iostat -w"
    )
    yield row(_("Misses for blocks just evicted (at least)"), percent(ghost_share(arc)), "m?u_ghost_hits")
    yield row(_("Misses from prefetching"), percent(stream_share(arc)), "prefetch_*_misses")
    yield row(_("Metadata misses"), percent(metadata_share(arc)), "*_metadata_misses")
    size = f"{size_text(levels.arc_bytes)} / {size_text(levels.arc_target_bytes)} / {size_text(levels.arc_most_bytes)}"
    yield row(_("ARC size, target and limit"), size, "size, c, c_max")
    yield row(
        _("Evicted from the ARC, eligible for a cache"),
        f"{size_text(int(arc.evicted_eligible_bytes / seconds))}/s",
        "evict_l2_eligible",
    )
    yield row(
        _("Evicted from the ARC, not eligible for a cache"),
        f"{size_text(int(arc.evicted_ineligible_bytes / seconds))}/s",
        "evict_l2_ineligible",
    )
