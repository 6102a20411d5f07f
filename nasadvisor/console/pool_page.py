"""The page of one pool: what all rooms know of it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.runs.history import row_of
from nasadvisor.console.health.marks import marks_on
from nasadvisor.console.health.traffic import traffic_of
from nasadvisor.console.storage.diagrams import draw_pool
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.console.storage.pools import helped_pools, pool_or_404
from nasadvisor.domain.change.checks import can_use_pool
from nasadvisor.domain.fleet.platforms import vetoes_on
from nasadvisor.domain.health.findings import findings_of
from nasadvisor.domain.statements import Refused

RUNS_SHOWN = 20


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
        "marks": marks_on(node),
        "findings": findings,
        "refusal": refusal,
        "would_help": guid in helped_pools(node, inventory),
        "says_refusal": refusal is not None and refusal.code not in said,
        "runs": [row_of(run) for run in StoredRun.objects.filter(node=node, pool_guid=guid)[:RUNS_SHOWN]],
        "section": "pools",
    }
    return render(request, "storage/pool.html", context)
