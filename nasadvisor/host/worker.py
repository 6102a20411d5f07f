"""The host worker: `celery -A nasadvisor.host.worker worker -Q host.<node>`, as root, on the machine itself."""

import logging
from threading import Event

from celery.signals import worker_init, worker_ready, worker_shutting_down

from nasadvisor.domain.trial import AFTER_START_S
from nasadvisor.host.build import health_of, machine_of, measure_host_of, run_host_of, this_platform
from nasadvisor.host.config import load_config
from nasadvisor.host.errors import HostError
from nasadvisor.host.inventory import read_inventory
from nasadvisor.host.measure import clean_up, measure
from nasadvisor.host.sample import Sampler
from nasadvisor.host.tasks import HostTasks, celery_app, queue_to_console
from nasadvisor.host.timer import start_timer

log = logging.getLogger(__name__)
config = load_config()
app = celery_app(config)
sampler = Sampler(machine_of(config))
tasks = HostTasks(
    app=app,
    node=config.node,
    look=lambda: read_inventory(machine_of(config)),
    runs=run_host_of(config),
    sample=sampler.sample,
    measure=lambda order, observe: measure(measure_host_of(config), order, observe),
    health=health_of(config),
    queue=queue_to_console(config),
    platform=this_platform().report,
    notifier=this_platform().notify,
)
tasks.register()
stopping = Event()


@worker_init.connect  # and not when it is ready: a trial ends also while Redis is away
def watch_trials(**_: object) -> None:
    """Take back the runs whose trial is over, from a while after the start on."""
    start_timer(tasks.end_trials, stopping, AFTER_START_S)


@worker_shutting_down.connect
def stop_watching(**_: object) -> None:
    """Begin nothing more."""
    stopping.set()


@worker_ready.connect  # Celery's only hook for "now I can be reached"
def report_after_start(**_: object) -> None:
    """Remove what interrupted measurements left, tell the console that this host is there, and of its runs."""
    try:
        clean_up(measure_host_of(config))
    except HostError as error:
        log.warning("clean-up after a measurement: %s", error)
    tasks.read_inventory()
    tasks.report_runs()
