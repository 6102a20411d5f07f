"""Choosing a node, and asking it to read itself again."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from nasadvisor.console import hosts
from nasadvisor.console.frame import NODE_IN_SESSION, current_node
from nasadvisor.console.models import Node


@require_POST
def choose_node(request: HttpRequest) -> HttpResponse:
    """Show another node from now on, in this session."""
    node = get_object_or_404(Node.objects.defer("inventory_document"), name=request.POST.get("node", ""))
    request.session[NODE_IN_SESSION] = node.name
    return redirect("overview")


@require_POST
def refresh(request: HttpRequest) -> HttpResponse:
    """Ask the node to read itself again; the answer shows when it arrives."""
    node = current_node(request)
    if node:
        try:
            hosts.request_inventory(node)
        except hosts.HostUnreachable as error:
            messages.error(request, str(error))
        else:
            messages.info(request, _("Asked %(node)s to read itself again.") % {"node": node.name})
    return redirect(_page_before(request))


def _page_before(request: HttpRequest) -> str:
    """Where the button was pressed; only pages of ours."""
    page = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return page if ours else "overview"
