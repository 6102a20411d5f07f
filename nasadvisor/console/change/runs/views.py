"""The pages of one run. At the top stands what happened, in which state things are, and what to do."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import POSTED_FIELDS, PasswordForm, asked_of, confirm_password, require_only
from nasadvisor.console.accounts.platforms import said_during_runs
from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.change.models import UNREADABLE, Pending, StoredRun, StoredRunState
from nasadvisor.console.change.names import Names, names_of
from nasadvisor.console.change.runs.orders import order
from nasadvisor.console.change.wizard.apply import run_progress
from nasadvisor.console.change.wizard.plan_summary import summary_of
from nasadvisor.console.evidence.report import report_of
from nasadvisor.console.fleet.current_host import show_here
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.web.errors import OtherRelease
from nasadvisor.console.wording.statements import said
from nasadvisor.domain.change.runs import Run, Step, StepState
from nasadvisor.domain.change.trial import AFTER_START_S
from nasadvisor.domain.change.undo import cannot_be_undone, undo_steps
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.platforms import warnings_with_undo
from nasadvisor.domain.fleet.questions import FINISH, KEEP, UNDO, Question
from nasadvisor.domain.units import MINUTE_S
from nasadvisor.stored.documents import DocumentError

LIVE_S: Final = 1
ON_TRIAL_S: Final = 60

SILENT_AFTER_S: Final = 25
"""Two questions of `console.follow_runs` (one each 10 s) without an answer."""

Words = tuple[str | Promise, str | Promise]

_WORDS: Final[dict[str, Words]] = {
    StoredRunState.REQUESTED: (
        _("Waiting for %(node)s to pick up the plan."),
        _("Nothing has been changed yet. You can safely close this page."),
    ),
    StoredRunState.UNANSWERED: (
        _("%(node)s did not pick up the plan in time."),
        _(
            "The order has expired: nothing was changed, and nothing will be. On that host, run `systemctl status "
            "nasadvisor-host`, then create the plan again."
        ),
    ),
    StoredRunState.APPLYING: (
        _("Working on pool %(pool)s: %(done)s of %(count)s steps done."),
        _("The run continues in the background. You can safely close this page."),
    ),
    StoredRunState.APPLIED: (
        _("Done on pool %(pool)s: %(summary)s."),
        _(
            "No further action needed. If the change is reversible, choose Undo to reverse it; you will first see "
            "what cannot be restored."
        ),
    ),
    StoredRunState.REFUSED: (
        _("The host refused the plan. Nothing was changed."),
        _("The reasons are listed below. Fix them, or create another plan."),
    ),
    StoredRunState.UNDOING: (
        _("Undoing everything: %(undone)s of %(undo_count)s steps done."),
        _("The undo continues in the background. You can safely close this page."),
    ),
    StoredRunState.UNDONE: (
        _("Everything that this run did was undone."),
        _("Pool %(pool)s works without this change."),
    ),
    StoredRunState.PUTTING_BACK: (
        _("A step failed. Everything done before it is being reverted."),
        _("This continues in the background. You can safely close this page."),
    ),
    StoredRunState.PUT_BACK: (
        _("A step failed. Everything done before it was reverted."),
        _("The failed step below shows the cause. Fix it, then create a new plan."),
    ),
    StoredRunState.INTERRUPTED: (
        _("The run was interrupted after %(done)s of %(count)s steps."),
        _(
            "The host or its worker stopped during the run. Nothing continues automatically: choose whether to finish "
            "the remaining steps or to undo those already done."
        ),
    ),
    StoredRunState.ATTENTION: (
        _("This run is stuck: it could neither finish nor be undone."),
        _("The failed step below shows what happened and the current state. Nothing continues automatically."),
    ),
    StoredRunState.DAMAGED: (
        _("The journal of this run is damaged, and %(node)s can no longer read it."),
        _("The run can be neither finished nor undone from here. The last report of the host before that is below."),
    ),
    StoredRunState.NEWER: (
        _("The journal of this run was written by a newer release of NAS Advisor than the one on %(node)s."),
        _("The run can be neither finished nor undone from here. The last report of the host before that is below."),
    ),
}

_INTERRUPTED_UNDO: Final[Words] = (
    _("The undo was interrupted after %(undone)s of %(undo_count)s steps."),
    _("Nothing continues automatically. Choose Undo to undo the remaining steps."),
)

_ON_TRIAL: Final[Words] = (
    _("Done on pool %(pool)s, on trial: %(summary)s."),
    _(
        "Unless someone keeps the run, %(node)s reverts it automatically when the time is up. If the host is off "
        "then, it does so %(minutes)s minutes after its next start, or later if no time source proves how long it was "
        "off. If something forbids the undo, nothing is done and you are notified."
    ),
)

_TRIAL_STAYS: Final[Words] = (
    _("The trial has ended, but the run could not be reverted."),
    _("Nothing was changed; the reasons are below. It is not retried automatically: undo or keep the run."),
)

_TRIAL_OVER: Final[Words] = (
    _("The trial has ended, and everything was reverted."),
    _("Pool %(pool)s works without this change. The result of the trial is below."),
)

_ASKED: Final[dict[str, Words]] = {
    Pending.UNDO: (_("Undo requested. Waiting for %(node)s."), _("You can safely close this page.")),
    Pending.KEEP: (
        _("Keeping the run was requested. Waiting for %(node)s."),
        _("You can safely close this page."),
    ),
    Pending.FINISH: (
        _("Finishing the run was requested. Waiting for %(node)s."),
        _("You can safely close this page."),
    ),
}


@dataclass(frozen=True)
class RunStatus:
    """A run as its page shows it. `silent_s` is for how long its host has not been heard from, 0 if it has been.

    `is_live` means that something is still to come without anybody's doing, at once; `look_again_s` is after how many
    seconds the page looks again, 0 for never; `version` changes when the page does.
    """

    stored: StoredRun
    run: Run
    headline: str
    advice: str
    is_live: bool
    silent_s: int
    can_undo: bool
    can_finish: bool
    can_keep: bool
    look_again_s: int
    version: str


def status_of(stored: StoredRun, now: datetime) -> RunStatus:
    """What to say about a run.

    Raises:
        DocumentError: if it cannot be read.
    """
    run = stored.run
    is_asked = bool(stored.pending)
    may_ask = not is_asked and stored.state not in UNREADABLE
    is_active = run.is_active and stored.state not in UNREADABLE
    is_live = (is_active if stored.seq else stored.state == StoredRunState.REQUESTED) or is_asked
    heard = stored.node.last_contact
    unheard_s = int((now - heard).total_seconds()) if heard else 0
    silent_s = unheard_s if is_live and stored.seq and unheard_s > SILENT_AFTER_S else 0
    left_s = max(int((stored.trial_until - now).total_seconds()), 0) if stored.trial_until else 0
    headline, advice = (str(words) % _values(stored, run) for words in _words(stored, run))
    return RunStatus(
        stored=stored,
        run=run,
        headline=headline,
        advice=advice,
        is_live=is_live,
        silent_s=silent_s,
        can_undo=run.can_undo and may_ask and stored.seq > 0,
        can_finish=run.can_finish and may_ask,
        can_keep=run.can_keep and may_ask,
        look_again_s=LIVE_S if is_live else ON_TRIAL_S if run.is_on_trial and may_ask else 0,
        version=f"{stored.seq}-{stored.state}-{stored.pending}-{silent_s // 5}-{bool(stored.error_document)}"
        f"-{left_s // MINUTE_S}",
    )


def _words(stored: StoredRun, run: Run) -> Words:
    if stored.seq and stored.pending in _ASKED:
        return _ASKED[stored.pending]
    if stored.state in UNREADABLE:
        return _WORDS[stored.state]
    if stored.state == StoredRunState.INTERRUPTED and run.undo_steps:
        return _INTERRUPTED_UNDO
    if run.is_on_trial:
        return _ON_TRIAL
    if run.trial and run.trial.ended_at and not run.trial.kept_at:
        return {StoredRunState.APPLIED: _TRIAL_STAYS, StoredRunState.UNDONE: _TRIAL_OVER}.get(
            StoredRunState(stored.state), _WORDS[stored.state]
        )
    return _WORDS[stored.state]


def _values(stored: StoredRun, run: Run) -> dict[str, str | int]:
    return {
        "node": stored.node.name,
        "pool": run.plan.pool_name,
        "summary": str(summary_of(run.plan)),
        "done": _done(run.steps),
        "count": len(run.steps),
        "undone": _done(run.undo_steps),
        "undo_count": len(run.undo_steps),
        "minutes": AFTER_START_S // MINUTE_S,
    }


def _done(steps: tuple[Step, ...]) -> int:
    return sum(step.state in (StepState.DONE, StepState.SKIPPED) for step in steps)


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
    return get_object_or_404(StoredRun.objects.select_related("node").defer("node__inventory_document"), pk=run_id)


def _status(run_id: UUID) -> RunStatus:
    stored = _stored(run_id)
    try:
        return status_of(stored, timezone.now())
    except DocumentError as error:
        raise OtherRelease from error
