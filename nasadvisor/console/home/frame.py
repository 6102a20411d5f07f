"""What every page shows around its content: the node, how its last check went, and what the user may do."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone

from nasadvisor.console.accounts.roles import UserRole, role_of
from nasadvisor.console.fleet.current_host import Contact, contact_of, current_node
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import AlertStates, StoredAlert


@dataclass(frozen=True)
class Frame:
    """The frame's content for somebody who is signed in. `node` is None until the first host has reported.

    `new_alerts` counts those of all hosts that nobody has taken up: Home is about all of them.
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
            new_alerts=StoredAlert.objects.filter(state=AlertStates.NEW).count(),
        )
    }
