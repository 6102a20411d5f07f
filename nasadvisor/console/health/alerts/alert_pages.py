"""The alerts: what is open, what is over, filters, and acknowledging one or several."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Case, Q, QuerySet, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
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
    Levels,
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


SNOOZES: Final = {
    "": (None, gettext_lazy("until it gets worse")),
    "day": (timedelta(days=1), gettext_lazy("for a day")),
    "week": (timedelta(days=7), gettext_lazy("for a week")),
    "month": (timedelta(days=30), gettext_lazy("for a month")),
}
"""For how long alerts are acknowledged, by what the form sends."""


@dataclass(frozen=True)
class AlertRow:
    """An alert in the list, and where it leads. `node_name` is the host to choose before, "" where none has to be."""

    alert: StoredAlert
    lead: Lead | None
    node_name: str


@dataclass(frozen=True)
class AlertGroup:
    """All that is open about one disk, or a single alert about something else; the most urgent stands first."""

    rows: tuple[AlertRow, ...]

    @property
    def worst(self) -> AlertRow:
        """The first of the most urgent."""
        return self.rows[0]

    @property
    def disk(self) -> str:
        """The name of the disk that all of it is about; "" of a single alert, whose sentence names it."""
        finding = self.worst.alert.finding
        return str(finding.values.get("disk", "")) if finding and len(self.rows) > 1 else ""

    @property
    def new(self) -> list[int]:
        """The numbers of those that nobody has acknowledged."""
        return [row.alert.pk for row in self.rows if row.alert.state == AlertStates.NEW]


def alerts(request: HttpRequest) -> HttpResponse:
    """What is open on any host, the worst first, then what is over."""
    node = current_node(request)
    if node is None:
        return render(request, "fleet/no_node.html", {"section": "alerts"})
    found = StoredAlert.objects.select_related("node").defer("node__inventory_document")
    order = (NEW_FIRST, WORST_FIRST, CAN_WAIT_LAST, "-began_at", "pk")
    opened = _chosen(found.exclude(state=AlertStates.RECOVERED), request).order_by(*order)
    over = Paginator(found.filter(state=AlertStates.RECOVERED), PER_PAGE).get_page(request.GET.get("page"))
    page = Paginator(opened, PER_PAGE).get_page(request.GET.get("open"))
    hosts = Node.objects.defer("inventory_document").order_by("name")
    can_change = may_change(user_of(request))
    context = {
        "node": node,
        "opened": page,
        "groups": _groups([_row(alert, node, can_change=can_change) for alert in page.object_list]),
        "hosts": hosts,
        "has_others": len(hosts) > 1,
        "levels": [each for each in Levels.choices if each[0] != Levels.INFO],
        "chosen": {name: request.GET.get(name, "") for name in FILTERS},
        "is_filtered": any(request.GET.get(name) for name in FILTERS),
        "can_select": can_change and sum(alert.state == AlertStates.NEW for alert in page.object_list) > 1,
        "snoozes": [(value, words) for value, (_time, words) in SNOOZES.items()],
        "over": over,
        "notes": [each for each in inventory_findings(node) if each.level is Level.INFO],
        "is_somebody_told": is_somebody_told(),
        "waiting": Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=timezone.now()).count(),
        "section": "alerts",
    }
    return render(request, "health/alerts/alerts.html", context)


FILTERS: Final = ("level", "host", "q")


def _chosen(found: QuerySet[StoredAlert], request: HttpRequest) -> QuerySet[StoredAlert]:
    """The alerts of a level, of a host, and those in which a text occurs: a code, a disk, a pool."""
    level, host, text = (request.GET.get(name, "") for name in FILTERS)
    if level:
        found = found.filter(level=level)
    if host:
        found = found.filter(node__name=host)
    if text:
        found = found.filter(Q(code__icontains=text) | Q(subject__icontains=text) | Q(finding_document__icontains=text))
    return found


def _row(alert: StoredAlert, shown: Node, *, can_change: bool) -> AlertRow:
    """The pages that it leads to are about the host that is chosen."""
    finding = alert.finding
    lead = lead_from(finding, may_change=can_change) if finding else None
    return AlertRow(alert, lead, "" if alert.node_id == shown.pk else alert.node.name)


def _groups(rows: Iterable[AlertRow]) -> list[AlertGroup]:
    """One for each disk, where its most urgent alert stood, and one for each other alert."""
    found: defaultdict[tuple[int, str], list[AlertRow]] = defaultdict(list)
    for row in rows:
        alert = row.alert
        about = f"disk {alert.subject}" if alert.source.startswith("disks/") else f"alert {alert.pk}"
        found[alert.node_id, about].append(row)
    return [AlertGroup(tuple(group)) for group in found.values()]


@operator_required
@require_POST
def acknowledge(request: HttpRequest, pk: int) -> HttpResponse:
    """Take an alert up: it is told again only if it grows."""
    stored = get_object_or_404(StoredAlert, pk=pk)
    take_up(stored, user_of(request).get_username(), timezone.now())
    audit.record(request, Act.ALERT_TAKEN_UP, f"{stored.node}: {stored}")
    messages.success(request, _("Acknowledged. You will be notified again only if it gets worse."))
    return redirect("alerts")


@operator_required
@require_POST
def acknowledge_several(request: HttpRequest) -> HttpResponse:
    """Take up the alerts that are ticked, for good or for a while."""
    numbers = [int(text) for text in request.POST.getlist("alert")[:PER_PAGE] if text.isdecimal() and len(text) < 10]
    length, _words = SNOOZES.get(request.POST.get("for", ""), SNOOZES[""])
    now = timezone.now()
    until = now + length if length else None
    opened = StoredAlert.objects.filter(pk__in=numbers).exclude(state=AlertStates.RECOVERED).select_related("node")
    for stored in opened:
        take_up(stored, user_of(request).get_username(), now, until)
        audit.record(request, Act.ALERT_TAKEN_UP, f"{stored.node}: {stored}")
    count = len(opened)
    if count:
        messages.success(request, _acknowledged(count, until))
    else:
        messages.info(request, _("No alert was selected."))
    return redirect("alerts")


def _acknowledged(count: int, until: datetime | None) -> str:
    """How many alerts are acknowledged, and when one is notified again."""
    if until is None:
        words = ngettext(
            "%(count)d alert acknowledged. You will be notified again only if it gets worse.",
            "%(count)d alerts acknowledged. You will be notified again only if they get worse.",
            count,
        )
        return words % {"count": count}
    words = ngettext(
        "%(count)d alert acknowledged. You will be notified again on %(day)s, or if it gets worse.",
        "%(count)d alerts acknowledged. You will be notified again on %(day)s, or if they get worse.",
        count,
    )
    return words % {"count": count, "day": date_format(timezone.localtime(until), _("j M Y"))}
