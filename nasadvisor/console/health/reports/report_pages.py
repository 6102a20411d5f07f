"""The pages of reports: the newest, what one would say now, and asking for one more."""

from datetime import timedelta

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from kombu.exceptions import OperationalError

from nasadvisor.console.accounts.roles import user_of
from nasadvisor.console.celery_app import QUEUE, app
from nasadvisor.console.health.reports.models import ReportState, StoredReport
from nasadvisor.console.health.reports.reports import report_context

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
def make_report(request: HttpRequest) -> HttpResponse:
    """Have a report made in the background, in the language of this page."""
    language = (get_language() or "en")[:2]
    name = user_of(request).get_username()
    since = timezone.now() - timedelta(seconds=REPORT_EXPIRES_S)
    if StoredReport.objects.filter(requested_by=name, state=ReportState.REQUESTED, requested_at__gt=since).exists():
        messages.info(request, _("A report that you asked for is being made."))
        return redirect("reports")
    report = StoredReport.objects.create(requested_by=name, language=language)
    try:
        app.send_task("console.make_report", [report.pk], queue=QUEUE, expires=REPORT_EXPIRES_S, retry=False)
    except OperationalError:
        report.delete()
        messages.error(
            request, _("The message service (Redis) does not answer, so no report is made. Try again later.")
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
