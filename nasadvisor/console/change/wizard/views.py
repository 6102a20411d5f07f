"""The pages of the wizard up to the stored plan; `apply` has those from there on."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.change.plans import on_to_review
from nasadvisor.console.change.wizard.advice import Advice
from nasadvisor.console.change.wizard.devices import Standing, disk_choices, told
from nasadvisor.console.change.wizard.draft import Draft, DraftStore, Loaded, sized
from nasadvisor.console.change.wizard.forms import DevicesForm, LayoutForm
from nasadvisor.console.change.wizard.plan_summary import summary_of
from nasadvisor.console.change.wizard.pools import PoolGoal, pool_choice, pool_choices
from nasadvisor.console.change.wizard.preview import LARGEST_USEFUL_LOG_BYTES, Layout, layout_of, slider_for
from nasadvisor.console.change.wizard.progress import WizardStep, progress
from nasadvisor.console.evidence.options import gain_words
from nasadvisor.console.evidence.watch import series_of
from nasadvisor.console.fleet.current_host import current_node
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.disk_badges import badges_in_pool
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.storage.logs import without_log_side, without_logs


@dataclass(frozen=True)
class WizardPlace:
    """Where in the wizard somebody is: a pool of the node that is shown, the choices made for it, and our advice.

    `asked_at` is when their request came.
    """

    node: Node
    inventory: Inventory
    pool: Pool
    advice: Advice
    kept: DraftStore
    loaded: Loaded
    asked_at: datetime

    @property
    def draft(self) -> Draft:
        """The choices to go on with."""
        return self.loaded.draft

    @property
    def is_only_pool(self) -> bool:
        """Whether there is no other to choose."""
        return len(self.inventory.pools) == 1

    def save(self, draft: Draft) -> None:
        """Keep other choices for it."""
        self.kept.save(draft, self.asked_at)


def place_of(request: HttpRequest, pool_guid: str) -> WizardPlace:
    """The pool and the choices made for it.

    Raises:
        Http404: the node that is shown has no such pool.
    """
    asked_at = timezone.now()
    node, inventory, pool = pool_or_404(request, pool_guid)
    advice, kept = Advice(node, inventory, pool), DraftStore(user_of(request), node, pool_guid)
    return WizardPlace(node, inventory, pool, advice, kept, kept.load(inventory, advice.draft), asked_at)


@dataclass(frozen=True)
class PostedForms:
    """Both forms as they were posted, and the draft that comes of them; what is not accepted is left as it was."""

    devices: DevicesForm
    layout: LayoutForm
    draft: Draft

    @property
    def are_valid(self) -> bool:
        """Whether everything was accepted."""
        return self.devices.is_valid() and self.layout.is_valid()


def answers_to(posted: QueryDict, place: WizardPlace) -> PostedForms:
    """The draft with the ticked disks and typed sizes, caches as large as is recommended unless one was typed."""
    choices = disk_choices(place.inventory, place.pool, place.draft, place.node.platform.vetoes)
    devices = DevicesForm(posted, choices, place.draft)
    ticked = replace(
        place.draft,
        log_disks=devices.offered("log", posted.getlist("log")),
        cache_disks=devices.offered("cache", posted.getlist("cache")),
    )
    layout = LayoutForm(posted, ticked, place.inventory)
    draft = layout.changed_draft() if layout.is_valid() else ticked
    return PostedForms(devices, layout, sized(draft, place.inventory))


UNUSABLE_SHOWN = 50
"""Of disks that cannot be used, as many are shown at first; a host can have a thousand."""


@operator_required
def pools(request: HttpRequest) -> HttpResponse:
    """Before the first step: which pool."""
    node = current_node(request)
    inventory = node.inventory if node else None
    choices = pool_choices(inventory, node.platform.vetoes) if node and inventory else ()
    if len(choices) == 1 and choices[0].leaves_nothing_to_ask:
        return redirect("wizard-devices", choices[0].pool.guid)
    context = {"choices": choices, "node": node, "chosen": "", "progress": progress(WizardStep.DEVICES)}
    return render(request, "change/wizard/pools.html", context)


@operator_required
def start(request: HttpRequest, pool_guid: str) -> HttpResponse:
    """The same with a pool chosen; a POST begins, keeping earlier choices for the same goal.

    So does the address that a finding leads to, where its goal can be reached: `?goal=mirror`, `?goal=replace` or
    `?goal=instead`.
    """
    place = place_of(request, pool_guid)
    choice = pool_choice(place.pool, place.inventory, place.node.platform.vetoes)
    way = choice.way(request.POST.get("goal", request.GET.get("goal", "")))
    if request.method != "POST" and place.is_only_pool and choice.leaves_nothing_to_ask:
        return redirect("wizard-devices", pool_guid)
    if request.method != "POST" and not way.is_of_a_log:
        context = {
            "choices": pool_choices(place.inventory, place.node.platform.vetoes),
            "node": place.node,
            "chosen": pool_guid,
            "progress": progress(WizardStep.DEVICES),
        }
        return render(request, "change/wizard/pools.html", context)
    if way.refusal:
        return redirect("wizard-start", pool_guid)
    if _way_of(place.draft) != replace(way, refusal=None):
        _begin(way, place)
    return redirect("wizard-devices", pool_guid)


@operator_required
def devices(request: HttpRequest, pool_guid: str) -> HttpResponse:
    """The first step: which SSDs, what for, and how large. A POST makes the plan and goes on to its review."""
    place = place_of(request, pool_guid)
    if request.method != "POST":
        return _devices_page(request, place, None)
    if "anew" in request.POST:
        _begin(_way_of(place.draft), place)
        return redirect("wizard-devices", pool_guid)
    if "anyway" in request.POST:
        place.save(place.advice.draft_anyway())
        return redirect("wizard-devices", pool_guid)
    answers = answers_to(request.POST, place)
    if "free_space" in request.POST:
        place.save(replace(answers.draft, use_free_space=request.POST["free_space"] == "offer"))
        return redirect("wizard-devices", pool_guid)
    if answers.are_valid:
        place.save(answers.draft)
        answer = layout_of(answers.draft, place.inventory)
        if answer.plan:
            return on_to_review(request, answer.plan, place.node)
        messages.warning(request, _("These choices cannot be applied; the reasons are below the diagram."))
    return _devices_page(request, place, answers)


@require_POST
@operator_required
def devices_answer(request: HttpRequest, pool_guid: str) -> HttpResponse:
    """What follows the choices while they are made: drawing, summary, reasons, and with `?disks` what is asked too.

    They are kept, so that nothing is lost by a reload, another browser or the end of a session.
    """
    place = place_of(request, pool_guid)
    answers = answers_to(request.POST, place)
    place.save(answers.draft)
    chosen = replace(place, loaded=replace(place.loaded, draft=answers.draft))
    form = LayoutForm(None, answers.draft, place.inventory) if answers.layout.is_valid() else answers.layout
    context = {**_size_context(chosen, form, layout_of(answers.draft, place.inventory)), "asks": "disks" in request.GET}
    return render(request, "change/wizard/_answer.html", context)


def _devices_page(request: HttpRequest, place: WizardPlace, answers: PostedForms | None) -> HttpResponse:
    """The page with what is kept, or with what was posted and why it is not accepted."""
    draft = answers.draft if answers else place.draft
    shown = replace(place, loaded=replace(place.loaded, draft=draft))
    proposal = place.advice.proposal(_way_of(draft))
    vetoes = place.node.platform.vetoes
    choices = told(disk_choices(place.inventory, place.pool, draft, vetoes), place.advice.health, proposal)
    unusable = [choice for choice in choices if choice.standing is Standing.UNUSABLE]
    form = answers.layout if answers else LayoutForm(None, draft, place.inventory)
    context = {
        **_size_context(shown, form, layout_of(draft, place.inventory)),
        "progress": progress(WizardStep.DEVICES),
        "devices_form": answers.devices if answers else DevicesForm(None, choices, draft),
        "proposal": proposal,
        "wanted": place.advice.known.wanted,
        "gains": _gains(place),
        "offered": [choice for choice in choices if choice.standing is not Standing.UNUSABLE],
        "unusable": unusable if "all" in request.GET else unusable[:UNUSABLE_SHOWN],
        "unusable_count": len(unusable),
        "shows_all": "all" in request.GET,
        "pool_badges": badges_in_pool(place.node, place.inventory, place.pool),
        "pool_choice": pool_choice(_pool_to_add_to(place), place.inventory, vetoes),
    }
    return render(request, "change/wizard/devices.html", context)


def _gains(place: WizardPlace) -> dict[str, str]:
    """How much less programs would wait in a day with a log and a cache, in words; "" where that is not known."""
    series = series_of(place.node, place.pool.guid)
    waiting = series.waiting if series else None
    if waiting is None:
        return {}
    return {"log": gain_words(waiting.log, waiting.waits), "cache": gain_words(waiting.cache, waiting.waits)}


def _size_context(place: WizardPlace, form: LayoutForm, answer: Layout) -> dict[str, Any]:
    draft = place.draft
    return {
        "place": place,
        "form": form,
        "layout": answer,
        "summary": summary_of(answer.plan) if answer.plan else None,
        "log_slider": slider_for(draft.log_sides, draft, place.inventory, LARGEST_USEFUL_LOG_BYTES),
        "cache_slider": slider_for(draft.cache_disks, draft, place.inventory),
        "seen": place.advice.seen,
        "recommended_cache": place.advice.cache_size,
    }


def _begin(way: PoolGoal, place: WizardPlace) -> None:
    """Go about something else than before; what is only to be added is proposed anew with each look at it."""
    place.kept.drop()
    if way.is_of_a_log:
        place.save(place.advice.draft(way))


def _way_of(draft: Draft) -> PoolGoal:
    """What choices go about."""
    return PoolGoal(None, draft.attach_to, draft.replaces, draft.dead_log)


def _pool_to_add_to(place: WizardPlace) -> Pool:
    """The pool, without the log or the side of it that is to be replaced."""
    draft = place.draft
    pool = without_log_side(place.pool, draft.replaces) if draft.replaces else place.pool
    return without_logs(pool, draft.dead_log)
