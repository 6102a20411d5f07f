"""The host worker: `celery -A nasadvisor.host.worker worker -Q host.<node>`, as root, on the machine itself."""

import logging

from celery.signals import worker_ready

from nasadvisor.host.build import candidate_host_of, machine_of, probe_host_of, run_host_of
from nasadvisor.host.candidate import clean_up_candidates
from nasadvisor.host.config import load_config
from nasadvisor.host.errors import HostError
from nasadvisor.host.inventory import read_inventory
from nasadvisor.host.probe import clean_up_probes
from nasadvisor.host.sample import Sampler
from nasadvisor.host.tasks import HostTasks, celery_app

log = logging.getLogger(__name__)
config = load_config()
app = celery_app(config)
sampler = Sampler(machine_of(config))
tasks = HostTasks(app, config.node, lambda: read_inventory(machine_of(config)), run_host_of(config), sampler.sample)
tasks.register()


@worker_ready.connect  # Celery's only hook for "now I can be reached"
def report_after_start(**_: object) -> None:
    """Remove what interrupted measurements left, tell the console that this host is there, and of its runs."""
    try:
        clean_up_probes(probe_host_of(config))
        clean_up_candidates(candidate_host_of(config))
    except HostError as error:
        log.warning("clean-up after a measurement: %s", error)
    tasks.read_inventory()
    tasks.report_runs()
