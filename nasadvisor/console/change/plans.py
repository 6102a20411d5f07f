"""Plans as the console makes and keeps them. What they contain is decided in `domain.change.plan` alone."""

from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.roles import user_of
from nasadvisor.console.change.models import StoredPlan
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.web.errors import OtherRelease
from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRefused, PlanRequest, make_plan, scope_fingerprint
from nasadvisor.domain.change.refusals import PlanOutdated
from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.fleet.platforms import vetoes_of
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import DocumentError, to_document


def plan_for(request: PlanRequest, inventory: Inventory) -> Plan | PlanRefused:
    """The plan for a request, with identifiers of its own; kept nowhere."""
    return make_plan(request, inventory, PlanIds.fresh(request, uuid4, timezone.now()))


def store_plan(plan: Plan, node: Node, user: User) -> StoredPlan:
    """Keep a plan that somebody is going to look at."""
    return StoredPlan.objects.create(id=UUID(plan.id), node=node, document=to_document(plan), created_by=user)


def on_to_review(request: HttpRequest, plan: Plan, node: Node) -> HttpResponse:
    """Keep a plan, and go on to the page that shows it to who made it."""
    stored = store_plan(plan, node, user_of(request))
    audit.record(request, Act.PLAN_MADE, f"{node.name}: {plan.pool_name} {stored.id}")
    return redirect("wizard-review", stored.id)


def own_plan(plan_id: UUID, user: User) -> StoredPlan:
    """The plan with this id, if this user made it.

    Raises:
        Http404: there is no such plan.
        PermissionDenied: somebody else made it.
        OtherRelease: it was stored by another release.
    """
    plans = StoredPlan.objects.select_related("node").defer("node__inventory_document")
    stored = plans.filter(pk=plan_id).first()
    if stored is None:
        raise Http404
    if stored.created_by_id != user.pk:
        raise PermissionDenied(_("This plan was created by someone else. Nothing was changed. Create your own plan."))
    if not _is_readable(stored):
        raise OtherRelease
    return stored


def refusal_of(stored: StoredPlan) -> Refused | None:
    """Why a stored plan cannot be applied: what it depends on has changed since, or the host's platform forbids it."""
    plan, inventory = stored.plan, stored.node.inventory
    if inventory is None or scope_fingerprint(plan.request, inventory) != plan.fingerprint:
        return PlanOutdated(plan.pool_name)
    return next(iter(vetoes_of(stored.node.platform.vetoes, Goal.APPLY, plan)), None)


def _is_readable(stored: StoredPlan) -> bool:
    try:
        return bool(stored.plan.id)
    except DocumentError:
        return False
