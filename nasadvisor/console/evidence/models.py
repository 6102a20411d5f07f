"""What a host was asked to trace, and what it told."""

from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from django.db import models

from nasadvisor.console.models import Node
from nasadvisor.console.statements import read_statement
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import DocumentError, from_document

ANSWER_WITHIN: Final = timedelta(minutes=5)
"""The trace, the start of the tracer before it, and the 30 s in which the request may wait."""


class StoredWaiting(models.Model):
    """Which programs of a host wait: the newest trace. `told_at` is when it, or why there is none, arrived.

    What was traced before stays until there is something newer.
    """

    node = models.OneToOneField(Node, on_delete=models.CASCADE, primary_key=True, related_name="waiting")
    asked_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True)
    document = models.JSONField(null=True)
    error_document = models.JSONField(null=True)

    def __str__(self) -> str:
        return str(self.node_id)

    @cached_property
    def found(self) -> WaitingPrograms | None:
        """What was traced last; None before, and after an update of NAS Advisor that changed its form."""
        try:
            return from_document(WaitingPrograms, self.document) if self.document else None
        except DocumentError:
            return None

    @property
    def error(self) -> Statement | None:
        """Why the last trace brought nothing."""
        return read_statement(self.error_document)

    def is_under_way(self, now: datetime) -> bool:
        """Whether an answer may still come."""
        return not self._is_answered and now < self.asked_at + ANSWER_WITHIN

    def is_unanswered(self, now: datetime) -> bool:
        """Whether no answer came in its time."""
        return not self._is_answered and not self.is_under_way(now)

    @property
    def _is_answered(self) -> bool:
        return self.told_at is not None and self.told_at >= self.asked_at
