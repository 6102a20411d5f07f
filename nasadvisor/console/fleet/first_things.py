"""What somebody has to do before anything else: every other page leads there, and each of them to the next."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from nasadvisor.console.fleet import required_factor
from nasadvisor.console.fleet.models import GivenPassword

WAY_OUT: Final = "logout"


def has_given_password(request: HttpRequest) -> bool:
    """Whether who is signed in has a password that an administrator chose."""
    return isinstance(request.user, User) and GivenPassword.objects.filter(user=request.user).exists()


@dataclass(frozen=True)
class Step:
    """`page` is where it is done, and `pages` are all that are needed for it, by the names of their addresses."""

    is_due: Callable[[HttpRequest], bool]
    page: str
    pages: frozenset[str]


STEPS: Final = (
    Step(has_given_password, "password_change", frozenset({"password_change", "passkey-challenge"})),
    Step(required_factor.is_missing, "authenticator", frozenset({"authenticator", "passkey-add", "passkey-make"})),
)


class FirstThings:
    """Middleware: leads to the first step that is due. It comes after the one that asks whether somebody is there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_arguments: object) -> HttpResponse | None:
        """Before a page is made; None goes on to it. What is for strangers is for everybody."""
        if not getattr(view, "login_required", True):
            return None
        step = next((step for step in STEPS if step.is_due(request)), None)
        asked_for = request.resolver_match.url_name if request.resolver_match else None
        if step is None or asked_for == WAY_OUT or asked_for in step.pages:
            return None
        return redirect(step.page)
