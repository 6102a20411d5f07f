"""What of a pool may enter a cache at all: its datasets' properties say it, and so do the counters of the ARC.

`secondarycache` says what a cache may hold of a dataset; what `primarycache` keeps out of the ARC is never dropped from
it either, and so never reaches a cache (zfsprops(7)).
"""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.pool_facts import DatasetFacts, PoolFacts
from nasadvisor.domain.evidence.samples import ArcActivity
from nasadvisor.domain.evidence.thresholds import MOST_SHARE
from nasadvisor.domain.evidence.verdict import LEAST_SHARE, Relief, Waiting
from nasadvisor.domain.evidence.workload import Workload
from nasadvisor.domain.figures import percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _

NOTHING: Final = Relief(Waiting.READS, 0.0, 0.0)

NAMED: Final = 3
"""So many datasets are named, those that count most."""


@dataclass(frozen=True)
class KeptOut:
    """The datasets of which a cache holds nothing, and those of which it holds metadata only, most first.

    `nothing` and `metadata` are their shares of what is read; of what is held, where nobody read.
    """

    nothing: float = 0.0
    metadata: float = 0.0
    nothing_of: tuple[DatasetFacts, ...] = ()
    metadata_of: tuple[DatasetFacts, ...] = ()


def kept_out_of(workload: Workload, facts: PoolFacts) -> KeptOut:
    """What may not enter a cache."""
    reads = {each.name: each.read_bytes for each in workload.sample.datasets}
    was_read = any(reads.get(each.name, 0) for each in facts.datasets)
    weights = {each: reads.get(each.name, 0) if was_read else each.used_bytes for each in facts.datasets}
    total = sum(weights.values())
    if not total:
        return KeptOut()

    def those(kind: str) -> tuple[DatasetFacts, ...]:
        found = (each for each, weight in weights.items() if each.cached == kind and weight)
        return tuple(sorted(found, key=lambda each: (-weights[each], each.name)))

    nothing, metadata = those("none"), those("metadata")
    shares = [sum(weights[each] for each in group) / total for group in (nothing, metadata)]
    return KeptOut(shares[0], shares[1], nothing, metadata)


def kept_out(workload: Workload, facts: PoolFacts) -> tuple[Relief, Statement] | None:
    """What a cache takes away where most of what is read may not enter it, or nothing that the ARC drops."""
    found = kept_out_of(workload, facts)
    return _nothing(found) or _metadata(found, workload.sample.arc) or _ineligible(found, workload.sample.arc)


def also_kept_out(found: KeptOut) -> Statement | None:
    """That some of it may not, which is worth knowing whatever the answer is."""
    if found.nothing + found.metadata < LEAST_SHARE:
        return None
    template = _(
        "Data of {datasets} is kept out of a cache, entirely or except for metadata. These datasets account for "
        "{share} of the data read or stored."
    )
    values = {"datasets": names_of(found), "share": percent(found.nothing + found.metadata)}
    return Statement("kept-out-some", template, values)


def names_of(found: KeptOut) -> str:
    """The datasets, each with the property that keeps it out."""
    return ", ".join(map(_named, (*found.nothing_of, *found.metadata_of)[:NAMED]))


def metadata_share(arc: ArcActivity) -> float:
    """The share of misses that were metadata."""
    return arc.metadata_misses / arc.misses if arc.misses else 0.0


def _named(dataset: DatasetFacts) -> str:
    by = "primarycache" if dataset.primarycache == dataset.cached != dataset.secondarycache else "secondarycache"
    return f"{dataset.name} ({by}={dataset.cached})"


def _nothing(found: KeptOut) -> tuple[Relief, Statement] | None:
    if found.nothing < MOST_SHARE:
        return None
    template = _(
        "A cache would hold nothing of these datasets, which account for {share} of the data read or stored: "
        "{datasets}. It would help them only once these properties are set to all."
    )
    return NOTHING, Statement("kept-out", template, {"share": percent(found.nothing), "datasets": names_of(found)})


def _metadata(found: KeptOut, arc: ArcActivity) -> tuple[Relief, Statement] | None:
    if found.nothing + found.metadata < MOST_SHARE:
        return None
    share = metadata_share(arc)
    template = _(
        "A cache holds only metadata of {datasets}, and {share} of misses are metadata. OpenZFS does not count how "
        "many of those had just been evicted."
    )
    values = {"share": percent(share), "datasets": names_of(found)}
    return Relief(Waiting.READS, 0.0, share), Statement("metadata-only", template, values)


def _ineligible(found: KeptOut, arc: ArcActivity) -> tuple[Relief, Statement] | None:
    """Ghost hits say that blocks were dropped, also in samples of a time when the others were not counted."""
    if arc.evicted_eligible_bytes or not (arc.evicted_ineligible_bytes or arc.ghost_hits):
        return None
    if names_of(found):
        template = _("Nothing the ARC evicted is eligible for a cache (evict_l2_eligible is 0). Check {datasets}.")
        return NOTHING, Statement("nothing-eligible", template, {"datasets": names_of(found)})
    template = _(
        "Nothing the ARC evicted is eligible for a cache (evict_l2_eligible is 0). Check secondarycache and "
        "primarycache of the datasets that are read, and l2arc_mfuonly and l2arc_exclude_special."
    )
    return NOTHING, Statement("nothing-eligible", template)
