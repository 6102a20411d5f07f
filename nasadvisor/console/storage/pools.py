"""Finding a pool, those that something would help, and what speaks against adding something to one."""

from collections.abc import Iterable
from itertools import chain

from django.http import Http404, HttpRequest

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet.current_host import current_node, show_here
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.change.checks import can_use_pool
from nasadvisor.domain.evidence.verdict import Answer
from nasadvisor.domain.fleet.platforms import Veto, vetoes_on
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Host, Inventory, Pool


def helped_pools(node: Node, inventory: Inventory) -> frozenset[str]:
    """The guids of the pools that something would help, as the evidence said last."""
    pools = {pool.guid: pool for pool in inventory.pools}
    helped = set()
    for each in SampledPool.objects.filter(node=node).defer("facts_document"):
        pool = pools.get(each.guid)
        if pool is None:
            continue
        lacks_log = all(not top.children for top in pool.logs)  # a single log lacks its other side
        log_helps = lacks_log and each.log_answer == Answer.HELPS
        if log_helps or (not pool.caches and each.cache_answer == Answer.HELPS):
            helped.add(each.guid)
    return frozenset(helped)


def pool_or_404(request: HttpRequest, guid: str) -> tuple[Node, Inventory, Pool]:
    """A pool of any host, with its node and inventory: of the one that is shown first.

    Links in messages, and from disks of other hosts, name no host; the page is about the pool's then.

    Raises:
        Http404: no host has such a pool.
    """
    node = current_node(request)
    others = Node.objects.exclude(pk=node.pk).order_by("name") if node else ()
    for each in chain([node] if node else [], others):
        inventory = each.inventory
        found = inventory.pool(guid) if inventory else None
        if inventory and found:
            show_here(request, each)
            return each, inventory, found
    raise Http404


def open_pools(node: Node, inventory: Inventory) -> tuple[Pool, ...]:
    """The pools to which something can be added now."""
    vetoes, host = node.platform.vetoes, inventory.host
    return tuple(pool for pool in inventory.pools if reason_against_adding(pool, host, vetoes) is None)


def reason_against_adding(pool: Pool, host: Host, vetoes: Iterable[Veto]) -> Refused | None:
    """Why nothing can be added to a pool now; None where something can, be it a cache only.

    `vetoes` are those of the host's platform.
    """
    answers = (*vetoes_on(vetoes, "", pool.guid), can_use_pool(pool, host, adds_log=False))
    return next((answer for answer in answers if isinstance(answer, Refused)), None)
