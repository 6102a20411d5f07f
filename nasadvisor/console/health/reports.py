"""Printable reports: made in the background, kept for a while."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.access_models import ReportDelivery, ReportState, StoredReport
from nasadvisor.console.health.alert_models import AlertStates, DeliveryState, StoredAlert
from nasadvisor.console.health.bytes_by_role import written_by_role
from nasadvisor.console.health.charts import NARROW, WearChart, WearPoint, wear_chart
from nasadvisor.console.health.forecasts import stored_forecast
from nasadvisor.console.health.messages import Message
from nasadvisor.console.health.models import LARGE_FIELDS, StoredDisk
from nasadvisor.console.health.ratings import with_ratings
from nasadvisor.domain.storage.inventory import Pool

log = logging.getLogger(__name__)

KEPT: Final = 12
"""Of each person who asks for some, and of the schedule's."""

DRIVES_LISTED: Final = 100
DRIVES_DRAWN: Final = 8
ALERTS_LISTED: Final = 50
MONTH: Final = timedelta(days=31)
LIST_DEFERRED: Final = (*LARGE_FIELDS, "node__inventory_document")


@dataclass(frozen=True)
class Drawn:
    """A drive with its picture."""

    disk: StoredDisk
    chart: WearChart


def make_report(report: StoredReport, now: datetime) -> None:
    """Make a report that was asked for."""
    try:
        pdf = report_pdf(report.language, now)
    except (OSError, ValueError, MemoryError):
        log.exception("the report could not be made")
        StoredReport.objects.filter(pk=report.pk).update(state=ReportState.FAILED)
        return
    StoredReport.objects.filter(pk=report.pk).update(state=ReportState.DONE, pdf=pdf)
    of_same = StoredReport.objects.filter(requested_by=report.requested_by)
    kept = of_same.values_list("pk", flat=True)[:KEPT]
    unsent = ReportDelivery.objects.filter(state__in=(DeliveryState.WAITING, DeliveryState.SENDING))
    of_same.exclude(pk__in=[*kept, *unsent.values_list("report", flat=True)]).delete()


def report_pdf(language: str, now: datetime) -> bytes:
    """The report as PDF, in a language."""
    from weasyprint import HTML  # noqa: PLC0415 - slow to load and large, and only needed here

    with translation.override(language):
        html = render_to_string("health/report.html", report_context(now))
        pdf: bytes = HTML(string=html, url_fetcher=_no_fetching()).write_pdf()
    return pdf


def report_context(now: datetime) -> dict[str, object]:
    """What the report says. However many disks there are, it lists those that wear out first and draws a few."""
    ssds = StoredDisk.objects.filter(is_forgotten=False, is_rotational=False).select_related("node")
    ordered = ssds.order_by(F("worn_out_at").asc(nulls_last=True), F("percent_used").desc(nulls_last=True))
    drawn = ordered.filter(has_forecast=True, percent_used__gt=0)[:DRIVES_DRAWN]
    drives = list(with_ratings(ordered.defer(*LIST_DEFERRED))[:DRIVES_LISTED])
    nodes = list(Node.objects.defer("inventory_document"))
    opened = StoredAlert.objects.exclude(state=AlertStates.RECOVERED).select_related("node")
    return {
        "now": now,
        "nodes": [(node, _pools_of(node)) for node in nodes],
        "drives": drives,
        "written": written_by_role(drives, now),
        "drive_count": ssds.count(),
        "drawn": [_drawn(disk, now) for disk in drawn.defer("node__inventory_document")],
        "opened": list(opened.defer("node__inventory_document")[:ALERTS_LISTED]),
        "recent": StoredAlert.objects.filter(began_at__gte=now - MONTH).count(),
    }


def report_message(now: datetime) -> Message:
    """The monthly report in a few words, in the language that is on."""
    opened = StoredAlert.objects.exclude(state=AlertStates.RECOVERED).count()
    first = StoredDisk.objects.filter(is_forgotten=False, worn_out_at__isnull=False).order_by("worn_out_at").first()
    lines = [_("Open alerts: %(count)d") % {"count": opened}]
    if first and first.worn_out_at:
        lines.append(
            _("The first SSD to use up its rated endurance: %(disk)s, about %(month)s")
            % {"disk": first.label, "month": f"{timezone.localtime(first.worn_out_at):%Y-%m}"}
        )
    subject = _("NAS Advisor: report of %(month)s") % {"month": f"{timezone.localtime(now):%Y-%m}"}
    return Message(subject, "\n".join(lines) + "\n")


def _pools_of(node: Node) -> tuple[Pool, ...]:
    return node.inventory.pools if node.inventory else ()


def _drawn(disk: StoredDisk, now: datetime) -> Drawn:
    rows = disk.readings.filter(percent_used__isnull=False).values_list("taken_at", "percent_used", "role")
    points = [WearPoint(at, percent or 0.0, role) for at, percent, role in rows]
    kept = stored_forecast(disk)
    return Drawn(disk, wear_chart(points, kept.fan if kept else (), now, NARROW))


def _no_fetching() -> object:
    """A report holds all it needs; nothing is fetched on the word of a disk's name."""
    from weasyprint.urls import URLFetcher  # noqa: PLC0415 - as above

    return URLFetcher(allowed_protocols=(), allow_redirects=False)
