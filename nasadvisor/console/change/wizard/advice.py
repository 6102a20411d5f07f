"""What the wizard proposes for a pool, and why: evidence and health as the console has them, put to the domain."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from django.core.cache import cache
from django.utils import timezone

from nasadvisor.console.change.wizard.draft import DEFAULT_LOG_SIZE, Draft, sized, typed_size
from nasadvisor.console.change.wizard.pools import PoolGoal
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.evidence.watch import Watched, series_of, watched
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.collect_findings import findings_about
from nasadvisor.console.health.models import UNREAD, StoredDisk
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.proposal import (
    Proposal,
    ProposalFacts,
    Wanted,
    largest_quiet_cache_bytes,
    propose,
    propose_instead,
    propose_side,
)
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.recommendation import Recommendation, cache_size_by
from nasadvisor.domain.evidence.wanted import NOTHING_SEEN, wanted_by
from nasadvisor.domain.fleet.platforms import vetoes_by_disk
from nasadvisor.domain.health.disk_findings import ssd_health
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.units import parse_size

SEEN_FOR_S: Final = 60

ANYTHING: Final = PoolGoal(None)
"""Nothing that is there is mirrored or replaced."""


@dataclass(frozen=True)
class Advice:
    """A pool of a node; what is known about it is looked up once it is asked for."""

    node: Node
    inventory: Inventory
    pool: Pool

    @cached_property
    def seen(self) -> Watched | None:
        """What the samples of the pool say; None where there are none."""
        return recently_watched(self.node, self.pool.guid)

    @cached_property
    def cache_size(self) -> Recommendation | None:
        """The size of all caches together, as the page of the evidence says it."""
        if self.seen is None:
            return None
        stored = newest_of(self.node, CacheCurve, self.pool.guid)
        arc_most_bytes = self.seen.known.workload.sample.levels.arc_most_bytes
        return cache_size_by(stored.found(CacheCurve) if stored else None, arc_most_bytes, self.seen.known.cache_size)

    @cached_property
    def health(self) -> Mapping[str, StoredDisk]:
        """What the sweeps said of the SSDs, by the key of the disk."""
        keys = [disk.key for disk in self.inventory.disks if not disk.rotational]
        return StoredDisk.objects.defer(*UNREAD).now_known_as(keys)

    @cached_property
    def known(self) -> ProposalFacts:
        """All that a proposal goes by."""
        seen = self.seen
        return ProposalFacts(
            inventory=self.inventory,
            pool=self.pool,
            wanted=wanted_by(seen.known.log, seen.known.cache, seen.known.log_size, self.cache_size)
            if seen
            else NOTHING_SEEN,
            health={
                key: ssd_health(findings_about(disk), disk.percent_used, disk.power_loss)
                for key, disk in self.health.items()
            },
            vetoes=vetoes_by_disk(self.node.platform.vetoes, self.inventory),
        )

    def proposal(self, way: PoolGoal) -> Proposal:
        """What we would add, which SSD would become the new side of a log, or which would carry the new one."""
        if way.dead_log:
            return propose_instead(replace(self.known, wanted=self._wanted_anyway), way.dead_log)
        return propose_side(self.known, way.attach_to, way.replaces) if way.attach_to else propose(self.known)

    def draft(self, way: PoolGoal = ANYTHING) -> Draft:
        """The choices that come to that. What becomes of a single log is asked for before, so nothing is done here."""
        return self._draft(self.proposal(way), way)

    def draft_anyway(self) -> Draft:
        """What we would add if it had to be, although nothing shows that it helps."""
        return self._draft(propose(replace(self.known, wanted=self._wanted_anyway)), ANYTHING)

    @property
    def _wanted_anyway(self) -> Wanted:
        wanted = self.known.wanted
        log_bytes = wanted.log.size_bytes or parse_size(DEFAULT_LOG_SIZE)
        return Wanted(
            log=replace(wanted.log, helps=True, size_bytes=log_bytes),
            cache=replace(wanted.cache, helps=True, size_bytes=self._cache_total),
        )

    @property
    def _cache_total(self) -> int:
        return self.known.wanted.cache.size_bytes or largest_quiet_cache_bytes(self.inventory.host)

    def _draft(self, proposal: Proposal, way: PoolGoal) -> Draft:
        request = proposal.request or PlanRequest(self.pool.guid)
        log_bytes = self.known.wanted.log.size_bytes
        draft = Draft(
            pool_guid=self.pool.guid,
            log_disks=request.log_disks if request.attach_to == way.attach_to else (),
            cache_disks=request.cache_disks,
            log_size=typed_size(log_bytes) if log_bytes else DEFAULT_LOG_SIZE,
            cache_total=self._cache_total,
            attach_to=way.attach_to,
            replaces=way.replaces,
            dead_log=way.dead_log,
        )
        return sized(draft, self.inventory)


def recently_watched(node: Node, pool_guid: str) -> Watched | None:
    """What the samples said at the first look within a minute.

    It is the evidence of a week, asked for with each tick and each letter of a size while somebody chooses.
    """
    return cache.get_or_set(
        f"wizard-watched-{node.pk}-{pool_guid}", lambda: watched(series_of(node, pool_guid), timezone.now()), SEEN_FOR_S
    )
