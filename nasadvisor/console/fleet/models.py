"""Nodes with their last inventory, the accounts that platforms know, and the token of the first login.

Documents are stored as the codec writes them (`documents.to_document`) and read back only through the typed properties
of the models, so nobody works on raw JSON.
"""

import uuid
from datetime import datetime
from functools import cached_property, lru_cache
from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from nasadvisor.console.fleet.audit_models import Act
from nasadvisor.console.statements import read_statement
from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.fleet.spoken import Spoken
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import document_or_none

INVENTORIES_KEPT: Final = 4
"""How many decoded inventories a process keeps; one of 1,000 disks takes about 3 MB."""


class Node(models.Model):
    """A machine with a host worker. `inventory_error` is why its last reading failed, None if it did not.

    `inventory_version` is another one for every document that is stored. The document is large, so nobody but
    `inventory` loads it: queries defer it. `access_digest` is the SHA-256 of the password with which a node on another
    machine comes to the message service (`remote.access`), "" for one on the console's own. `finding_documents` is what
    its last inventory gives reason to say, worked out when it arrives, so that a page about all hosts need not read all
    inventories. `quotas_reached` is when it last told more than is stored of one host
    (`quotas.Quota`).
    """

    name = models.CharField(max_length=253, unique=True)
    last_contact = models.DateTimeField(null=True)
    inventory_document = models.JSONField(null=True)
    inventory_version = models.UUIDField(null=True)
    inventory_read_at = models.DateTimeField(null=True)
    inventory_error_document = models.JSONField(null=True)
    finding_documents = models.JSONField(default=list)
    platform_document = models.JSONField(null=True)
    spoken_document = models.JSONField(null=True)
    is_simulated = models.BooleanField(default=False)
    access_digest = models.CharField(max_length=64, default="", blank=True)
    quotas_reached = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_remote(self) -> bool:
        """Whether it is on another machine than the console."""
        return bool(self.access_digest)

    @property
    def inventory(self) -> Inventory | None:
        """The last inventory; None before the first, and after an update of NAS Advisor that changed its form."""
        return _decoded_inventory(self.pk, self.inventory_version) if self.inventory_version else None

    @property
    def inventory_error(self) -> Statement | None:
        """Why the last reading failed."""
        return read_statement(self.inventory_error_document)

    @property
    def spoken(self) -> Spoken | None:
        """Which forms of documents its host speaks; None of one that has never told."""
        return document_or_none(Spoken, self.spoken_document)

    @cached_property
    def platform(self) -> PlatformReport:
        """What the platforms of the host said last; nothing before that, and in the form of another release."""
        return document_or_none(PlatformReport, self.platform_document) or PlatformReport(self.name, "")


@lru_cache(maxsize=INVENTORIES_KEPT)
def _decoded_inventory(node_pk: int, version: uuid.UUID) -> Inventory | None:
    """A node's document, decoded once in each process for all requests until a newer one is stored."""
    del version  # part of the key only: a document that is newer than asked for is as good
    document = Node.objects.values_list("inventory_document", flat=True).filter(pk=node_pk).first()
    return document_or_none(Inventory, document)


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
    """Somebody whose password an administrator chose: they choose another one before anything else (`first_things`)."""

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
        values = {"who": self.by or _("An administrator of the machine"), "what": what, "when": when}
        if not self.address:
            return _("%(who)s %(what)s (%(when)s).") % values
        return _("%(who)s %(what)s (%(when)s, from %(address)s).") % {**values, "address": self.address}


class PlatformAccount(models.Model):
    """A user whom a platform knows. They have no password here, and the role that the platform gives them."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="platform_account")
    platform = models.CharField(max_length=100)

    def __str__(self) -> str:
        return f"{self.user} ({self.platform})"
