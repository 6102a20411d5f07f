"""What a console may know when somebody looks at it: nothing yet, one disk, 200, a disk that fails, three hosts, all
that can be said of a pool without log or cache, and a machine with a past."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.utils import timezone

from nasadvisor.console.accounts.models import ApiToken
from nasadvisor.console.evidence.models import StoredAnswer
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import Channel, StoredReport
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.simulated.evidence import simulated_count, simulated_curve
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.stored.documents import to_document
from tests.browser.test_home import failing_disk, three_hosts
from tests.fixtures.machines.build import boot_disk, large, typical
from tests.story.past import APPLIED_DAYS_AGO, Clock, live, machine_before
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.health.health_data import watched
from tests.unit.console.test_pages import load
from tests.unit.machines import TANK


def _nothing(_root: Path) -> None:
    """No host has told of itself."""


def _empty(_root: Path) -> None:
    load(replace(typical(), disks=(), pools=()))


def _one_disk(_root: Path) -> None:
    watched(replace(typical(), disks=(boot_disk(),), pools=()), days=0)
    load(replace(typical(), disks=(boot_disk(),), pools=()))


def _large(_root: Path) -> None:
    watched(large(), days=0)
    load(large())


def _failing(_root: Path) -> None:
    failing_disk()


def _three_hosts(_root: Path) -> None:
    three_hosts()


def _undecided(_root: Path) -> None:
    """A pool without log and cache, watched for a day, its reads followed and its metadata counted."""
    fill(26)
    now = timezone.now()
    at, node = now.isoformat(timespec="seconds"), Node.objects.get()
    StoredAnswer.objects.create(form="cache-curve", node=node, pool_guid=TANK, asked_at=now, seconds=3600)
    take_answer("nas", "cache-curve", to_document(simulated_curve(TANK, "tank", at, 3600)))
    StoredAnswer.objects.create(form="block-count", node=node, pool_guid=TANK, asked_at=now, seconds=3600)
    take_answer("nas", "block-count", to_document(simulated_count(TANK, "tank", at)))


def _story(root: Path) -> None:
    """The machine of `make dev`, and what people have set up meanwhile."""
    now = datetime.now(UTC).replace(microsecond=0)
    executor = SimulatedExecutor(machine_before(now))
    clock = Clock(now - timedelta(days=APPLIED_DAYS_AGO))
    live(RunHost("nas1", root / "runs", (root / "lock",), lambda _: executor, clock), executor, now)
    StoredReport.objects.create(state="done", requested_by="anna", pdf=b"%PDF-")
    ApiToken.objects.create(name="Grafana", digest="x")
    Channel.objects.create(
        name="Mail to the admins", kind="mail", secret="", last_error="The mail server did not answer."
    )


STATES: dict[str, Callable[[Path], None]] = {
    "nothing": _nothing,
    "empty": _empty,
    "one-disk": _one_disk,
    "large": _large,
    "failing": _failing,
    "three-hosts": _three_hosts,
    "undecided": _undecided,
    "story": _story,
}


def bring_about(state: str, root: Path) -> None:
    """Have the console know this and nothing else. `root` is where a host may keep its journal."""
    Node.objects.all().delete()
    STATES[state](root)
