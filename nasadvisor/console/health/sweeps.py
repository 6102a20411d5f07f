"""Asking hosts for sweeps and self-tests, and keeping how they went."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import NodeHealth, StoredDisk
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.questions import SMART_SWEEP, START_SELF_TEST
from nasadvisor.domain.health.sweep import SelfTest, SelfTestStart, SweepReport
from nasadvisor.domain.statements import gettext_noop
from nasadvisor.stored.documents import Json

KNOWN_WORDS: Final = frozenset(
    {
        gettext_noop("Short offline"),
        gettext_noop("Extended offline"),
        gettext_noop("Conveyance offline"),
        gettext_noop("Selective offline"),
        gettext_noop("Short captive"),
        gettext_noop("Extended captive"),
        gettext_noop("Short"),
        gettext_noop("Extended"),
        gettext_noop("Background short"),
        gettext_noop("Background long"),
        gettext_noop("Completed"),
        gettext_noop("Completed without error"),
        gettext_noop("Aborted by host"),
        gettext_noop("Interrupted (host reset)"),
        gettext_noop("Fatal or unknown error"),
        gettext_noop("Fatal or unknown test error"),
        gettext_noop("Completed: unknown failure"),
        gettext_noop("Completed: electrical failure"),
        gettext_noop("Completed: servo/seek failure"),
        gettext_noop("Completed: read failure"),
        gettext_noop("Completed: handling damage??"),
        gettext_noop("Self-test routine in progress"),
    }
)


SWEEP = "console.sweep"


def sweep_interval() -> timedelta | None:
    """The time between two sweeps; None while they are switched off or follow a calendar."""
    task = PeriodicTask.objects.filter(name=SWEEP, enabled=True).select_related("interval").first()
    if task is None or task.interval is None:
        return None
    unit = {task.interval.period: task.interval.every}
    return timedelta(**unit)


ASK_AGAIN_AFTER = timedelta(minutes=10)
"""After a sweep that did not come: Redis was down, or the host was. A second answer does no harm."""


def store_sweep(node_name: str, report: SweepReport, _document: Json) -> None:
    """Keep how a sweep went."""
    NodeHealth.objects.filter(pk=health_of(node_name).pk).update(
        sweep_ended_at=datetime.fromisoformat(report.ended_at),
        error_document=None,
        read=report.read,
        asleep=report.asleep,
        unsupported=report.unsupported,
        failed=report.failed,
    )


def store_sweep_error(node_name: str, _about: str, document: Json) -> None:
    """Keep why a sweep could not be made."""
    NodeHealth.objects.filter(pk=health_of(node_name).pk).update(error_document=document)


def store_self_test_start(node_name: str, start: SelfTestStart, _document: Json) -> None:
    """Keep that a self-test began."""
    _keep_start(node_name, start.disk_key, None)


def store_self_test_error(node_name: str, disk_key: str, document: Json) -> None:
    """Keep why a self-test did not begin."""
    _keep_start(node_name, disk_key, document)


def _keep_start(node_name: str, disk_key: str, problem: Json | None) -> None:
    disks = StoredDisk.objects.filter(node__name=node_name, key=disk_key, is_forgotten=False)
    disks.update(self_test_problem_document=problem, self_test_asked_at=timezone.now())


def request_sweeps(now: datetime) -> None:
    """Ask every host."""
    for node in Node.objects.defer("inventory_document"):
        with hosts.unreachable_logged():
            request_sweep(node, now, by=None)


def request_sweep(node: Node, now: datetime, by: User | None) -> None:
    """Ask one host.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    NodeHealth.objects.filter(pk=health_of(node.name).pk).update(sweep_asked_at=now)
    hosts.ask(node, SMART_SWEEP, by=by)


def request_missing_sweeps(now: datetime) -> None:
    """Ask again where a sweep is overdue: the first one of a new host, and those that got lost on the way."""
    interval = sweep_interval()
    if interval is None:
        return
    for node in Node.objects.defer("inventory_document"):
        health = health_of(node.name)
        is_overdue = health.sweep_ended_at is None or now - health.sweep_ended_at > interval + ASK_AGAIN_AFTER
        is_asked = health.sweep_asked_at is not None and now - health.sweep_asked_at < ASK_AGAIN_AFTER
        if is_overdue and not is_asked:
            with hosts.unreachable_logged():
                request_sweep(node, now, by=None)


def request_self_tests(test: SelfTest) -> None:
    """Make all disks that answer test themselves, where their host lets us ask for it."""
    disks = StoredDisk.objects.filter(is_present=True, outcome="read").select_related("node")
    for disk in disks.defer("node__inventory_document"):
        if why_not(disk.node.platform, Verbs.MEASURE):
            continue
        with hosts.unreachable_logged():
            hosts.ask(disk.node, START_SELF_TEST, disk.key, test, by=None)


def health_of(node_name: str) -> NodeHealth:
    """The row of a node; made at first use."""
    node, _ = Node.objects.defer("inventory_document").get_or_create(name=node_name)
    return NodeHealth.objects.get_or_create(node=node)[0]


def never_swept(nodes: Iterable[Node]) -> list[str]:
    """The hosts whose disks have never been asked for their health: of those nothing is known, good or bad."""
    swept = set(NodeHealth.objects.filter(sweep_ended_at__isnull=False).values_list("node_id", flat=True))
    return [node.name for node in nodes if node.pk not in swept]
