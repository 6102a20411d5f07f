"""What the console remembers: nodes with their last inventory, plans, runs, and the token of the first login.

Documents are stored as the codec writes them (`documents.to_document`) and read back only through the typed properties
here, so nobody works on raw JSON.
"""

import uuid
from datetime import datetime
from functools import cached_property, lru_cache
from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.statements import read_statement
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.change.unreadable_runs import Unreadable
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureProgress
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.fleet.spoken import Spoken
from nasadvisor.domain.health.traffic_findings import PoolTraffic
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import DocumentError, from_document

INVENTORIES_KEPT: Final = 4
"""How many decoded inventories a process keeps; one of 1,000 disks takes about 3 MB."""


class Node(models.Model):
    """A machine with a host worker. `inventory_error` is why its last reading failed, None if it did not.

    `inventory_version` is another one for every document that is stored. The document is large, so nobody but
    `inventory` loads it: queries defer it. `access_digest` is the SHA-256 of the password with which a node on another
    machine comes to the message service (`remote.access`), "" for one on the console's own.
    """

    name = models.CharField(max_length=253, unique=True)
    last_contact = models.DateTimeField(null=True)
    inventory_document = models.JSONField(null=True)
    inventory_version = models.UUIDField(null=True)
    inventory_read_at = models.DateTimeField(null=True)
    inventory_error_document = models.JSONField(null=True)
    platform_document = models.JSONField(null=True)
    spoken_document = models.JSONField(null=True)
    is_simulated = models.BooleanField(default=False)
    access_digest = models.CharField(max_length=64, default="", blank=True)

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
        try:
            return from_document(Spoken, self.spoken_document) if self.spoken_document else None
        except DocumentError:
            return None

    @cached_property
    def platform(self) -> PlatformReport:
        """What the platforms of the host said last; nothing before that, and in the form of another release."""
        try:
            return from_document(PlatformReport, self.platform_document)
        except DocumentError:
            return PlatformReport(self.name, "")


@lru_cache(maxsize=INVENTORIES_KEPT)
def _decoded_inventory(node_pk: int, version: uuid.UUID) -> Inventory | None:
    """A node's document, decoded once in each process for all requests until a newer one is stored."""
    del version  # part of the key only: a document that is newer than asked for is as good
    document = Node.objects.values_list("inventory_document", flat=True).filter(pk=node_pk).first()
    try:
        return from_document(Inventory, document) if document else None
    except DocumentError:
        return None


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
    """`lifecycle.RunState`, two for a request that no host has taken up, and `unreadable_runs.Unreadable`."""

    REQUESTED = "requested", _("requested")
    UNANSWERED = "unanswered", _("not answered")
    APPLYING = RunState.APPLYING.value, _("applying")
    APPLIED = RunState.APPLIED.value, _("applied")
    REFUSED = RunState.REFUSED.value, _("refused")
    UNDOING = RunState.UNDOING.value, _("undoing")
    UNDONE = RunState.UNDONE.value, _("undone")
    PUTTING_BACK = RunState.PUTTING_BACK.value, _("putting back")
    PUT_BACK = RunState.PUT_BACK.value, _("put back")
    INTERRUPTED = RunState.INTERRUPTED.value, _("interrupted")
    ATTENTION = RunState.ATTENTION.value, _("needs attention")
    DAMAGED = Unreadable.DAMAGED.value, _("damaged")
    NEWER = Unreadable.NEWER.value, _("of a newer release")


UNREADABLE: Final = (StoredRunState.DAMAGED, StoredRunState.NEWER)
"""States in which the host cannot read the journal; the document is what it told before, {} if it never did."""


class StoredRun(models.Model):
    """A run as its host last told it; the host's journal is the truth.

    `state` is `requested` (seq 0) until the host's first answer, and `unanswered` when the request has expired, so that
    nothing was or will be changed. `pending` is what was asked for last, until a newer document arrives.
    `error` is why the host did not do what was asked for last, None if it did.

    `trial_until` is when its host takes it back, None unless it is on trial; `trial_ended_at` is when it began to do so
    by itself. `trial_verdict` is what the trial showed, once that was looked at.
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


class SetupToken(models.Model):
    """The one-time token with which the first administrator is made. Only its hash is kept."""

    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"until {self.expires_at:%Y-%m-%d %H:%M}"

    def is_valid(self, now: datetime) -> bool:
        """Whether it has not expired."""
        return now < self.expires_at


class SampledPool(models.Model):
    """A pool whose counters are kept. `names` is the samples' `packing.NameTable`; facts are a `PoolFacts` document.

    The answers are those of the last verdicts (`advice.Answer`), for pages that show only them. `added_until` is the
    end of the last hour that was added up (`health.hours`), in seconds since 1970; `traffic` is what came of it.
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="sampled_pools")
    guid = models.CharField(max_length=20)
    name = models.CharField(max_length=255)
    names = models.JSONField(default=list)
    facts_document = models.JSONField(null=True)
    log_answer = models.CharField(max_length=20, default="", blank=True)
    cache_answer = models.CharField(max_length=20, default="", blank=True)
    added_until = models.BigIntegerField(default=0)
    traffic_document = models.JSONField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["node", "guid"], name="one_series_a_pool")]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def facts(self) -> PoolFacts:
        """What was read of the pool last; empty before the first reading and after an update that changed the form."""
        try:
            return from_document(PoolFacts, self.facts_document)
        except DocumentError:
            return PoolFacts(self.guid, self.name, "")

    @property
    def traffic(self) -> PoolTraffic | None:
        """The traffic of its log and caches; None before the first hour and after an update that changed the form."""
        try:
            return from_document(PoolTraffic, self.traffic_document) if self.traffic_document else None
        except DocumentError:
            return None


class Resolution(models.IntegerChoices):
    """How long a stored sample is at the most, in seconds. `RAW` is as long as it was measured."""

    RAW = 0, _("as measured")
    MINUTE = 60, _("a minute")
    HOUR = 3600, _("an hour")


class StoredSample(models.Model):
    """One `samples.Sample`, packed. `at` is its end in seconds since 1970; of a minute or hour the end on the clock."""

    series = models.ForeignKey(SampledPool, on_delete=models.CASCADE, related_name="samples", db_index=False)
    resolution = models.PositiveSmallIntegerField(choices=Resolution)
    at = models.BigIntegerField()
    seconds = models.FloatField()
    activity = models.BinaryField()
    latency = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["series", "resolution", "at"], name="one_sample_a_moment")
        ]

    def __str__(self) -> str:
        return f"{self.series_id} {self.at}"


class StoredMeasurement(models.Model):
    """A measurement by writing that somebody ordered; `document` is the `Measurement` once it is there.

    `error` is why there is none, None while it may still come. The id is the order's. `progress` is how far it is, as
    its host has told last.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="measurements")
    pool_guid = models.CharField(max_length=20, db_index=True)
    disk_key = models.CharField(max_length=255, default="", blank=True)
    document = models.JSONField(null=True)
    progress_document = models.JSONField(null=True)
    error_document = models.JSONField(null=True)
    requested_by = models.CharField(max_length=253)
    requested_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-requested_at"]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_under_way(self) -> bool:
        """Whether it may still come."""
        return self.document is None and self.error_document is None

    @cached_property
    def progress(self) -> MeasureProgress | None:
        """How far it is; None before the host's first word."""
        try:
            return from_document(MeasureProgress, self.progress_document) if self.progress_document else None
        except DocumentError:
            return None

    @cached_property
    def measurement(self) -> Measurement | None:
        """What was measured; None before, and after an update of NAS Advisor that changed its form."""
        try:
            return from_document(Measurement, self.document) if self.document else None
        except DocumentError:
            return None

    @property
    def error(self) -> Statement | None:
        """Why nothing was measured."""
        return read_statement(self.error_document)


class PlatformAccount(models.Model):
    """A user whom a platform knows. They have no password here, and the role that the platform gives them."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="platform_account")
    platform = models.CharField(max_length=100)

    def __str__(self) -> str:
        return f"{self.user} ({self.platform})"


# Django looks for models in this module; others live with what uses them.
from nasadvisor.console.evidence import models as evidence_models  # noqa: E402, F401
from nasadvisor.console.fleet.remote import models as remote_models  # noqa: E402, F401
from nasadvisor.console.health import access_models, alert_models  # noqa: E402, F401
