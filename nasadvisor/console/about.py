"""The settings page: nodes, versions, and the way to users and passwords."""

import platform

import django
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import render
from django.utils import timezone

from nasadvisor import __version__
from nasadvisor.console.frame import contact_of
from nasadvisor.console.models import Node
from nasadvisor.console.nodes import may_be_forgotten
from nasadvisor.console.platforms import detected
from plugins.contract.console import Panel


def settings_page(request: HttpRequest) -> HttpResponse:
    """What runs here, and how each node stands."""
    now = timezone.now()
    nodes = [
        (node, contact_of(node, now), node.inventory, may_be_forgotten(node, now))
        for node in Node.objects.defer("inventory_document")
    ]
    host = split_domain_port(request.get_host())[0]
    context = {
        "platforms": [(platform, _shown(platform.panel(), host)) for platform in detected()],
        "nodes": nodes,
        "versions": {"NAS Advisor": __version__, "Django": django.get_version(), "Python": platform.python_version()},
        "section": "settings",
    }
    return render(request, "console/settings.html", context)


def _shown(panel: Panel, host: str) -> dict[str, object]:
    """A panel for the reader who reached us under the name `host`."""
    return {"lines": panel.lines, "links": [(link.label, link.url.replace("{host}", host)) for link in panel.links]}
