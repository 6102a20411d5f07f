"""The pages of hosts: the settings with all of them, choosing one, asking it to read itself again, forgetting one that
is gone, and adding hosts on other machines.
"""

import platform
from datetime import datetime
from typing import Final

import django
import redis.exceptions
from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models.fields.json import KeyTransform
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from nasadvisor import __version__
from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import (
    POSTED_FIELDS,
    PasswordForm,
    asked_of,
    confirm_password,
    confirmed_admin_required,
    require_only,
)
from nasadvisor.console.accounts.platforms import detected
from nasadvisor.console.accounts.roles import admin_required, operator_required, user_of
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.current_host import NODE_IN_SESSION, SILENT_AFTER, contact_of, current_node
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.fleet.models import JoinToken, Node
from nasadvisor.console.fleet.remote.access import VALID_FOR, drop_token, new_token
from nasadvisor.console.fleet.remote.listening import Listening, NotListening, listening
from nasadvisor.console.web import documentation
from nasadvisor.domain.fleet.joining import bracketed, is_node_name
from nasadvisor.domain.fleet.questions import READ_INVENTORY
from nasadvisor.domain.storage.inventory import Host
from nasadvisor.stored.documents import document_or_none
from nasadvisor.stored.kinds import INVENTORY
from plugins.contract.console import Panel


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
        messages.info(request, _("Asked %(node)s to read its disks and pools again.") % {"node": node.name})
    page = request.headers.get("Referer", "")
    return redirect(page if _is_ours(request, page) else "overview")


@operator_required
def forget(request: HttpRequest, name: str) -> HttpResponse:
    """Ask for the password, then remove a host that is gone, with its plans and runs."""
    node = get_object_or_404(Node.objects.defer("inventory_document"), name=name)
    if not may_be_forgotten(node, timezone.now()):
        messages.error(request, _("%(node)s is still reporting. Stop its host part first.") % {"node": node.name})
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


def _is_ours(request: HttpRequest, page: str) -> bool:
    return url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())


_OF_ONESELF: Final = frozenset({"localhost", "::1"})
_UNREACHABLE = (redis.exceptions.RedisError, OSError, NotListening)


class AddHostForm(PasswordForm):
    """A name for a host that shall join."""

    name = forms.CharField(
        label=gettext_lazy("Name of the host"),
        max_length=253,
        help_text=gettext_lazy("Letters, digits, dots and hyphens, as in its host name. The pages use this name."),
    )
    field_order = ("name", "password")

    def clean_name(self) -> str:
        """A name that the message service can tell from others, and that no host of this machine has."""
        name = str(self.cleaned_data["name"]).strip()
        if not is_node_name(name):
            raise ValidationError(_("Use only letters, digits, dots and hyphens, with a letter or digit at both ends."))
        if Node.objects.filter(name=name, access_digest="").exists():
            raise ValidationError(_("A host on this machine already has that name. Choose another one."))
        return name


@admin_required
def add_host(request: HttpRequest) -> HttpResponse:
    """Make a token, and show it this once with the command to type on the new host."""
    where = listening()
    form = asked_of(request, AddHostForm(request.POST if request.method == "POST" else None))
    token = ""
    if where and request.method == "POST" and confirm_password(request, form):
        try:
            token = str(new_token(form.cleaned_data["name"], user_of(request), timezone.now()))
            audit.record(request, Act.HOST_TOKEN_MADE, form.cleaned_data["name"])
            form = asked_of(request, AddHostForm())
        except _UNREACHABLE:
            messages.error(request, _no_service())
    context = {
        "listening": where,
        "form": form,
        "token": token,
        "join_command": _command(where) if where else "",
        "valid_minutes": int(VALID_FOR.total_seconds()) // 60,
        "tokens": JoinToken.objects.filter(used_at=None, expires_at__gt=timezone.now()).select_related("created_by"),
        "listen_command": f"{settings.MANAGE_COMMAND} listen --address {_name_of_this_console(request)}",
        "section": "settings",
    }
    return render(request, "fleet/add_host.html", context)


@require_POST
@confirmed_admin_required
def take_back(request: HttpRequest, pk: int) -> HttpResponse:
    """A token that is good no more."""
    token = get_object_or_404(JoinToken, pk=pk)
    try:
        drop_token(token)
    except _UNREACHABLE:
        messages.error(request, _no_service())
    else:
        audit.record(request, Act.HOST_TOKEN_DROPPED, token.node_name)
        messages.success(request, _("The token for %(node)s was revoked.") % {"node": token.node_name})
    return redirect("add-host")


def _name_of_this_console(request: HttpRequest) -> str:
    """What the browser calls this machine; hosts may well reach it under the same name, but not by "localhost"."""
    name = split_domain_port(request.get_host())[0].strip("[]")
    return "NAME" if name in _OF_ONESELF or name.startswith("127.") else name


def _command(where: Listening) -> str:
    """What is typed on the new host. The token is not part of it: arguments stand in `ps` and in a shell's history."""
    return f"sudo nasadvisor join {bracketed(where.addresses[0])}:{where.port}"


def _no_service() -> str:
    return _(
        "The message service for other hosts is not responding, so nothing was changed. Check `systemctl status "
        "nasadvisor-remote-redis` and try again."
    )


def settings_page(request: HttpRequest) -> HttpResponse:
    """What runs here, and how each node stands."""
    now = timezone.now()
    # Of the inventory, which is large, the database hands out the one part that is shown.
    part, number = KeyTransform("host", "inventory_document"), KeyTransform("version", "inventory_document")
    found = Node.objects.defer("inventory_document").annotate(host_document=part, form=number)
    nodes = [(node, contact_of(node, now), host_of(node), may_be_forgotten(node, now)) for node in found]
    host = split_domain_port(request.get_host())[0]
    context = {
        "platforms": [(platform, _shown(platform.panel(), host)) for platform in detected()],
        "nodes": nodes,
        "versions": {"NAS Advisor": __version__, "Django": django.get_version(), "Python": platform.python_version()},
        "documentation": documentation.address_of(documentation.START),
        "section": "settings",
    }
    return render(request, "console/settings.html", context)


def host_of(node: Node) -> Host | None:
    """The host part of a node's stored inventory, `host_document`; None before the first.

    An inventory of an earlier form, its number in `form`, is made into today's as a whole.
    """
    document, form = node.host_document, node.form  # type: ignore[attr-defined]  # annotated
    if form != INVENTORY.number:
        return node.inventory.host if node.inventory else None
    return document_or_none(Host, document)


def _shown(panel: Panel, host: str) -> dict[str, object]:
    """A panel for the reader who reached us under the name `host`."""
    return {"lines": panel.lines, "links": [(link.label, link.url.replace("{host}", host)) for link in panel.links]}
