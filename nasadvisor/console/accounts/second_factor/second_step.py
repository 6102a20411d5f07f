"""The second step of signing in: a passkey or a code, after the password was right and before anybody is signed in.

Until then the session only knows whose password was typed, so that every page treats its browser as a stranger's.
Wrong ones count like wrong passwords (`lock_out`).
"""

import shlex
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from nasadvisor.console.accounts.lock_out import LockOutSubject, MustWait, authenticate_counted, forgive
from nasadvisor.console.accounts.models import Guessed
from nasadvisor.console.accounts.second_factor.factors import has_factor
from nasadvisor.console.accounts.second_factor.second_factor_form import Purpose, ask_for_factor, given_in, is_right
from nasadvisor.console.secrets import SecretUnreadable

HALF_SIGNED_IN: Final = "half_signed_in"

HALF_FOR: Final = timedelta(minutes=10)
"""How long the code may come after the password."""


class FactorForm(forms.Form):
    """A passkey or a code of who typed the password."""

    def __init__(self, request: HttpRequest, user: User) -> None:
        super().__init__(request.POST if request.method == "POST" else None)
        self.offer = ask_for_factor(self, request, user, Purpose.SIGN_IN, "code")


class FactorBackend(BaseBackend):
    """Checks second factors, beside those who check passwords: so guesses are counted and written down as there."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        code: str = "",
        passkey: str = "",
        **_: object,
    ) -> User | None:
        """The user with this name, if the code or the passkey is theirs.

        Raises:
            SecretUnreadable: the secret of their app cannot be read.
        """
        if request is None or not username or not (code or passkey):
            return None
        user = User.objects.filter(username=username, is_active=True).first()
        return user if user and is_right(request, user, code, passkey, Purpose.SIGN_IN) else None


def begin_second_step(request: HttpRequest, user: User, go_on_to: str) -> None:
    """Keep in mind whose password was typed just now, and by whom it was checked."""
    request.session.cycle_key()
    request.session[HALF_SIGNED_IN] = {
        "user": user.pk,
        "backend": user.backend,
        "hash": user.get_session_auth_hash(),
        "at": timezone.now().timestamp(),
        "go_on_to": go_on_to,
    }


@login_not_required
def second_step(request: HttpRequest) -> HttpResponse:
    """Ask for the passkey or the code, and sign in with it."""
    user = whose_password(request)
    if user is None:
        request.session.pop(HALF_SIGNED_IN, None)
        return redirect("login")
    form = FactorForm(request, user)
    try:
        is_theirs = form.is_valid() and _is_theirs(request, user, form)
    except MustWait:
        return must_wait(request)
    if is_theirs:
        half = request.session.pop(HALF_SIGNED_IN)
        forgive(LockOutSubject(Guessed.NAME, user.get_username()))
        login(request, user, backend=half["backend"])
        return redirect(half["go_on_to"])
    command = f"{settings.MANAGE_COMMAND} reset_second_factor {shlex.quote(user.get_username())}"
    return render(request, "registration/second_step.html", {"form": form, "command": command})


def must_wait(request: HttpRequest) -> HttpResponse:
    """The page for who guesses, and for whose name is guessed at."""
    context = {"manage": settings.MANAGE_COMMAND}
    return render(request, "registration/locked_out.html", context, status=HTTPStatus.TOO_MANY_REQUESTS)


def whose_password(request: HttpRequest) -> User | None:
    """Who typed the password a short while ago, if it is still that, and they still have a second factor."""
    half: dict[str, Any] | None = request.session.get(HALF_SIGNED_IN)
    if not half or not timedelta(0) <= timedelta(seconds=timezone.now().timestamp() - half["at"]) < HALF_FOR:
        return None
    user = User.objects.filter(pk=half["user"], is_active=True).first()
    if user is None or not constant_time_compare(half["hash"], user.get_session_auth_hash()) or not has_factor(user):
        return None
    return user


def _is_theirs(request: HttpRequest, user: User, form: FactorForm) -> bool:
    given = given_in(form, "code")
    if given is None:
        return False
    code, passkey = given
    try:
        found = authenticate_counted(request, user.get_username(), code=code, passkey=passkey)
    except SecretUnreadable as error:
        form.add_error("code", str(error))
        return False
    if found is None and passkey:
        form.add_error("code", _("That passkey was not accepted, or it took too long. Try again, or type a code."))
    elif found is None:
        form.add_error("code", _("That code is wrong or was already used. Wait for the next one."))
    return found is not None and found.pk == user.pk
