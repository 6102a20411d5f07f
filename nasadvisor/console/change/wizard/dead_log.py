"""Taking a dead log out: nothing is to choose, so its plan leads straight to the review."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from nasadvisor.console.change.plans import on_to_review, plan_for
from nasadvisor.console.fleet.roles import operator_required
from nasadvisor.console.statements import said
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.change.plan import PlanRefused, PlanRequest


@require_POST
@operator_required
def take_out(request: HttpRequest, pool_guid: str, log_guid: str) -> HttpResponse:
    """Make the plan and show it; nothing is changed before its review is confirmed."""
    node, inventory, pool = pool_or_404(request, pool_guid)
    plan = plan_for(PlanRequest(pool.guid, dead_log=log_guid), inventory)
    if isinstance(plan, PlanRefused):
        for refusal in plan.refusals:
            messages.warning(request, said(refusal))
        return redirect("pool", pool_guid)
    return on_to_review(request, plan, node)
