"""What the console has seen of the machine of the story: readings of a year, samples of six weeks, and one run."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from nasadvisor.console.evidence import series
from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.spells import store_spells
from nasadvisor.console.evidence.watch import WATCHED_S
from nasadvisor.console.fleet import hosts
from nasadvisor.console.health.alerts.watch import watch
from nasadvisor.console.worker import tasks
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.change.plan import Plan, PlanIds, make_plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.health.sweep import Answers, SweepReport
from nasadvisor.domain.storage.inventory import Disk, Inventory, Pool
from nasadvisor.domain.units import HOUR_S
from nasadvisor.host.change.runs import RunHost, apply_plan
from nasadvisor.host.simulated.evidence import simulated_facts, simulated_sample, simulated_spells
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.host.simulated.smart import COURSES, simulated_answer
from nasadvisor.stored.documents import to_document
from nasadvisor.stored.kinds import own_schema_versions
from tests.story.machine import LOG_AND_CACHE, TANK, machine, worse

BY: Final = "anna"
APPLIED_DAYS_AGO: Final = 26
WATCHED: Final = timedelta(days=42)
IN_MINUTES: Final = timedelta(hours=26)
READ_DAYS_AGO: Final = (*range(364, 42, -28), *range(42, 0, -3), 0)


@dataclass
class Clock:
    """Time that has passed: a second goes by whenever somebody looks."""

    at: datetime

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


def live(host: RunHost, executor: SimulatedExecutor, now: datetime) -> Inventory:
    """Let all of it happen, and give back the machine as it is now. `executor` begins with the machine before."""
    node = host.node
    before = executor.state
    hosts.store_schema_versions(node, own_schema_versions(node), to_document(own_schema_versions(node)))
    take_answer(node, "inventory", to_document(before))
    run = _apply(host, before)
    applied_at = datetime.fromisoformat(run.steps[-1].ended_at)
    take_answer(node, "inventory", to_document(replace(executor.state, read_at=applied_at.isoformat())))
    take_answer(node, "run", to_document(run))
    after = _now(executor.state, now)
    take_answer(node, "inventory", to_document(after))
    _read_disks(after, now)
    for pool in after.pools:
        _watch(after, pool, applied_at if pool.guid == TANK else None, now)
    tasks.roll_up_samples()
    watch(now)
    return after


def machine_before(now: datetime) -> Inventory:
    """The machine of the story a year ago."""
    return machine((now - timedelta(days=365)).isoformat(), (now - timedelta(days=9)).isoformat(timespec="seconds"))


def _apply(host: RunHost, before: Inventory) -> Run:
    plan = make_plan(LOG_AND_CACHE, before, PlanIds.fresh(LOG_AND_CACHE, uuid4, host.clock()))
    if not isinstance(plan, Plan):
        raise TypeError(f"the plan of the story is refused: {plan}")
    return apply_plan(host, plan, BY, lambda _run: None)


def _now(state: Inventory, now: datetime) -> Inventory:
    pools = tuple(worse(pool) if pool.guid == TANK else pool for pool in state.pools)
    return replace(state, pools=pools, read_at=now.isoformat(timespec="seconds"))


def _read_disks(inventory: Inventory, now: datetime) -> None:
    node = inventory.host.node
    for age in READ_DAYS_AGO:
        found = tuple(simulated_answer(disk, now, age) for disk in inventory.disks if _was_there(disk, age))
        take_answer(node, "answers", to_document(Answers(node, found)))
    keys = tuple(disk.key for disk in inventory.disks)
    at = (now - timedelta(minutes=4)).isoformat(timespec="seconds")
    take_answer(node, "sweep-report", to_document(SweepReport(node, at, at, keys, read=len(keys))))


def _was_there(disk: Disk, days_ago: int) -> bool:
    course = COURSES.get(disk.identity.serial)
    return course is None or course.hours > days_ago * 24


def _watch(inventory: Inventory, pool: Pool, log_since: datetime | None, now: datetime) -> None:
    """Keep hours of six weeks, and minutes of the last day."""
    node = inventory.host.node
    take_answer(node, "reading", to_document(Reading((), (simulated_facts(inventory, pool),))))
    kept = SampledPool.objects.get(node__name=node, guid=pool.guid)
    since = int(log_since.timestamp()) if log_since else None
    series.save_samples(kept, Resolution.HOUR, _samples(pool, since, now - WATCHED, now, 3600))
    series.save_samples(kept, Resolution.MINUTE, _samples(pool, since, now - IN_MINUTES, now, 60))
    this_hour = int(now.timestamp()) // HOUR_S * HOUR_S
    for began in range(this_hour - WATCHED_S, this_hour + 1, HOUR_S):
        until = min(began + HOUR_S, int(now.timestamp()))
        store_spells(kept.node, simulated_spells(pool, began, until, log_since=since))


def _samples(pool: Pool, log_since: int | None, begin: datetime, end: datetime, seconds: int) -> Iterator[Sample]:
    """Before there was a log, the pool was without it."""
    without = replace(pool, logs=(), caches=())
    first = -(-int(begin.timestamp()) // seconds) * seconds
    for at in range(first, int(end.timestamp()), seconds):
        as_it_was = pool if log_since is not None and at >= log_since else without
        yield simulated_sample(as_it_was, at, seconds, log_since=log_since)
