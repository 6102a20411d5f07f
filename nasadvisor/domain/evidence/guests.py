"""Disks of other machines that are written asynchronously: nobody waits, and that is what is wrong with it.

A log serves those who wait. Whoever serves a volume over iSCSI, a file system over NFS with async, or a virtual drive
with cache=unsafe, tells another machine "saved" while it is in memory only; after a power cut that machine's file
system or database may be broken. `sync=always` makes OpenZFS wait for each write, whoever wrote it (zfsprops(7)).

Not so where flushes arrive: a disk has a volatile cache too, and a guest that flushes it knows what is safe. ESXi never
does.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from nasadvisor.domain.evidence.pool_facts import PoolFacts, Served
from nasadvisor.domain.evidence.workload import DatasetWorkload, Workload
from nasadvisor.domain.figures import rate
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import DAY_S, KIB, size_text

NAMED: Final = 3

LEAST_BYTES_PER_S: Final = 16 * KIB
"""[policy] Below it, 1.3 GiB a day, a volume is as good as unused and nobody is asked about it."""

FLUSHED_EVERY_S: Final = 60.0
"""[policy] A volume that is written and flushed more seldom than that has nobody who flushes: file systems do every 5
to 30 s while they write (ext4(5), commit=5)."""

HOW: Final = {
    Served.BLOCK: "iSCSI/FC",
    Served.NFS_ASYNC: "NFS async",
    Served.VM_UNSAFE: "cache=unsafe",
}


def about_guests(workload: Workload, facts: PoolFacts) -> Iterator[Statement]:
    """The risk where it is seen, and the question where it may be; with what a log would then have to do."""
    written = [each for each in workload.datasets if _is_asynchronous(each) and _nobody_flushes(each)]
    served = [each for each in written if each.facts and each.facts.served is not Served.NO]
    if served:
        yield _at_risk(served, facts)
    unknown = [each for each in written if each.facts and each.facts.is_volume and each not in served]
    if unknown:
        yield _asked(unknown)


def _is_asynchronous(dataset: DatasetWorkload) -> bool:
    is_standard = dataset.facts is not None and dataset.facts.sync == "standard"
    return is_standard and dataset.written_bytes_per_s >= LEAST_BYTES_PER_S


def _nobody_flushes(dataset: DatasetWorkload) -> bool:
    return dataset.commits_per_s * FLUSHED_EVERY_S < 1


def _at_risk(served: Sequence[DatasetWorkload], facts: PoolFacts) -> Statement:
    how = ", ".join(f"{each.name} ({HOW[each.facts.served]})" for each in served[:NAMED] if each.facts)
    values = {"datasets": how, **_demand(served)}
    if facts.leaves_of(VdevClass.LOG):
        template = _(
            "{datasets} hold disks of other machines, with sync=standard. Data those machines consider saved may be "
            "in memory only: a power cut here loses some seconds of it and can corrupt their file systems and "
            "databases. sync=always prevents that. The log would then take all of it: {commits} writes/s, {bytes}/s, "
            "{day} a day."
        )
        return Statement("guests-at-risk", template, values)
    template = _(
        "{datasets} hold disks of other machines, with sync=standard. Data those machines consider saved may be in "
        "memory only: a power cut here loses some seconds of it and can corrupt their file systems and databases. "
        "sync=always prevents that, but then every write waits, which calls for a log. It would have to take "
        "{commits} writes/s, {bytes}/s, {day} a day."
    )
    return Statement("guests-at-risk", template, values)


def _asked(unknown: Sequence[DatasetWorkload]) -> Statement:
    template = _(
        "{datasets} are volumes that receive writes but never flushes. If one is the disk of another machine, data "
        "that machine considers saved may be in memory only. sync=always prevents that; a log would then have to take "
        "{commits} writes/s, {bytes}/s, {day} a day. A disk that may lose some seconds of data needs no change."
    )
    names = ", ".join(each.name for each in unknown[:NAMED])
    return Statement("guests-unknown", template, {"datasets": names, **_demand(unknown)})


def _demand(datasets: Sequence[DatasetWorkload]) -> dict[str, str]:
    """What sync=always would ask of a log: all that is written, each write on its own; a mean, so peaks are higher."""
    written = sum(each.written_bytes_per_s for each in datasets)
    return {
        "commits": rate(sum(each.writes_per_s for each in datasets)),
        "bytes": size_text(int(written)),
        "day": size_text(int(written * DAY_S)),
    }
