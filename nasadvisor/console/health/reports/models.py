"""Reports that were made, and to whom they are sent."""

from typing import ClassVar

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.health.alerts.models import Channel, Outgoing


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
