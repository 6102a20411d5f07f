"""Plans with nothing to choose: taking a dead log out, taking a cache out of service."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts.roles import operator_required
from nasadvisor.console.change.models import StoredRun, StoredRunState, readable
from nasadvisor.console.change.plans import on_to_review, plan_for
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.console.wording.statements import said
from nasadvisor.domain.change.plan import PlanRefused, PlanRequest
from nasadvisor.domain.health.pool_findings import name_of
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.storage.logs import OFFLINE


@require_POST
@operator_required
def take_log_out(request: HttpRequest, pool_guid: str, log_guid: str) -> HttpResponse:
    """Make the plan and show it; nothing is changed before its review is confirmed."""
    return _review_of(request, PlanRequest(pool_guid, dead_log=log_guid))


def _review_of(request: HttpRequest, wish: PlanRequest) -> HttpResponse:
    """Make the plan of a wish of which nothing is left to choose, and show it; or say on the pool's page why not."""
    node, inventory, pool = pool_or_404(request, wish.pool_guid)
    plan = plan_for(wish, inventory)
    if isinstance(plan, PlanRefused):
        for refusal in plan.refusals:
            messages.warning(request, said(refusal))
        return redirect("pool", pool.guid)
    return on_to_review(request, plan, node)


@dataclass(frozen=True)
class CacheSwitch:
    """A cache of a pool, by model and serial. `run` is the one of ours that took it out of service, None where none
    did.
    """

    guid: str
    name: str
    path: str
    state: str
    run: StoredRun | None

    @property
    def is_out(self) -> bool:
        """Whether it is out of service."""
        return self.state == OFFLINE

    @property
    def can_take_out(self) -> bool:
        """Whether it works, so that it can be taken out."""
        return self.state == "ONLINE"


def switches_of(pool: Pool, inventory: Inventory, node: Node) -> tuple[CacheSwitch, ...]:
    """The caches of a pool."""
    if not pool.caches:
        return ()
    runs = _taking_out(pool, node)
    return tuple(
        CacheSwitch(top.guid, name_of(top, inventory), top.path, top.state, runs.get(top.guid)) for top in pool.caches
    )


@require_POST
@operator_required
def take_cache_out(request: HttpRequest, pool_guid: str, cache_guid: str) -> HttpResponse:
    """Make the plan and show it; nothing is changed before its review is confirmed."""
    return _review_of(request, PlanRequest(pool_guid, offline_cache=cache_guid))


def _taking_out(pool: Pool, node: Node) -> dict[str, StoredRun]:
    """The applied runs that took a cache of the pool out of service, by the guid of the cache; the latest of each."""
    runs: dict[str, StoredRun] = {}
    for stored in readable(StoredRun.objects.filter(node=node, pool_guid=pool.guid, state=StoredRunState.APPLIED)):
        guid = stored.run.plan.request.offline_cache
        if guid:
            runs.setdefault(guid, stored)
    return runs
