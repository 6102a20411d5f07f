"""Ending sessions in which nobody does anything any more.

A page that looks again by itself is nobody: what htmx asks for without changing anything does not count.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.single_sign_on import IN_SESSION

ACTIVE: Final = "active"
"""When somebody did something last in this session, in seconds since 1970."""

ENDED_AFTER: Final = "ended_after_minutes"
"""In the session of a stranger who was somebody until then: after how many minutes of nothing that ended."""

WRITTEN_EVERY_S: Final = 60
"""Not each request is written down."""


class Idle:
    """Middleware: signs out who did nothing for too long, before it is asked whether somebody is signed in.

    A session that hangs on a platform ends with the platform's own, and would be back at the next request.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if isinstance(request.user, User) and IN_SESSION not in request.session:
            _look_at(request, request.user)
        return self.get_response(request)


def may_be_idle(user: User) -> timedelta:
    """For how long somebody may do nothing."""
    anybody, administrators = settings.IDLE_FOR
    allowed: timedelta = administrators if user.is_superuser else anybody
    return allowed


def _look_at(request: HttpRequest, user: User) -> None:
    """End the session if it is time; else write down that somebody is there, if somebody is."""
    now, last, allowed = timezone.now().timestamp(), request.session.get(ACTIVE), may_be_idle(user)
    if last is not None and now - last >= allowed.total_seconds():
        audit.record(request, Act.SESSION_IDLE)
        request.session.flush()
        request.user = AnonymousUser()
        request.session[ENDED_AFTER] = allowed // timedelta(minutes=1)
    elif last is None or (_is_somebody(request) and abs(now - last) >= WRITTEN_EVERY_S):
        request.session[ACTIVE] = now


def _is_somebody(request: HttpRequest) -> bool:
    return request.method != "GET" or "HX-Request" not in request.headers
