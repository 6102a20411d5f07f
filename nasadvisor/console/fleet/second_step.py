"""The second step of signing in: a code, after the password was right and before anybody is signed in.

Until then the session only knows whose password was typed, so that every page treats its browser as a stranger's.
Codes that are wrong count like wrong passwords (`lock_out`).
"""

from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate, login
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console.fleet.factors import has_factor, take_any_code
from nasadvisor.console.secrets import SecretUnreadable

HALF_SIGNED_IN: Final = "half_signed_in"

HALF_FOR: Final = timedelta(minutes=10)
"""How long the code may come after the password."""


def code_field(**attributes: object) -> forms.CharField:
    """Asks for a code of an app, or from paper."""
    return forms.CharField(
        label=gettext_lazy("Code of your authenticator app, or a recovery code"),
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", **attributes}),
    )


class CodeForm(forms.Form):
    """The code alone."""

    code = code_field(autofocus=True)


class CodeBackend(BaseBackend):
    """Checks codes, beside those who check passwords: so guesses are counted and written down as theirs are."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, code: str | None = None, **_: object
    ) -> User | None:
        """The user with this name, if the code is theirs.

        Raises:
            SecretUnreadable: the secret of their app cannot be read.
        """
        if request is None or not username or not code:
            return None
        user = User.objects.filter(username=username, is_active=True).first()
        return user if user and take_any_code(request, user, code) else None


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
    """Ask for the code, and sign in with it."""
    half: dict[str, Any] = request.session.get(HALF_SIGNED_IN, {})
    user = _whose_password(half, timezone.now())
    if user is None:
        request.session.pop(HALF_SIGNED_IN, None)
        return redirect("login")
    form = CodeForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and _is_right(request, user, form):
        del request.session[HALF_SIGNED_IN]
        login(request, user, backend=half["backend"])
        return redirect(half["go_on_to"])
    return render(request, "registration/second_step.html", {"form": form, "manage": settings.MANAGE_COMMAND})


def _whose_password(half: dict[str, Any], now: datetime) -> User | None:
    """Who typed the password a short while ago, if it is still that, and they still may sign in with a code."""
    if not half or not timedelta(0) <= timedelta(seconds=now.timestamp() - half["at"]) < HALF_FOR:
        return None
    user = User.objects.filter(pk=half["user"], is_active=True).first()
    if user is None or not constant_time_compare(half["hash"], user.get_session_auth_hash()) or not has_factor(user):
        return None
    return user


def _is_right(request: HttpRequest, user: User, form: CodeForm) -> bool:
    try:
        found = authenticate(request, username=user.get_username(), code=form.cleaned_data["code"])
    except SecretUnreadable as error:
        form.add_error("code", str(error))
        return False
    if found is None:
        form.add_error("code", _("That code is not right, or was used before. Wait for the next one."))
    return found is not None and found.pk == user.pk
