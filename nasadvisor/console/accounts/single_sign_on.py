"""Signing in by the platform: whoever it lets look looks here, whoever it lets change things is an operator here.

Such a session lives only as long as the platform's own: every request must bring the platform's cookie, and the
platform must still know it. Somebody who signed in here with a password of ours is not concerned.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.contrib.auth import login, logout
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url

from nasadvisor.console.accounts.models import PlatformAccount
from nasadvisor.console.accounts.platforms import Recognised, cookies_for, detected, named, recognise
from nasadvisor.console.accounts.roles import UserRole, role_of, set_role
from nasadvisor.domain.statements import Statement
from plugins.contract.console import Access, ConsolePlatform, PlatformSilent, Visitor

log = logging.getLogger(__name__)

IN_SESSION: Final = "platform"
"""The name of the platform that this session hangs on; absent where somebody signed in with a password of ours."""

BACKEND: Final = f"{__name__}.PlatformBackend"
ROLES: Final = {Access.VIEWER: UserRole.VIEWER, Access.OPERATOR: UserRole.OPERATOR}


class PlatformBackend(BaseBackend):
    """Checks a password with the platform that an account is of; `django.contrib.auth.authenticate` asks it last."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: object
    ) -> User | None:
        """The user with the role that the platform gives them now; None if it is not their password there.

        Raises:
            PlatformSilent: the platform did not answer.
        """
        if request is None or not username or not password:
            return None
        for platform in detected():
            if platform.signs_in or IN_SESSION in request.session:
                visitor = platform.check_password(username, password, cookies_for(platform, request))
                if visitor and visitor.name == username:
                    return user_of_visitor(platform, visitor)
        return None

    def get_user(self, user_id: int) -> User | None:
        """The user of a session."""
        return User.objects.filter(pk=user_id, is_active=True).first()


class SingleSignOn:
    """Middleware: signs in whom the platform knows, and out whom it knows no more.

    Not on the page of the login, so that somebody may sign in with a password of ours instead.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated or request.path != resolve_url("login"):
            _settle(request)
        return self.get_response(request)


@dataclass(frozen=True)
class SignOnOffer:
    """What the page of the login says of a platform: whom it knows, or why it cannot tell."""

    found: Recognised | None = None
    problem: Statement | None = None


def offer(request: HttpRequest) -> SignOnOffer:
    """Who may go on without a password of ours."""
    try:
        return SignOnOffer(recognise(request))
    except PlatformSilent as error:
        return SignOnOffer(problem=error.statement)


def why_no_password(request: HttpRequest) -> Statement | None:
    """Why who is signed in by a platform has no password to be asked for; None if they have one, or are ours."""
    platform = named(request.session.get(IN_SESSION, ""))
    if platform is None:
        return None
    try:
        return platform.no_password(request.user.get_username())
    except PlatformSilent:
        return None  # it is asked again, and its silence said, when the password is there


def is_known_to_platform(user: User) -> bool:
    """Whether somebody is signed in by a platform, which then has their password and their second factor."""
    return PlatformAccount.objects.filter(user=user).exists()


def user_of_visitor(platform: ConsolePlatform, visitor: Visitor) -> User | None:
    """The user who stands for a visitor, with the role that goes with their access; made at the first visit.

    None if an administrator locked them out, or if the name belongs to a user with a password of ours.
    """
    user, created = User.objects.filter(username=visitor.name).first(), False
    if user is None:
        with transaction.atomic():
            no_password = {"password": make_password(None)}
            user, created = User.objects.get_or_create(username=visitor.name, defaults=no_password)
            if created:
                PlatformAccount.objects.create(user=user, platform=platform.name)
    if not created and not PlatformAccount.objects.filter(user=user, platform=platform.name).exists():
        log.warning("%s of %s is not let in: a user of ours has that name", visitor.name, platform.name)
        return None
    if not user.is_active:
        return None
    if role_of(user) is not ROLES[visitor.access]:
        set_role(user, ROLES[visitor.access])
    return user


def _settle(request: HttpRequest) -> None:
    """Make the request's user the one whom the platform knows, if the session hangs on it or nobody is signed in."""
    hangs_on = named(request.session.get(IN_SESSION, ""))
    if request.user.is_authenticated and IN_SESSION not in request.session:
        return
    try:
        found = recognise(request)
    except PlatformSilent as error:
        log.warning("single sign-on: %s", error)
        request.user = AnonymousUser()  # for this request only: the session goes on once the platform answers again
        return
    is_same = found and found.platform is hangs_on and found.visitor.name == request.user.get_username()
    if request.user.is_authenticated and not is_same:
        logout(request)
    user = user_of_visitor(found.platform, found.visitor) if found else None
    if found and user and not request.user.is_authenticated:
        login(request, user, backend=BACKEND)
        request.session[IN_SESSION] = found.platform.name
    elif user is None and IN_SESSION in request.session:
        logout(request)
