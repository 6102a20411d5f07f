"""What is wrong on any host, the worst first: one row for a disk, pool, run or host, with all that is said of it.

Findings are worked out anew from what is stored, so that a page is never behind the alerts; the alerts know what
somebody has taken up, and what only they look at (the traffic of logs and caches, the sweeps). A run is looked up and
never remembered: what it waits for may be over a moment later.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nasadvisor.console.fleet.current_host import contact_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.collect_findings import findings_about
from nasadvisor.console.health.alerts.disk_badges import OPEN_LEVELS, UNWELL
from nasadvisor.console.health.alerts.host_findings import (
    HostFinding,
    about_contact,
    about_platform,
    about_quotas,
    about_release,
    about_room,
    about_runs,
    about_trials,
    nodes_with_news,
)
from nasadvisor.console.health.alerts.models import AlertStates, StoredAlert
from nasadvisor.console.health.models import SAID_OF, StoredDisk
from nasadvisor.domain.health.urgency import FAILING, urgency
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.stored.documents import document_or_none


class IssueKind(StrEnum):
    """What a row is about."""

    DISK = "disk"
    POOL = "pool"
    RUN = "run"
    HOST = "host"


@dataclass(frozen=True)
class Said:
    """One finding about a thing. `is_known` is whether somebody has acknowledged it, `since` when its alert began."""

    finding: Finding
    is_known: bool = False
    since: datetime | None = None
    url: str = ""
    link: str | Promise = ""


@dataclass(frozen=True)
class OpenIssue:
    """A thing that needs a look, with what is said of it. `disk` is what is stored of one."""

    kind: IssueKind
    node: Node
    said: tuple[Said, ...]
    disk: StoredDisk | None = None

    @property
    def is_known(self) -> bool:
        """Whether somebody has acknowledged all of it."""
        return all(each.is_known for each in self.said)

    @cached_property
    def worst(self) -> Said:
        """The worst of what nobody has acknowledged, or else of all."""
        open_ones = [each for each in self.said if not each.is_known] or self.said
        return min(open_ones, key=lambda each: urgency(each.finding))

    @property
    def level(self) -> Level:
        """How bad it is."""
        return self.worst.finding.level

    @property
    def name(self) -> str:
        """What people call it: model and serial of a disk, else the name of the pool or host."""
        if self.disk:
            return " ".join(part for part in (self.disk.model, self.disk.serial) if part) or self.disk.label
        return str(self.worst.finding.values.get(self.kind.value, "")) or _pool_of(self.worst.finding) or self.node.name

    @property
    def since(self) -> datetime | None:
        """When the first of it was seen."""
        return min((each.since for each in self.said if each.since), default=None)


@dataclass(frozen=True)
class Stored:
    """What is stored about some nodes, by their numbers: open alerts by node, code and subject, and the disks that have
    something to say or that an alert is about, by their numbers as findings have them.
    """

    nodes: dict[int, Node]
    alerts: dict[tuple[int, str, str], StoredAlert]
    disks: dict[str, StoredDisk]


@dataclass
class _Gathered:
    """What is said of one thing so far, by code and subject."""

    kind: IssueKind
    node: Node
    disk: StoredDisk | None = None
    said: dict[tuple[str, str], Said] = field(default_factory=dict)


def stored_about(nodes: Iterable[Node]) -> Stored:
    """Read what is stored about these nodes."""
    by_pk = {node.pk: node for node in nodes}
    found = StoredAlert.objects.filter(node__in=list(by_pk), level__in=OPEN_LEVELS).exclude(state=AlertStates.RECOVERED)
    told = {(each.node_id, each.code, each.subject): each for each in found}
    about_disks = (alert.subject for alert in told.values() if alert.source.startswith("disks/"))
    named = [int(subject) for subject in about_disks if subject.isdecimal()]
    disks = StoredDisk.objects.filter(UNWELL | Q(pk__in=named, is_forgotten=False), node__in=list(by_pk))
    return Stored(by_pk, told, {str(disk.pk): disk for disk in disks.only(*SAID_OF)})


def issues_on(nodes: Iterable[Node], now: datetime) -> tuple[OpenIssue, ...]:
    """Everything that needs a look on these nodes, what nobody has acknowledged first, the worst of it on top."""
    return issues_in(stored_about(nodes), now)


def issues_in(stored: Stored, now: datetime) -> tuple[OpenIssue, ...]:
    """The same where that is read already."""
    by_pk, told, disks = stored.nodes, stored.alerts, stored.disks
    things: dict[tuple[int, IssueKind, str], _Gathered] = {}
    with_runs = nodes_with_news()
    for node in by_pk.values():
        for notice in host_findings_about(node, now, has_runs=node.pk in with_runs):
            if notice.finding.level is not Level.INFO:
                _put(things, node, notice, disks, told.get((node.pk, notice.finding.code, notice.finding.subject)))
    for disk in disks.values():
        for finding in findings_about(disk):
            if finding.level is not Level.INFO and disk.node_id in by_pk:
                alert = told.get((disk.node_id, finding.code, finding.subject))
                _put(things, by_pk[disk.node_id], HostFinding(finding), disks, alert)
    for alert in told.values():
        if not _is_looked_up(alert) and not _is_said(things, alert) and alert.finding:
            _put(things, by_pk[alert.node_id], HostFinding(alert.finding), disks, alert)
    found = []
    for thing in things.values():
        said = sorted(thing.said.values(), key=lambda each: urgency(each.finding))
        found.append(OpenIssue(thing.kind, thing.node, tuple(said), thing.disk))
    return tuple(sorted(found, key=_urgency))


def _urgency(issue: OpenIssue) -> tuple[bool, int, bool, bool, int, str]:
    """Of what is equally bad a pool comes first: it holds the data, a disk may be a free one."""
    level, can_wait, place = urgency(issue.worst.finding)
    return issue.is_known, level, can_wait, issue.kind is not IssueKind.POOL, place, issue.node.name


def host_findings_about(node: Node, now: datetime, *, has_runs: bool = True) -> Iterator[HostFinding]:
    """What there is to say about a node and its pools at this moment, notes too."""
    if node.inventory_version:  # before its first reading there is none that could be old
        yield from about_contact(node, contact_of(node, now))
    yield from about_release(node)
    yield from about_room(node)
    yield from about_quotas(node, now)
    if has_runs:
        yield from about_runs(node)
        yield from about_trials(node, now)
    yield from about_platform(node)
    yield from map(HostFinding, inventory_findings(node))


def inventory_findings(node: Node) -> tuple[Finding, ...]:
    """What the last inventory of a node gives reason to say."""
    kept = (document_or_none(Finding, document) for document in node.finding_documents)
    return tuple(finding for finding in kept if finding)


def _is_looked_up(alert: StoredAlert) -> bool:
    """Whether what it is about was looked up for this page, so that the answer there counts."""
    return alert.source.startswith("console/") and not alert.code.startswith("sweep-")


def _is_said(things: dict[tuple[int, IssueKind, str], _Gathered], alert: StoredAlert) -> bool:
    """Whether a disk itself says what its alert does: that of a thousand disks need not be read twice."""
    disk = things.get((alert.node_id, IssueKind.DISK, alert.subject))
    return disk is not None and (alert.code, alert.subject) in disk.said


def _put(
    things: dict[tuple[int, IssueKind, str], _Gathered],
    node: Node,
    notice: HostFinding,
    disks: dict[str, StoredDisk],
    alert: StoredAlert | None,
) -> None:
    finding = notice.finding
    disk = disks.get(finding.subject)
    pool = _pool_of(finding)
    if finding.code.startswith(("run-", "trial-")):
        kind = IssueKind.RUN
    elif disk and (finding.step is NextStep.LOOK_AT_DISK or "disk" in finding.values):
        kind = IssueKind.DISK
    else:
        kind = IssueKind.POOL if pool else IssueKind.HOST
    name = {
        IssueKind.DISK: finding.subject,
        IssueKind.RUN: finding.subject,
        IssueKind.POOL: pool,
        IssueKind.HOST: "",
    }[kind]
    thing = things.setdefault((node.pk, kind, name), _Gathered(kind, node, disk if kind is IssueKind.DISK else None))
    is_known = alert is not None and alert.state == AlertStates.ACKNOWLEDGED
    said = Said(finding, is_known, alert.began_at if alert else None, notice.url, notice.link)
    thing.said.setdefault((finding.code, finding.subject), said)


def _pool_of(finding: Finding) -> str:
    return str(finding.values.get("pool", ""))


def words_of(issues: Sequence[OpenIssue], place: str) -> str:
    """The first of them, which is in this place, and how many there are of its kind; "" where there is none."""
    if not issues:
        return ""
    worst = issues[0]
    what = _what(worst)
    return f"{_counted(what, sum(_what(each) == what for each in issues))}: {worst.name} {place}".strip()


def place_of(issue: OpenIssue, *, has_others: bool) -> str:
    """ "in tank, mirror-1 on nas2", as far as there is something to say."""
    disk, words = issue.disk, []
    if disk and disk.pool_name:
        words.append(_("in %(pool)s") % {"pool": ", ".join(filter(None, (disk.pool_name, disk.vdev_name)))})
    if has_others and issue.kind is not IssueKind.HOST:
        words.append(_("on %(host)s") % {"host": issue.node.name})
    return " ".join(words)


def _what(issue: OpenIssue) -> str:
    """What is said of a thing in a headline: one of the sentences of `_counted`."""
    code = issue.worst.finding.code
    if issue.kind is IssueKind.DISK:
        return "disk-failing" if code in FAILING else "disk"
    if issue.kind is IssueKind.POOL:
        return "pool-critical" if issue.level is Level.CRITICAL else "pool"
    if issue.kind is IssueKind.RUN:
        return "run"
    return "host-silent" if code == "host-silent" else "host"


def _counted(what: str, count: int) -> str:
    words = {
        "disk-failing": ngettext("%(count)s disk is failing", "%(count)s disks are failing", count),
        "disk": ngettext("%(count)s disk needs attention", "%(count)s disks need attention", count),
        "pool-critical": ngettext("%(count)s pool is at risk", "%(count)s pools are at risk", count),
        "pool": ngettext("%(count)s pool needs attention", "%(count)s pools need attention", count),
        "run": ngettext("%(count)s run is waiting for you", "%(count)s runs are waiting for you", count),
        "host-silent": ngettext("%(count)s host is not reporting", "%(count)s hosts are not reporting", count),
        "host": ngettext("%(count)s host needs attention", "%(count)s hosts need attention", count),
    }
    return words[what] % {"count": count}
