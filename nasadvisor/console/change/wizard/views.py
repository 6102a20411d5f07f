"""The pages of the wizard up to the stored plan; `apply` has those from there on."""

from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from nasadvisor.console.change.plans import store_plan
from nasadvisor.console.change.wizard.advice import Advice
from nasadvisor.console.change.wizard.devices import Standing, disk_choices, told
from nasadvisor.console.change.wizard.draft import Draft, drop_draft, load_draft, save_draft, sized
from nasadvisor.console.change.wizard.forms import DevicesForm, LayoutForm
from nasadvisor.console.change.wizard.layout import LARGEST_USEFUL_LOG_BYTES, Layout, layout_of, slider_for
from nasadvisor.console.change.wizard.pools import Way, pool_choice, pool_choices
from nasadvisor.console.change.wizard.progress import WizardStep, progress
from nasadvisor.console.change.wizard.summary import Summary, summary_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.roles import operator_required, user_of
from nasadvisor.console.fleet.shown import current_node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.storage.log_legs import without_log_leg

UNUSABLE_SHOWN = 50
"""Of disks that cannot be used, as many are shown at first; a host can have a thousand."""


@dataclass(frozen=True)
class Place:
    """Where in the wizard somebody is: a pool of the node that is shown, the choices made for it, and our advice."""

    node: Node
    inventory: Inventory
    pool: Pool
    draft: Draft
    advice: Advice

    @property
    def is_only_pool(self) -> bool:
        """Whether there is no other to choose."""
        return len(self.inventory.pools) == 1


@operator_required
def pools(request: HttpRequest) -> HttpResponse:
    """The first step without a pool chosen."""
    node = current_node(request)
    inventory = node.inventory if node else None
    choices = pool_choices(inventory, node.platform.vetoes) if node and inventory else ()
    if len(choices) == 1 and choices[0].leaves_nothing_to_ask:
        return redirect("wizard-devices", choices[0].pool.guid)
    context = {"choices": choices, "node": node, "chosen": "", "progress": progress(WizardStep.DEVICES)}
    return render(request, "change/wizard/pools.html", context)


@operator_required
def start(request: HttpRequest, pool_guid: str) -> HttpResponse:
    """The first step with a pool chosen; a POST begins, keeping earlier choices for the same goal.

    So does the address that a finding leads to, where its goal can be reached: `?goal=mirror` or `?goal=replace`.
    """
    place = _place(request, pool_guid)
    choice = pool_choice(place.pool, place.inventory, place.node.platform.vetoes)
    way = choice.way(request.POST.get("goal", request.GET.get("goal", "")))
    if request.method != "POST" and place.is_only_pool and choice.leaves_nothing_to_ask:
        return redirect("wizard-devices", pool_guid)
    if request.method != "POST" and not way.attach_to:
        context = {
            "choices": pool_choices(place.inventory, place.node.platform.vetoes),
            "node": place.node,
            "chosen": pool_guid,
            "progress": progress(WizardStep.DEVICES),
        }
        return render(request, "change/wizard/pools.html", context)
    if way.refusal:
        return redirect("wizard-start", pool_guid)
    if (place.draft.attach_to, place.draft.replaces) != (way.attach_to, way.replaces):
        _begin(request, way, place)
    return redirect("wizard-devices", pool_guid)


@operator_required
def devices(request: HttpRequest, pool_guid: str) -> HttpResponse:
    """The second step: which SSDs, and what for."""
    place = _place(request, pool_guid)
    choices = disk_choices(place.inventory, place.pool, place.draft, place.node.platform.vetoes)
    form = DevicesForm(request.POST if request.method == "POST" else None, choices, place.draft)
    if request.method == "POST":
        if "anyway" in request.POST:
            save_draft(request.session, place.advice.draft_anyway())
            return redirect("wizard-devices", pool_guid)
        chosen = _chosen(request, form, place)
        if "free_space" in request.POST:
            save_draft(request.session, replace(chosen, use_free_space=request.POST["free_space"] == "offer"))
            return redirect("wizard-devices", pool_guid)
        if form.is_valid():
            save_draft(request.session, chosen)
            return redirect("wizard-layout", pool_guid)
        place = replace(place, draft=chosen)
        choices = disk_choices(place.inventory, place.pool, chosen, place.node.platform.vetoes)
    proposal = place.advice.proposal(place.draft.attach_to, place.draft.replaces)
    choices = told(choices, place.advice.health, proposal)
    unusable = [choice for choice in choices if choice.standing is Standing.UNUSABLE]
    context = {
        **_context(place),
        "form": form,
        "proposal": proposal,
        "wanted": place.advice.known.wanted,
        "offered": [choice for choice in choices if choice.standing is not Standing.UNUSABLE],
        "unusable": unusable if "all" in request.GET else unusable[:UNUSABLE_SHOWN],
        "unusable_count": len(unusable),
        "pool_choice": pool_choice(_pool_to_add_to(place), place.inventory, place.node.platform.vetoes),
    }
    return render(request, "change/wizard/devices.html", context)


@require_POST
@operator_required
def devices_summary(request: HttpRequest, pool_guid: str) -> HttpResponse:
    """The summary beside the second step, which follows the choices while they are made.

    It keeps nothing: an answer that comes late must not overwrite what was gone on with.
    """
    place = _place(request, pool_guid)
    choices = disk_choices(place.inventory, place.pool, place.draft, place.node.platform.vetoes)
    chosen = _chosen(request, DevicesForm(request.POST, choices, place.draft), place)
    context = {"place": place, "summary": _summary(replace(place, draft=chosen))}
    return render(request, "change/wizard/_summary.html", context)


@operator_required
def layout(request: HttpRequest, pool_guid: str) -> HttpResponse:
    """The third step: how large. A POST makes the plan, keeps it and goes on to its preview."""
    place = _place(request, pool_guid)
    if not place.draft.disks:
        return redirect("wizard-devices", pool_guid)
    form = LayoutForm(request.POST if request.method == "POST" else None, place.draft, place.inventory)
    draft = form.changed_draft() if request.method == "POST" and form.is_valid() else place.draft
    answer = layout_of(draft, place.inventory)
    if request.method == "POST" and form.is_valid():
        save_draft(request.session, draft)
        if answer.plan:
            stored = store_plan(answer.plan, place.node, user_of(request))
            return redirect("wizard-review", stored.id)
        messages.warning(request, _("These choices cannot be carried out; the reasons are below the drawing."))
    context = {
        **_context(place),
        **_layout_context(form, answer),
        "log_slider": slider_for(draft.log_legs, draft, place.inventory, LARGEST_USEFUL_LOG_BYTES),
        "cache_slider": slider_for(draft.cache_disks, draft, place.inventory),
        "seen": place.advice.seen,
    }
    return render(request, "change/wizard/layout.html", context)


@require_POST
@operator_required
def layout_drawing(request: HttpRequest, pool_guid: str) -> HttpResponse:
    """The part of the third step that follows the choices while they are made; they are kept for a reload."""
    place = _place(request, pool_guid)
    form = LayoutForm(request.POST, place.draft, place.inventory)
    draft = place.draft
    if form.is_valid():
        draft = form.changed_draft()
        save_draft(request.session, draft)
    context = {**_layout_context(form, layout_of(draft, place.inventory)), "place": place}
    return render(request, "change/wizard/_layout_answer.html", context)


def _chosen(request: HttpRequest, form: DevicesForm, place: Place) -> Draft:
    """The draft with the ticked disks, caches as large as is recommended; what is not offered is left out."""
    ticked = replace(
        form.draft,
        log_disks=form.offered("log", request.POST.getlist("log")),
        cache_disks=form.offered("cache", request.POST.getlist("cache")),
    )
    return sized(ticked, place.inventory)


def _begin(request: HttpRequest, way: Way, place: Place) -> None:
    """Go about something else than before; what is only to be added is proposed anew with each look at it."""
    if way.attach_to:
        save_draft(request.session, place.advice.draft(way.attach_to, way.replaces))
    else:
        drop_draft(request.session, place.pool.guid)


def _pool_to_add_to(place: Place) -> Pool:
    """The pool, without the side of its log that is to be replaced."""
    return without_log_leg(place.pool, place.draft.replaces) if place.draft.replaces else place.pool


def _place(request: HttpRequest, pool_guid: str) -> Place:
    """The pool and the choices made for it.

    Raises:
        Http404: the node that is shown has no such pool.
    """
    node, inventory, pool = pool_or_404(request, pool_guid)
    advice = Advice(node, inventory, pool)
    return Place(node, inventory, pool, load_draft(request.session, pool_guid, inventory, advice.draft), advice)


def _context(place: Place) -> dict[str, Any]:
    return {"place": place, "progress": progress(WizardStep.DEVICES), "summary": _summary(place)}


def _summary(place: Place) -> Summary | None:
    plan = layout_of(place.draft, place.inventory).plan
    return summary_of(plan) if plan else None


def _layout_context(form: LayoutForm, answer: Layout) -> dict[str, Any]:
    summary = summary_of(answer.plan) if answer.plan else None
    return {"form": form, "layout": answer, "summary": summary}
