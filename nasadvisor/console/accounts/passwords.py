"""Asking for the password again before something is changed; who has a second factor is asked for that instead.

What changes a pool, or oneself, asks every time. Other settings of administrators ask once, and then not for a short
while: a cookie alone, taken from a browser, must not lead to anything.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, Final, TypeVar

from django import forms
from django.conf import settings
from django.contrib.auth import load_backend
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.lock_out import LockOutSubject, MustWait, counted, forgive
from nasadvisor.console.accounts.models import Guessed
from nasadvisor.console.accounts.roles import View, admin_required, may_change, user_of
from nasadvisor.console.accounts.second_factor.factors import has_factor
from nasadvisor.console.accounts.second_factor.second_factor_form import (
    PASSKEY,
    Purpose,
    ask_for_factor,
    given_in,
    is_right,
)
from nasadvisor.console.accounts.single_sign_on import why_no_password
from nasadvisor.console.secrets import SecretUnreadable
from nasadvisor.console.wording.statements import said
from plugins.contract.console import PlatformSilent

F = TypeVar("F", bound=forms.BaseForm)

POSTED_FIELDS = frozenset({"csrfmiddlewaretoken", "password", PASSKEY})
"""Everything else about what is changed is on the server; who posts more does not use our form."""

CONFIRMED_FOR: Final = timedelta(minutes=10)
"""How long an administrator is not asked again for settings."""

CONFIRMED_AT: Final = "confirmed_at"
"""When the password was typed last in this session, in seconds since 1970."""


class PasswordForm(forms.Form):
    """The password of who is signed in, or in its place a second factor: see `asked_of`."""

    password = forms.CharField(
        label=gettext_lazy("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "class": "form-control"}),
    )


def asked_of(request: HttpRequest, form: F) -> F:
    """A form with the field of `PasswordForm`, made to ask for what who is signed in must give."""
    user = user_of(request)
    if has_factor(user):
        ask_for_factor(form, request, user, Purpose.CONFIRM, "password")
    return form


def confirm_password(request: HttpRequest, form: forms.BaseForm) -> bool:
    """Whether the form is valid, its field `password` is right (`confirm_oneself`), and its user may change things.

    The platform that somebody is known to is asked for what they may do now.
    """
    if _is_answered(request, form) and not may_change(user_of(request)):
        audit.record_refusal(request, user_of(request).get_username())
        form.add_error("password", _("You have read-only access. Ask an operator to make this change."))
    return _is_confirmed_now(request, form)


def confirm_oneself(request: HttpRequest, form: forms.BaseForm) -> bool:
    """Whether the form is valid and its field `password` is the user's; if it is not, the form says so.

    Wrong answers make the next one wait, of this user and nobody else. The platform that somebody is known to is asked
    for their password.
    """
    _is_answered(request, form)
    return _is_confirmed_now(request, form)


def _is_confirmed_now(request: HttpRequest, form: forms.BaseForm) -> bool:
    if form.is_valid():
        request.session[CONFIRMED_AT] = timezone.now().timestamp()
    return form.is_valid()


def _is_answered(request: HttpRequest, form: forms.BaseForm) -> bool:
    if not form.is_valid():
        return False
    without = why_no_password(request)
    if without:
        form.add_error("password", said(without))
        return False
    if has_factor(user_of(request)):
        refuse_wrong_factor(request, form, "password")
    else:
        wrong = wrong_password(request, form.cleaned_data["password"])
        if wrong:
            form.add_error("password", wrong)
    return form.is_valid()


def wrong_password(request: HttpRequest, password: str) -> str:
    """What to say where it is not the password of who is signed in, or cannot be looked at; "" where it is.

    Wrong ones are counted and written down, and make the next one wait.
    """
    user = user_of(request)

    def is_theirs() -> bool:
        # Who checks passwords at the login is asked, but not those who count there what strangers guess.
        for path in settings.PASSWORD_BACKENDS:
            found = load_backend(path).authenticate(request, username=user.get_username(), password=password)
            if found is not None:
                return bool(found.pk == user.pk)
        return False

    return _wrong(request, is_theirs, _("Wrong password. Nothing was changed."))


def refuse_wrong_factor(request: HttpRequest, form: forms.BaseForm, name: str) -> None:
    """Have a form say so where it holds no second factor of who is signed in. The right one works once.

    Wrong ones are counted as wrong passwords are.
    """
    user, given = user_of(request), given_in(form, name)
    if given is None:
        return
    code, passkey = given
    if passkey:
        sentence = _("That passkey was not accepted, or it took too long. Nothing was changed. Try again.")
    else:
        sentence = _("That code is wrong or was already used. Nothing was changed. Wait for the next one.")
    wrong = _wrong(request, lambda: is_right(request, user, code, passkey, Purpose.CONFIRM), sentence)
    if wrong:
        form.add_error(name, wrong)


def _wrong(request: HttpRequest, is_right: Callable[[], bool], wrong: str) -> str:
    subject = LockOutSubject(Guessed.USER, str(user_of(request).pk))
    try:
        if counted((subject,), is_right):
            forgive(subject)
            return ""
    except MustWait as error:
        minutes = -(-int(error.wait.total_seconds()) // 60)
        return ngettext(
            "Too many failed attempts. Nothing was changed. Try again in %(count)d minute.",
            "Too many failed attempts. Nothing was changed. Try again in %(count)d minutes.",
            minutes,
        ) % {"count": minutes}
    except SecretUnreadable as error:
        return str(error)
    except PlatformSilent as error:
        return said(error.statement)
    audit.record(request, Act.RE_ENTRY_FAILED, request.path)
    return wrong


def is_confirmed(request: HttpRequest) -> bool:
    """Whether the password was typed in this session within the last minutes."""
    at = request.session.get(CONFIRMED_AT)
    return at is not None and timedelta(0) <= timedelta(seconds=timezone.now().timestamp() - at) < CONFIRMED_FOR


def ask_again(request: HttpRequest, form: forms.BaseForm) -> forms.BaseForm:
    """The form, with a field for the password or a code unless that was typed a short while ago."""
    if not is_confirmed(request):
        form.fields.update(asked_of(request, PasswordForm()).fields)
    return form


def is_confirmed_by(request: HttpRequest, form: forms.BaseForm) -> bool:
    """Whether a form from `ask_again` is valid, and the password in it, if there is one, the user's."""
    return confirm_password(request, form) if "password" in form.fields else form.is_valid()


def confirmed_admin_required(view: View) -> View:
    """For buttons: only administrators get there, and only with their password.

    Who is asked for it gets a page that sends the same again.
    """

    @admin_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = ask_again(request, forms.Form(request.POST if "password" in request.POST else None))
        if request.method != "POST" or is_confirmed(request) or confirm_password(request, form):
            return view(request, *args, **kwargs)
        sent = [(name, value) for name, value in request.POST.items() if name not in POSTED_FIELDS]
        return render(request, "accounts/confirm.html", {"form": form, "sent": sent, "section": "settings"})

    return guarded


def require_only(request: HttpRequest, fields: frozenset[str]) -> None:
    """Refuse a form with fields that ours does not have.

    Raises:
        BadRequest: it has such fields.
    """
    if set(request.POST) - fields:
        raise BadRequest
