"""Special vdevs, a cache for metadata only, or memory? One choice from all that was looked at, and what was not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.excluded_reads import kept_out
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.evidence.metadata_options import metadata_of_reads, metadata_row
from nasadvisor.domain.evidence.options import Known, Option
from nasadvisor.domain.evidence.reads import CACHES
from nasadvisor.domain.evidence.verdict import HELPS_SHARE, Answer
from nasadvisor.domain.figures import duration, percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage import releases
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import size_text

IN_MEMORY_SHARE: Final = 0.5
"""[policy] All metadata fits into the memory if it takes up no more than this share of the largest ARC: data wants the
rest."""


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
        return Option.NOTHING, Statement("metadata-special-there", _("The pool already has special vdevs."))
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
    out = kept_out(known.workload, known.facts)
    if out and not out[0].at_best:
        return Option.PROPERTY, out[1]
    if known.facts.leaves_of(*CACHES) and share >= HELPS_SHARE:
        template = _(
            "The pool has a cache, but metadata is still {share} of disk reads: {metadata} of metadata, with an ARC "
            "of at most {arc}. Special vdevs would hold all of it."
        )
        return Option.SPECIAL, Statement("metadata-special", template, values)
    template = _(
        "{metadata} of metadata does not fit beside the data into an ARC of at most {arc}, and metadata is {share} of "
        "disk reads. Start with what you can undo: a cache on trial with secondarycache=metadata. If that is enough, "
        "the pool needs no special vdev."
    )
    return Option.METADATA, Statement("metadata-cache-first", template, values)


def _more_of_the_arc(known: Known, values: dict[str, str]) -> Statement:
    if releases.METADATA_BALANCE.is_in(known.facts.tunables.zfs_version):
        template = _(
            "All metadata of the pool takes up {metadata} of memory, and the ARC may use {arc}, so no SSD is needed. "
            "A higher zfs_arc_meta_balance keeps more metadata and less data in the ARC."
        )
        return Statement("metadata-arc-balance", template, values)
    template = _(
        "All metadata of the pool takes up {metadata} of memory, and the ARC may use {arc}, so no SSD is needed. "
        "zfs_arc_meta_limit_percent limits the metadata in the ARC, and zfs_arc_meta_min sets how much of it is kept."
    )
    return Statement("metadata-arc-limit", template, values)


def _not_counted(known: Known) -> Statement:
    template = _(
        "Metadata is {share} of disk reads. How much metadata the pool holds is unknown, so memory, a cache and "
        "special vdevs cannot be compared yet. Run `nasadvisor advise {pool} --metadata` to count it."
    )
    values = {"share": percent(metadata_of_reads(known)), "pool": known.facts.name}
    return Statement("metadata-not-counted", template, values)


def _looked_at(known: Known) -> Iterator[Statement]:
    seen = _("Analysed: the reads of {time}, from the OpenZFS counters.")
    yield Statement("looked-counters", seen, {"time": duration(known.workload.seconds)})
    curve, counted = known.readable_curve, known.counted
    if curve:
        template = _("Analysed: which blocks were read again in {time} (the curve).")
        yield Statement("looked-curve", template, {"time": duration(curve.traced.seconds)})
    else:
        yield Statement("not-looked-curve", _("Not analysed: which metadata is read again (the curve)."))
    if counted is None:
        yield Statement("not-looked-blocks", _("Not analysed: how much metadata the pool holds."))
    elif counted.count.is_partial:
        template = _(
            "Analysed: the blocks of the pool, on {at}. Some could not be read, as can happen while the pool is "
            "written to. Everything below them is missing, so treat all sizes as minimums."
        )
        yield Statement("looked-part", template, {"at": counted.count.at[:10]})
    else:
        template = _("Analysed: all blocks of the pool, on {at}.")
        yield Statement("looked-blocks", template, {"at": counted.count.at[:10]})
    template = _("Not analysed: how long walking through directories takes. Time a slow one before and after.")
    yield Statement("not-looked-walks", template)
