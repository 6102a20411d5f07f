"""Where a second factor is required: who has none gets to the page that sets one up, and nowhere else."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from nasadvisor.console.fleet.factors import has_factor
from nasadvisor.console.fleet.roles import UserRole, role_of
from nasadvisor.console.fleet.single_sign_on import is_known_to_platform

REQUIRED: Final[Mapping[str, frozenset[UserRole]]] = {
    "no": frozenset(),
    "administrators": frozenset({UserRole.ADMIN}),
    "operators": frozenset({UserRole.ADMIN, UserRole.OPERATOR}),
    "everybody": frozenset(UserRole),
}
"""Whom each word of NASADVISOR_SECOND_FACTOR is about."""

WAY_OUT: Final = frozenset({"authenticator", "passkey-add", "passkey-make", "logout"})
"""Names of the addresses that are needed to set one up, or to leave."""


class RequiredFactor:
    """Middleware: leads to setting one up. It comes after the one that asks whether somebody is signed in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_arguments: object) -> HttpResponse | None:
        """Before a page is made; None goes on to it. What is for strangers is for everybody."""
        if not getattr(view, "login_required", True) or not is_missing(request):
            return None
        if request.resolver_match and request.resolver_match.url_name in WAY_OUT:
            return None
        return redirect("authenticator")


def is_missing(request: HttpRequest) -> bool:
    """Whether who is signed in must have a second factor and has none."""
    required, user = REQUIRED[settings.SECOND_FACTOR], request.user
    if not required or not isinstance(user, User):
        return False
    return role_of(user) in required and not has_factor(user) and not is_known_to_platform(user)
