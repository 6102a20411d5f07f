"""The settings page: nodes, versions, and the way to users and passwords."""

import platform

import django
from django.db.models.fields.json import KeyTransform
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import render
from django.utils import timezone

from nasadvisor import __version__
from nasadvisor.console.frame import contact_of
from nasadvisor.console.models import Node
from nasadvisor.console.nodes import may_be_forgotten
from nasadvisor.console.platforms import detected
from nasadvisor.documents import DocumentError, from_document
from nasadvisor.domain.inventory import Host
from plugins.contract.console import Panel


def settings_page(request: HttpRequest) -> HttpResponse:
    """What runs here, and how each node stands."""
    now = timezone.now()
    # Of the inventory, which is large, the database hands out the one part that is shown.
    found = Node.objects.defer("inventory_document").annotate(host_document=KeyTransform("host", "inventory_document"))
    nodes = [(node, contact_of(node, now), host_of(node.host_document), may_be_forgotten(node, now)) for node in found]
    host = split_domain_port(request.get_host())[0]
    context = {
        "platforms": [(platform, _shown(platform.panel(), host)) for platform in detected()],
        "nodes": nodes,
        "versions": {"NAS Advisor": __version__, "Django": django.get_version(), "Python": platform.python_version()},
        "section": "settings",
    }
    return render(request, "console/settings.html", context)


def host_of(document: object) -> Host | None:
    """The host part of a stored inventory; None before the first, and in the form of another release."""
    try:
        return from_document(Host, document) if document else None
    except DocumentError:
        return None


def _shown(panel: Panel, host: str) -> dict[str, object]:
    """A panel for the reader who reached us under the name `host`."""
    return {"lines": panel.lines, "links": [(link.label, link.url.replace("{host}", host)) for link in panel.links]}
