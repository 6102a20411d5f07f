"""One's own account: the password, the second factor with its passkeys, and where one is signed in."""

import json
from typing import Final

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import account_notices, audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.models import LONGEST_NAME, Authenticator, Passkey, RecoveryCode
from nasadvisor.console.accounts.passwords import PasswordForm, asked_of, confirm_oneself
from nasadvisor.console.accounts.required_setup import is_factor_missing
from nasadvisor.console.accounts.roles import user_of
from nasadvisor.console.accounts.second_factor import factors, passkeys
from nasadvisor.console.accounts.second_factor.second_factor_form import (
    Purpose,
    answer_field,
    passkeys_here,
    site_name,
    why_none_here,
)
from nasadvisor.console.accounts.second_factor.second_step import whose_password
from nasadvisor.console.accounts.second_factor.webauthn import NotProven
from nasadvisor.console.accounts.sessions import browser_of
from nasadvisor.console.accounts.single_sign_on import is_known_to_platform
from nasadvisor.console.secrets import SecretUnreadable, decrypt, encrypt

SETTING_UP: Final = "authenticator_being_set_up"
"""What an app is about to share with us, encrypted, until it has shown a code."""


class AuthenticatorForm(PasswordForm):
    """The first code of a new app."""

    code = forms.CharField(
        label=gettext_lazy("Current code in the app"),
        max_length=20,
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "numeric"}),
    )
    field_order = ("code", "password")


class AddressForm(PasswordForm):
    """Where notices about one's own account go."""

    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        required=False,
        help_text=gettext_lazy("Sent through the mail server set under “Notifications”; without one, nothing is sent."),
    )
    field_order = ("email", "password")


def account(request: HttpRequest) -> HttpResponse:
    """What there is to sign in with."""
    user = user_of(request)
    context = {
        "authenticator": Authenticator.objects.filter(user=user).first(),
        "passkeys": Passkey.objects.filter(user=user),
        "why_no_passkeys": why_none_here(request),
        "recovery_codes": RecoveryCode.objects.filter(user=user).count(),
        "by_platform": is_known_to_platform(user),
        "notices": account_notices.of(user),
        "section": "account",
    }
    return render(request, "accounts/account.html", context)


def authenticator(request: HttpRequest) -> HttpResponse:
    """Set an app up, in the place of one before: show what it is to know, and ask for the code that it makes of it."""
    user = with_own_factors(request)
    form = asked_of(request, AuthenticatorForm(request.POST if request.method == "POST" else None))
    try:
        if SETTING_UP not in request.session:
            request.session[SETTING_UP] = encrypt(factors.new_secret())
        secret = decrypt(request.session[SETTING_UP])  # the same until the app is set up
        if form.is_valid():
            step = factors.step_of(secret, form.cleaned_data["code"], timezone.now())
            if step is None:
                form.add_error("code", _("The app should be showing a different code. Check that its clock is right."))
            elif confirm_oneself(request, form):
                codes = factors.add_authenticator(user, secret, step, timezone.now())
                del request.session[SETTING_UP]
                account_notices.record(request, Act.FACTOR_ADDED, user)
                return show_once(request, codes, _("Your authenticator app was set up."))
    except SecretUnreadable as error:
        return render(request, "console/error.html", {"sentence": str(error), "status": 503}, status=503)
    qr = drawn(factors.address_of(user, secret))
    context = {"form": form, "qr": qr, "secret": secret, "required": is_factor_missing(request)}
    return render(request, "accounts/authenticator.html", {**context, "section": "account"})


def remove_authenticator(request: HttpRequest) -> HttpResponse:
    """Do without the app."""
    app = get_object_or_404(Authenticator, user=with_own_factors(request))
    return ask_to_remove(request, app, Act.FACTOR_REMOVED, _("Remove the authenticator app"))


def ask_to_remove(request: HttpRequest, factor: Authenticator | Passkey, act: Act, title: str) -> HttpResponse:
    """Ask for the password or a second factor, then take this one away."""
    form = asked_of(request, PasswordForm(request.POST if request.method == "POST" else None))
    if form.is_valid() and confirm_oneself(request, form):
        factors.remove_factor(factor)
        account_notices.record(request, act, factor.user, getattr(factor, "name", ""))
        if factors.has_factor(factor.user):
            messages.success(request, _("It was removed. Your other second factors remain."))
        else:
            messages.success(request, _("Your second factor was removed. You now sign in with your password alone."))
        return redirect("account")
    context = {"form": form, "title": title, "is_only_one": factors.is_only_one(factor), "section": "account"}
    return render(request, "accounts/remove_factor.html", context)


def recovery_codes(request: HttpRequest) -> HttpResponse:
    """Make new recovery codes, and show them this once."""
    user = with_own_factors(request)
    if not factors.has_factor(user):
        return redirect("authenticator")
    form = asked_of(request, PasswordForm(request.POST if request.method == "POST" else None))
    if form.is_valid() and confirm_oneself(request, form):
        codes = factors.new_recovery_codes(user)
        account_notices.record(request, Act.RECOVERY_CODES_MADE, user)
        return show_once(request, codes, "")
    return render(request, "accounts/new_recovery_codes.html", {"form": form, "section": "account"})


def address(request: HttpRequest) -> HttpResponse:
    """Where notices about this account go. The address that was there before is told."""
    user = user_of(request)
    posted = request.POST if request.method == "POST" else None
    form = asked_of(request, AddressForm(posted, initial={"email": user.email}))
    if form.is_valid() and confirm_oneself(request, form):
        before, user.email = user.email, form.cleaned_data["email"]
        user.save(update_fields=["email"])
        audit.record(request, Act.ADDRESS_CHANGED)
        account_notices.tell(user, Act.ADDRESS_CHANGED, user.get_username(), audit.address_of(request), mail_to=before)
        messages.success(request, _("Your address was saved."))
        return redirect("account")
    return render(request, "accounts/own_address.html", {"form": form, "section": "account"})


def drawn(address: str) -> SafeString:
    """An address as a QR code: SVG, to stand in a page."""
    import segno  # noqa: PLC0415 - only this page needs it

    return SafeString(segno.make(address, micro=False).svg_inline(scale=4, svgclass="qr", lineclass=None))


def show_once(request: HttpRequest, codes: list[str], otherwise: str) -> HttpResponse:
    """The page with new recovery codes; where there are none, that of the account with something else to say."""
    if codes:
        return render(request, "accounts/recovery_codes.html", {"codes": codes, "section": "account"})
    messages.success(request, otherwise)
    return redirect("account")


def with_own_factors(request: HttpRequest) -> User:
    """Who is signed in, unless a platform signs them in."""
    user = user_of(request)
    if is_known_to_platform(user):
        raise PermissionDenied(_("You sign in through your platform. Set up your second factor there."))
    return user


class PasskeyNameForm(PasswordForm):
    """What a new passkey shall be called."""

    name = forms.CharField(
        label=gettext_lazy("Name of the passkey"),
        max_length=LONGEST_NAME,
        help_text=gettext_lazy("A name to recognise it by, such as “blue key” or “my phone”."),
    )
    field_order = ("name", "password")


class MadePasskeyForm(forms.Form):
    """What the device has made."""

    passkey = answer_field()


def add_passkey(request: HttpRequest) -> HttpResponse:
    """Ask for a name and that it is oneself; then the page on which the device is asked.

    The challenge stands in that page and nowhere else, so that another browser with the same cookie cannot answer it.
    """
    user = with_own_factors(request)
    why_not, required = why_none_here(request), is_factor_missing(request)
    posted = request.POST if request.method == "POST" and not why_not else None
    form = asked_of(
        request, PasskeyNameForm(posted, initial={"name": browser_of(request.headers.get("User-Agent", ""))})
    )
    if form.is_valid() and confirm_oneself(request, form):
        options = passkeys.challenge_to_add(request, user, form.cleaned_data["name"])
        context = {"form": MadePasskeyForm(), "options": json.dumps(options), "name": form.cleaned_data["name"]}
        return render(request, "accounts/make_passkey.html", {**context, "section": "account"})
    context = {"form": form, "why_not": why_not, "site": site_name(request), "required": required}
    return render(request, "accounts/add_passkey.html", {**context, "section": "account"})


@require_POST
def make_passkey(request: HttpRequest) -> HttpResponse:
    """Store what the device has made."""
    user, form = with_own_factors(request), MadePasskeyForm(request.POST)
    try:
        answer = form.cleaned_data["passkey"] if form.is_valid() else ""
        passkey, codes = passkeys.add_passkey(request, user, answer)
    except NotProven:
        messages.error(request, _("The passkey was not added: it took too long, or was already added. Start again."))
        return redirect("passkey-add")
    account_notices.record(request, Act.PASSKEY_ADDED, user, passkey.name)
    return show_once(request, codes, _("The passkey “%(name)s” was added.") % {"name": passkey.name})


def remove_passkey(request: HttpRequest, pk: int) -> HttpResponse:
    """Do without one."""
    passkey = get_object_or_404(Passkey, pk=pk, user=user_of(request))
    title = _("Remove the passkey “%(name)s”") % {"name": passkey.name}
    return ask_to_remove(request, passkey, Act.PASSKEY_REMOVED, title)


@require_POST
def passkey_challenge(request: HttpRequest) -> HttpResponse:
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
