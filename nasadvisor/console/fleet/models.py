"""Nodes with their last inventory, and tokens with which hosts on other machines join.

Documents are stored as the codec writes them (`documents.to_document`) and read back only through the typed properties
of the models, so nobody works on raw JSON.
"""

import uuid
from functools import cached_property, lru_cache
from typing import ClassVar, Final

from django.conf import settings
from django.db import models

from nasadvisor.console.wording.statements import read_statement
from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.fleet.schema_versions import SchemaVersions
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
    schema_versions_document = models.JSONField(null=True)
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
    def schema_versions(self) -> SchemaVersions | None:
        """The schema versions of its host; None of one that has never told."""
        return document_or_none(SchemaVersions, self.schema_versions_document)

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
