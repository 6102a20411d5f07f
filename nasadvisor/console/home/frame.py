"""What every page shows around its content: the node, how its last check went, what the user may do, and, of a recorded
machine (`make run`, `make dev`), that it is one.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
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


SCHEMES = ("http://", "https://")


@dataclass(frozen=True)
class GuestProgress:
    """What is said of the machine with real OpenZFS. `left_s` is None where nothing is known yet."""

    stage: str = ""
    left_s: float | None = None
    address: str = ""
    problem: str = ""

    @property
    def is_under_way(self) -> bool:
        """Whether it is worth to look again."""
        return bool(self.stage) and not self.address and not self.problem

    @property
    def left_minutes(self) -> int | None:
        """Whole minutes, at least one."""
        return None if self.left_s is None else max(1, round(self.left_s / 60))


def preview(_request: HttpRequest) -> dict[str, Any]:
    """Context processor: `recorded` in every template, None unless these pages only show a recorded machine."""
    return {"recorded": _read(Path(settings.PREVIEW)) if settings.PREVIEW else None}


@login_not_required
def progress(request: HttpRequest) -> HttpResponse:
    """The notice again; whoever sees the sign-in page may see it."""
    if not settings.PREVIEW:
        raise Http404
    return render(request, "console/_preview.html")


def _read(path: Path) -> GuestProgress:
    """What the build wrote (`tests/lab/progress.py`); nothing of it where that cannot be read."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        stage, address, problem = (str(said.get(name, "")) for name in ("stage", "address", "problem"))
        ends_at = float(said.get("ends_at", 0))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return GuestProgress()
    left_s = max(0.0, ends_at - timezone.now().timestamp()) if ends_at else None
    return GuestProgress(stage, left_s, address if address.startswith(SCHEMES) else "", problem)
