"""Tokens for other programs."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

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

    name = models.CharField(_("Name"), max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    may_acknowledge = models.BooleanField(_("May also acknowledge alerts"), default=False)
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
