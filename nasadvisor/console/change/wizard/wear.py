"""What the review says about wear: what each SSD would write a day in its new roles, and how long it lasts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from django.utils.translation import gettext as _

from nasadvisor.console.change.wizard.advice import recently_watched
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.forecasts import stored_forecast
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.evidence.feed import cache_feed, feed_notes
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.workload import Workload
from nasadvisor.domain.health.wear.forecast import Forecast
from nasadvisor.domain.health.wear.ingest import Ingest, ingest_of
from nasadvisor.domain.health.wear.what_if import WhatIf, with_added
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Disk, Inventory, VdevClass

UNKNOWN = Forecast(0.0, None, None, None, None, (), enough_history=False, findings=())


@dataclass(frozen=True)
class AddedWear:
    """One SSD, and what each role of the plan would add to its wear, with words for each."""

    label: str
    key: str
    rows: tuple[tuple[str, WhatIf], ...]


@dataclass(frozen=True)
class PlanWear:
    """What the pool would write, and what that does to each SSD of the plan."""

    ingest: Ingest
    disks: tuple[AddedWear, ...]
    notes: tuple[Statement, ...] = ()


def wear_of(plan: Plan, node: Node, inventory: Inventory) -> PlanWear | None:
    """What the samples of the last week say; None where there are none."""
    seen = recently_watched(node, plan.request.pool_guid)
    if seen is None:
        return None
    sizes, others = _caches(plan, seen.known.facts, inventory)
    ingest = ingest_of(seen.known.workload, seen.known.facts, sizes, others)
    roles: dict[str, set[Role]] = {}
    for piece in plan.slices:
        roles.setdefault(piece.disk_key, set()).add(piece.role)
    disks = {key: disk for key in roles if (disk := inventory.disk(key))}
    stored = StoredDisk.objects.now_known_as(disks)
    added = tuple(_added(disks[key].label, stored.get(key), roles[key], ingest) for key in disks)
    return PlanWear(ingest, added, tuple(_notes(plan, seen.known.workload, seen.known.facts, disks, (sizes, others))))


def _caches(plan: Plan, facts: PoolFacts, inventory: Inventory) -> tuple[list[int], int]:
    """The sizes of the pool's caches after the plan, and how many caches the other pools have."""
    count = sum(len(tuple(top.leaves())) for pool in plan.after(inventory).pools for top in pool.caches)
    new = [piece.size_bytes for piece in plan.slices if piece.role is Role.CACHE]
    sizes = [leaf.size_bytes for leaf in facts.leaves_of(VdevClass.CACHE)] + new
    return sizes, max(count - len(sizes), 0)


def _notes(
    plan: Plan, workload: Workload, facts: PoolFacts, disks: Mapping[str, Disk], caches: tuple[list[int], int]
) -> Iterator[Statement]:
    """What to set for the first cache of the plan whose budget does not fit; the others are alike."""
    feed, wanted = cache_feed(workload, facts, *caches)
    new = (piece for piece in plan.slices if piece.role is Role.CACHE and piece.disk_key in disks)
    for piece in islice(new, 1):
        yield from feed_notes(feed, facts.tunables, wanted, piece.size_bytes, disks[piece.disk_key].identity.size_bytes)


def _added(label: str, disk: StoredDisk | None, roles: set[Role], ingest: Ingest) -> AddedWear:
    kept = stored_forecast(disk) if disk else None
    now = kept.forecast if kept else UNKNOWN
    rows: list[tuple[str, WhatIf]] = []
    if Role.LOG in roles:
        rows.append((_("as log"), with_added(now, "log", ingest.log)))
    if Role.CACHE in roles:
        rows.append((_("as cache, at the recent ARC eviction rate"), with_added(now, "cache", ingest.cache)))
        at_limit = with_added(now, "cache", ingest.cache_limit)
        rows.append((_("as cache, at the feed limit (the maximum possible)"), at_limit))
    if Role.LOG in roles and Role.CACHE in roles:
        rows.append((_("as log and cache together"), with_added(now, "log+cache", ingest.log + ingest.cache)))
    return AddedWear(label, disk.key if disk else "", tuple(rows))
