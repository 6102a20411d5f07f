"""The pages of one run."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import POSTED_FIELDS, PasswordForm, asked_of, confirm_password, require_only
from nasadvisor.console.accounts.platforms import said_during_runs
from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.names import Names, names_of
from nasadvisor.console.change.runs.orders import order
from nasadvisor.console.change.runs.status import RunStatus, status_of
from nasadvisor.console.change.wizard.apply import run_progress
from nasadvisor.console.evidence.report import report_of
from nasadvisor.console.fleet.current_host import show_here
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.web.errors import OtherRelease
from nasadvisor.console.wording.statements import said
from nasadvisor.domain.change.undo import cannot_be_undone, undo_steps
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.platforms import warnings_with_undo
from nasadvisor.domain.fleet.questions import FINISH, KEEP, UNDO, Question
from nasadvisor.stored.documents import DocumentError

NO_NEWS = 204
"""htmx swaps nothing at this status, so open details and the focus stay where they are."""


def detail(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """A run, live; of one that cannot be read, what is known of it."""
    stored = _stored(run_id)
    show_here(request, stored.node)
    try:
        status = status_of(stored, timezone.now())
    except DocumentError:
        return render(request, "change/runs/unreadable.html", {"stored": stored, "section": "history"})
    return render(request, "change/runs/detail.html", {**_context(status), "section": "history"})


def fragment(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The part of the page that changes; empty while there is nothing new since the version that is shown."""
    status = _status(run_id)
    if request.GET.get("shown") == status.version:
        return HttpResponse(status=NO_NEWS)
    return render(request, "change/runs/_run.html", _context(status))


@operator_required
def undo(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Ask for the password, then ask the host to take the run back."""
    status = _status(run_id)
    if not status.can_undo:
        return redirect("run-detail", run_id)
    return _ask(request, status, Act.UNDO, UNDO, "change/runs/undo.html")


@operator_required
def finish(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Ask for the password, then ask the host to do the rest of an interrupted run."""
    status = _status(run_id)
    if not status.can_finish:
        return redirect("run-detail", run_id)
    return _ask(request, status, Act.FINISH, FINISH, "change/runs/finish.html")


@operator_required
def keep(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Ask for the password, then ask the host to keep what is on trial."""
    status = _status(run_id)
    if not status.can_keep:
        return redirect("run-detail", run_id)
    return _ask(request, status, Act.KEEP, KEEP, "change/runs/keep.html")


def _context(status: RunStatus) -> dict[str, Any]:
    """For a run on trial, or one that was, also what it changed."""
    is_on = status.run.is_active and status.stored.seq > 0  # before the first record nobody has taken it up
    is_judged = status.run.trial is not None and not status.is_live
    return {
        "status": status,
        "progress": run_progress(status.stored),
        "meanwhile": said_during_runs(status.stored.node.platform) if is_on else (),
        "report": report_of(status.stored, timezone.now()) if is_judged else None,
        "names": _names(status),
        "may_not_undo": why_not(status.stored.node.platform, Verbs.UNDO),
        "may_not_change": why_not(status.stored.node.platform, Verbs.CHANGE),
    }


def _ask(request: HttpRequest, status: RunStatus, act: Act, question: Question, template: str) -> HttpResponse:
    require_only(request, POSTED_FIELDS)
    show_here(request, status.stored.node)
    forbidden = why_not(status.stored.node.platform, question.groups[0])
    if forbidden:
        messages.error(request, said(forbidden))
        return redirect("run-detail", status.stored.id)
    form = asked_of(request, PasswordForm(request.POST if request.method == "POST" else None))
    if request.method == "POST" and confirm_password(request, form):
        stored = status.stored
        if is_handed_over(request, lambda: order(stored, question, user_of(request))):
            audit.record(request, act, f"{stored.node.name}: {stored.pool_name} {stored.id}")
            return redirect("run-detail", stored.id)
    context = {
        "status": status,
        "form": form,
        "section": "history",
        "undone": [step.describe() for step in undo_steps(status.run.begun)],
        "stays": cannot_be_undone(status.run.begun),
        "warnings": warnings_with_undo(status.stored.node.platform.vetoes),
        "names": _names(status),
    }
    return render(request, template, context)


def _names(status: RunStatus) -> Names:
    return names_of(status.run.plan, status.stored.node, status.stored.node.inventory)


def _stored(run_id: UUID) -> StoredRun:
    stored = StoredRun.objects.select_related("node").defer("node__inventory_document").filter(pk=run_id).first()
    if stored is None:
        raise Http404
    return stored


def _status(run_id: UUID) -> RunStatus:
    stored = _stored(run_id)
    try:
        return status_of(stored, timezone.now())
    except DocumentError as error:
        raise OtherRelease from error
