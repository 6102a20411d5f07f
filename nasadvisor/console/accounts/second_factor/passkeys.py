"""Passkeys: asking for one, storing it, and taking what it signed. The protocol itself is in `webauthn`, and whether
there are any to ask for in `second_factor_form`: this here is loaded only where one is asked for.
"""

from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.account_notices import tell
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.models import Passkey
from nasadvisor.console.accounts.second_factor import webauthn
from nasadvisor.console.accounts.second_factor.factors import codes_with_first_factor
from nasadvisor.console.accounts.second_factor.second_factor_form import Purpose, origins, passkeys_here, site_name

ASKED: Final = "passkey_asked"
"""What was asked last in this session, and not answered yet."""

ANSWER_WITHIN: Final = timedelta(milliseconds=webauthn.SHOWN_FOR_MS, minutes=1)
"""How long a challenge is good: as long as browsers ask, and a minute for the way."""


def challenge_to_add(request: HttpRequest, user: User, name: str) -> dict[str, Any]:
    """What the browser is to ask a device that shall be a passkey by this name."""
    known = passkeys_here(request, user).values_list("credential_id", flat=True)
    # Names them to their device: the same each time, of this console alone, and without their name.
    handle = salted_hmac("passkey handle", str(user.pk), algorithm="sha256").digest()
    options, state = webauthn.ask_to_make(_site(request), handle, user.get_username(), known)
    _remember(request, user, Purpose.ADD, state, name=name)
    return options


def challenge(request: HttpRequest, user: User, purpose: Purpose) -> dict[str, Any]:
    """What the browser is to ask a passkey of somebody.

    Before a change it stands alone, so it has to ask for a PIN or a finger; at the sign-in the password came before.
    """
    known = passkeys_here(request, user).values_list("credential_id", flat=True)
    options, state = webauthn.ask_to_sign(_site(request), known, is_verified=purpose is Purpose.CONFIRM)
    _remember(request, user, purpose, state)
    return options


@transaction.atomic
def add_passkey(request: HttpRequest, user: User, answer: str) -> tuple[Passkey, list[str]]:
    """Store the passkey that a device has made; the recovery codes that come with somebody's first factor.

    Raises:
        NotProven: it was not made for what was asked last, or is stored already.
    """
    asked = _recall(request, user, Purpose.ADD)
    if asked is None:
        raise webauthn.NotProven
    key = webauthn.made(_site(request), asked["state"], answer)
    codes = codes_with_first_factor(user)
    fields = {"user": user, "name": asked["name"], "site": site_name(request), "added_at": timezone.now()}
    try:
        with transaction.atomic():
            return Passkey.objects.create(**fields, **asdict(key)), codes
    except IntegrityError as error:
        raise webauthn.NotProven from error


def take_passkey(request: HttpRequest, user: User, answer: str, purpose: Purpose) -> bool:
    """Whether a passkey of somebody has signed what was asked last, for this purpose. No answer is taken twice."""
    asked = _recall(request, user, purpose)
    if asked is None:
        return False
    try:
        found = passkeys_here(request, user).filter(credential_id=webauthn.said_by(answer)).first()
        if found is None:
            return False
        key = webauthn.Key(found.credential_id, found.public_key, found.sign_count)
        count = webauthn.signed(_site(request), asked["state"], key, answer)
    except webauthn.NotProven:
        return False
    # Note that it was used, unless its count did not go up, as that of one of two copies (section 6.1.1).
    same = Passkey.objects.filter(pk=found.pk)
    before = same.filter(sign_count__lt=count) if count else same.filter(sign_count=0)
    if before.update(sign_count=count, used_at=timezone.now()):
        return True
    audit.record_as(found.user, request, Act.PASSKEY_COPIED, found.name)
    tell(found.user, Act.PASSKEY_COPIED, found.user.get_username(), audit.address_of(request))
    return False


def _remember(request: HttpRequest, user: User, purpose: Purpose, state: Any, **more: str) -> None:
    at = timezone.now().timestamp()
    request.session[ASKED] = {"for": purpose.value, "user": user.pk, "at": at, "state": state, **more}


def _recall(request: HttpRequest, user: User, purpose: Purpose) -> dict[str, Any] | None:
    """What was asked last, which is forgotten with this; None if it was for something else, or long ago."""
    asked: dict[str, Any] | None = request.session.pop(ASKED, None)
    if asked is None or (asked["for"], asked["user"]) != (purpose.value, user.pk):
        return None
    passed = timedelta(seconds=timezone.now().timestamp() - asked["at"])
    return asked if timedelta(0) <= passed < ANSWER_WITHIN else None


def _site(request: HttpRequest) -> webauthn.Site:
    return webauthn.Site(site_name(request), origins(request))
