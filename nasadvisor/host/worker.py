"""The host worker: `python -m nasadvisor.host.worker`, as root, on the machine itself."""

import logging
from functools import partial

from celery.signals import worker_ready

from nasadvisor.domain.change.trial import AFTER_START_S
from nasadvisor.host.build import health_of, machine_of, measure_host_of, run_host_of, this_platform
from nasadvisor.host.config import load_config
from nasadvisor.host.console_link import celery_app, queue_to_console
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.commits import CommitTracer
from nasadvisor.host.evidence.curve import CurveTracer
from nasadvisor.host.evidence.curve_all_day import AllDayTracer
from nasadvisor.host.evidence.kept_spells import keep_spells
from nasadvisor.host.evidence.measuring.measure import clean_up, measure
from nasadvisor.host.evidence.metadata import BlockCounter
from nasadvisor.host.evidence.sample import Sampler
from nasadvisor.host.evidence.spells import SpellKeeper, SpellTracer
from nasadvisor.host.evidence.trace_job import TraceJob
from nasadvisor.host.evidence.tracing import watch_waiting
from nasadvisor.host.storage.machine import read_inventory
from nasadvisor.host.tasks import HostTasks
from nasadvisor.host.timer import repeat_in_worker
from nasadvisor.runtime.alive import say_alive_in_worker
from nasadvisor.runtime.starting import run_worker

log = logging.getLogger(__name__)
THREADS = 3
AT_ONCE_S = 0.0
"""What a crash left out of service does not wait: it is put back as soon as its pool is there."""

config = load_config()
app = celery_app(config)
sampler = Sampler(machine_of(config))
curve = TraceJob(CurveTracer(machine_of(config)).trace)
commits = TraceJob(CommitTracer(machine_of(config), config.commits).trace)
spells = SpellKeeper(
    sampler.sample,
    SpellTracer(machine_of(config)),
    partial(keep_spells, config.spells),
    lambda: curve.is_under_way or commits.is_under_way,
)
tasks = HostTasks(
    app=app,
    node=config.node,
    look=lambda: read_inventory(machine_of(config)),
    runs=run_host_of(config),
    sample=spells.sample if config.has_spells else sampler.sample,
    measure=lambda order, observe: measure(measure_host_of(config), order, observe),
    health=health_of(config),
    watch_waiting=lambda: watch_waiting(machine_of(config)),
    curve=curve,
    commits=commits,
    count=lambda guid, limit_s: BlockCounter(machine_of(config)).count(guid, limit_s),
    queue=queue_to_console(config),
    platform=this_platform().report,
    notifier=this_platform().notify,
    counters=lambda: Sampler(machine_of(config)),
    allowed=config.allowed,
)
tasks.register()
repeat_in_worker(tasks.end_trials, AFTER_START_S)
repeat_in_worker(tasks.switches.carry_on, AT_ONCE_S, tasks.switches.rest)
if config.has_curves:
    all_day = AllDayTracer(CurveTracer(machine_of(config)), tasks.link.tell, lambda: tasks.curve.is_under_way)
    repeat_in_worker(all_day.carry_on, AFTER_START_S)
# Only that the process runs. It is never ended for what its tasks do: a run may wait for a pool for as long as that
# takes, other tasks for the run, and a command that hangs keeps one thread (`nasadvisor.host.adapters.process`).
say_alive_in_worker(lambda: True)


@worker_ready.connect  # Celery's only hook for "now I can be reached"
def report_after_start(**_: object) -> None:
    """Remove what interrupted measurements left, tell the console that this host is there, and of its runs."""
    try:
        clean_up(measure_host_of(config))
    except HostError as error:
        log.warning("clean-up after a measurement: %s", error)
    tasks.tell_forms()
    tasks.read_inventory()
    tasks.report_runs()


if __name__ == "__main__":
    run_worker(app, "host", THREADS, "INFO")
