"""How large a log and a cache should be, from what was measured, each with its "because"."""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.curve import CacheCurve, size_from_curve
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.thresholds import (
    FEWEST_READS_FOR_BLOCK,
    HEADER_SHARE,
    LARGEST_CACHE_ARCS,
    LOG_SAFETY,
    SMALLEST_BLOCK,
    SMALLEST_CACHE_BYTES,
    SMALLEST_LOG_BYTES,
    TXGS_IN_LOG,
)
from nasadvisor.domain.evidence.workload import Workload
from nasadvisor.domain.figures import duration, percent, rounded_up_s
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.sizing import TYPICAL_BLOCK_BYTES, header_memory_bytes
from nasadvisor.domain.units import GIB, align_down, align_up, size_text

USUAL_LOG_BYTES: Final = 4 * GIB
"""openzfs-docs, "Hardware": "only about 4GB is needed"."""


@dataclass(frozen=True)
class Recommendation:
    """A size in bytes and why. `is_measured` tells whether it comes from this pool's own samples."""

    size_bytes: int
    because: Statement
    is_measured: bool


BY_CURVE: Final = Statement("need-size-curve", _("because a larger one gains less per GiB, by the cache curve."))


def cache_size_by(
    curve: CacheCurve | None, arc_most_bytes: int, counted: Recommendation | None
) -> Recommendation | None:
    """The size of a cache: off the curve where reads were followed and it tells one, else what the counters tell.

    `arc_most_bytes` is the limit of the ARC, of which its headers take a share.
    """
    point = size_from_curve(curve, arc_most_bytes) if curve and curve.is_enough else None
    return Recommendation(point.size_bytes, BY_CURVE, is_measured=True) if point else counted


def recommend_log(workload: Workload, facts: PoolFacts) -> Recommendation:
    """The size of a log: twice what may come in while five transaction groups pass.

    size = 2 x ingest x 5 x txg, between 1 GiB and twice zfs_wrlog_data_max, whole GiB. The ingest is the highest that
    was seen in one sample, as blocks; a txg is the 95th percentile, at least zfs_txg_timeout.
    """
    most_bytes = 2 * facts.tunables.most_in_log_bytes
    if not workload.busy_seconds:
        size_bytes = min(USUAL_LOG_BYTES, align_down(most_bytes, GIB) or GIB)
        return Recommendation(
            size_bytes,
            Statement(
                "usual-log",
                _("because few synchronous writes have been recorded so far; logs rarely hold more than {size}."),
                {"size": size_text(size_bytes)},
            ),
            False,
        )
    ingest = workload.peak_sync_bytes_per_s * workload.block_overhead
    txg_s = rounded_up_s(_txg_s(workload, facts))
    held_bytes = int(LOG_SAFETY * ingest * TXGS_IN_LOG * txg_s)
    wanted = align_up(held_bytes, GIB)
    size_bytes = max(min(wanted, align_up(most_bytes, GIB)), SMALLEST_LOG_BYTES)
    values = {
        "ingest": size_text(int(ingest)),
        "txg": duration(txg_s),
        "held": size_text(held_bytes),
        "most": size_text(facts.tunables.most_in_log_bytes),
    }
    if wanted > size_bytes:
        template = _("because OpenZFS lets at most {most} wait in a log (zfs_wrlog_data_max), and this is twice that.")
        return Recommendation(size_bytes, Statement("most-log", template, values), True)
    template = _(
        "because synchronous writes peaked at {ingest}/s: five transaction groups of up to {txg}, doubled for safety, "
        "are {held}, rounded up to the next GiB."
    )
    return Recommendation(size_bytes, Statement("measured-log", template, values), True)


def _txg_s(workload: Workload, facts: PoolFacts) -> float:
    """How long a transaction group takes. Those that end by the timeout take that, whatever else is in its bucket."""
    timeout_s = facts.tunables.txg_timeout_s
    longest_ns = workload.txgs.quantile_ns(0.95)
    bucket_of_timeout = int(timeout_s * 1e9).bit_length()
    return timeout_s if int(longest_ns).bit_length() <= bucket_of_timeout else longest_ns / 1e9


def mean_block_bytes(workload: Workload) -> int:
    """The mean block that the ARC had to read (OpenZFS 2.3 tells), else that of the datasets that are read.

    A volume's blocks have its volblocksize; those of a file system have its recordsize at the most.
    """
    pool = workload.sample.pool
    if pool.arc_reads >= FEWEST_READS_FOR_BLOCK:
        return max(pool.arc_read_bytes // pool.arc_reads, SMALLEST_BLOCK)
    facts = {each.name: each.facts for each in workload.datasets}
    read = [(each.read_bytes, found.block_bytes) for each in workload.sample.datasets if (found := facts[each.name])]
    blocks = sum(size / block for size, block in read if block)
    return max(int(sum(size for size, _block in read) / blocks), SMALLEST_BLOCK) if blocks else TYPICAL_BLOCK_BYTES


def recommend_cache(workload: Workload) -> Recommendation | None:
    """The size of all caches together: five ARCs, as far as a tenth of the ARC's limit is enough for their headers.

    None where the ARC is not known: then as much as fits is no worse than any guess.
    """
    levels = workload.sample.levels
    if not levels.arc_target_bytes or not levels.arc_most_bytes:
        return None
    block = mean_block_bytes(workload)
    for_headers = int(levels.arc_most_bytes * HEADER_SHARE)
    most_bytes = for_headers * block // header_memory_bytes(block, block)
    wanted = LARGEST_CACHE_ARCS * levels.arc_target_bytes
    size_bytes = max(align_down(min(wanted, most_bytes), GIB), SMALLEST_CACHE_BYTES)
    values = {
        "arc": size_text(levels.arc_target_bytes),
        "block": size_text(block),
        "memory": size_text(header_memory_bytes(size_bytes, block)),
        "share": percent(HEADER_SHARE),
    }
    if most_bytes < wanted:
        template = _(
            "because its headers, with blocks of {block}, take {memory} of memory: the limit of {share} of the ARC."
        )
        return Recommendation(size_bytes, Statement("memory-cache", template, values), True)
    template = _(
        "because the ARC holds {arc}: up to five times that is useful at first, and with blocks of {block} its "
        "headers take {memory} of memory."
    )
    return Recommendation(size_bytes, Statement("measured-cache", template, values), True)
