"""The pages of a stored plan: its review, and the plain proof that it is there."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import POSTED_FIELDS, asked_of, confirm_password, require_only
from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.names import names_of
from nasadvisor.console.change.plans import own_plan, refusal_of
from nasadvisor.console.change.runs.orders import PlanAlreadyRan, apply_plan
from nasadvisor.console.change.wizard.draft import DraftStore
from nasadvisor.console.change.wizard.forms import ApplyForm
from nasadvisor.console.change.wizard.plan_summary import gist_of, summary_of
from nasadvisor.console.change.wizard.preview import preview_of
from nasadvisor.console.change.wizard.progress import ProgressItem, WizardStep, progress
from nasadvisor.console.change.wizard.wear import wear_of
from nasadvisor.console.evidence.report import report_of
from nasadvisor.console.evidence.switching import usual_length
from nasadvisor.console.evidence.watch import series_of
from nasadvisor.console.fleet.current_host import show_here
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.health.alerts.disk_badges import badges_in, badges_on
from nasadvisor.console.web.errors import OtherRelease
from nasadvisor.domain.change.actions import Slice
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from nasadvisor.stored.documents import DocumentError


@dataclass(frozen=True)
class PartInPool:
    """A planned slice, its disk's label, and the pool's device on it; None if the pool has none there."""

    slice: Slice
    disk: str
    vdev: Vdev | None


def parts_in_pool(plan: Plan, inventory: Inventory, pool: Pool) -> tuple[PartInPool, ...]:
    """Every slice of a plan, looked up among the log and cache devices of its pool."""
    leaves = [leaf for top in (*pool.logs, *pool.caches) for leaf in top.leaves()]
    return tuple(_part(piece, inventory, leaves) for piece in plan.slices)


def _part(piece: Slice, inventory: Inventory, leaves: list[Vdev]) -> PartInPool:
    disk, found = inventory.disk(piece.disk_key), inventory.partition(piece.partuuid)
    names = {piece.path, piece.partuuid_path, *((found[1].path, *found[1].links) if found else ())}
    vdev = next((leaf for leaf in leaves if leaf.path in names), None)
    return PartInPool(piece, disk.label if disk else piece.disk_path, vdev)


@operator_required
def review(request: HttpRequest, plan_id: UUID) -> HttpResponse:
    """The second step: what exactly would happen; with every risk accepted and the password, the host is asked.

    A second post of a plan leads to its one run.
    """
    stored = own_plan(plan_id, user_of(request))
    show_here(request, stored.node)
    require_only(request, POSTED_FIELDS | {"trial", "accept"})
    if StoredRun.objects.filter(pk=plan_id).exists():
        return redirect("run-detail", plan_id)
    inventory, refusal = stored.node.inventory, refusal_of(stored)
    shown = preview_of(stored.plan, inventory, stored.node.platform.cautions) if inventory and not refusal else None
    posted = request.POST if request.method == "POST" else None
    form = asked_of(request, ApplyForm(posted, shown.risks if shown else ()))
    if not stored.plan.has_way_back:
        del form.fields["trial"]
    if request.method == "POST" and shown and confirm_password(request, form):
        try:
            is_asked = is_handed_over(request, lambda: apply_plan(stored, user_of(request), form.trial_s))
        except PlanAlreadyRan:
            return redirect("run-detail", plan_id)
        if is_asked:
            audit.record(request, Act.APPLY, f"{stored.node.name}: {stored.plan.pool_name} {plan_id}")
            DraftStore(user_of(request), stored.node, stored.plan.request.pool_guid).drop()
            return redirect("run-detail", plan_id)
    context = {"stored": stored, "plan": stored.plan, "form": form, "refusal": refusal, "preview": shown}
    context["back"] = _back(stored.plan)
    if inventory and shown:
        wear = wear_of(stored.plan, stored.node, inventory)
        series = series_of(stored.node, stored.plan.request.pool_guid)
        gist = gist_of(stored.plan, inventory, wear, series.waiting if series else None)
        context |= {"wear": wear, "gist": gist}
        context["pool_badges"] = badges_in(shown.before, badges_on(stored.node))
        context["names"] = names_of(stored.plan, stored.node, inventory)
        guid = stored.plan.request.pool_guid
        gives_cache = bool(stored.plan.request.cache_disks)
        context["switching"] = usual_length(stored.node, guid, timezone.now()) if gives_cache else None
    return render(request, "change/wizard/review.html", {**context, "progress": _progress(stored.plan)})


def proof(request: HttpRequest, plan_id: UUID) -> HttpResponse:
    """The end of the third step: whether the pool has what the plan gave it."""
    runs = StoredRun.objects.select_related("node").defer("node__inventory_document")
    stored = get_object_or_404(runs, pk=plan_id)
    show_here(request, stored.node)
    try:
        plan, inventory = stored.run.plan, stored.node.inventory
    except DocumentError as error:
        raise OtherRelease from error
    pool = inventory.pool(plan.request.pool_guid) if inventory else None
    context = {
        "stored": stored,
        "run": stored.run,
        "plan": plan,
        "pool": pool,
        "parts": parts_in_pool(plan, inventory, pool) if inventory and pool else (),
        "is_older_than_run": _was_read_before_end(stored.run, inventory),
        "summary": summary_of(plan),
        "progress": run_progress(stored),
        "report": report_of(stored, timezone.now()),
    }
    return render(request, "change/wizard/proof.html", context)


def run_progress(stored: StoredRun) -> tuple[ProgressItem, ...]:
    """The wizard's steps above the page of a run; none once it is being taken back."""
    is_short = stored.run.undo_steps or not stored.run.plan.slices
    return () if is_short else progress(WizardStep.RESULT)


def _was_read_before_end(run: Run, inventory: Inventory | None) -> bool:
    """Whether the host was last read before the run ended; inventories tell the time in whole seconds."""
    if inventory is None or not run.ended_at:
        return False
    return datetime.fromisoformat(inventory.read_at) < datetime.fromisoformat(run.ended_at).replace(microsecond=0)


def _progress(plan: Plan) -> tuple[ProgressItem, ...]:
    return progress(WizardStep.REVIEW, {WizardStep.DEVICES: _back(plan)}) if plan.slices else ()


def _back(plan: Plan) -> str:
    """Where the choices of a plan were made."""
    return reverse("wizard-devices" if plan.slices else "pool", args=[plan.request.pool_guid])
