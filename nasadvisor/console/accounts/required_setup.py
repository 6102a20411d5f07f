"""What somebody has to do before anything else: every other page leads there, and each of them to the next."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from nasadvisor.console.accounts.models import GivenPassword
from nasadvisor.console.accounts.roles import UserRole, role_of
from nasadvisor.console.accounts.second_factor.factors import has_factor
from nasadvisor.console.accounts.single_sign_on import is_known_to_platform

WAY_OUT: Final = "logout"

REQUIRED: Final[Mapping[str, frozenset[UserRole]]] = {
    "no": frozenset(),
    "administrators": frozenset({UserRole.ADMIN}),
    "operators": frozenset({UserRole.ADMIN, UserRole.OPERATOR}),
    "everybody": frozenset(UserRole),
}
"""Of whom each word of NASADVISOR_SECOND_FACTOR requires a second factor."""


def has_given_password(request: HttpRequest) -> bool:
    """Whether who is signed in has a password that an administrator chose."""
    return isinstance(request.user, User) and GivenPassword.objects.filter(user=request.user).exists()


def is_factor_missing(request: HttpRequest) -> bool:
    """Whether who is signed in must have a second factor and has none."""
    required, user = REQUIRED[settings.SECOND_FACTOR], request.user
    if not required or not isinstance(user, User):
        return False
    return role_of(user) in required and not has_factor(user) and not is_known_to_platform(user)


@dataclass(frozen=True)
class SetupStep:
    """`page` is where it is done, and `pages` are all that are needed for it, by the names of their addresses."""

    is_due: Callable[[HttpRequest], bool]
    page: str
    pages: frozenset[str]


STEPS: Final = (
    SetupStep(has_given_password, "password_change", frozenset({"password_change", "passkey-challenge"})),
    SetupStep(is_factor_missing, "authenticator", frozenset({"authenticator", "passkey-add", "passkey-make"})),
)


class RequiredSetup:
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
