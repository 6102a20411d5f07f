"""Where somebody is signed in, and ending that: one browser, or all of them.

What is known of a browser stands in its session, so that it ends with that.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django.contrib import messages
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.models import Session
from django.core.cache import cache as memory
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.roles import user_of

BEGAN: Final = "signed_in"
SEEN: Final = "seen"

SEEN_EVERY_S: Final = 300
"""A page that is open asks every second; not each time is written down."""

_BROWSERS: Final = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
_SYSTEMS: Final = {
    "Windows": "Windows",
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Mac OS": "macOS",
    "Linux": "Linux",
}
_LONGEST: Final = 60


@dataclass(frozen=True)
class SignedIn:
    """A browser that is signed in. `id` names it to its owner and is no key to it; times are None where not known."""

    id: str
    browser: str
    address: str
    began_at: datetime | None
    seen_at: datetime | None
    is_this: bool


class Seen:
    """Middleware: writes down now and then that a browser is still there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        key = request.session.session_key
        if key and BEGAN in request.session and memory.add(f"seen-{_id_of(key)}", value=True, timeout=SEEN_EVERY_S):
            request.session[SEEN] = timezone.now().timestamp()
        return self.get_response(request)


def sessions(request: HttpRequest) -> HttpResponse:
    """All browsers of who is signed in, this one first."""
    found = sorted(_signed_in(request), key=lambda each: (not each.is_this, -_seconds(each.seen_at)))
    return render(request, "accounts/sessions.html", {"sessions": found, "section": "settings"})


@require_POST
def end_session(request: HttpRequest, session_id: str) -> HttpResponse:
    """Sign one browser out."""
    for stored in sessions_of(user_of(request)):
        if _id_of(stored.session_key) == session_id and stored.session_key != request.session.session_key:
            stored.delete()
            audit.record(request, Act.SESSION_ENDED)
            messages.success(request, _("That browser was signed out."))
    return redirect("sessions")


@require_POST
def end_all_sessions(request: HttpRequest) -> HttpResponse:
    """Sign every browser out, this one included."""
    for stored in sessions_of(user_of(request)):
        stored.delete()
    audit.record(request, Act.ALL_SESSIONS_ENDED)
    logout(request)
    return redirect("login")


@receiver(user_logged_in)
def _note(request: HttpRequest, **_: object) -> None:
    now = timezone.now().timestamp()
    known = {"at": now, "address": request.META.get("REMOTE_ADDR", ""), "agent": request.headers.get("User-Agent", "")}
    request.session[BEGAN] = {**known, "agent": known["agent"][:300]}
    request.session[SEEN] = now


def _signed_in(request: HttpRequest) -> Iterator[SignedIn]:
    for stored in sessions_of(user_of(request)):
        data = stored.get_decoded()
        known: dict[str, Any] = data.get(BEGAN, {})
        yield SignedIn(
            id=_id_of(stored.session_key),
            browser=browser_of(known.get("agent", "")),
            address=known.get("address", ""),
            began_at=_moment(known.get("at")),
            seen_at=_moment(data.get(SEEN)),
            is_this=stored.session_key == request.session.session_key,
        )


def sessions_of(user: User) -> list[Session]:
    """Django keeps no list of them by user; there are as many as browsers have signed in within two weeks."""
    found = Session.objects.filter(expire_date__gt=timezone.now())
    return [stored for stored in found if stored.get_decoded().get(SESSION_KEY) == str(user.pk)]


def browser_of(agent: str) -> str:
    """A browser in two words, by what it calls itself; "" where that says nothing."""
    browser = next((name for part, name in _BROWSERS.items() if f"{part}/" in agent), "")
    system = next((name for part, name in _SYSTEMS.items() if part in agent), "")
    words = ", ".join(filter(None, (browser, system)))
    return words or re.split(r"[/ ]", agent)[0][:_LONGEST]


def _id_of(key: str) -> str:
    return hashlib.sha256(f"session {key}".encode()).hexdigest()[:20]


def _moment(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0
