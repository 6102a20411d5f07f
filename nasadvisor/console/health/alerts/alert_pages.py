"""The alerts: what is open, what is over, and taking one up."""

from dataclasses import dataclass
from typing import Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Case, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.roles import may_change, operator_required, user_of
from nasadvisor.console.fleet.current_host import current_node
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import (
    AlertStates,
    Delivery,
    DeliveryState,
    StoredAlert,
    is_somebody_told,
)
from nasadvisor.console.health.alerts.open_issues import inventory_findings
from nasadvisor.console.health.alerts.watch import take_up
from nasadvisor.console.wording.statements import Lead, lead_from
from nasadvisor.domain.health.urgency import CAN_WAIT
from nasadvisor.domain.statements import Level

PER_PAGE: Final = 50

NEW_FIRST: Final = Case(When(state=AlertStates.NEW, then=0), default=1)
WORST_FIRST: Final = Case(When(level=Level.CRITICAL.value, then=0), default=1)
CAN_WAIT_LAST: Final = Case(When(code__in=CAN_WAIT, then=1), default=0)


@dataclass(frozen=True)
class AlertRow:
    """An alert in the list, and where it leads. `node_name` is the host to choose before, "" where none has to be."""

    alert: StoredAlert
    lead: Lead | None
    node_name: str


def alerts(request: HttpRequest) -> HttpResponse:
    """What is open on any host, the worst first, then what is over."""
    node = current_node(request)
    if node is None:
        return render(request, "fleet/no_node.html", {"section": "alerts"})
    found = StoredAlert.objects.select_related("node").defer("node__inventory_document")
    order = (NEW_FIRST, WORST_FIRST, CAN_WAIT_LAST, "-began_at", "pk")
    opened = found.exclude(state=AlertStates.RECOVERED).order_by(*order)
    over = Paginator(found.filter(state=AlertStates.RECOVERED), PER_PAGE).get_page(request.GET.get("page"))
    page = Paginator(opened, PER_PAGE).get_page(request.GET.get("open"))
    hosts = Node.objects.defer("inventory_document").order_by("name")
    can_change = may_change(user_of(request))
    context = {
        "node": node,
        "opened": page,
        "rows": [_row(alert, node, can_change=can_change) for alert in page.object_list],
        "hosts": hosts,
        "has_others": len(hosts) > 1,
        "over": over,
        "notes": [each for each in inventory_findings(node) if each.level is Level.INFO],
        "is_somebody_told": is_somebody_told(),
        "waiting": Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=timezone.now()).count(),
        "section": "alerts",
    }
    return render(request, "health/alerts/alerts.html", context)


def _row(alert: StoredAlert, shown: Node, *, can_change: bool) -> AlertRow:
    """The pages that it leads to are about the host that is chosen."""
    finding = alert.finding
    lead = lead_from(finding, may_change=can_change) if finding else None
    return AlertRow(alert, lead, "" if alert.node_id == shown.pk else alert.node.name)


@operator_required
@require_POST
def acknowledge(request: HttpRequest, pk: int) -> HttpResponse:
    """Take an alert up: it is told again only if it grows."""
    stored = get_object_or_404(StoredAlert, pk=pk)
    take_up(stored, user_of(request).get_username(), timezone.now())
    audit.record(request, Act.ALERT_TAKEN_UP, f"{stored.node}: {stored}")
    messages.success(request, _("Acknowledged. You will be notified again only if it gets worse."))
    return redirect("alerts")
