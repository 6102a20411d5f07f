"""The settings page: nodes, versions, and the way to users and passwords."""

import platform

import django
from django.db.models.fields.json import KeyTransform
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import render
from django.utils import timezone

from nasadvisor import __version__
from nasadvisor.console.accounts.platforms import detected
from nasadvisor.console.fleet.current_host import contact_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.nodes import may_be_forgotten
from nasadvisor.domain.storage.inventory import Host
from nasadvisor.stored.documents import document_or_none
from nasadvisor.stored.kinds import INVENTORY
from plugins.contract.console import Panel


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
