"""The Celery app `host`: thin tasks over the services, one queue a node, run as root.

It takes JSON documents, validates them, and answers by sending documents to the console's queue; there is no result
backend. It never sees the database. Mutating tasks are acknowledged before they start and never retried: the plan's id
lets a run happen once, and what was left half done by a crash is the user's to decide.
"""

import logging
from functools import cache

import kombu.exceptions
import redis.exceptions
from celery import Celery
from celery.signals import worker_ready

from nasadvisor.documents import DocumentError, Json, from_document, to_document
from nasadvisor.domain.lifecycle import Run
from nasadvisor.domain.plan import Plan
from nasadvisor.host.build import machine_of, run_host_of
from nasadvisor.host.config import HostConfig, load_config
from nasadvisor.host.errors import HostError
from nasadvisor.host.inventory import read_inventory
from nasadvisor.host.runs import RunHost, apply_plan, finish_run, list_runs, show_run, undo_run

log = logging.getLogger(__name__)

UNREACHABLE = (kombu.exceptions.OperationalError, redis.exceptions.RedisError, OSError)

app = Celery("host")
app.config_from_object(
    {
        "broker_url": load_config().redis_url,
        "task_default_queue": f"host.{load_config().node}",
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_acks_late": False,
        "task_publish_retry": False,
        "broker_connection_retry_on_startup": True,
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        "worker_enable_remote_control": False,
    }
)


@cache
def _config() -> HostConfig:
    return load_config()


@cache
def _host() -> RunHost:
    return run_host_of(_config())


@app.task(name="host.read_inventory")
def read_inventory_task() -> None:
    """Look at the host and publish what is there, or why it cannot be seen."""
    try:
        document = to_document(read_inventory(machine_of(_config())))
    except HostError as error:
        log.warning("inventory: %s", error)
        _publish("console.store_inventory_error", str(error))
    else:
        _publish("console.store_inventory", document)


@app.task(name="host.apply")
def apply_task(plan_document: Json, by: str) -> None:
    """Apply a plan; progress is published after every record."""
    try:
        plan = from_document(Plan, plan_document)
    except DocumentError as error:
        log.warning("refused a plan that is not one: %s", error)
        return
    try:
        apply_plan(_host(), plan, by, _observe)
    except HostError as error:
        _publish_stopped(plan.id, error)


@app.task(name="host.undo")
def undo_task(run_id: str, by: str) -> None:
    """Take a run back."""
    try:
        undo_run(_host(), run_id, by, _observe)
    except HostError as error:
        _publish_stopped(run_id, error)


@app.task(name="host.finish")
def finish_task(run_id: str, by: str) -> None:
    """Do the rest of an interrupted run."""
    try:
        finish_run(_host(), run_id, by, _observe)
    except HostError as error:
        _publish_stopped(run_id, error)


@app.task(name="host.report_run")
def report_run_task(run_id: str) -> None:
    """Publish where a run stands, or that this host does not know it."""
    try:
        _observe(show_run(_host(), run_id))
    except HostError as error:
        _publish("console.store_run_error", run_id, str(error))


@app.task(name="host.report_runs")
def report_runs_task() -> None:
    """Publish every run of this host, those of the command line included."""
    try:
        runs = list_runs(_host())
    except HostError as error:
        log.warning("runs: %s", error)
        return
    for run in runs:
        _observe(run)


@worker_ready.connect  # Celery's only hook for "now I can be reached"
def report_after_start(**_: object) -> None:
    """After a restart, tell the console which runs were interrupted."""
    report_runs_task()


def _observe(run: Run) -> None:
    _publish("console.store_run", to_document(run))


def _publish_stopped(run_id: str, error: HostError) -> None:
    log.warning("run %s: %s", run_id, error)
    _publish("console.store_run_error", run_id, str(error))


def _publish(task: str, *arguments: object) -> None:
    """Send to the console; if nobody can be reached the run goes on, and the console asks again later."""
    try:
        app.send_task(task, args=[_config().node, *arguments], queue="console", retry=False)
    except UNREACHABLE as error:
        log.warning("%s could not be published: %s", task, error)
