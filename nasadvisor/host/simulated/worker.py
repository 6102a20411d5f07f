"""A host worker over a machine that exists only in memory: for looking at the pages, never on a real host.

`python -m nasadvisor.host.simulated.worker`; the environment variable NASADVISOR_SIMULATED_MACHINE names an inventory
document, and the queue is that of the node in it.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from celery.signals import worker_ready

from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.storage.inventory import Inventory, ScanProgress
from nasadvisor.domain.units import HOUR_S
from nasadvisor.host.change.gate import Permit, Ran
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.config import load_config
from nasadvisor.host.console_link import celery_app, queue_to_console
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.trace_job import TraceJob
from nasadvisor.host.health.sweep import HealthServices
from nasadvisor.host.simulated.evidence import (
    simulated_commits,
    simulated_count,
    simulated_curve,
    simulated_facts,
    simulated_sample,
    simulated_spells,
    simulated_waiting,
)
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.host.simulated.smart import simulated_health
from nasadvisor.host.tasks import HostTasks
from nasadvisor.host.timer import repeat_in_worker
from nasadvisor.runtime.starting import run_worker
from nasadvisor.stored.documents import from_json

STEP_S = 0.7
"""How long a step pretends to take, so that progress can be seen."""


@dataclass
class SlowExecutor(SimulatedExecutor):
    """Takes its time."""

    def do(self, permit: Permit) -> Ran:
        """See `SimulatedExecutor.do`."""
        time.sleep(STEP_S)
        return super().do(permit)


def now() -> datetime:
    """The time in UTC."""
    return datetime.now(UTC)


def look() -> Inventory:
    """The simulated machine, read just now."""
    return replace(executor.inventory(), read_at=now().isoformat(timespec="seconds"))


def sample() -> Reading:
    """What might have happened on the simulated machine since the last time."""
    at = int(now().timestamp())
    inventory = executor.inventory()
    since = {True: 0, False: None}
    samples = tuple(simulated_sample(pool, at, log_since=since[bool(pool.logs)]) for pool in inventory.pools)
    hour = at - at % HOUR_S
    spells = tuple(simulated_spells(pool, hour, at, log_since=since[bool(pool.logs)]) for pool in inventory.pools)
    return Reading(samples, tuple(simulated_facts(inventory, pool) for pool in inventory.pools), spells)


class SimulatedCounters:
    """Counts from one call to the next, as a `Sampler` of a real machine does."""

    def __init__(self) -> None:
        self.since = int(now().timestamp())

    def sample(self) -> Reading:
        """What might have happened since."""
        until = int(now().timestamp())
        seconds, self.since = float(until - self.since), until
        return Reading(tuple(simulated_sample(pool, until, seconds) for pool in executor.inventory().pools))


def measure(order: MeasureOrder, observe: Callable[[MeasureProgress], None]) -> Measurement:
    """Nothing can be measured on a machine that is not there."""
    del observe
    raise NotSimulated(order.pool_guid)


def followed(guid: str) -> tuple[str, str, str]:
    """The guid and the name of a pool, and the time after a moment."""
    time.sleep(STEP_S)
    pool = executor.inventory().pool(guid)
    return guid, pool.name if pool else "", now().isoformat(timespec="seconds")


def follow_reads(
    guid: str, seconds: int, told: Callable[[CacheCurve], None], is_stopped: Callable[[], bool]
) -> CacheCurve:
    """What following reads might tell, after a moment."""
    del told, is_stopped
    return simulated_curve(*followed(guid), seconds)


def follow_commits(
    guid: str, seconds: int, told: Callable[[CommitTrace], None], is_stopped: Callable[[], bool]
) -> CommitTrace:
    """What following commits might tell, after a moment."""
    del told, is_stopped
    return simulated_commits(*followed(guid), seconds)


def count_blocks(guid: str, _limit_s: int) -> BlockCount:
    """What a count might tell, after a moment."""
    return simulated_count(*followed(guid))


def watch_waiting() -> WaitingPrograms:
    """What tracing might tell, after a moment."""
    time.sleep(STEP_S)
    return simulated_waiting(now().isoformat(timespec="seconds"))


def start_scrub(guid: str) -> None:
    """A scrub that has begun and does not go on."""
    began = ScanProgress(now().isoformat(timespec="seconds"), 0, 1)
    pools = (
        replace(each, scan="scrub", last_scan=None, scan_progress=began) if each.guid == guid else each
        for each in executor.state.pools
    )
    executor.state = replace(executor.state, pools=tuple(pools))


class NotSimulated(HostError):  # noqa: N818 - named for what happened
    """Measurements by writing need a real machine."""

    def __init__(self, pool_guid: str) -> None:
        super().__init__(f"This host is simulated, so there is nothing to measure on pool {pool_guid}.")


machine = from_json(Inventory, Path(os.environ["NASADVISOR_SIMULATED_MACHINE"]).read_text(encoding="utf-8"))
executor = SlowExecutor(machine)
config = replace(load_config(), node=machine.host.node)
app = celery_app(config)
tasks = HostTasks(
    app,
    config.node,
    look,
    RunHost(config.node, config.journals, (config.lock_path,), lambda _: executor, now),
    sample,
    measure,
    HealthServices(
        lambda hand_over: simulated_health(look(), now()).sweep(hand_over),
        lambda key, test: simulated_health(look(), now()).start_test(key, test),
        start_scrub,
    ),
    watch_waiting,
    queue_to_console(config),
    curve=TraceJob(follow_reads),
    commits=TraceJob(follow_commits),
    count=count_blocks,
    counters=SimulatedCounters,
)
tasks.register()
repeat_in_worker(tasks.end_trials, first_after_s=0)  # as on a real host, but from the start on
repeat_in_worker(tasks.switches.carry_on, 0, tasks.switches.rest)


@worker_ready.connect
def report_after_start(**_: object) -> None:
    """Tell the console that this host is there, as a real one does."""
    tasks.tell_forms()
    tasks.read_inventory()


if __name__ == "__main__":
    run_worker(app, "host", threads=2, loglevel="WARNING")
