"""Asking for a second factor: the fields of a form for it, and whether what they hold is right.

A passkey where somebody has one that works here, a code in any case: one of them is enough. A passkey works for the
name in the address under which it was made and for no other: that is why a page that only looks like ours gets nothing
from it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console.accounts.models import Authenticator, Passkey
from nasadvisor.console.accounts.second_factor.factors import take_any_code
from nasadvisor.console.web.middleware import is_address
from nasadvisor.runtime.own_names import LOCAL


class Purpose(StrEnum):
    """What an answer of a passkey is for; it is good for nothing else."""

    ADD = "add"
    SIGN_IN = "sign-in"
    CONFIRM = "confirm"


ASKED_AT: Final = {Purpose.SIGN_IN: "login-passkey", Purpose.CONFIRM: "passkey-challenge"}
"""Names of the addresses where our script fetches a challenge."""


@dataclass(frozen=True)
class PasskeyOffer:
    """What somebody who has passkeys may do with them here: where a challenge is fetched, or why there is none."""

    challenge_at: str = ""
    why_not: str = ""


def offer_to(request: HttpRequest, user: User, purpose: Purpose) -> PasskeyOffer | None:
    """What a page that asks for a second factor says of somebody's passkeys; None if they have none."""
    sites = sorted(set(Passkey.objects.filter(user=user).values_list("site", flat=True)))
    if not sites:
        return None
    if site_name(request) not in sites:
        text = _("Your passkeys work only under the names for which they were created: %(names)s.")
        return PasskeyOffer(why_not=text % {"names": ", ".join(sites)})
    why_not = why_none_here(request)
    return PasskeyOffer(why_not=why_not) if why_not else PasskeyOffer(challenge_at=reverse(ASKED_AT[purpose]))


def why_none_here(request: HttpRequest) -> str:
    """Why no browser makes or uses a passkey on this page; "" where they do.

    It must have a name and come from where nobody can change it on the way (https://www.w3.org/TR/webauthn-3/, sections
    5.1.3 and 13.4.9; "localhost" counts as such, https://www.w3.org/TR/secure-contexts/, section 3.1).
    """
    name = site_name(request)
    if is_address(name):
        text = _("Passkeys require a host name such as %(name)s, not an IP address. Open this page by its host name.")
        whole = (each for each in settings.HOST_NAMES if "." in each and not each.startswith((".", "*")))
        return text % {"name": next(whole, "nas.example")}
    if name != LOCAL and not any(origin.startswith("https:") for origin in origins(request)):
        return _("Passkeys work only over HTTPS, and this page was loaded over plain HTTP.")
    return ""


def passkeys_here(request: HttpRequest, user: User) -> QuerySet[Passkey]:
    """Somebody's passkeys that work by the name in the address of this page."""
    return Passkey.objects.filter(user=user, site=site_name(request))


def site_name(request: HttpRequest) -> str:
    """The name, or the IP address, in the address of a page."""
    return split_domain_port(request.get_host())[0].rstrip(".")


def origins(request: HttpRequest) -> frozenset[str]:
    """How browsers call where a page is from: by its own address, or by that of a proxy with the same name."""
    proxies = (each for each in settings.CSRF_TRUSTED_ORIGINS if urlsplit(each).hostname == site_name(request))
    return frozenset((f"{request.scheme}://{request.get_host()}", *proxies))


PASSKEY: Final = "passkey"
"""Name of the hidden field into which our script writes what a passkey has signed."""

LONGEST_ANSWER: Final = 32_768
"""Characters of what a passkey has signed. Devices that add who made them need about 12,000."""


class CodeField(forms.CharField):
    """Asks for a code, and has what the page says of passkeys beside it."""

    offer: PasskeyOffer | None = None


class AnswerInput(forms.HiddenInput):
    """Never shows again what was sent in it: it was good once."""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        """The same of nothing."""
        del value
        return super().get_context(name, None, attrs)


def answer_field() -> forms.CharField:
    """Takes what a device has answered."""
    return forms.CharField(required=False, max_length=LONGEST_ANSWER, widget=AnswerInput())


def ask_for_factor(
    form: forms.BaseForm, request: HttpRequest, user: User, purpose: Purpose, name: str
) -> PasskeyOffer | None:
    """Make a form ask for a second factor of somebody: a code in the field of this name, or a passkey beside it.

    What the page says of passkeys.
    """
    has_app = Authenticator.objects.filter(user=user).exists()
    app, paper = gettext_lazy("Code of your authenticator app, or a recovery code"), gettext_lazy("Recovery code")
    field = CodeField(
        label=app if has_app else paper,
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code"}),
    )
    field.offer = offer_to(request, user, purpose)
    if field.offer and field.offer.challenge_at:
        field.required = field.widget.is_required = False
        form.fields[PASSKEY] = answer_field()
    form.fields[name] = field
    return field.offer


def given_in(form: forms.BaseForm, name: str) -> tuple[str, str] | None:
    """The code and the passkey's answer in a valid form, one of them ""; None if both are, which the form then says."""
    code, passkey = form.cleaned_data[name], form.cleaned_data.get(PASSKEY, "")
    if not code and not passkey:
        form.add_error(name, _("Use your passkey, or type a code."))
        return None
    return code, passkey


def is_right(request: HttpRequest, user: User, code: str, passkey: str, purpose: Purpose) -> bool:
    """Whether a passkey of somebody has signed, or, where there is no answer of one, the code is theirs.

    Neither is taken twice.

    Raises:
        SecretUnreadable: the secret of their app cannot be read.
    """
    if passkey:
        from nasadvisor.console.accounts.second_factor.passkeys import take_passkey  # noqa: PLC0415 - memory that no worker needs

        return take_passkey(request, user, passkey, purpose)
    return take_any_code(request, user, code)
