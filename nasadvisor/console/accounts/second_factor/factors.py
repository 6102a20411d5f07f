"""Second factors: who has one, codes of an authenticator app (RFC 6238), and recovery codes for the day all are lost.
Passkeys are taken in `passkeys`.

The platform that signs somebody in has its own: who has an account of one has none here.
"""

import base64
import hashlib
import platform
import re
import secrets
from datetime import datetime
from typing import Final

from cryptography.hazmat.primitives import constant_time, hashes
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.account_notices import tell
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.models import Authenticator, Passkey, RecoveryCode
from nasadvisor.console.secrets import decrypt, encrypt

STEP_S: Final = 30
DIGITS: Final = 6
"""What every app takes for granted, whatever the address of its QR code says."""

SECRET_BYTES: Final = 20
"""As long as the hash, SHA-1, gives (RFC 4226, section 4, R6)."""

RECOVERY_CODES: Final = 8
RECOVERY_BYTES: Final = 15
"""120 bits, so that a plain hash of it is as good as it is."""

_RECOVERY_CODE: Final = re.compile(r"[A-Z2-7]{24}")


def has_factor(user: User) -> bool:
    """Whether somebody has a second factor; recovery codes alone are none."""
    return any(kind.objects.filter(user=user).exists() for kind in (Authenticator, Passkey))


def new_secret() -> str:
    """A secret to share with an app, in the letters that one types into it (base32)."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode("ascii")


def address_of(user: User, secret: str) -> str:
    """What the QR code says: whose secret it is, and for which console."""
    console = f"NAS Advisor {platform.node()}".strip()
    return _totp(secret).get_provisioning_uri(user.get_username().replace(":", " "), console)


def code_at(secret: str, step: int) -> str:
    """What an app shows in the thirty seconds of this number since 1970."""
    return _totp(secret).generate(step * STEP_S).decode("ascii")


def step_of(secret: str, code: str, now: datetime) -> int | None:
    """In which thirty seconds an app shows this code: now or, since clocks differ, just before or after; None if not.

    One step each way is what RFC 6238 has for that (section 5.2).
    """
    here = int(now.timestamp()) // STEP_S
    typed = re.sub(r"\s", "", code).encode()
    for step in (here, here - 1, here + 1):
        if constant_time.bytes_eq(code_at(secret, step).encode(), typed):
            return step
    return None


@transaction.atomic
def add_authenticator(user: User, secret: str, step: int, now: datetime) -> list[str]:
    """Store an app in the place of one before, after it has shown the code of this step; see
    `codes_with_first_factor`.
    """
    codes = codes_with_first_factor(user)
    fields = {"secret": encrypt(secret), "last_step": step, "added_at": now}
    Authenticator.objects.update_or_create(user=user, defaults=fields)
    return codes


def codes_with_first_factor(user: User) -> list[str]:
    """Fresh recovery codes for somebody who gets their first second factor; none of who has another one already."""
    return [] if has_factor(user) else new_recovery_codes(user)


@transaction.atomic
def new_recovery_codes(user: User) -> list[str]:
    """Fresh recovery codes, which are shown now and never again; those made before stop working."""
    codes = [base64.b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode("ascii") for _ in range(RECOVERY_CODES)]
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create(RecoveryCode(user=user, digest=_digest(code)) for code in codes)
    return ["-".join(re.findall("....", code)) for code in codes]


@transaction.atomic
def remove_factors(user: User) -> bool:
    """Take all second factors of somebody away; whether there was one."""
    had = has_factor(user)
    for kind in (Authenticator, Passkey, RecoveryCode):
        kind.objects.filter(user=user).delete()
    return had


def is_only_one(factor: Authenticator | Passkey) -> bool:
    """Whether somebody has no other second factor."""
    return sum(kind.objects.filter(user=factor.user).count() for kind in (Authenticator, Passkey)) == 1


@transaction.atomic
def remove_factor(factor: Authenticator | Passkey) -> None:
    """Take one second factor away, and with somebody's last one their recovery codes."""
    factor.delete()
    if not has_factor(factor.user):
        RecoveryCode.objects.filter(user=factor.user).delete()


def take_any_code(request: HttpRequest, user: User, code: str) -> bool:
    """Whether it is a recovery code of somebody, or one of their app. Neither is taken twice.

    Raises:
        SecretUnreadable: the app's secret cannot be read.
    """
    return _use_recovery_code(request, user, code) or take_code(user, code, timezone.now())


def take_code(user: User, code: str, now: datetime) -> bool:
    """Whether a code of somebody's app is right and is taken for the first time.

    Raises:
        SecretUnreadable: the app's secret cannot be read.
    """
    app = Authenticator.objects.filter(user=user).first()
    step = step_of(decrypt(app.secret), code, now) if app else None
    if app is None or step is None:
        return False
    # In one statement, so that of two who send the same code at the same time one is refused.
    return bool(Authenticator.objects.filter(pk=app.pk, last_step__lt=step).update(last_step=step))


def _use_recovery_code(request: HttpRequest, user: User, code: str) -> bool:
    """Whether it is a recovery code of somebody who has a second factor; it works no more after that."""
    plain = re.sub(r"[\s-]", "", code).upper()
    if not _RECOVERY_CODE.fullmatch(plain) or not has_factor(user):
        return False
    used, _by_model = RecoveryCode.objects.filter(user=user, digest=_digest(plain)).delete()
    if used:
        audit.record_as(user, request, Act.RECOVERY_CODE_USED)
        tell(user, Act.RECOVERY_CODE_USED, user.get_username(), audit.address_of(request))
    return bool(used)


def _totp(secret: str) -> TOTP:
    # SHA-1 as a keyed hash is what RFC 6238 has and all apps know.
    return TOTP(base64.b32decode(secret), DIGITS, hashes.SHA1(), STEP_S)  # noqa: S303


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
