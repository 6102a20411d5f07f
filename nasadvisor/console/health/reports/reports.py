"""Printable reports: made in the background, kept for a while; and the pages on which they are asked for and shown."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from kombu.exceptions import OperationalError

from nasadvisor.console.accounts.roles import user_of
from nasadvisor.console.celery_app import QUEUE, app
from nasadvisor.console.charts.history_chart import HistoryChart
from nasadvisor.console.evidence.verdict_badges import series_on
from nasadvisor.console.fleet.current_host import Contact, contact_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import (
    AlertStates,
    DeliveryState,
    ReportDelivery,
    ReportState,
    StoredAlert,
    StoredReport,
)
from nasadvisor.console.health.alerts.open_issues import OpenIssue, issues_on, place_of, words_of
from nasadvisor.console.health.alerts.senders import AlertMessage
from nasadvisor.console.health.inventory import Capacity, capacity_of
from nasadvisor.console.health.models import UNWORKABLE, DiskOutcome, NodeHealth, StoredDisk
from nasadvisor.console.health.reports.report_tables import (
    comparisons,
    count_of_hard_disks,
    count_of_ssds,
    count_of_unasked,
    drawn_ssds,
    hard_disks,
    in_use,
    said_by_pools,
    ssds,
)
from nasadvisor.console.wording.badges import BAD, GOOD, QUIET, WAITING, WARN, Badge, badge_of_state
from nasadvisor.domain.evidence.options import PoolWaiting
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Pool

NAMED: Final = 4
"""Disks of a host that are called by their names; how many more there are is said."""


@dataclass(frozen=True)
class HostLook:
    """When a host and its disks were looked at last, None for never, and what was not looked at, in sentences."""

    node: Node
    read_at: datetime | None
    asked_at: datetime | None
    gaps: tuple[str, ...]


@dataclass(frozen=True)
class ReportVerdict:
    """The answer to "is everything all right?", in one sentence, and what it rests on."""

    look: Badge
    hosts: tuple[HostLook, ...]

    @property
    def words(self) -> str:
        """The sentence."""
        return str(self.look.word)


def verdict_on(nodes: Sequence[Node], issues: Sequence[OpenIssue], now: datetime) -> ReportVerdict:
    """The verdict on these hosts; `issues` are theirs, the worst of what nobody has acknowledged first."""
    hosts = tuple(_hosts(nodes, now))
    return ReportVerdict(_look(hosts, issues), hosts)


def _look(hosts: Sequence[HostLook], issues: Sequence[OpenIssue]) -> Badge:
    opened = [each for each in issues if not each.is_known]
    if opened:
        words = words_of(opened, place_of(opened[0], has_others=len(hosts) > 1))
        return Badge(*(BAD if opened[0].level is Level.CRITICAL else WARN), words)
    if all(host.read_at is None for host in hosts):
        return Badge(*WAITING, _("No host has reported yet"))
    if any(host.gaps for host in hosts):
        return Badge(*QUIET, _("No open alerts, but some checks are incomplete"))
    if not any(host.node.inventory and host.node.inventory.pools for host in hosts):
        return Badge(*QUIET, _("No pool is imported"))
    if issues:
        count = len(issues)
        words = ngettext("Nothing new, %(count)s known problem", "Nothing new, %(count)s known problems", count)
        return Badge(*QUIET, words % {"count": count})
    return Badge(*GOOD, _("Everything is OK"))


def _hosts(nodes: Iterable[Node], now: datetime) -> Iterator[HostLook]:
    swept = dict(NodeHealth.objects.values_list("node", "sweep_ended_at"))
    there = StoredDisk.objects.filter(is_present=True, is_forgotten=False, is_removable=False)
    unread = there.exclude(outcome=DiskOutcome.READ).order_by("node", "outcome", "model", "serial")
    by_node = groupby(unread.only("node", "model", "serial", "outcome"), key=lambda disk: disk.node_id)
    silent = {node_pk: list(group) for node_pk, group in by_node}
    for node in nodes:
        swept_at = swept.get(node.pk)
        unheard = silent.get(node.pk, ()) if swept_at else ()
        gaps = (*_gaps_of_host(node, swept_at, now), *_gaps_of_disks(unheard))
        yield HostLook(node, node.inventory_read_at, swept_at, gaps)


def _gaps_of_host(node: Node, swept_at: datetime | None, now: datetime) -> Iterator[str]:
    at = f"{timezone.localtime(node.inventory_read_at):%Y-%m-%d %H:%M}" if node.inventory_read_at else "–"
    match contact_of(node, now):
        case Contact.NEVER:
            yield _("The host has not reported yet.")
            return
        case Contact.SILENT:
            yield _("The host is not reporting; its data is from %(at)s.") % {"at": at}
        case Contact.FAILED | Contact.OUTDATED:
            yield _("The host's last reading is old; its data is from %(at)s.") % {"at": at}
        case Contact.FRESH:
            pass
    if swept_at is None:
        yield _("Its disks have not been checked yet.")


def _gaps_of_disks(disks: Iterable[StoredDisk]) -> Iterator[str]:
    for outcome, group in groupby(disks, key=lambda disk: disk.outcome):
        found = list(group)
        names = ", ".join(disk.label for disk in found[:NAMED])
        if len(found) > NAMED:
            names = _("%(names)s and %(count)s more") % {"names": names, "count": len(found) - NAMED}
        yield _words_of_gap(DiskOutcome(outcome), len(found)) % {"count": len(found), "disks": names}


def _words_of_gap(outcome: DiskOutcome, count: int) -> str:
    if outcome is DiskOutcome.ASLEEP:
        return ngettext(
            "%(count)s disk was asleep and was not woken: %(disks)s",
            "%(count)s disks were asleep and were not woken: %(disks)s",
            count,
        )
    if outcome is DiskOutcome.UNSUPPORTED:
        return ngettext(
            "%(count)s disk reports no health data: %(disks)s",
            "%(count)s disks report no health data: %(disks)s",
            count,
        )
    if outcome is DiskOutcome.FAILED:
        return ngettext(
            ("%(count)s disk did not respond: %(disks)s"), "%(count)s disks did not respond: %(disks)s", count
        )
    return ngettext("%(count)s disk was not checked: %(disks)s", "%(count)s disks were not checked: %(disks)s", count)


LISTED: Final = 100
DRAWN: Final = 6


@dataclass(frozen=True)
class PoolRow:
    """A pool, its use over the last weeks, and how long programs wait for it; None where that was not watched."""

    node: Node
    pool: Pool
    capacity: Capacity
    waiting: PoolWaiting | None

    @property
    def scrubbed_at(self) -> datetime | None:
        """When its last scrub ended; None where none is on record."""
        scan = self.pool.last_scan
        return timezone.localtime(datetime.fromisoformat(scan.ended_at)) if scan and scan.ended_at else None

    @property
    def look(self) -> Badge:
        """Its state."""
        return badge_of_state(self.pool.state)

    @property
    def used(self) -> float:
        """The share that is allocated."""
        return self.pool.allocated_bytes / self.pool.size_bytes if self.pool.size_bytes else 0.0

    @property
    def chart(self) -> HistoryChart | None:
        """The narrow picture of its use; None before the second day."""
        return self.capacity.charts[-1] if self.capacity.charts else None


def pool_rows(nodes: Iterable[Node], now: datetime) -> list[PoolRow]:
    """The pools of all hosts."""
    rows: list[PoolRow] = []
    for node in nodes:
        pools = node.inventory.pools[: LISTED - len(rows)] if node.inventory else ()
        series = series_on(node) if pools else {}
        for pool in pools:
            waiting = series[pool.guid].waiting if pool.guid in series else None
            rows.append(PoolRow(node, pool, capacity_of(node, pool, now), waiting))
    return rows


def drawn_pools(rows: Iterable[PoolRow]) -> list[PoolRow]:
    """Those that have a picture, as many as a report has room for."""
    return [row for row in rows if row.chart][:DRAWN]


log = logging.getLogger(__name__)

KEPT: Final = 12
"""Of each person who asks for some, and of the schedule's."""

ISSUES_LISTED: Final = 50
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
        html = render_to_string("health/reports/report.html", {**report_context(now), "is_printed": True})
        pdf: bytes = HTML(string=html, url_fetcher=_no_fetching()).write_pdf()
    return pdf


def report_context(now: datetime) -> dict[str, object]:
    """What the report says, on paper and on its page. However much there is of anything, it lists the worst of it."""
    nodes = list(Node.objects.defer("inventory_document"))
    issues = issues_on(nodes, now)
    pools, said = pool_rows(nodes, now), said_by_pools(nodes)
    return {
        "now": now,
        "verdict": verdict_on(nodes, issues, now),
        "rows": [(each, place_of(each, has_others=len(nodes) > 1)) for each in issues[:ISSUES_LISTED]],
        "more_issues": max(0, len(issues) - ISSUES_LISTED),
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
    verdict = verdict_on(nodes, issues_on(nodes, now), now)
    opened = StoredAlert.objects.exclude(state=AlertStates.RECOVERED).count()
    first = StoredDisk.objects.filter(is_forgotten=False, worn_out_at__isnull=False).order_by("worn_out_at").first()
    lines = [verdict.words, *(f"{host.node.name}: {gap}" for host in verdict.hosts for gap in host.gaps)]
    lines.append(_("Open alerts: %(count)d") % {"count": opened})
    if first and first.worn_out_at:
        lines.append(
            _("First SSD to reach its rated endurance: %(disk)s, about %(month)s")
            % {"disk": first.label, "month": f"{timezone.localtime(first.worn_out_at):%Y-%m}"}
        )
    subject = _("NAS Advisor: report for %(month)s") % {"month": f"{timezone.localtime(now):%Y-%m}"}
    return AlertMessage(subject, "\n".join(lines) + "\n")


def _no_fetching() -> object:
    """A report holds all it needs; nothing is fetched on the word of a disk's name."""
    from weasyprint.urls import URLFetcher  # noqa: PLC0415 - as above

    return URLFetcher(allowed_protocols=(), allow_redirects=False)


REPORT_EXPIRES_S = 600


def reports(request: HttpRequest) -> HttpResponse:
    """The newest reports, and the button for one more."""
    found = StoredReport.objects.defer("pdf")
    context = {"reports": found, "is_waiting": found.filter(state=ReportState.REQUESTED).exists(), "section": "reports"}
    return render(request, "health/reports/reports.html", context)


def report_page(request: HttpRequest) -> HttpResponse:
    """What a report would say now, as a page."""
    return render(request, "health/reports/report_page.html", {**report_context(timezone.now()), "section": "reports"})


@require_POST
def order_report(request: HttpRequest) -> HttpResponse:
    """Have a report made in the background, in the language of this page."""
    language = (get_language() or "en")[:2]
    name = user_of(request).get_username()
    since = timezone.now() - timedelta(seconds=REPORT_EXPIRES_S)
    if StoredReport.objects.filter(requested_by=name, state=ReportState.REQUESTED, requested_at__gt=since).exists():
        messages.info(request, _("Your report is being created."))
        return redirect("reports")
    report = StoredReport.objects.create(requested_by=name, language=language)
    try:
        app.send_task("console.make_report", [report.pk], queue=QUEUE, expires=REPORT_EXPIRES_S, retry=False)
    except OperationalError:
        report.delete()
        messages.error(
            request, _("The message service (Redis) is not responding, so no report was created. Try again later.")
        )
    return redirect("reports")


def download(request: HttpRequest, pk: int) -> HttpResponse:
    """One report."""
    del request
    report = get_object_or_404(StoredReport, pk=pk)
    if report.state != ReportState.DONE:
        raise Http404
    name = f"nas-advisor-{report.requested_at:%Y-%m-%d}.pdf"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(bytes(report.pdf), content_type="application/pdf", headers=headers)
