"""Asking for a second factor: the fields of a form for it, and whether what they hold is right.

A passkey where somebody has one that works here, a code in any case: one of them is enough.
"""

from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console.accounts.models import Authenticator
from nasadvisor.console.accounts.second_factor.factors import take_any_code
from nasadvisor.console.accounts.second_factor.passkey_offers import PasskeyOffer, Purpose, offer_to

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
