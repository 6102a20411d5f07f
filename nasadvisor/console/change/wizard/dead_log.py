"""Taking a dead log out: nothing is to choose, so its plan leads straight to the review."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts.roles import operator_required
from nasadvisor.console.change.plans import review_of
from nasadvisor.domain.change.plan import PlanRequest


@require_POST
@operator_required
def take_out(request: HttpRequest, pool_guid: str, log_guid: str) -> HttpResponse:
    """Make the plan and show it; nothing is changed before its review is confirmed."""
    return review_of(request, PlanRequest(pool_guid, dead_log=log_guid))
