"""A plan in words: in a line for the side of the wizard, the apply button and the history, in five for its review."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.change.wizard.wear import PlanWear
from nasadvisor.console.evidence.options import gain_words
from nasadvisor.console.wording.statements import localized, said, unbroken
from nasadvisor.domain.change.actions import Category, Role
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.undo import cannot_be_undone
from nasadvisor.domain.evidence.options import PoolWaiting
from nasadvisor.domain.health.wear.forecast import Spread
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.domain.storage.sizing import HeaderMemory, header_memory
from nasadvisor.domain.units import size_text

_STAYS: Final[dict[str, str | Promise]] = {
    "log-leaves-hole": _("a permanent empty entry (a hole) in place of the log"),
    "history-stays": _("the commands in the pool's history"),
    "free-space-overwritten": _("overwritten data in unpartitioned space"),
    "cache-comes-back-colder": _("a cache that has to warm up again"),
    "broken-side-stays-out": _("the log without its failed side, as now"),
    "dead-log-stays-out": _("the pool without its failed log"),
}


@dataclass(frozen=True)
class Added:
    """A part of the plan in a few words, and the labels of the SSDs that carry it."""

    words: str
    disks: tuple[str, ...]


@dataclass(frozen=True)
class Gist:
    """The five lines. `steps` is what is done instead where nothing is added, `first` what is taken out before.

    `blank` are the SSDs on which there is nothing, `erased` those with data that no tool recognises, `shared` those
    whose partitions stay. `memory` is None without a cache. `wear` has, for each SSD, when it reaches its rated writes
    in its new roles, None where that is unknown. `expected` is how much less programs wait, as far as that is known.
    """

    added: tuple[Added, ...]
    steps: tuple[Statement, ...]
    first: tuple[Statement, ...]
    blank: tuple[str, ...]
    erased: tuple[str, ...]
    shared: tuple[str, ...]
    memory: HeaderMemory | None
    wear: tuple[tuple[str, Spread | None], ...]
    expected: tuple[str, ...]
    stays: tuple[str | Promise, ...]


def gist_of(plan: Plan, inventory: Inventory, wear: PlanWear | None, waiting: PoolWaiting | None) -> Gist:
    """The lines of a plan against the inventory it was made for."""
    disks = [disk for key in plan.request.disks if (disk := inventory.disk(key))]
    erased = {action.disk_key for action in plan.erasures}
    cache_bytes = sum(piece.size_bytes for piece in plan.slices if piece.role is Role.CACHE)
    return Gist(
        added=tuple(_added(plan, inventory)),
        steps=() if plan.slices else tuple(action.describe() for action in plan.actions),
        first=tuple(action.describe() for action in plan.actions if action.category is Category.REMOVAL),
        blank=_labels(disk for disk in disks if not disk.partitions and disk.key not in erased),
        erased=_labels(disk for disk in disks if disk.key in erased),
        shared=_labels(disk for disk in disks if disk.partitions),
        memory=header_memory(cache_bytes) if cache_bytes else None,
        wear=tuple((each.label, each.rows[-1][1].years_left) for each in wear.disks if each.rows) if wear else (),
        expected=tuple(_expected(plan, waiting)) if waiting else (),
        stays=tuple(_STAYS.get(finding.code) or finding.said(gettext) for finding in cannot_be_undone(plan)),
    )


def _expected(plan: Plan, waiting: PoolWaiting) -> Iterator[str]:
    roles = {piece.role for piece in plan.slices}
    for role, name, relief in ((Role.LOG, _("Log"), waiting.log), (Role.CACHE, _("Cache"), waiting.cache)):
        words = gain_words(relief, waiting.waits) if role in roles else ""
        if words:
            yield f"{name}: {words}"


def _added(plan: Plan, inventory: Inventory) -> list[Added]:
    summary = summary_of(plan)
    log, cache = (_carriers(plan, inventory, role) for role in (Role.LOG, Role.CACHE))
    if log == cache and log:
        return [Added(str(summary), log)]
    return [Added(words, disks) for words, disks in ((summary.log, log), (summary.cache, cache)) if words]


def _carriers(plan: Plan, inventory: Inventory, role: Role) -> tuple[str, ...]:
    keys = dict.fromkeys(piece.disk_key for piece in plan.slices if piece.role is role)
    return _labels(disk for key in keys if (disk := inventory.disk(key)))


def _labels(disks: Iterable[Disk]) -> tuple[str, ...]:
    """Disks of one model together, counted, with the serial of each."""
    by_model: dict[str, list[Disk]] = {}
    for disk in disks:
        by_model.setdefault(disk.identity.model, []).append(disk)
    return tuple(
        group[0].label
        if len(group) == 1 or not model
        else f"{len(group)} × {model} ({', '.join(each.identity.serial for each in group)})"
        for model, group in by_model.items()
    )


@dataclass(frozen=True)
class Summary:
    """A plan in words; "" where it has no such part. `steps` is what is done instead where nothing is added."""

    pool: str
    log: str
    cache: str
    memory: str
    steps: str

    def __str__(self) -> str:
        return "; ".join(part for part in (self.log, self.cache, self.steps) if part)


def summary_of(plan: Plan) -> Summary:
    """What the plan adds, each part in a few words."""
    logs = [piece.size_bytes for piece in plan.slices if piece.role is Role.LOG]
    caches = [piece.size_bytes for piece in plan.slices if piece.role is Role.CACHE]
    memory = unbroken(localized(size_text(header_memory(sum(caches)).typical_bytes)))
    return Summary(
        pool=plan.pool_name,
        log=_log_words(plan, logs),
        cache=gettext("%(sizes)s cache") % {"sizes": _counted(caches)} if caches else "",
        memory=gettext("%(size)s RAM for cache headers") % {"size": memory} if caches else "",
        steps="" if plan.slices else "; ".join(said(action.describe()) for action in plan.actions),
    )


def _log_words(plan: Plan, sizes: list[int]) -> str:
    if not sizes:
        return ""
    size = unbroken(localized(size_text(sizes[0])))
    if plan.request.replaces:
        return gettext("new log side of %(size)s, replacing the failed one") % {"size": size}
    if plan.request.attach_to:
        return gettext("second log side of %(size)s") % {"size": size}
    if plan.request.dead_log and len(sizes) == 1:
        return gettext("instead of the failed log: one slice of %(size)s") % {"size": size}
    if plan.request.dead_log:
        values = {"count": len(sizes), "size": size}
        return gettext("instead of the failed log: a mirror of %(count)s slices of %(size)s") % values
    if len(sizes) == 1:
        return gettext("single log of %(size)s") % {"size": size}
    return gettext("log mirrored across %(count)s slices of %(size)s") % {"count": len(sizes), "size": size}


def _counted(sizes: Iterable[int]) -> str:
    """Equal sizes together."""
    counts = Counter(unbroken(localized(size_text(size))) for size in sizes)
    return " + ".join(f"{count} × {size}" if count > 1 else size for size, count in counts.items())
