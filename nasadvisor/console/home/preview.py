"""The pages of a recorded machine, of `make run` and `make dev`: marked as such, and how far the real one is."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

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
