"""Tokens for other programs, and asking for reports."""

from datetime import timedelta
from typing import ClassVar

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from kombu.exceptions import OperationalError

from nasadvisor.console.accounts import account_notices, audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import ask_again, confirmed_admin_required, is_confirmed_by
from nasadvisor.console.accounts.roles import admin_required, user_of
from nasadvisor.console.celery_app import QUEUE, app
from nasadvisor.console.health.access_models import ApiToken, ReportState, StoredReport, new_token
from nasadvisor.console.health.reports import report_context

REPORT_EXPIRES_S = 600


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new token."""

    class Meta:
        model = ApiToken
        fields: ClassVar = ["name", "may_acknowledge"]
        help_texts: ClassVar = {
            "name": gettext_lazy(
                "Of the program that reads with it, for example Prometheus. It may look at everything; no token can "
                "change a pool."
            )
        }


@admin_required
def tokens(request: HttpRequest) -> HttpResponse:
    """All tokens."""
    return _tokens(request)


@admin_required
def add_token(request: HttpRequest) -> HttpResponse:
    """One more, which is shown this once."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    if is_confirmed_by(request, ask_again(request, form)):
        shown = new_token()
        form.instance.digest = ApiToken.digest_of(shown)
        form.instance.created_by = user_of(request)
        form.save()
        account_notices.record(request, Act.TOKEN_MADE, user_of(request), form.instance.name)
        return _tokens(request, shown)
    return render(request, "health/add_token.html", {"form": form, "section": "settings"})


def _tokens(request: HttpRequest, shown: str = "") -> HttpResponse:
    context = {"tokens": ApiToken.objects.select_related("created_by"), "shown": shown, "section": "settings"}
    return render(request, "health/tokens.html", context)


@require_POST
@confirmed_admin_required
def delete_token(request: HttpRequest, pk: int) -> HttpResponse:
    """A token that is good no more. Whoever made it is told."""
    token = get_object_or_404(ApiToken, pk=pk)
    token.delete()
    if token.created_by:
        account_notices.record(request, Act.TOKEN_DELETED, token.created_by, token.name)
    else:
        audit.record(request, Act.TOKEN_DELETED, token.name)
    messages.success(request, _("%(name)s was deleted.") % {"name": token.name})
    return redirect("tokens")


def reports(request: HttpRequest) -> HttpResponse:
    """The newest reports, and the button for one more."""
    found = StoredReport.objects.defer("pdf")
    context = {"reports": found, "is_waiting": found.filter(state=ReportState.REQUESTED).exists(), "section": "reports"}
    return render(request, "health/reports.html", context)


def report_page(request: HttpRequest) -> HttpResponse:
    """What a report would say now, as a page."""
    return render(request, "health/report_page.html", {**report_context(timezone.now()), "section": "reports"})


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
