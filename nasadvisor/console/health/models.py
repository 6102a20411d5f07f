"""What the console remembers about the health of disks, and how their sweeps went.

A disk is known by what is printed on it, not by where it is plugged in: one that comes back under another name, or in
another node, keeps its history.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar, Final

from django.db import DataError, models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.wording.statements import read_statement
from nasadvisor.domain.health.smart.reading import SmartReading
from nasadvisor.domain.health.sweep import SweepOutcome
from nasadvisor.domain.statements import Finding, Statement
from nasadvisor.stored.documents import document_or_none

LARGE_FIELDS: Final = ("reading_document", "forecast_document", "finding_documents")
"""What only the page of one disk needs; lists defer it."""

UNREAD: Final = ("reading_document", "forecast_document")
"""What is not needed of a disk of which only the findings are asked."""

SAID_OF: Final = (
    "node",
    "key",
    "model",
    "serial",
    "is_rotational",
    "is_removable",
    "role",
    "pool_name",
    "vdev_name",
    "is_present",
    "outcome",
    "problem_document",
    "finding_documents",
    "is_forgotten",
)
"""What is needed of a disk to say what is wrong with it, and where it is: of a thousand, each further field is felt."""

NOT_LISTED: Final = (*UNREAD, "node__inventory_document")
"""What no table shows of its disks. Of their findings it shows the worst one."""

UNWORKABLE: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, DataError)
"""What comes of words that are not what they should be; anything else is the console's own trouble, and stops all."""


class DiskOutcome(models.TextChoices):
    """`sweep.Outcome`, and one more for a disk that was not asked yet."""

    NEVER = "", _("not checked yet")
    READ = SweepOutcome.READ.value, _("read")
    ASLEEP = SweepOutcome.ASLEEP.value, _("asleep")
    UNSUPPORTED = SweepOutcome.UNSUPPORTED.value, _("no SMART data")
    FAILED = SweepOutcome.FAILED.value, _("not responding")


class StoredDisks(models.QuerySet["StoredDisk"]):
    """Disks, and which of them hosts mean by their keys."""

    def now_known_as(self, keys: Iterable[str]) -> dict[str, "StoredDisk"]:
        """By each of these keys, the disk that is plugged in there now, else the one that was there last."""
        found = self.filter(key__in=list(keys)).order_by("is_present", "last_seen_at")
        return {disk.key: disk for disk in found}


class StoredDisk(models.Model):
    """A disk that was seen at least once, with what its newest reading said, so that lists need no other table.

    `key` is the name by which its host knows it (`domain.storage.identity`). `own_serial` is the serial that it told
    itself where its host knows it by another, as behind a USB bridge: so two disks that were in a dock in turn are two.
    `role` is what it did in its last inventory (see `role_of`). `outcome` and `problem` are those of the newest sweep,
    the figures those of the newest reading. `forecast_document` and `finding_documents` are worked
    out when a reading arrives; `worn_out_at` with its range is the date of 100 % of the rated endurance, None beyond
    ten years, and `has_forecast` tells that from not knowing. `is_present` is whether the node's last inventory had it;
    `vdev_name` is the mirror or RAID-Z of that pool that it is a part of, `leaf_guids` are the vdevs that pools had on
    it then, `role_since` is when its role or pool last changed. `last_seen_at` moves when something about it changes.
    `power_loss` is a `power_loss.Protection` as its newest reading tells, "" before. `is_forgotten` marks one that was
    taken out for good.
    """

    node = models.ForeignKey("console.Node", on_delete=models.CASCADE, related_name="disks")
    key = models.CharField(max_length=300)
    own_serial = models.CharField(max_length=200, default="", blank=True)
    model = models.CharField(max_length=200, blank=True)
    serial = models.CharField(max_length=200, blank=True)
    size_bytes = models.BigIntegerField(default=0)
    is_rotational = models.BooleanField(default=False)
    is_removable = models.BooleanField(default=False)
    role = models.CharField(max_length=20, default="", blank=True)
    pool_name = models.CharField(max_length=255, default="", blank=True)
    vdev_name = models.CharField(max_length=255, default="", blank=True)
    leaf_guids = models.JSONField(default=list, blank=True)
    role_since = models.DateTimeField(default=timezone.now)
    is_present = models.BooleanField(default=True)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    asked_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=12, choices=DiskOutcome, default=DiskOutcome.NEVER, blank=True)
    problem_document = models.JSONField(null=True)
    exit_status = models.PositiveSmallIntegerField(default=0)
    read_at = models.DateTimeField(null=True)
    power_on_hours = models.PositiveIntegerField(null=True)
    percent_used = models.FloatField(null=True)
    bytes_written = models.BigIntegerField(null=True)
    bytes_per_day = models.BigIntegerField(null=True)
    temperature_c = models.SmallIntegerField(null=True)
    spare_percent = models.SmallIntegerField(null=True)
    media_errors = models.BigIntegerField(null=True)
    reallocated = models.BigIntegerField(null=True)
    pending = models.BigIntegerField(null=True)
    crc_errors = models.BigIntegerField(null=True)
    worn_out_at = models.DateTimeField(null=True, db_index=True)
    worn_out_earliest_at = models.DateTimeField(null=True)
    worn_out_latest_at = models.DateTimeField(null=True)
    has_forecast = models.BooleanField(default=False)
    worst_level = models.CharField(max_length=10, default="", blank=True)
    is_solid_state = models.BooleanField(null=True)
    power_loss = models.CharField(max_length=10, default="", blank=True)
    reading_document = models.JSONField(null=True)
    forecast_document = models.JSONField(null=True)
    finding_documents = models.JSONField(default=list)
    self_test_problem_document = models.JSONField(null=True)
    self_test_asked_at = models.DateTimeField(null=True)
    is_forgotten = models.BooleanField(default=False)

    objects = StoredDisks.as_manager()

    class Meta:
        ordering: ClassVar = ["model", "serial"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["key", "own_serial"], name="one_row_a_disk")]

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        """Model and serial, for sentences."""
        serial = f" ({self.serial})" if self.serial else ""
        return f"{self.model or 'Unnamed disk'}{serial}"

    @property
    def problem(self) -> Statement | None:
        """Why the newest sweep brought no answer."""
        return read_statement(self.problem_document)

    @property
    def self_test_problem(self) -> Statement | None:
        """Why the last self-test did not begin."""
        return read_statement(self.self_test_problem_document)

    @property
    def reading(self) -> SmartReading | None:
        """The newest reading with all its parts; None where there is none, or one of an older form."""
        return document_or_none(SmartReading, self.reading_document)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What its newest answer gives reason to say."""
        return tuple(finding for document in self.finding_documents if (finding := document_or_none(Finding, document)))


class ReadingMonth(models.Model):
    """What one disk said in a month (UTC), packed (`stored.packing`). Kept for years.

    `month` is its first day. `is_thinned` says that nothing more is to be taken out of it.
    """

    disk = models.ForeignKey(StoredDisk, on_delete=models.CASCADE, related_name="reading_months", db_index=False)
    month = models.DateField()
    packed = models.BinaryField()
    is_thinned = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["month"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["disk", "month"], name="one_pack_a_disk_and_month")]

    def __str__(self) -> str:
        return f"{self.disk_id} {self.month:%Y-%m}"


class SmartDay(models.Model):
    """What a disk counted of itself by the end of one day, where it differs from the day before: raw counts by key.

    Keys are those of `smart.attributes`. A disk's first day has all of them, so what any of them was on a day is what
    the last day until then says that has it. Days of long ago are put together by the week.
    """

    disk = models.ForeignKey(StoredDisk, on_delete=models.CASCADE, related_name="smart_days", db_index=False)
    day = models.DateField()
    counts = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["day"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["disk", "day"], name="one_smart_day")]

    def __str__(self) -> str:
        return f"{self.disk_id} {self.day}"


class WrittenDay(models.Model):
    """What was written to one SSD on one day, by whom, as far as it was seen: the sum of its hours.

    `log_bytes`, `cache_bytes` and `pool_bytes` are what the kernel counted for its slices of these classes (`pool` is
    every other class), `drive_bytes` what it counted for the whole drive, `seconds` how much of the day was seen.
    `segment_at` is `StoredDisk.role_since` of that time: what was written in another role says nothing about this one.
    `lines` are those of the bill (`wear.bill.BillLine`), each a list of kind, name and counts; kept for some weeks.
    """

    disk = models.ForeignKey(StoredDisk, on_delete=models.CASCADE, related_name="written_days", db_index=False)
    segment_at = models.DateTimeField()
    day = models.DateField()
    log_bytes = models.BigIntegerField(default=0)
    cache_bytes = models.BigIntegerField(default=0)
    pool_bytes = models.BigIntegerField(default=0)
    drive_bytes = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0)
    lines = models.JSONField(default=list)

    class Meta:
        ordering: ClassVar = ["day"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["disk", "segment_at", "day"], name="one_sum_a_disk_role_and_day")
        ]

    def __str__(self) -> str:
        return f"{self.disk_id} {self.day}"


class RatedEndurance(models.Model):
    """What the data sheet of a model promises, as somebody entered it: for every drive of that model and size.

    `terabytes` (decimal) may be written (TBW), or each cell erased `erases` times, where the drive writes
    `write_amplification` bytes to its flash for each byte that it is given. `price` is what one costs, in whatever
    currency.
    """

    model = models.CharField(max_length=200)
    size_bytes = models.BigIntegerField()
    terabytes = models.FloatField(_("Terabytes written (TBW)"), null=True, blank=True)
    erases = models.PositiveIntegerField(_("Program/erase cycles"), null=True, blank=True)
    write_amplification = models.FloatField(_("Write amplification"), default=2.0)
    price = models.FloatField(_("Price of one, in your currency"), null=True, blank=True)
    entered_by = models.CharField(max_length=253, default="", blank=True)
    entered_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["model", "size_bytes"], name="one_rating_a_model")]

    def __str__(self) -> str:
        return self.model


class RawAnswer(models.Model):
    """smartctl's own answer as it travelled (`documents.unpack` reads it). The newest few of each disk are kept."""

    disk = models.ForeignKey(StoredDisk, on_delete=models.CASCADE, related_name="raw_answers")
    taken_at = models.DateTimeField()
    smartctl = models.TextField()
    id_ctrl = models.TextField(default="", blank=True)

    class Meta:
        ordering: ClassVar = ["-taken_at"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["disk", "taken_at"], name="one_answer_a_moment")]

    def __str__(self) -> str:
        return f"{self.disk_id} {self.taken_at:%Y-%m-%d %H:%M}"


class SelfTestResult(models.Model):
    """One entry of a disk's log of self-tests; `hours` is its age in power-on hours at the end of the test."""

    disk = models.ForeignKey(StoredDisk, on_delete=models.CASCADE, related_name="self_tests")
    kind = models.CharField(max_length=60)
    status = models.CharField(max_length=120)
    passed = models.BooleanField(null=True)
    hours = models.PositiveIntegerField(default=0)
    seen_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-hours"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["disk", "kind", "hours"], name="one_self_test_an_hour")
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.status}"


class PoolDay(models.Model):
    """How full a pool was when it was first read on one day."""

    node = models.ForeignKey("console.Node", on_delete=models.CASCADE, related_name="pool_days", db_index=False)
    guid = models.CharField(max_length=20)
    day = models.DateField()
    allocated_bytes = models.BigIntegerField()
    size_bytes = models.BigIntegerField()

    class Meta:
        ordering: ClassVar = ["day"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["node", "guid", "day"], name="one_pool_day")]

    def __str__(self) -> str:
        return f"{self.guid} {self.day}"


class NodeHealth(models.Model):
    """How the sweeps of a node go. `error` is why the last one could not be made, None if it was."""

    node = models.OneToOneField("console.Node", on_delete=models.CASCADE, related_name="health")
    known_since = models.DateTimeField(default=timezone.now)
    sweep_asked_at = models.DateTimeField(null=True)
    sweep_ended_at = models.DateTimeField(null=True)
    error_document = models.JSONField(null=True)
    read = models.PositiveIntegerField(default=0)
    asleep = models.PositiveIntegerField(default=0)
    unsupported = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.node_id}"

    @property
    def error(self) -> Statement | None:
        """Why the last sweep could not be made."""
        return read_statement(self.error_document)
