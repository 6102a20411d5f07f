"""The first page: is everything all right?"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.runs.history import row_of
from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet.shown import contact_of, current_node
from nasadvisor.console.health.notices import notices_for
from nasadvisor.console.storage.diagrams import draw_pools
from nasadvisor.console.storage.disks import free_disks
from nasadvisor.domain.statements import Level

RECENT_RUNS = 5


def overview(request: HttpRequest) -> HttpResponse:
    """Findings, pools, free SSDs and recent runs of the node."""
    node = current_node(request)
    if node is None:
        return render(request, "fleet/no_node.html")
    inventory = node.inventory
    notices = notices_for(node, inventory, contact_of(node, timezone.now()))
    runs = StoredRun.objects.filter(node=node)[:RECENT_RUNS]
    context = {
        "node": node,
        "inventory": inventory,
        "notices": notices,
        "worst": notices[0].finding.level if notices else None,
        "is_fine": all(notice.finding.level is Level.INFO for notice in notices),
        "pools": draw_pools(inventory) if inventory else (),
        "answers": {each.guid: each for each in SampledPool.objects.filter(node=node).exclude(log_answer="")},
        "free_ssds": [disk for disk in free_disks(inventory) if not disk.rotational] if inventory else [],
        "runs": [row_of(run) for run in runs],
    }
    return render(request, "console/overview.html", context)
