"""What somebody proves with, beside their password, that it is them."""

from typing import ClassVar, Final

from django.conf import settings
from django.db import models

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
    are in base64url, as `ceremony.Key` has them. `sign_count` is how often it had signed when it did so last; it
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
