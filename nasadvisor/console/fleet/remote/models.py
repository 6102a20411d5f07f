"""Tokens with which hosts on other machines join."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class JoinToken(models.Model):
    """What lets one host join under one name, once. Only the SHA-256 of its secret is kept.

    `used_at` is when that happened; its host then takes the answer, and the row goes soon after.
    """

    node_name = models.CharField(max_length=253, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering: ClassVar = ["node_name"]

    def __str__(self) -> str:
        return f"{self.node_name} until {self.expires_at:%Y-%m-%d %H:%M}"
