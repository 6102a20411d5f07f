"""Pages of passkeys: adding and removing one's own, and the challenges that our script fetches."""

import json

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import account_notices
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.models import LONGEST_NAME, Passkey
from nasadvisor.console.accounts.own_account import ask_to_remove, show_once, with_own_factors
from nasadvisor.console.accounts.passwords import PasswordForm, asked_of, confirm_oneself
from nasadvisor.console.accounts.required_setup import is_factor_missing
from nasadvisor.console.accounts.roles import user_of
from nasadvisor.console.accounts.second_factor import passkeys
from nasadvisor.console.accounts.second_factor.passkey_offers import Purpose, passkeys_here, site_name, why_none_here
from nasadvisor.console.accounts.second_factor.second_factor_form import answer_field
from nasadvisor.console.accounts.second_factor.second_step import whose_password
from nasadvisor.console.accounts.second_factor.webauthn import NotProven
from nasadvisor.console.accounts.sessions import browser_of


class NameForm(PasswordForm):
    """What a new passkey shall be called."""

    name = forms.CharField(
        label=gettext_lazy("Name of the passkey"),
        max_length=LONGEST_NAME,
        help_text=gettext_lazy("By which you will know it, such as “blue key” or “my phone”."),
    )
    field_order = ("name", "password")


class MadeForm(forms.Form):
    """What the device has made."""

    passkey = answer_field()


def add(request: HttpRequest) -> HttpResponse:
    """Ask for a name and that it is oneself; then the page on which the device is asked.

    The challenge stands in that page and nowhere else, so that another browser with the same cookie cannot answer it.
    """
    user = with_own_factors(request)
    why_not, required = why_none_here(request), is_factor_missing(request)
    posted = request.POST if request.method == "POST" and not why_not else None
    form = asked_of(request, NameForm(posted, initial={"name": browser_of(request.headers.get("User-Agent", ""))}))
    if form.is_valid() and confirm_oneself(request, form):
        options = passkeys.challenge_to_add(request, user, form.cleaned_data["name"])
        context = {"form": MadeForm(), "options": json.dumps(options), "name": form.cleaned_data["name"]}
        return render(request, "accounts/make_passkey.html", {**context, "section": "account"})
    context = {"form": form, "why_not": why_not, "site": site_name(request), "required": required}
    return render(request, "accounts/add_passkey.html", {**context, "section": "account"})


@require_POST
def make(request: HttpRequest) -> HttpResponse:
    """Store what the device has made."""
    user, form = with_own_factors(request), MadeForm(request.POST)
    try:
        answer = form.cleaned_data["passkey"] if form.is_valid() else ""
        passkey, codes = passkeys.add_passkey(request, user, answer)
    except NotProven:
        messages.error(request, _("The passkey was not added: it took too long, or is added already. Begin again."))
        return redirect("passkey-add")
    account_notices.record(request, Act.PASSKEY_ADDED, user, passkey.name)
    return show_once(request, codes, _("The passkey “%(name)s” was added.") % {"name": passkey.name})


def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Do without one."""
    passkey = get_object_or_404(Passkey, pk=pk, user=user_of(request))
    title = _("Remove the passkey “%(name)s”") % {"name": passkey.name}
    return ask_to_remove(request, passkey, Act.PASSKEY_REMOVED, title)


@require_POST
def challenge(request: HttpRequest) -> HttpResponse:
    """What a passkey of who is signed in is to sign before a change."""
    return _challenge(request, user_of(request), Purpose.CONFIRM)


@login_not_required
@require_POST
def login_challenge(request: HttpRequest) -> HttpResponse:
    """What a passkey of who typed the password is to sign to be signed in."""
    return _challenge(request, whose_password(request), Purpose.SIGN_IN)


def _challenge(request: HttpRequest, user: User | None, purpose: Purpose) -> HttpResponse:
    if user is None or not passkeys_here(request, user).exists():
        raise Http404
    return JsonResponse(passkeys.challenge(request, user, purpose))
