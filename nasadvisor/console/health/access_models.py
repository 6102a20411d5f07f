"""Tokens for other programs, and reports that were made."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.health.alert_models import Channel, Outgoing

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


class ReportState(models.TextChoices):
    """How far a report is."""

    REQUESTED = "requested", _("requested")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")


class StoredReport(models.Model):
    """A printable report. Only the newest few are kept. `day` is that of the schedule which ordered it, else None."""

    requested_at = models.DateTimeField(default=timezone.now)
    requested_by = models.CharField(max_length=253, default="", blank=True)
    language = models.CharField(max_length=5, default="en")
    state = models.CharField(max_length=10, choices=ReportState, default=ReportState.REQUESTED)
    pdf = models.BinaryField(default=b"")
    day = models.DateField(null=True)

    class Meta:
        ordering: ClassVar = ["-requested_at"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["day", "language"], name="one_report_a_day_language")]

    def __str__(self) -> str:
        return f"{self.requested_at:%Y-%m-%d}"


class ReportDelivery(Outgoing):
    """A report for one channel: the record that makes sure that it is sent, and sent once."""

    report = models.ForeignKey(StoredReport, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="report_deliveries")

    class Meta:
        ordering: ClassVar = ["due_at"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["report", "channel"], name="one_report_a_channel")]

    def __str__(self) -> str:
        return f"{self.report_id} {self.state}"
