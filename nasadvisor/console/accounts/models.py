"""What is known of people beside Django's own users: their second factors, wrong answers, notices, and platforms; and
the tokens of other programs.
"""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console.accounts.audit_models import Act

LONGEST_NAME: Final = 60
"""Characters of what somebody calls their passkey."""


class Authenticator(models.Model):
    """An app that shows another code every thirty seconds (RFC 6238).

    `secret` is what it shares with us, encrypted (`nasadvisor.console.secrets`). `last_step` counts the thirty seconds
    since 1970 up to those whose code was taken last: no code is taken twice, nor an older one after it.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="authenticator")
    secret = models.CharField(max_length=255)
    last_step = models.BigIntegerField()
    added_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user}, since {self.added_at:%Y-%m-%d}"


class Passkey(models.Model):
    """A device that signs for somebody (WebAuthn), by the name it was given.

    `site` is the name in the address for which it was made; it signs for no other. `credential_id` and `public_key`
    are in base64url, as `webauthn.Key` has them. `sign_count` is how often it had signed when it did so last; it
    stays 0 where a device does not count.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=LONGEST_NAME)
    site = models.CharField(max_length=253)
    credential_id = models.CharField(max_length=1364, unique=True)
    public_key = models.TextField()
    sign_count = models.PositiveBigIntegerField()
    added_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["added_at", "pk"]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}, for {self.site}"


class RecoveryCode(models.Model):
    """A code on paper for whoever lost the rest. It works once; `digest` is its SHA-256, for it has 120 random bits."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "digest"], name="one_recovery_code")]

    def __str__(self) -> str:
        return f"of {self.user}"


class SetupToken(models.Model):
    """The one-time token with which the first administrator is made. Only its hash is kept."""

    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"until {self.expires_at:%Y-%m-%d %H:%M}"

    def is_valid(self, now: datetime) -> bool:
        """Whether it has not expired."""
        return now < self.expires_at


class GivenPassword(models.Model):
    """Somebody whose password an administrator chose, and who chooses another one first (`required_setup`)."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="given_password")

    def __str__(self) -> str:
        return str(self.user)


class Guessed(models.TextChoices):
    """What wrong answers are counted for."""

    NAME = "name"
    NETWORK = "network"
    USER = "user"


class WrongAnswers(models.Model):
    """How many wrong passwords and codes in a row were given: at the login for a name, or from a network; and by a user
    who is signed in, where they are asked for again.

    The last are counted apart, so that no stranger keeps a user from undoing a run.
    """

    about = models.CharField(max_length=10, choices=Guessed.choices)
    subject = models.CharField(max_length=150)
    failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["about", "subject"], name="wrong_answers_of_one"),
        ]

    def __str__(self) -> str:
        return f"{self.about} {self.subject}: {self.failures}"


class AccountNotice(models.Model):
    """What changed about somebody's way in, for them to know.

    `act` is a value of `audit_models.Act`; `by` who did it, "" for the console's machine; `mail_to` the address that
    the user had before, so that whoever changes that does not keep it from them. `language` is the one of that page.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    at = models.DateTimeField()
    act = models.CharField(max_length=30)
    by = models.CharField(max_length=150, blank=True)
    address = models.CharField(max_length=45, blank=True)
    mail_to = models.EmailField(blank=True)
    language = models.CharField(max_length=10)
    is_told = models.BooleanField(default=False)
    mailed_at = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.user}: {self.act}"

    @property
    def sentence(self) -> str:
        """Who did what, when, and from where."""
        when = date_format(timezone.localtime(self.at), "Y-m-d H:i")
        what = Act(self.act).label if self.act in Act.values else self.act
        values = {"who": self.by or _("An administrator of the console's host"), "what": what, "when": when}
        if not self.address:
            return _("%(who)s %(what)s (%(when)s).") % values
        return _("%(who)s %(what)s (%(when)s, from %(address)s).") % {**values, "address": self.address}


class PlatformAccount(models.Model):
    """A user whom a platform knows. They have no password here, and the role that the platform gives them."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="platform_account")
    platform = models.CharField(max_length=100)

    def __str__(self) -> str:
        return f"{self.user} ({self.platform})"


PREFIX = "nasadvisor_"
"""So that a token that leaked into a repository is recognised as one."""

USE_NOTED_EVERY = timedelta(minutes=5)


def token_end() -> datetime:
    """Until when a token that is made now is good."""
    return timezone.now() + settings.TOKENS_LAST


class ApiToken(models.Model):
    """What another program shows instead of a password. Only its hash is kept, so it is shown once.

    It is good for a time, and only while the administrator who made it is one and may sign in.
    It may look at everything; `may_acknowledge` lets it also take alerts up. Nothing lets it change a pool.
    """

    name = models.CharField(gettext_lazy("Name"), max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    may_acknowledge = models.BooleanField(gettext_lazy("May also acknowledge alerts"), default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(default=token_end)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def digest_of(token: str) -> str:
        """What is kept of a token. It is long and random, so a plain hash is enough."""
        return hashlib.sha256(token.encode()).hexdigest()

    @classmethod
    def of(cls, token: str) -> "ApiToken | None":
        """The row of a token that is shown to us; notes that it was used."""
        now = timezone.now()
        of_administrators = cls.objects.filter(created_by__is_active=True, created_by__is_superuser=True)
        found = of_administrators.filter(digest=cls.digest_of(token), expires_at__gt=now).first()
        if found and (found.last_used_at is None or now - found.last_used_at > USE_NOTED_EVERY):
            cls.objects.filter(pk=found.pk).update(last_used_at=now)
        return found


def new_token() -> str:
    """A fresh token."""
    return PREFIX + secrets.token_urlsafe(32)
