"""The host worker: `celery -A nasadvisor.host.worker worker -Q host.<node>`, as root, on the machine itself."""

from celery.signals import worker_ready

from nasadvisor.host.build import health_of, machine_of, run_host_of
from nasadvisor.host.config import load_config
from nasadvisor.host.inventory import read_inventory
from nasadvisor.host.tasks import HostTasks, celery_app

config = load_config()
app = celery_app(config)
tasks = HostTasks(app, config.node, lambda: read_inventory(machine_of(config)), run_host_of(config), health_of(config))
tasks.register()


@worker_ready.connect  # Celery's only hook for "now I can be reached"
def report_after_start(**_: object) -> None:
    """Tell the console that this host is there, and which runs were interrupted."""
    tasks.read_inventory()
    tasks.report_runs()
