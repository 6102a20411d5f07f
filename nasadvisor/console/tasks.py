"""The console's tasks: thin, over `records`, `series` and `hosts`. Hosts send what is stored; beat sends the rest."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.utils import timezone

from nasadvisor.console import hosts, records, series
from nasadvisor.console.celery_app import app
from nasadvisor.console.models import Node
from nasadvisor.documents import Json

logger = logging.getLogger(__name__)


@app.task(name="console.store_inventory")
def store_inventory(node: str, document: Json) -> None:
    """A host has read itself."""
    records.store_inventory(node, document)


@app.task(name="console.store_inventory_error")
def store_inventory_error(node: str, document: Json) -> None:
    """A host could not read itself."""
    records.store_inventory_error(node, document)


@app.task(name="console.store_run")
def store_run(node: str, document: Json) -> None:
    """A run has moved on."""
    records.store_run(node, document)


@app.task(name="console.store_run_error")
def store_run_error(node: str, run_id: str, document: Json) -> None:
    """A host did not begin what it was asked for."""
    records.store_run_error(node, run_id, document)


@app.task(name="console.store_reading")
def store_reading(node: str, document: Json) -> None:
    """A host has read its counters."""
    series.store_reading(node, document)


@app.task(name="console.store_measurement")
def store_measurement(node: str, document: Json) -> None:
    """A host has measured by writing."""
    records.store_measurement(node, document)


@app.task(name="console.store_measurement_error")
def store_measurement_error(node: str, order_id: str, document: Json) -> None:
    """A host has not measured what it was asked for."""
    records.store_measurement_error(node, order_id, document)


@app.task(name="console.take_samples")
def take_samples() -> None:
    """Ask every host to read its counters."""
    for node in Node.objects.defer("inventory_document"):
        hosts.request_sample(node)


@app.task(name="console.roll_up_samples")
def roll_up_samples() -> None:
    """Make minutes of samples and hours of minutes, and forget what is old."""
    series.roll_up(timezone.now())
    series.forget(timezone.now())


@app.task(name="console.refresh_inventories")
def refresh_inventories() -> None:
    """Ask every host to read itself; simulated ones have a worker too (`make dev`)."""
    for node in Node.objects.defer("inventory_document"):
        with _logged():
            hosts.request_inventory(node)


@app.task(name="console.follow_runs")
def follow_runs() -> None:
    """Ask how the unfinished runs stand, so that a lost message heals; give up on requests that have expired."""
    records.expire_requests(timezone.now())
    for run in records.runs_to_follow():
        with _logged():
            hosts.report_run(run)


@contextmanager
def _logged() -> Iterator[None]:
    """A host that cannot be asked does not keep the others from being asked."""
    try:
        yield
    except hosts.HostUnreachable as error:
        logger.warning("%s", error)
