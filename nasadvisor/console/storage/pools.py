"""Finding a pool, and the pools that something would help."""

from django.http import Http404, HttpRequest

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.shown import current_node
from nasadvisor.domain.evidence.log_verdict import Answer
from nasadvisor.domain.storage.inventory import Inventory, Pool


def helped_pools(node: Node, inventory: Inventory) -> frozenset[str]:
    """The guids of the pools that something would help, as the evidence said last."""
    answers = SampledPool.objects.filter(node=node).defer("facts_document")
    pools = {pool.guid: pool for pool in inventory.pools}
    return frozenset(each.guid for each in answers if each.guid in pools and _would_help(pools[each.guid], each))


def _would_help(pool: Pool, answers: SampledPool) -> bool:
    """Whether a part that the pool lacks would help; a single log lacks its other side."""
    lacks_log = all(not top.children for top in pool.logs)
    lacks = {"log": lacks_log, "cache": not pool.caches}
    said = {"log": answers.log_answer, "cache": answers.cache_answer}
    return any(lacks[part] and said[part] == Answer.HELPS for part in lacks)


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
