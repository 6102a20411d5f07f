"""The measuring service: look whether the pool may be disturbed, probe it, and if asked test an SSD."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import uuid4

from nasadvisor.domain.change.plan import PlanIds, PlanRequest
from nasadvisor.domain.change.refusals import DiskGone, NoPool
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.evidence.measuring.measurement import Begin, Measurement, MeasureOrder, MeasureProgress, Stage
from nasadvisor.domain.evidence.measuring.probing import CandidateResult, against_probe
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.fleet.platforms import vetoes_on
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.storage.names import MEASURE_ID
from nasadvisor.domain.units import GIB
from nasadvisor.host.errors import HostError, RulesForbid
from nasadvisor.host.evidence.measuring.candidate import JOBS as CANDIDATE_JOBS
from nasadvisor.host.evidence.measuring.candidate import (
    CandidateHost,
    clean_up_candidates,
    half_of_fill_s,
    measure_candidate,
)
from nasadvisor.host.evidence.measuring.probe import JOBS as PROBE_JOBS
from nasadvisor.host.evidence.measuring.probe import SETTLE_S, ProbeHost, clean_up_probes, probe_pool
from nasadvisor.host.evidence.measuring.records import claim_order, keep_measurement
from nasadvisor.host.evidence.measuring.replay import kept_commits
from nasadvisor.host.evidence.sample import Sampler

LOOK_S: Final = 5.0
"""How long it is looked first whether the pool is quiet."""

TEST_BYTES: Final = 32 * GIB
"""More than the fast cache of most SSDs; a smaller SSD is tested with what it has."""

SHARE_FOR_TEST: Final = 0.8
LONGEST_S: Final = 300


class MeasurementRefused(RulesForbid):
    """It may not be measured now; nothing was changed."""


class OrderForeign(HostError):  # noqa: N818 - named for what happened
    """An order that our own console or command line would not give."""

    def __init__(self) -> None:
        super().__init__(_("This measurement request is not one that NAS Advisor issues. Nothing was changed."))


@dataclass(frozen=True)
class MeasureHost:
    """What measuring needs of a host. `wait` lets seconds pass; `results` is where measurements are kept,
    `commits` where the newest trace of each pool's commits is."""

    inventory: Callable[[], Inventory]
    sampler: Callable[[], Sampler]
    probes: ProbeHost
    candidates: CandidateHost
    wait: Callable[[float], None]
    results: Path
    commits: Path


@dataclass
class _Pace:
    """Tells of each part of a measurement, with how long the rest will take."""

    order: MeasureOrder
    clock: Callable[[], datetime]
    observe: Callable[[MeasureProgress], None]
    commits: CommitTrace | None = None
    begun: int = 0

    @property
    def lengths_s(self) -> tuple[float, ...]:
        """How long each part takes, in their order."""
        seconds = self.order.seconds
        pool = (LOOK_S, *(SETTLE_S + seconds for _ in PROBE_JOBS))
        if not self.order.disk_key:
            return pool
        replay = (self.commits.busiest.seconds,) if self.commits else ()
        return (*pool, half_of_fill_s(seconds), half_of_fill_s(seconds), *(seconds for _ in CANDIDATE_JOBS), *replay)

    def begin(self, stage: Stage, number: int, count: int) -> None:
        """See `measurement.Begin`."""
        left_s, total_s = sum(self.lengths_s[self.begun :]), sum(self.lengths_s)
        self.begun += 1
        at = self.clock().isoformat(timespec="seconds")
        self.observe(MeasureProgress(self.order.id, stage, number, count, at, left_s, total_s))


def clean_up(host: MeasureHost) -> tuple[str, ...]:
    """Remove what interrupted measurements left; the names of what was removed.

    Raises:
        HostError: one of them could not be removed; its record stays.
    """
    return (*clean_up_probes(host.probes), *clean_up_candidates(host.candidates))


def unseen(progress: MeasureProgress) -> None:
    """Watches nothing."""
    del progress


def measure(host: MeasureHost, order: MeasureOrder, observe: Callable[[MeasureProgress], None] = unseen) -> Measurement:
    """Measure what was ordered. Everything is checked here, whoever gave the order. `observe` is told how far it is.

    Raises:
        OrderForeign, MeasurementRefused, MeasuredBefore: nothing was changed.
        HostError: it could not be measured; what was made is gone, or its record stays for the next clean-up.
    """
    if not re.fullmatch(MEASURE_ID, order.id) or not 1 <= order.seconds <= LONGEST_S or order.test_bytes < 0:
        raise OrderForeign
    clean_up(host)
    inventory = host.inventory()
    pool = pool_to_measure(host, inventory, order.pool_guid, order.disk_key)
    commits = kept_commits(host.commits, pool.guid) if order.disk_key else None
    begin = _Pace(order, host.probes.clock, observe, commits).begin
    begin(Stage.LOOK, 1, 1)
    _check(host, pool)
    claim_order(host.results, order.id)
    probe = probe_pool(host.probes, pool, order.id, order.seconds, begin)
    found = Measurement(order, probe, _test(host, inventory, order, begin, commits) if order.disk_key else None)
    keep_measurement(host.results, found)
    return found


def pool_to_measure(host: MeasureHost, inventory: Inventory, guid: str, disk_key: str) -> Pool:
    """The pool, if it and the disk are there and their platform allows it; `disk_key` is "" without an SSD.

    Raises:
        MeasurementRefused: nothing was changed.
    """
    pool = inventory.pool(guid)
    if pool is None:
        raise MeasurementRefused((NoPool(guid),))
    if disk_key and inventory.disk(disk_key) is None:
        raise MeasurementRefused((DiskGone(disk_key),))
    vetoes = vetoes_on(host.candidates.runs.vetoes(inventory), "", pool.guid, disk_key)
    if vetoes:
        raise MeasurementRefused(vetoes)
    return pool


def _check(host: MeasureHost, pool: Pool) -> None:
    """Refuse a pool that is unwell, full or busy; the last takes some seconds to see."""
    refusals = tuple(against_probe(pool, None)) or tuple(against_probe(pool, _look(host, pool)))
    if refusals:
        raise MeasurementRefused(refusals)


def _look(host: MeasureHost, pool: Pool) -> Sample | None:
    sampler = host.sampler()
    sampler.sample()
    host.wait(LOOK_S)
    return next((each for each in sampler.sample().samples if each.pool_guid == pool.guid), None)


def _test(
    host: MeasureHost, inventory: Inventory, order: MeasureOrder, begin: Begin, commits: CommitTrace | None
) -> CandidateResult:
    disk = inventory.disk(order.disk_key)
    room = int(disk.identity.size_bytes * SHARE_FOR_TEST) if disk else 0
    size = order.test_bytes or min(TEST_BYTES, room)
    request = PlanRequest(order.pool_guid, (order.disk_key,), size, reserve_percent=0)
    ids = PlanIds.fresh(request, uuid4, host.probes.clock(), order.id)
    return measure_candidate(host.candidates, request, ids, order.seconds, begin, commits)
