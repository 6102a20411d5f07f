"""The console's tasks: thin, over `records` and `hosts`. Hosts send the first four, beat the last two."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.utils import timezone

from nasadvisor.console import hosts, records
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
