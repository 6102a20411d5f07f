"""The data of the heat map: how often I/O took how long, over time; and beside it the I/O of each device."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from nasadvisor.console.change.models import StoredRun, readable
from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.series import latencies_of, samples_of
from nasadvisor.console.storage.diagrams import TITLES
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.evidence.histogram import EMPTY, Histogram
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.samples import VdevActivity
from nasadvisor.domain.evidence.workload import flush_time
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev, VdevClass
from nasadvisor.domain.units import DAY_S, HOUR_S

COLUMNS_AT_MOST = 720
RAW_UP_TO_S = 4 * HOUR_S
MINUTES_UP_TO_S = 4 * DAY_S
WHOLE_POOL = "pool"


@dataclass(frozen=True)
class Target:
    """A part of the pool that can be looked at: its key in addresses, how it is called, and its leaves' guids.

    No guids stand for the whole pool, with devices that have left it since.
    """

    key: str
    name: str
    depth: int
    guids: frozenset[str]


@dataclass(frozen=True)
class TimeRange:
    """From when to when, in seconds since 1970."""

    start: int
    end: int

    @property
    def resolution(self) -> Resolution:
        """The finest samples that are not too many for the range."""
        length = self.end - self.start
        if length <= RAW_UP_TO_S:
            return Resolution.RAW
        return Resolution.MINUTE if length <= MINUTES_UP_TO_S else Resolution.HOUR

    @property
    def column_s(self) -> int:
        """How much time one column shows."""
        step = max(int(self.resolution), 10)
        columns = -(-(self.end - self.start) // step)
        return step * max(-(-columns // COLUMNS_AT_MOST), 1)


def with_disk_names(facts: PoolFacts, pool: Pool, inventory: Inventory) -> PoolFacts:
    """The facts with leaves called as people know them: model and serial of the disk, and the slice's number."""
    index = Index(inventory)
    names = {leaf.guid: _name(index, leaf) for vdev in pool.vdevs() for leaf in vdev.leaves()}
    leaves = tuple(replace(leaf, name=names.get(leaf.guid) or leaf.name) for leaf in facts.leaves)
    return replace(facts, leaves=leaves)


def _name(index: Index, leaf: Vdev) -> str:
    disk, part = index.inventory.place_of(leaf) or (None, None)
    if disk is None:
        return ""
    alone = part is None or len(disk.partitions) == 1
    return disk.label if alone or part is None else f"{disk.label}, {part.number}"


def targets_of(facts: PoolFacts, pool: Pool | None, titles: Mapping[VdevClass, object]) -> tuple[Target, ...]:
    """The pool, each class, each top-level vdev, each leaf. `titles` has the names of classes for people."""
    targets = [Target(WHOLE_POOL, facts.name, 0, frozenset())]
    for vdev_class in dict.fromkeys(leaf.vdev_class for leaf in facts.leaves):
        leaves = facts.leaves_of(vdev_class)
        guids = frozenset(leaf.guid for leaf in leaves)
        targets.append(Target(f"class-{vdev_class}", str(titles.get(vdev_class, vdev_class)), 1, guids))
        tops = pool.by_class()[vdev_class] if pool else ()
        for top in (top for top in tops if top.children):
            below = frozenset(leaf.guid for leaf in top.leaves())
            targets.append(Target(f"vdev-{top.guid}", top.name, 2, below))
        targets.extend(Target(f"vdev-{leaf.guid}", leaf.name, 3, frozenset({leaf.guid})) for leaf in leaves)
    return tuple(targets)


def heat_map(series: SampledPool, facts: PoolFacts, target: Target, kind: str, span: TimeRange) -> dict[str, Any]:
    """One column after another: its end, the histogram of the target, and the number of I/Os of every leaf.

    `facts` has the names to show; `kind` is "writes" or "reads". A histogram is packed as its number of empty buckets
    in front, then the counts.
    """
    step = span.column_s
    columns: dict[int, tuple[Histogram, dict[str, int]]] = {}
    for at, _length, vdevs in latencies_of(series, span.resolution, span.start, span.end):
        place = -(-at // step) * step
        heat, counts = columns.get(place, (EMPTY, {}))
        columns[place] = (_add(heat, vdevs, target.guids, kind), _count(counts, vdevs, kind))
    times = sorted(columns)
    return {
        "step": step,
        "start": span.start,
        "end": span.end,
        "at": times,
        "heat": [_packed(columns[at][0]) for at in times],
        "devices": _devices(series, facts, [columns[at][1] for at in times]),
        **_demand(series, span, step),
    }


def _devices(series: SampledPool, facts: PoolFacts, columns: list[dict[str, int]]) -> list[dict[str, Any]]:
    """The I/Os of each leaf, those included that have left the pool since."""
    known = {leaf.guid: (leaf.name, leaf.vdev_class) for leaf in facts.leaves}
    gone = {guid for counts in columns for guid in counts if guid not in known}
    places = [*known.items(), *((guid, (_name_of_former(series, guid), "gone")) for guid in sorted(gone))]
    return [
        {"name": name, "class": vdev_class, "counts": [counts.get(guid, 0) for counts in columns]}
        for guid, (name, vdev_class) in places
    ]


def _name_of_former(series: SampledPool, guid: str) -> str:
    """What a device that left was and when it was missed first; "" where that is not known."""
    match series.former.get(guid) if isinstance(series.former, dict) else None:
        case {"name": str(name), "class": str(vdev_class), "until": int(until)} if vdev_class in set(VdevClass):
            at = datetime.fromtimestamp(until, timezone.get_current_timezone())
            values = {"role": TITLES[VdevClass(vdev_class)], "disk": name, "time": date_format(at, _("j M H:i"))}
            return _("%(role)s, %(disk)s (removed %(time)s)") % values
    return ""


def run_marks(runs: Iterable[StoredRun], span: TimeRange) -> list[dict[str, Any]]:
    """When something was added or taken back in this range."""
    marks = []
    for run in (stored.run for stored in readable(runs)):
        for what, moment in _moments(run):
            if span.start <= moment <= span.end:
                marks.append({"at": moment, "what": what, "run": run.id})
    return marks


def _moments(run: Run) -> Iterable[tuple[str, int]]:
    ends = [step.ended_at for step in run.steps if step.ended_at]
    if run.state in (RunState.APPLIED, RunState.UNDONE, RunState.UNDOING) and ends:
        yield "applied", _seconds(max(ends))
    undone = [step.ended_at for step in run.undo_steps if step.ended_at]
    if run.state is RunState.UNDONE and undone:
        yield "undone", _seconds(min(undone))


def _seconds(iso: str) -> int:
    return int(datetime.fromisoformat(iso).timestamp())


def _add(heat: Histogram, vdevs: tuple[VdevActivity, ...], guids: frozenset[str], kind: str) -> Histogram:
    for vdev in vdevs:
        if not guids or vdev.guid in guids:
            heat = heat + (vdev.writes if kind == "writes" else vdev.reads)
    return heat


def _count(counts: dict[str, int], vdevs: tuple[VdevActivity, ...], kind: str) -> dict[str, int]:
    for vdev in vdevs:
        events = vdev.writes if kind == "writes" else vdev.reads
        counts[vdev.guid] = counts.get(vdev.guid, 0) + events.total
    return counts


def _packed(histogram: Histogram) -> list[int]:
    first = next((bucket for bucket, count in enumerate(histogram.counts) if count), 0)
    return [first, *histogram.counts[first:]] if histogram.counts else []


def _demand(series: SampledPool, span: TimeRange, step: int) -> dict[str, Any]:
    """Commits a second and the mean flush, in columns of the same width."""
    seconds: dict[int, float] = {}
    commits: dict[int, int] = {}
    flushes: dict[int, tuple[int, float]] = {}
    for sample in samples_of(series, span.resolution, span.start, span.end):
        place = -(-sample.at // step) * step
        seconds[place] = seconds.get(place, 0.0) + sample.seconds
        commits[place] = commits.get(place, 0) + sample.commits
        count, mean_ns = flush_time(list(sample.disks))
        total, time_ns = flushes.get(place, (0, 0.0))
        flushes[place] = (total + count, time_ns + count * mean_ns)
    times = sorted(seconds)
    return {
        "commits": [round(commits[at] / seconds[at], 1) if seconds[at] else 0 for at in times],
        "flush_ms": [round(flushes[at][1] / flushes[at][0] / 1e6, 2) if flushes[at][0] else None for at in times],
        "seconds": [round(seconds[at]) for at in times],
    }
