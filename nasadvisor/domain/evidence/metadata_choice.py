"""Special vdevs, a cache for metadata only, or memory? One choice from all that was looked at, and what was not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.cache_verdict import CACHES
from nasadvisor.domain.evidence.log_verdict import Answer
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.evidence.metadata_options import metadata_of_reads, metadata_row
from nasadvisor.domain.evidence.options import Known, Option
from nasadvisor.domain.evidence.thresholds import GHOSTS_HELP
from nasadvisor.domain.figures import duration, percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage import releases
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import size_text

IN_MEMORY_SHARE: Final = 0.5
"""[policy] All metadata fits into the memory if it takes up no more than this share of the largest ARC: data wants the
rest."""

KEPT_OUT: Final = frozenset({"kept-out", "nothing-eligible"})
"""Rules of the verdict on a cache by which nothing may enter one as the datasets are set."""


@dataclass(frozen=True)
class MetadataAdvice:
    """What to do about metadata. `option` is None where that cannot be said; `looked` is what was looked at and what
    was not.
    """

    option: Option | None
    because: Statement
    looked: tuple[Statement, ...]


def advise_metadata(known: Known) -> MetadataAdvice:
    """The cheapest that does it, and what can be taken back before what cannot."""
    option, because = _chosen(known)
    return MetadataAdvice(option, because, tuple(_looked_at(known)))


def _chosen(known: Known) -> tuple[Option | None, Statement]:
    if known.facts.leaves_of(VdevClass.SPECIAL):
        return Option.NOTHING, Statement("metadata-special-there", _("The pool has special vdevs already."))
    row = metadata_row(known)
    if row.answer in {Answer.NO, Answer.LITTLE}:
        return Option.NOTHING, row.because
    if row.relief is None:
        return None, row.because
    if known.counted is None:
        return None, _not_counted(known)
    return _by_size(known, known.counted.count)


def _by_size(known: Known, count: BlockCount) -> tuple[Option, Statement]:
    held, most = count.metadata_in_memory_bytes, known.workload.sample.levels.arc_most_bytes
    share = metadata_of_reads(known)
    values = {"metadata": size_text(held), "arc": size_text(most), "share": percent(share)}
    if most and held <= IN_MEMORY_SHARE * most:
        return Option.MEMORY, _more_of_the_arc(known, values)
    if known.cache_at_once.rule.code in KEPT_OUT:
        return Option.PROPERTY, known.cache_at_once.rule
    if known.facts.leaves_of(*CACHES) and share >= GHOSTS_HELP:
        template = _(
            "The pool has a cache, and metadata still is {share} of the reads from the disks: {metadata} of it, with "
            "an ARC of at most {arc}. Special vdevs would hold all of it."
        )
        return Option.SPECIAL, Statement("metadata-special", template, values)
    template = _(
        "{metadata} of metadata do not fit beside data into an ARC of at most {arc}, and metadata is {share} of the "
        "reads from the disks. Begin with what can be taken back: a cache on trial, with secondarycache=metadata. If "
        "that is enough, nothing has to become part of the pool."
    )
    return Option.METADATA, Statement("metadata-cache-first", template, values)


def _more_of_the_arc(known: Known, values: dict[str, str]) -> Statement:
    if releases.METADATA_BALANCE.is_in(known.facts.tunables.zfs_version):
        template = _(
            "All metadata of the pool takes up {metadata} of memory, and the ARC may take {arc}, so it needs no SSD. "
            "A higher zfs_arc_meta_balance makes the ARC keep more metadata and less data."
        )
        return Statement("metadata-arc-balance", template, values)
    template = _(
        "All metadata of the pool takes up {metadata} of memory, and the ARC may take {arc}, so it needs no SSD. "
        "zfs_arc_meta_limit_percent says how much of the ARC may be metadata, and zfs_arc_meta_min how much is kept."
    )
    return Statement("metadata-arc-limit", template, values)


def _not_counted(known: Known) -> Statement:
    template = _(
        "Metadata is {share} of the reads from the disks. How much of it the pool holds was not looked at, so nothing "
        "is chosen between memory, a cache and special vdevs: `nasadvisor advise {pool} --metadata` counts it."
    )
    values = {"share": percent(metadata_of_reads(known)), "pool": known.facts.name}
    return Statement("metadata-not-counted", template, values)


def _looked_at(known: Known) -> Iterator[Statement]:
    seen = _("Looked at: what was read in {time}, by the counters of OpenZFS.")
    yield Statement("looked-counters", seen, {"time": duration(known.workload.seconds)})
    curve, counted = known.readable_curve, known.counted
    if curve:
        template = _("Looked at: which blocks were read again in {time} (the curve).")
        yield Statement("looked-curve", template, {"time": duration(curve.traced.seconds)})
    else:
        yield Statement("not-looked-curve", _("Not looked at: which metadata is read again (the curve)."))
    if counted is None:
        yield Statement("not-looked-blocks", _("Not looked at: how much metadata the pool holds."))
    elif counted.count.is_partial:
        template = _(
            "Looked at: the blocks of the pool, on {at}. Some could not be read, as where a pool is written to "
            "meanwhile; what lies below them is missing, so take all sizes as the least."
        )
        yield Statement("looked-part", template, {"at": counted.count.at[:10]})
    else:
        template = _("Looked at: all blocks of the pool, on {at}.")
        yield Statement("looked-blocks", template, {"at": counted.count.at[:10]})
    template = _("Not looked at: how long a walk through directories takes. Time one that is slow, before and after.")
    yield Statement("not-looked-walks", template)
