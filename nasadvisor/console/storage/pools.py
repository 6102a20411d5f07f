"""The list of pools, and finding one."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.shown import current_node
from nasadvisor.console.storage.diagrams import draw_pools
from nasadvisor.domain.storage.inventory import Inventory, Pool


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
