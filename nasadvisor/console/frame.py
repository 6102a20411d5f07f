"""What every page shows around its content: the node, how its last check went, and what the user may do."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.roles import UserRole, role_of
from nasadvisor.console.health.alert_models import AlertStates, StoredAlert

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


@dataclass(frozen=True)
class Frame:
    """The frame's content for somebody who is signed in. `node` is None until the first host has reported.

    `new_alerts` counts those of the node that nobody has taken up.
    """

    node: Node | None
    node_names: tuple[str, ...]
    contact: Contact
    role: UserRole
    new_alerts: int

    @property
    def may_change(self) -> bool:
        """Whether buttons that change something are shown."""
        return self.role is not UserRole.VIEWER

    @property
    def is_admin(self) -> bool:
        """Whether user management is shown."""
        return self.role is UserRole.ADMIN


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor: `frame` in every template, None for anonymous visitors."""
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {"frame": None}
    node = current_node(request)
    return {
        "frame": Frame(
            node=node,
            node_names=tuple(Node.objects.values_list("name", flat=True)),
            contact=contact_of(node, timezone.now()),
            role=role_of(user),
            new_alerts=StoredAlert.objects.filter(node=node, state=AlertStates.NEW).count() if node else 0,
        )
    }


def current_node(request: HttpRequest) -> Node | None:
    """The node that was chosen in this session, else the first; read once a request."""
    if not hasattr(request, "_nasadvisor_node"):
        nodes = Node.objects.defer("inventory_document")
        chosen = nodes.filter(name=request.session.get(NODE_IN_SESSION, "")).first()
        request._nasadvisor_node = chosen or nodes.first()  # type: ignore[attr-defined]  # noqa: SLF001
    node: Node | None = request._nasadvisor_node  # type: ignore[attr-defined]  # noqa: SLF001
    return node


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
