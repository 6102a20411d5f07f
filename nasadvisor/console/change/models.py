"""Choices made in the wizard, plans that somebody previewed, and runs as their hosts last told them."""

import uuid
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.wording.statements import read_statement
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.change.unreadable_runs import Unreadable
from nasadvisor.domain.evidence.options import PoolWaiting
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import DocumentError, document_or_none, from_document


class StoredDraft(models.Model):
    """The choices that somebody made in the wizard for one pool, until a plan of them was applied.

    `asked_at` is when the request came that brought them. `document` is read by `wizard.draft`, strictly: one that this
    release cannot read is left out, and that is said.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")
    pool_guid = models.CharField(max_length=20)
    document = models.JSONField()
    asked_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "node", "pool_guid"], name="one_draft_of_a_user_and_pool")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.node_id} {self.pool_guid}"


class StoredPlan(models.Model):
    """A plan that somebody previewed. The id is the plan's, and later that of its one run."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="plans")
    document = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return str(self.id)

    @cached_property
    def plan(self) -> Plan:
        """The plan.

        Raises:
            DocumentError: if it is damaged or of a newer release.
        """
        return from_document(Plan, self.document)


class Pending(models.TextChoices):
    """What the host was asked for and has not yet answered."""

    NOTHING = "", _("nothing")
    APPLY = "apply", _("apply")
    FINISH = "finish", _("finish")
    UNDO = "undo", _("undo")
    KEEP = "keep", _("keep")


class StoredRunState(models.TextChoices):
    """`runs.RunState`, two for a request that no host has taken up, and `unreadable_runs.Unreadable`."""

    REQUESTED = "requested", _("requested")
    UNANSWERED = "unanswered", _("not picked up")
    APPLYING = RunState.APPLYING.value, _("applying")
    APPLIED = RunState.APPLIED.value, _("applied")
    REFUSED = RunState.REFUSED.value, _("refused")
    UNDOING = RunState.UNDOING.value, _("undoing")
    UNDONE = RunState.UNDONE.value, _("undone")
    PUTTING_BACK = RunState.PUTTING_BACK.value, _("reverting")
    PUT_BACK = RunState.PUT_BACK.value, _("reverted")
    INTERRUPTED = RunState.INTERRUPTED.value, _("interrupted")
    ATTENTION = RunState.ATTENTION.value, _("needs attention")
    DAMAGED = Unreadable.DAMAGED.value, _("damaged")
    NEWER = Unreadable.NEWER.value, _("from a newer release")


UNREADABLE: Final = (StoredRunState.DAMAGED, StoredRunState.NEWER)
"""States in which the host cannot read the journal; the document is what it told before, {} if it never did."""


class StoredRun(models.Model):
    """A run as its host last told it; the host's journal is the truth.

    `state` is `requested` (seq 0) until the host's first answer, and `unanswered` when the request has expired, so that
    nothing was or will be changed. `pending` is what was asked for last, until a newer document arrives.
    `error` is why the host did not do what was asked for last, None if it did.

    `trial_until` is when its host takes it back, None unless it is on trial; `trial_ended_at` is when it began to do so
    by itself. `trial_verdict` is what the trial showed, once that was looked at.

    `promised` is what was expected of a log and a cache when the run was asked for.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="runs")
    pool_guid = models.CharField(max_length=20, db_index=True)
    pool_name = models.CharField(max_length=255)
    document = models.JSONField()
    seq = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=20, choices=StoredRunState, default=StoredRunState.REQUESTED)
    pending = models.CharField(max_length=10, choices=Pending, default=Pending.NOTHING, blank=True)
    pending_since = models.DateTimeField(null=True)
    error_document = models.JSONField(null=True)
    requested_by = models.CharField(max_length=253)
    requested_at = models.DateTimeField()
    trial_until = models.DateTimeField(null=True)
    trial_ended_at = models.DateTimeField(null=True)
    trial_verdict_document = models.JSONField(null=True)
    promised_document = models.JSONField(null=True)

    class Meta:
        ordering: ClassVar = ["-requested_at"]

    def __str__(self) -> str:
        return str(self.id)

    @cached_property
    def run(self) -> Run:
        """The run; before the host's first answer, one whose steps are all pending.

        Raises:
            DocumentError: if it is damaged, of a newer release, or was never told.
        """
        return from_document(Run, self.document)

    @property
    def error(self) -> Statement | None:
        """Why the host did not do what was asked for last."""
        return read_statement(self.error_document)

    @property
    def trial_verdict(self) -> Statement | None:
        """What its trial showed."""
        return read_statement(self.trial_verdict_document)

    @property
    def promised(self) -> PoolWaiting | None:
        """How long programs waited, and what a log and a cache were to take away; None where that was not known."""
        return document_or_none(PoolWaiting, self.promised_document)


def readable(runs: Iterable[StoredRun]) -> Iterator[StoredRun]:
    """Those whose `run` this release can read."""
    for stored in runs:
        try:
            stored.run  # noqa: B018 - read once, and kept
        except DocumentError:
            continue
        yield stored
