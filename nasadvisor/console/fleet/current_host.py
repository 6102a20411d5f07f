"""The node that is shown in this session, and how it stands with the console."""

from datetime import datetime, timedelta
from enum import StrEnum

from django.http import HttpRequest

from nasadvisor.console.fleet.models import Node

SILENT_AFTER = timedelta(minutes=3)
"""Three readings missed (one a minute, see `schedules`)."""

OUTDATED_AFTER = SILENT_AFTER + timedelta(minutes=1)
"""Later than silence, so that a host that dies is silent and not first outdated for some seconds."""

NODE_IN_SESSION = "node"


class Contact(StrEnum):
    """How the host stands with us."""

    NEVER = "never"
    FRESH = "fresh"
    FAILED = "failed"  # it answers, but could not read itself
    OUTDATED = "outdated"  # it is heard, but its last reading is old
    SILENT = "silent"


def current_node(request: HttpRequest) -> Node | None:
    """The node that was chosen in this session, else the first; read once a request."""
    if not hasattr(request, "_nasadvisor_node"):
        nodes = Node.objects.defer("inventory_document")
        chosen = nodes.filter(name=request.session.get(NODE_IN_SESSION, "")).first()
        request._nasadvisor_node = chosen or nodes.first()  # type: ignore[attr-defined]  # noqa: SLF001
    node: Node | None = request._nasadvisor_node  # type: ignore[attr-defined]  # noqa: SLF001
    return node


def show_here(request: HttpRequest, node: Node) -> None:
    """Show another node on this page than the session does: its address names something of that one."""
    request._nasadvisor_node = node  # type: ignore[attr-defined]  # noqa: SLF001


def contact_of(node: Node | None, now: datetime) -> Contact:
    """How a node stands; a simulated one never falls silent."""
    if node is None or node.last_contact is None:
        return Contact.NEVER
    if not node.is_simulated and now - node.last_contact > SILENT_AFTER:
        return Contact.SILENT
    if node.inventory_error_document:
        return Contact.FAILED
    if not node.is_simulated and (node.inventory_read_at is None or now - node.inventory_read_at > OUTDATED_AFTER):
        return Contact.OUTDATED
    return Contact.FRESH
