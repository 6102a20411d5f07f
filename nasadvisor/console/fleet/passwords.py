"""Asking for the password again before something is changed."""

from django import forms
from django.contrib.auth import authenticate
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console.fleet.roles import may_change, user_of
from nasadvisor.console.fleet.single_sign_on import why_no_password
from plugins.contract.console import PlatformSilent

POSTED_FIELDS = frozenset({"csrfmiddlewaretoken", "password"})
"""Everything else about what is changed is on the server; who posts more does not use our form."""


class PasswordForm(forms.Form):
    """The password of who is signed in."""

    password = forms.CharField(
        label=gettext_lazy("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "class": "form-control"}),
    )


def confirm_password(request: HttpRequest, form: forms.Form) -> bool:
    """Whether the form is valid and its field `password` is the user's; if it is not, the form says so.

    Wrong answers count towards the login's lock-out. The platform that somebody is known to is asked for their password
    and for what they may do now.
    """
    if not form.is_valid():
        return False
    without = why_no_password(request)
    if without:
        form.add_error("password", without.said(_))
        return False
    try:
        user = authenticate(request, username=user_of(request).get_username(), password=form.cleaned_data["password"])
    except PlatformSilent as error:
        form.add_error("password", error.statement.said(_))
        return False
    if user is None:
        form.add_error("password", _("That is not your password. Nothing was changed."))
    elif not may_change(user_of(request)):
        form.add_error("password", _("You may look at everything here but change nothing. Ask an operator."))
    return form.is_valid()


def require_only(request: HttpRequest, fields: frozenset[str]) -> None:
    """Refuse a form with fields that ours does not have.

    Raises:
        BadRequest: it has such fields.
    """
    if set(request.POST) - fields:
        raise BadRequest
