"""The rows of what answers reads of metadata: a cache for nothing else, special vdevs."""

from typing import Final

from nasadvisor.domain.evidence.cache_verdict import before_flash
from nasadvisor.domain.evidence.curve import CurvePoint
from nasadvisor.domain.evidence.excluded_reads import metadata_share
from nasadvisor.domain.evidence.metadata_size import moved_in_words, special_in_words
from nasadvisor.domain.evidence.options import COPIES_ONLY, UNLESS_CHECKPOINT, Cost, Known, Option, OptionRow
from nasadvisor.domain.evidence.read_options import FOLLOW, against_all, cost_of, judged_on, largest_point, missing_of
from nasadvisor.domain.evidence.reads import demand_of_reads
from nasadvisor.domain.evidence.thresholds import SMALLEST_CACHE_BYTES
from nasadvisor.domain.evidence.verdict import LEAST_SHARE, Answer, Judged, Relief, Waiting, read_off
from nasadvisor.domain.figures import percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.storage.sizing import header_memory_bytes
from nasadvisor.domain.units import GIB, align_up, size_text

_LOST_SPECIAL: Final = Statement(
    "option-lost-special",
    _("Danger: the whole pool, if the special vdev fails. It must be as redundant as the data; it is not a cache."),
)


def metadata_row(known: Known) -> OptionRow:
    """A cache with secondarycache=metadata: at the most it answers the metadata among the misses."""
    point = largest_point(known)
    judged, relief = _judged_metadata(known, point)
    return OptionRow(
        Option.METADATA,
        judged.answer,
        judged.because,
        lost=COPIES_ONLY,
        back=UNLESS_CHECKPOINT,
        relief=relief,
        cost=_metadata_cost(known, point) if relief else None,
        missing=missing_of(judged) or ((FOLLOW,) if relief and not point else ()),
    )


def special_row(known: Known) -> OptionRow:
    """Special vdevs: never more than advised, since they are part of the pool and mostly stay there."""
    if known.facts.leaves_of(VdevClass.SPECIAL):
        about = tuple(each for each in known.log.beside if each.code.startswith("special-"))
        has = Statement("option-special-there", _("The pool has special vdevs, which take its new metadata."))
        back = _special_back(known)
        return OptionRow(Option.SPECIAL, None, has, _LOST_SPECIAL, back, False, beside=about, is_there=True)
    judged, relief = _judged_metadata(known, None)
    return OptionRow(
        Option.SPECIAL,
        judged.answer,
        _special_moves(known) if relief else judged.because,
        lost=_LOST_SPECIAL,
        back=_special_back(known),
        is_reversible=False,
        relief=relief,
        cost=_special_cost(known) if relief else None,
        beside=_special_made(known) if relief else (),
        missing=missing_of(judged) or ((_special_size(known),) if relief and not known.counted else ()),
    )


def metadata_of_reads(known: Known) -> float:
    """The share of metadata among the reads that go to the disks: by the curve where there is one."""
    curve = known.readable_curve
    return curve.metadata_share if curve else metadata_share(known.workload.sample.arc)


def _judged_metadata(known: Known, point: CurvePoint | None) -> tuple[Judged, Relief | None]:
    """At the most all metadata among the misses; beside it what the curve says of a cache for everything."""
    against, share = against_all(known), metadata_of_reads(known)
    if against:
        return against, None
    relief, because = Relief(Waiting.READS, 0.0, share), _of_metadata(share, point)
    if known.workload.is_flash:
        relief, because = before_flash(known.workload)
    judged = judged_on(known, read_off(demand_of_reads(known.workload), relief), because)
    return judged, relief if judged.answer is Answer.CANNOT_TELL and not judged.wait_s else None


def _of_metadata(share: float, point: CurvePoint | None) -> Statement:
    if share < LEAST_SHARE:
        template = _("Metadata is only {share} of disk reads, and no other reads would be served.")
        return Statement("option-little-metadata", template, {"share": percent(share)})
    if point is None:
        template = _("It serves only metadata: at most {share} of disk reads.")
        return Statement("option-metadata", template, {"share": percent(share)})
    template = _(
        "Metadata is {share} of disk reads, and only metadata would be served. By the curve, a cache of {size} for "
        "all data would serve {served} of the metadata reads."
    )
    values = {"share": percent(share), "size": size_text(point.size_bytes), "served": percent(point.served_metadata)}
    return Statement("option-metadata-curve", template, values)


def _metadata_cost(known: Known, point: CurvePoint | None) -> Cost | None:
    """Room for all metadata where it was counted, else what the curve says of a cache for everything."""
    if known.counted is None:
        return cost_of(known, point) if point else None
    count = known.counted.count
    held = count.metadata_in_memory_bytes
    size = max(align_up(held, GIB), SMALLEST_CACHE_BYTES)
    return Cost(header_memory_bytes(held, max(held // max(count.metadata_blocks, 1), 1)), size, 1)


def _special_moves(known: Known) -> Statement:
    template = _(
        "New metadata goes to SSDs; existing metadata stays on the disks until it is rewritten. Metadata is {share} "
        "of disk reads."
    )
    return Statement("option-special", template, {"share": percent(metadata_of_reads(known))})


def _special_size(known: Known) -> Statement:
    template = _(
        "The size depends on how much metadata the pool holds. `nasadvisor advise {pool} --metadata` counts it, and "
        "reads all of it."
    )
    return Statement("option-special-size", template, {"pool": known.facts.name})


def _special_cost(known: Known) -> Cost | None:
    size = known.counted.size if known.counted else None
    return Cost(ssd_bytes=size.size_bytes, ssds=size.sides) if size else None


def _special_made(known: Known) -> tuple[Statement, ...]:
    """Its size, what would still be moved, and the command: advised, and done by nobody but the reader."""
    counted = known.counted
    if counted is None:
        return ()
    template = _("`{command}` would create it. NAS Advisor does not run it: the vdev then becomes part of the pool.")
    return (
        *special_in_words(counted.size),
        *moved_in_words(counted.count, counted.size, known.facts.tunables.zfs_version),
        Statement("special-command", template, {"command": counted.command}),
    )


def _special_back(known: Known) -> Statement:
    """`alloc_bias` is a vdev property of OpenZFS after 2.4 (openzfs/zfs#18493), which platforms have taken over."""
    if known.has_raidz:
        template = _(
            "No: it cannot be removed from a raidz pool. Where OpenZFS has the vdev property alloc_bias (after 2.4), "
            "it can become a data vdev at the next import and stays one."
        )
        return Statement("option-special-stays", template)
    template = _(
        "Only by copying all of it back to the data disks, which OpenZFS does only if none is raidz and all have the "
        "same ashift. It cannot be removed from a raidz pool."
    )
    return Statement("option-special-back", template)
