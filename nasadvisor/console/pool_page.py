"""The pages of pools: what all rooms know of them."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.runs.history import row_of
from nasadvisor.console.change.wizard.switching import switches_of
from nasadvisor.console.evidence.chips import Chip, chips_on
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.shown import current_node
from nasadvisor.console.health.capacity import capacity_of
from nasadvisor.console.health.first_hour import scrub_advice
from nasadvisor.console.health.marks import marks_on
from nasadvisor.console.health.traffic import traffic_of
from nasadvisor.console.health.troubles import inventory_findings
from nasadvisor.console.storage.diagrams import PoolDrawing, draw_pool, draw_pools
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.console.storage.pools import helped_pools, pool_or_404
from nasadvisor.domain.change.checks import can_use_pool
from nasadvisor.domain.fleet.platforms import vetoes_on
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Inventory, Pool

RUNS_SHOWN = 50


@dataclass(frozen=True)
class PoolRow:
    """A pool in the list: its drawing, and what its evidence says in a few words."""

    drawing: PoolDrawing
    chips: tuple[Chip, ...]
    would_help: bool


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


def _rows(node: Node, inventory: Inventory) -> list[PoolRow]:
    chips, helped = chips_on(node, inventory.pools, timezone.now()), helped_pools(node, inventory)
    return [PoolRow(each, chips[each.pool.guid], each.pool.guid in helped) for each in draw_pools(inventory)]


def pool(request: HttpRequest, guid: str) -> HttpResponse:
    """One pool: its tree, and what is worth knowing."""
    node, inventory, found = pool_or_404(request, guid)
    traffic = traffic_of(node, found, timezone.now()) or ()
    told = (*inventory_findings(node), *traffic, *node.platform.findings)
    findings = [finding for finding in told if finding.values.get("pool") == found.name]
    refusal = _reason_against(found, inventory, node)
    context = {
        "node": node,
        "inventory": inventory,
        "pool": found,
        "tab": "layout",
        "drawing": draw_pool(found, Index(inventory)),
        "caches": switches_of(found, inventory, node),
        "capacity": capacity_of(node, found, timezone.now()),
        "scrub_advice": scrub_advice(node, found),
        "marks": marks_on(node),
        "findings": findings,
        "refusal": refusal,
        "would_help": guid in helped_pools(node, inventory),
        "says_refusal": refusal is not None and refusal.code not in {finding.code for finding in findings},
        "section": "pools",
    }
    return render(request, "storage/pool.html", context)


def history(request: HttpRequest, guid: str) -> HttpResponse:
    """What NAS Advisor has changed on one pool, and the way back."""
    node, inventory, found = pool_or_404(request, guid)
    runs = StoredRun.objects.filter(node=node, pool_guid=guid)
    context = {
        "node": node,
        "pool": found,
        "tab": "history",
        "refusal": _reason_against(found, inventory, node),
        "would_help": guid in helped_pools(node, inventory),
        "runs": [row_of(run) for run in runs[:RUNS_SHOWN]],
        "more": max(0, runs.count() - RUNS_SHOWN),
        "section": "pools",
    }
    return render(request, "storage/pool_history.html", context)


def _reason_against(found: Pool, inventory: Inventory, node: Node) -> Refused | None:
    """Why nothing can be added to a pool now."""
    answers = [can_use_pool(found, inventory.host, adds_log) for adds_log in (True, False)]
    vetoes = vetoes_on(node.platform.vetoes, "", found.guid)
    return next((answer for answer in (*vetoes, *answers) if isinstance(answer, Refused)), None)
