"""Samples of pools, measurements by writing, and traces: what a host was asked for, and what it told."""

import uuid
from datetime import datetime, timedelta
from functools import cached_property
from typing import ClassVar, Final

from django.db import models
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.statements import read_statement
from nasadvisor.domain.evidence.commits import CommitTrace
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureProgress
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.health.traffic_findings import PoolTraffic
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import document_or_none

ANSWER_WITHIN: Final = timedelta(minutes=5)
"""The trace, the start of the tracer before it, and the 30 s in which the request may wait."""

PART_WITHIN: Final = timedelta(minutes=15)
"""A part of a trace of reads, five minutes long, the start of the tracer, and a machine that is busy."""


class SampledPool(models.Model):
    """A pool whose counters are kept. `names` is the samples' `packing.NameTable`; facts are a `PoolFacts` document.

    The answers are those of the last verdicts (`log_verdict.Answer`), for pages that show only them, each with the
    rule that decided and, where too little was seen yet, when that may be enough, in seconds since 1970, else 0.
    `added_until` is the end of the last hour that was added up (`health.hours`), in seconds since 1970; `traffic`
    is what came of it.
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="sampled_pools")
    guid = models.CharField(max_length=20)
    name = models.CharField(max_length=255)
    names = models.JSONField(default=list)
    facts_document = models.JSONField(null=True)
    log_answer = models.CharField(max_length=20, default="", blank=True)
    cache_answer = models.CharField(max_length=20, default="", blank=True)
    log_rule_document = models.JSONField(null=True)
    cache_rule_document = models.JSONField(null=True)
    log_due_at = models.BigIntegerField(default=0)
    cache_due_at = models.BigIntegerField(default=0)
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


class AskedOfHost(models.Model):
    """What a host was asked for and tells in its time: the newest. `told_at` is when it was last heard of it.

    What was told before stays until there is something newer.
    """

    asked_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True)
    document = models.JSONField(null=True)
    error_document = models.JSONField(null=True)

    class Meta:
        abstract = True

    @property
    def error(self) -> Statement | None:
        """Why the last trace brought nothing, or no more."""
        return read_statement(self.error_document)

    @property
    def has_ended(self) -> bool:
        """Whether the host has told something since it was asked, and nothing more will come."""
        return self.told_at is not None and self.told_at >= self.asked_at

    @property
    def due_at(self) -> datetime:
        """When the host does not answer any more, if it has not told anything by then."""
        return self.asked_at + ANSWER_WITHIN

    def is_under_way(self, now: datetime) -> bool:
        """Whether more may still come."""
        return not self.has_ended and now < self.due_at

    def is_unanswered(self, now: datetime) -> bool:
        """Whether nothing came in its time."""
        return not self.has_ended and now >= self.due_at


class StoredWaiting(AskedOfHost):
    """Which programs of a host wait: the newest trace."""

    node = models.OneToOneField(Node, on_delete=models.CASCADE, primary_key=True, related_name="waiting")

    def __str__(self) -> str:
        return str(self.node_id)

    @cached_property
    def found(self) -> WaitingPrograms | None:
        """What was traced last; None before, and after an update of NAS Advisor that changed its form."""
        return document_or_none(WaitingPrograms, self.document)


class LongTrace(AskedOfHost):
    """What a host follows for `seconds`, and tells part by part: the newest of a pool."""

    seconds = models.PositiveIntegerField()

    class Meta:
        abstract = True

    @property
    def is_whole(self) -> bool:
        """Whether what is there is all of it, or cannot be read."""
        raise NotImplementedError

    @property
    def has_ended(self) -> bool:
        """Whether the host has told all of it, or why there is no more."""
        return super().has_ended and (self.error_document is not None or self.is_whole)

    @property
    def due_at(self) -> datetime:
        """When the next part should be there."""
        return max(self.asked_at, self.told_at or self.asked_at) + PART_WITHIN

    def left_s(self, now: datetime) -> float:
        """How much of it is to come, in seconds."""
        return max(self.seconds - (now - self.asked_at).total_seconds(), 0.0)


class StoredCurve(LongTrace):
    """The cache curve of a pool."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="curves")
    pool_guid = models.CharField(max_length=20)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["node", "pool_guid"], name="one_curve_a_pool")]

    def __str__(self) -> str:
        return self.pool_guid

    @cached_property
    def found(self) -> CacheCurve | None:
        """What was found up to now; None before, and after an update of NAS Advisor that changed its form."""
        return document_or_none(CacheCurve, self.document)

    @property
    def is_whole(self) -> bool:
        """Whether no part is to come."""
        return self.found is None or self.found.traced.is_done


class StoredCommits(LongTrace):
    """What the programs of a pool commit."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="commits")
    pool_guid = models.CharField(max_length=20)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["node", "pool_guid"], name="one_commits_a_pool")]

    def __str__(self) -> str:
        return self.pool_guid

    @cached_property
    def found(self) -> CommitTrace | None:
        """What was found up to now; None before, and after an update of NAS Advisor that changed its form."""
        return document_or_none(CommitTrace, self.document)

    @property
    def is_whole(self) -> bool:
        """Whether no part is to come."""
        return self.found is None or self.found.is_done


class StoredCount(AskedOfHost):
    """What a pool consists of: the newest count of its blocks. `limit_s` is after how long the host gives up."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="counts")
    pool_guid = models.CharField(max_length=20)
    limit_s = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["node", "pool_guid"], name="one_count_a_pool")]

    def __str__(self) -> str:
        return self.pool_guid

    @cached_property
    def found(self) -> BlockCount | None:
        """What was counted last; None before, and after an update of NAS Advisor that changed its form."""
        return document_or_none(BlockCount, self.document)

    @property
    def due_at(self) -> datetime:
        """When the host should have given up."""
        return super().due_at + timedelta(seconds=self.limit_s)


class StoredSwitching(AskedOfHost):
    """The caches of a pool as they are switched, or were: the newest record, as its host last told it."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="switchings")
    pool_guid = models.CharField(max_length=20)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["node", "pool_guid"], name="one_switching_a_pool")]

    def __str__(self) -> str:
        return self.pool_guid

    @cached_property
    def record(self) -> CacheSwitching | None:
        """What its host told; None before, and after an update of NAS Advisor that changed its form."""
        return document_or_none(CacheSwitching, self.document)

    def is_silent(self, now: datetime) -> bool:
        """Whether more should have been told by now: a host tells after each period that it has counted."""
        record = self.record
        if record is None or record.ended_at or self.told_at is None:
            return False
        return now > self.told_at + timedelta(seconds=2 * record.plan.period_s) + ANSWER_WITHIN
