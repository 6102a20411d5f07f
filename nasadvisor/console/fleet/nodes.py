"""Choosing a node, asking it to read itself again, and forgetting one that is gone."""

from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import POSTED_FIELDS, PasswordForm, asked_of, confirm_password, require_only
from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.current_host import NODE_IN_SESSION, SILENT_AFTER, current_node
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.fleet.questions import READ_INVENTORY


@require_POST
def choose_node(request: HttpRequest) -> HttpResponse:
    """Show another node from now on, in this session; then the page of it that `next` names."""
    node = get_object_or_404(Node.objects.defer("inventory_document"), name=request.POST.get("node", ""))
    request.session[NODE_IN_SESSION] = node.name
    page = request.POST.get("next", "")
    return redirect(page if _is_ours(request, page) else "overview")


@require_POST
def refresh(request: HttpRequest) -> HttpResponse:
    """Ask the node that the page was about to read itself again; the answer shows when it arrives."""
    named = Node.objects.defer("inventory_document").filter(name=request.POST.get("node", "")).first()
    node = named or current_node(request)
    if node and is_handed_over(request, lambda: hosts.ask(node, READ_INVENTORY, by=user_of(request))):
        messages.info(request, _("Asked %(node)s to read itself again.") % {"node": node.name})
    return redirect(_page_before(request))


@operator_required
def forget(request: HttpRequest, name: str) -> HttpResponse:
    """Ask for the password, then remove a host that is gone, with its plans and runs."""
    node = get_object_or_404(Node.objects.defer("inventory_document"), name=name)
    if not may_be_forgotten(node, timezone.now()):
        messages.error(request, _("%(node)s still answers. Stop its host part first.") % {"node": node.name})
        return redirect("settings")
    require_only(request, POSTED_FIELDS)
    form = asked_of(request, PasswordForm(request.POST if request.method == "POST" else None))
    is_meant = request.method == "POST" and confirm_password(request, form)
    if is_meant and is_handed_over(request, lambda: hosts.drop_requests(node)):
        node.delete()
        audit.record(request, Act.HOST_FORGOTTEN, node.name)
        messages.success(request, _("%(node)s was forgotten.") % {"node": node.name})
        return redirect("settings")
    context = {"node": node, "runs": node.runs.count(), "form": form, "section": "settings"}
    return render(request, "fleet/forget.html", context)


def may_be_forgotten(node: Node, now: datetime) -> bool:
    """Whether a host may be forgotten: it would not be back at once.

    It is not heard from, or only recorded, or on another machine, where its access ends with it.
    """
    is_away = node.last_contact is None or now - node.last_contact > SILENT_AFTER
    return is_away or node.is_simulated or node.is_remote


def _page_before(request: HttpRequest) -> str:
    """Where the button was pressed; only pages of ours."""
    page = request.headers.get("Referer", "")
    return page if _is_ours(request, page) else "overview"


def _is_ours(request: HttpRequest, page: str) -> bool:
    return url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
