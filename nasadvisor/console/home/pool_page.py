"""The pages of pools: what all rooms know of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.runs.history import entries_of
from nasadvisor.console.change.wizard.pools import pool_choice
from nasadvisor.console.change.wizard.without_choice import switches_of
from nasadvisor.console.evidence.verdict_badges import VerdictBadge, verdict_badges_on
from nasadvisor.console.fleet.current_host import current_node
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.disk_badges import DiskBadge, badges_in, badges_in_pool, badges_on
from nasadvisor.console.health.alerts.open_issues import inventory_findings
from nasadvisor.console.health.bytes_by_role import traffic_of
from nasadvisor.console.health.inventory import capacity_of
from nasadvisor.console.home.first_hour import scrub_advice
from nasadvisor.console.home.scrubs import scrub_part
from nasadvisor.console.storage.diagrams import PoolDrawing, draw_pool, draw_pools
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.console.storage.pools import helped_pools, pool_or_404, reason_against_adding
from nasadvisor.domain.health.pool_findings import POOL_MEMBER
from nasadvisor.domain.health.urgency import urgency
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.storage.inventory import Inventory

RUNS_SHOWN = 50


@dataclass(frozen=True)
class PoolListRow:
    """A pool in the list: its drawing, what its evidence says in a few words, and the badges of its disks, worst first.

    `is_open` is whether something can be added.
    """

    drawing: PoolDrawing
    verdict_badges: tuple[VerdictBadge, ...]
    would_help: bool
    is_open: bool
    badges: list[DiskBadge]


@dataclass(frozen=True)
class PoolNotice:
    """What is said of a pool, one finding, or of one of its disks, all of them. `disk` is the name of that disk, else
    "", and `url` its page; the worst finding stands first.
    """

    findings: tuple[Finding, ...]
    disk: str = ""
    url: str = ""

    @property
    def worst(self) -> Finding:
        """The first of the worst."""
        return self.findings[0]


def pools(request: HttpRequest) -> HttpResponse:
    """Every pool of the node, to compare."""
    node = current_node(request)
    if node is None:
        return render(request, "fleet/no_node.html", {"section": "pools"})
    inventory = node.inventory
    context = {
        "node": node,
        "inventory": inventory,
        "rows": _rows(node, inventory) if inventory else (),
        "section": "pools",
    }
    return render(request, "storage/pools.html", context)


def _rows(node: Node, inventory: Inventory) -> list[PoolListRow]:
    verdict_badges, helped = verdict_badges_on(node, inventory.pools, timezone.now()), helped_pools(node, inventory)
    badges = badges_on(node)
    return [
        PoolListRow(
            drawing=each,
            verdict_badges=verdict_badges[each.pool.guid],
            would_help=each.pool.guid in helped,
            is_open=reason_against_adding(each.pool, inventory.host, node.platform.vetoes) is None,
            badges=badges_in(each, badges),
        )
        for each in draw_pools(inventory)
    ]


def pool(request: HttpRequest, guid: str) -> HttpResponse:
    """One pool: its tree, and what is worth knowing."""
    node, inventory, found = pool_or_404(request, guid)
    traffic = traffic_of(node, found, timezone.now()) or ()
    told = (*inventory_findings(node), *traffic, *node.platform.findings)
    drawing, badges = draw_pool(found, Index(inventory)), badges_on(node)
    unwell = badges_in(drawing, badges)
    findings = [
        finding
        for finding in told
        # Some of platforms know a pool by its name alone.
        if finding.place == found.guid or (not finding.place and finding.values.get("pool") == found.name)
    ]
    refusal = reason_against_adding(found, inventory.host, node.platform.vetoes)
    context = {
        "node": node,
        "inventory": inventory,
        "pool": found,
        "tab": "layout",
        "drawing": drawing,
        "choice": pool_choice(found, inventory, node.platform.vetoes),
        "caches": switches_of(found, inventory, node),
        "capacity": capacity_of(node, found, timezone.now()),
        "scrub": scrub_part(node, found, timezone.now()),
        "scrub_advice": scrub_advice(node, found),
        "badges": badges,
        "unwell": unwell,
        "notices": _notices(findings, unwell),
        "refusal": refusal,
        "would_help": guid in helped_pools(node, inventory),
        "says_refusal": refusal is not None and refusal.code not in {finding.code for finding in findings},
        "section": "pools",
    }
    return render(request, "storage/pool.html", context)


def _notices(findings: Iterable[Finding], unwell: Iterable[DiskBadge]) -> list[PoolNotice]:
    """Each finding about the pool, and each disk with all of its own; what its drawing shows already is left out."""
    notices = [PoolNotice((finding,)) for finding in findings]
    for badge in unwell:
        own = tuple(finding for finding in badge.findings if finding.code != POOL_MEMBER)
        if own:
            notices.append(PoolNotice(own, str(own[0].values.get("disk", "")), badge.url))
    return sorted(notices, key=lambda notice: urgency(notice.worst))


def history(request: HttpRequest, guid: str) -> HttpResponse:
    """What NAS Advisor has changed on one pool, and the way back."""
    node, inventory, found = pool_or_404(request, guid)
    entries, more = entries_of(StoredRun.objects.filter(node=node, pool_guid=guid), RUNS_SHOWN)
    context = {
        "node": node,
        "pool": found,
        "tab": "history",
        "unwell": badges_in_pool(node, inventory, found),
        "refusal": reason_against_adding(found, inventory.host, node.platform.vetoes),
        "would_help": guid in helped_pools(node, inventory),
        "entries": entries,
        "more": more,
        "section": "pools",
    }
    return render(request, "storage/pool_history.html", context)
