"""Printable reports: made in the background, kept for a while."""

import logging
from datetime import datetime, timedelta
from typing import Final

from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.access_models import ReportDelivery, ReportState, StoredReport
from nasadvisor.console.health.alert_models import AlertStates, DeliveryState, StoredAlert
from nasadvisor.console.health.headline import place_of
from nasadvisor.console.health.messages import AlertMessage
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.open_issues import troubles_on
from nasadvisor.console.health.report_disks import (
    count_of_hard_disks,
    count_of_ssds,
    count_of_unasked,
    drawn_ssds,
    hard_disks,
    said_by_pools,
    ssds,
)
from nasadvisor.console.health.report_gains import comparisons, in_use
from nasadvisor.console.health.report_pools import drawn_pools, pool_rows
from nasadvisor.console.health.report_verdict import verdict_on
from nasadvisor.console.health.watch import UNWORKABLE

log = logging.getLogger(__name__)

KEPT: Final = 12
"""Of each person who asks for some, and of the schedule's."""

TROUBLES_LISTED: Final = 50
MONTH: Final = timedelta(days=31)

LOST_AFTER: Final = timedelta(minutes=30)
"""Its message is dropped ten minutes after it was asked for, and it takes some minutes on a slow machine."""


def make_report(report: StoredReport, now: datetime) -> None:
    """Make a report that was asked for."""
    try:
        pdf = report_pdf(report.language, now)
    except (*UNWORKABLE, OSError, MemoryError):
        log.exception("the report could not be made")
        StoredReport.objects.filter(pk=report.pk).update(state=ReportState.FAILED)
        return
    StoredReport.objects.filter(pk=report.pk).update(state=ReportState.DONE, pdf=pdf)
    of_same = StoredReport.objects.filter(requested_by=report.requested_by)
    kept = of_same.values_list("pk", flat=True)[:KEPT]
    unsent = ReportDelivery.objects.filter(state__in=(DeliveryState.WAITING, DeliveryState.SENDING))
    of_same.exclude(pk__in=[*kept, *unsent.values_list("report", flat=True)]).delete()


def give_up_lost(now: datetime) -> None:
    """A report whose worker or whose message came to an end before it was made will never be."""
    asked_for = StoredReport.objects.filter(state=ReportState.REQUESTED, day=None)
    asked_for.filter(requested_at__lt=now - LOST_AFTER).update(state=ReportState.FAILED)


def report_pdf(language: str, now: datetime) -> bytes:
    """The report as PDF, in a language."""
    from weasyprint import HTML  # noqa: PLC0415 - slow to load and large, and only needed here

    with translation.override(language):
        html = render_to_string("health/report.html", {**report_context(now), "is_printed": True})
        pdf: bytes = HTML(string=html, url_fetcher=_no_fetching()).write_pdf()
    return pdf


def report_context(now: datetime) -> dict[str, object]:
    """What the report says, on paper and on its page. However much there is of anything, it lists the worst of it."""
    nodes = list(Node.objects.defer("inventory_document"))
    troubles = troubles_on(nodes, now)
    pools, said = pool_rows(nodes, now), said_by_pools(nodes)
    return {
        "now": now,
        "verdict": verdict_on(nodes, troubles, now),
        "rows": [(each, place_of(each, has_others=len(nodes) > 1)) for each in troubles[:TROUBLES_LISTED]],
        "more_troubles": max(0, len(troubles) - TROUBLES_LISTED),
        "recent": StoredAlert.objects.filter(began_at__gte=now - MONTH).count(),
        "in_use": in_use(nodes, now),
        "comparisons": comparisons(now),
        "pools": pools,
        "pool_count": sum(len(node.inventory.pools) for node in nodes if node.inventory),
        "drawn_pools": drawn_pools(pools),
        "ssds": ssds(now, said),
        "ssd_count": count_of_ssds(said),
        "drawn": drawn_ssds(now),
        "hard_disks": hard_disks(now, said),
        "hard_disk_count": count_of_hard_disks(said),
        "unasked": count_of_unasked(said),
    }


def report_message(now: datetime) -> AlertMessage:
    """The monthly report in a few words, in the language that is on: its verdict first, as on paper."""
    nodes = list(Node.objects.defer("inventory_document"))
    verdict = verdict_on(nodes, troubles_on(nodes, now), now)
    opened = StoredAlert.objects.exclude(state=AlertStates.RECOVERED).count()
    first = StoredDisk.objects.filter(is_forgotten=False, worn_out_at__isnull=False).order_by("worn_out_at").first()
    lines = [verdict.words, *(f"{host.node.name}: {gap}" for host in verdict.hosts for gap in host.gaps)]
    lines.append(_("Open alerts: %(count)d") % {"count": opened})
    if first and first.worn_out_at:
        lines.append(
            _("The first SSD to use up its rated endurance: %(disk)s, about %(month)s")
            % {"disk": first.label, "month": f"{timezone.localtime(first.worn_out_at):%Y-%m}"}
        )
    subject = _("NAS Advisor: report of %(month)s") % {"month": f"{timezone.localtime(now):%Y-%m}"}
    return AlertMessage(subject, "\n".join(lines) + "\n")


def _no_fetching() -> object:
    """A report holds all it needs; nothing is fetched on the word of a disk's name."""
    from weasyprint.urls import URLFetcher  # noqa: PLC0415 - as above

    return URLFetcher(allowed_protocols=(), allow_redirects=False)
