"""The list of pools, and the page of one."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.runs.history import row_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.frame import current_node
from nasadvisor.console.health.traffic import traffic_of
from nasadvisor.console.storage.diagrams import draw_pool, draw_pools
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.domain.change.checks import can_use_pool
from nasadvisor.domain.fleet.platforms import vetoes_on
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Inventory, Pool

RUNS_SHOWN = 20


def pools(request: HttpRequest) -> HttpResponse:
    """Every pool of the node, to compare."""
    node = current_node(request)
    if node is None:
        return render(request, "fleet/no_node.html", {"section": "pools"})
    inventory = node.inventory
    context = {
        "node": node,
        "inventory": inventory,
        "pools": draw_pools(inventory) if inventory else (),
        "section": "pools",
    }
    return render(request, "storage/pools.html", context)


def pool_or_404(request: HttpRequest, guid: str) -> tuple[Node, Inventory, Pool]:
    """The node that is shown, its inventory, and its pool.

    Raises:
        Http404: it has no such pool.
    """
    node = current_node(request)
    inventory = node.inventory if node else None
    found = inventory.pool(guid) if inventory else None
    if node is None or inventory is None or found is None:
        raise Http404
    return node, inventory, found


def pool(request: HttpRequest, guid: str) -> HttpResponse:
    """One pool: its tree, what is worth knowing, its runs."""
    node, inventory, found = pool_or_404(request, guid)
    traffic = traffic_of(node, found, timezone.now()) or ()
    told = (*findings_of(inventory), *traffic, *node.platform.findings)
    findings = [finding for finding in told if finding.values.get("pool") == found.name]
    said = {finding.code for finding in findings}
    answers = [can_use_pool(found, inventory.host, adds_log) for adds_log in (True, False)]
    vetoes = vetoes_on(node.platform.vetoes, "", found.guid)
    refusal = next((answer for answer in (*vetoes, *answers) if isinstance(answer, Refused)), None)
    context = {
        "node": node,
        "inventory": inventory,
        "pool": draw_pool(found, Index(inventory)),
        "findings": findings,
        "refusal": refusal,
        "says_refusal": refusal is not None and refusal.code not in said,
        "runs": [row_of(run) for run in StoredRun.objects.filter(node=node, pool_guid=guid)[:RUNS_SHOWN]],
        "section": "pools",
    }
    return render(request, "storage/pool.html", context)
