"""Samples of pools, measurements by writing, and traces: what a host was asked for, and what it told."""

import uuid
from datetime import datetime, timedelta
from functools import cached_property
from typing import ClassVar, Final, TypeVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.wording.statements import read_statement
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureProgress
from nasadvisor.domain.evidence.options import PoolWaiting
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.spells import PoolSpells
from nasadvisor.domain.health.traffic_findings import PoolTraffic
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import document_or_none
from nasadvisor.stored.kinds import form_of, name_of

T = TypeVar("T")

ANSWER_WITHIN: Final = timedelta(minutes=5)
"""The trace, the start of the tracer before it, and the 30 s in which the request may wait."""

PART_WITHIN: Final = timedelta(minutes=15)
"""A part of a trace of reads, five minutes long, the start of the tracer, and a machine that is busy."""

IN_PARTS: Final = (name_of(CacheCurve), name_of(CommitTrace))
"""What is followed for long, and told part by part."""


class SampledPool(models.Model):
    """A pool whose counters are kept. `names` is the samples' `packing.NameTable`; facts are a `PoolFacts` document.

    The answers are those of the last verdicts (`log_verdict.Answer`), for pages that show only them, each with the
    rule that decided and, where too little was seen yet, when that may be enough, in seconds since 1970, else 0.
    `waiting` is how long programs waited by then, `waited_hours` how many seconds in each hour of the day before, by
    its end.
    `former` are the devices that left it: disk, class, and when they were missed first, in seconds since 1970, by guid.
    `added_until` is the end of the last hour that was added up (`health.hours`), in seconds since 1970; `traffic`
    is what came of it.
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="sampled_pools")
    guid = models.CharField(max_length=20)
    name = models.CharField(max_length=255)
    names = models.JSONField(default=list)
    facts_document = models.JSONField(null=True)
    former = models.JSONField(default=dict)
    log_answer = models.CharField(max_length=20, default="", blank=True)
    cache_answer = models.CharField(max_length=20, default="", blank=True)
    log_rule_document = models.JSONField(null=True)
    cache_rule_document = models.JSONField(null=True)
    log_due_at = models.BigIntegerField(default=0)
    cache_due_at = models.BigIntegerField(default=0)
    waiting_document = models.JSONField(null=True)
    waited_hours = models.JSONField(default=list)
    added_until = models.BigIntegerField(default=0)
    traffic_document = models.JSONField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["node", "guid"], name="one_series_a_pool")]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def facts(self) -> PoolFacts:
        """What was read of the pool last; empty before the first reading and after an update that changed the form."""
        return document_or_none(PoolFacts, self.facts_document) or PoolFacts(self.guid, self.name, "")

    @property
    def log_rule(self) -> Statement | None:
        """The rule that decided about a log."""
        return read_statement(self.log_rule_document)

    @property
    def cache_rule(self) -> Statement | None:
        """The rule that decided about a cache."""
        return read_statement(self.cache_rule_document)

    @property
    def waiting(self) -> PoolWaiting | None:
        """How long programs wait in a day; None before the first answers and after an update that changed the form."""
        return document_or_none(PoolWaiting, self.waiting_document)

    @property
    def traffic(self) -> PoolTraffic | None:
        """The traffic of its log and caches; None before the first hour and after an update that changed the form."""
        return document_or_none(PoolTraffic, self.traffic_document)


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


class StoredSpells(models.Model):
    """What programs waited for in an hour, as its host has summed it up by now; `began` and `until` as it says them."""

    series = models.ForeignKey(SampledPool, on_delete=models.CASCADE, related_name="spells", db_index=False)
    began = models.BigIntegerField()
    until = models.BigIntegerField()
    document = models.JSONField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["series", "began"], name="one_sum_an_hour")]

    def __str__(self) -> str:
        return f"{self.series_id} {self.began}"

    @property
    def found(self) -> PoolSpells | None:
        """The sums; None after an update of NAS Advisor that changed their form."""
        return document_or_none(PoolSpells, self.document)


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
        return document_or_none(MeasureProgress, self.progress_document)

    @cached_property
    def measurement(self) -> Measurement | None:
        """What was measured; None before, and after an update of NAS Advisor that changed its form."""
        return document_or_none(Measurement, self.document)

    @property
    def error(self) -> Statement | None:
        """Why nothing was measured."""
        return read_statement(self.error_document)


class AnswerQuerySet(models.QuerySet["StoredAnswer"]):
    """The newest answers of hosts."""

    def of(self, form: type, pool_guid: str = "") -> "AnswerQuerySet":
        """Those of this form, about a pool or about the host as a whole."""
        return self.filter(form=name_of(form), pool_guid=pool_guid)


class StoredAnswer(models.Model):
    """What a host was asked for and tells in its time: of each form and pool the newest.

    `form` is what the answer is called (`stored.kinds`), `pool_guid` is "" where it is about the host as a whole. The
    host was given `seconds` for it; `told_at` is when it was last heard of it. What was told stays until there is more.
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="answers")
    form = models.CharField(max_length=40)
    pool_guid = models.CharField(max_length=20, blank=True)
    asked_at = models.DateTimeField()
    seconds = models.PositiveIntegerField(default=0)
    told_at = models.DateTimeField(null=True)
    document = models.JSONField(null=True)
    error_document = models.JSONField(null=True)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["node", "form", "pool_guid"], name="newest_answer")]

    def __str__(self) -> str:
        return f"{self.form} {self.pool_guid}"

    @cached_property
    def _found(self) -> object:
        return document_or_none(form_of(self.form), self.document)

    def found(self, form: type[T]) -> T | None:
        """What was told last; None before, and after an update of NAS Advisor that changed its form."""
        return self._found if isinstance(self._found, form) else None

    @property
    def error(self) -> Statement | None:
        """Why the last question brought nothing, or no more."""
        return read_statement(self.error_document)

    @property
    def has_ended(self) -> bool:
        """Whether the host has told something since it was asked, and nothing more will come."""
        is_told = self.told_at is not None and self.told_at >= self.asked_at
        comes_on = isinstance(self._found, CacheCurve | CommitTrace) and not self._found.is_done
        return is_told and (self.error_document is not None or not comes_on)

    @property
    def due_at(self) -> datetime:
        """When the host should have told something, or the next part."""
        if self.form in IN_PARTS:
            return max(self.asked_at, self.told_at or self.asked_at) + PART_WITHIN
        return self.asked_at + timedelta(seconds=self.seconds) + ANSWER_WITHIN

    def is_under_way(self, now: datetime) -> bool:
        """Whether more may still come."""
        return not self.has_ended and now < self.due_at

    def is_unanswered(self, now: datetime) -> bool:
        """Whether nothing came in its time."""
        return not self.has_ended and now >= self.due_at

    def left_s(self, now: datetime) -> float:
        """How much of it is to come, in seconds."""
        return max(self.seconds - (now - self.asked_at).total_seconds(), 0.0)
