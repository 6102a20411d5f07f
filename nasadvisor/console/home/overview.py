"""The first page: is everything all right, on every host?"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts.roles import may_change, operator_required, user_of
from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.runs.history import row_of
from nasadvisor.console.fleet.current_host import Contact, contact_of, current_node
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.disk_badges import badges_of
from nasadvisor.console.health.alerts.models import FirstHour
from nasadvisor.console.health.alerts.open_issues import (
    IssueKind,
    OpenIssue,
    host_findings_about,
    issues_in,
    place_of,
    stored_about,
    words_of,
)
from nasadvisor.console.health.sweeps import never_swept
from nasadvisor.console.home.first_hour import ChecklistState, first_steps, is_closed
from nasadvisor.console.home.pool_lines import pool_lines, soonest_worn
from nasadvisor.console.home.since_yesterday import since_yesterday
from nasadvisor.console.storage.diagrams import draw_pools
from nasadvisor.console.storage.disks import free_ssds
from nasadvisor.console.storage.pools import helped_pools, open_pools
from nasadvisor.console.wording.statements import lead_from
from nasadvisor.domain.statements import Level

ROWS_SHOWN: Final = 12
"""More than that nobody reads on a first page: the alerts have them all."""

HOSTS_SHOWN: Final = 12

SHOW: Final[dict[IssueKind, str | Promise]] = {
    IssueKind.DISK: gettext_lazy("View disk"),
    IssueKind.POOL: gettext_lazy("View pool"),
    IssueKind.RUN: gettext_lazy("View run"),
    IssueKind.HOST: gettext_lazy("View hosts"),
}


@dataclass(frozen=True)
class WayOut:
    """Where somebody goes about something. `node_name` is the host to choose before, "" where it is shown already."""

    url: str
    words: str | Promise
    node_name: str = ""


@dataclass(frozen=True)
class IssueRow:
    """A thing that needs a look: where it is, and the ways on: its own page, and what its worst finding suggests."""

    issue: OpenIssue
    where: str
    show: WayOut | None
    step: WayOut | None


@dataclass(frozen=True)
class HostRow:
    """A host, and how it stands with us."""

    node: Node
    contact: Contact

    @property
    def state(self) -> str:
        """Its contact as a state that has a look."""
        is_unread = self.contact is Contact.OUTDATED and self.node.inventory_version is None
        return f"host-{Contact.NEVER if is_unread else self.contact}"

    @property
    def release(self) -> str:
        """The release of NAS Advisor there; "" of one that has never told."""
        return self.node.schema_versions.release if self.node.schema_versions else ""


@dataclass(frozen=True)
class Headline:
    """The answer of the page: the worst thing, with the way to it, and how many there are of its kind."""

    words: str
    level: Level
    way: WayOut | None


def overview(request: HttpRequest) -> HttpResponse:
    """What is wrong on any host and what changed since yesterday; then the pools of the node that is shown."""
    node = current_node(request)
    if node is None:
        return render(request, "fleet/no_node.html")
    now = timezone.now()
    nodes = list(Node.objects.defer("inventory_document"))
    stored = stored_about(nodes)
    issues = issues_in(stored, now)
    known = [each for each in issues if each.is_known]
    open_ones = [each for each in issues if not each.is_known]
    row_of_issue = partial(_row, shown=node, has_others=len(nodes) > 1, can_change=may_change(user_of(request)))
    rows = [row_of_issue(each) for each in open_ones[:ROWS_SHOWN]]
    inventory = node.inventory
    drawings = draw_pools(inventory) if inventory else ()
    badges = badges_of(node, stored.disks.values())
    hosts = [HostRow(each, contact_of(each, now)) for each in nodes[:HOSTS_SHOWN]]
    last_run = StoredRun.objects.filter(node=node).first()
    steps = () if is_closed() else first_steps(node, now)
    context = {
        "node": node,
        "inventory": inventory,
        "headline": Headline(words_of(open_ones, rows[0].where), rows[0].issue.level, rows[0].show) if rows else None,
        "rows": rows,
        "more": len(open_ones) - len(rows),
        "known": [row_of_issue(each) for each in known],
        "notes": [notice for notice in host_findings_about(node, now) if notice.finding.level is Level.INFO],
        "unread": [each.name for each in nodes if each.inventory_version is None],
        "unasked": never_swept(nodes),
        "is_alone": len(nodes) == 1,
        "pools": pool_lines(node, drawings, badges, now),
        "soonest_worn": soonest_worn(node),
        "news": since_yesterday(nodes, node, now),
        "last_run": row_of(last_run) if last_run else None,
        "open_pools": open_pools(node, inventory) if inventory else (),
        "would_help": bool(inventory and helped_pools(node, inventory)),
        "badges": badges,
        "steps": steps,
        "open_steps": sum(step.state is ChecklistState.OPEN for step in steps),
        "to_set_up": _to_set_up(nodes, now) if len(nodes) > 1 and not rows else [],
        "hosts": hosts,
        "hosts_matter": len(nodes) > 1 or hosts[0].contact is not Contact.FRESH,
        "more_hosts": max(0, len(nodes) - HOSTS_SHOWN),
        "free_ssds": free_ssds(inventory) if inventory else (),
    }
    return render(request, "console/overview.html", context)


@operator_required
@require_POST
def close_first_hour(request: HttpRequest) -> HttpResponse:
    """Somebody needs the list of first steps no more; it is put away for everybody."""
    FirstHour.close(timezone.now(), user_of(request).get_username())
    return redirect("overview")


def _to_set_up(nodes: Sequence[Node], now: datetime) -> list[str]:
    """The hosts on whose list of first steps something is open; none once the list was put away."""
    listed = () if is_closed() else nodes[:HOSTS_SHOWN]
    return [each.name for each in listed if any(step.state is ChecklistState.OPEN for step in first_steps(each, now))]


def _row(issue: OpenIssue, *, shown: Node, has_others: bool, can_change: bool) -> IssueRow:
    elsewhere = "" if issue.node.pk == shown.pk else issue.node.name
    url, finding = _address(issue), issue.worst.finding
    show = (
        WayOut(url, SHOW[issue.kind], elsewhere if issue.kind in (IssueKind.POOL, IssueKind.DISK) else "")
        if url
        else None
    )
    lead = lead_from(finding, may_change=can_change) if issue.kind is IssueKind.POOL else None
    step = WayOut(lead.url, lead.words, elsewhere) if lead and lead.url != url else None
    return IssueRow(issue, place_of(issue, has_others=has_others), show, step)


def _address(issue: OpenIssue) -> str:
    """The page of the thing; "" where it has none."""
    if issue.disk:
        return reverse("disk", args=[issue.disk.key])
    if issue.kind is IssueKind.RUN:
        return issue.worst.url
    if issue.kind is IssueKind.POOL:
        place = next((said.finding.place for said in issue.said if said.finding.place), "")
        return reverse("pool", args=[place]) if place else ""
    return reverse("settings")
