"""Proof by switching: the offer on the pages, beginning and stopping it, and keeping what hosts tell of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import POSTED_FIELDS, PasswordForm, asked_of, confirm_password, require_only
from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.evidence.asked import note_asked
from nasadvisor.console.evidence.models import Resolution
from nasadvisor.console.evidence.series import whole_samples_of
from nasadvisor.console.evidence.switch_shown import Shown, shown
from nasadvisor.console.evidence.told import newest_of
from nasadvisor.console.evidence.watch import series_of
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.change.plan import PlanIds, PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.switch_forecast import expected_within
from nasadvisor.domain.evidence.switched import CacheSwitching, SwitchOrder
from nasadvisor.domain.evidence.switching import USUAL_PAIRS
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.platforms import vetoes_on
from nasadvisor.domain.fleet.questions import START_SWITCHING, STOP_SWITCHING, Question
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.units import DAY_S, HOUR_S

LENGTHS: Final = ((12, 1), (USUAL_PAIRS, 3), (84, 7))
"""Pairs of hours, and the days that they are."""


@dataclass(frozen=True)
class SwitchingPart:
    """The part of the page. `shown` is None before the first, `waits` while its host has not answered yet."""

    shown: Shown | None
    has_cache: bool
    waits: bool = False
    is_unanswered: bool = False
    error: Statement | None = None
    forbidden: Refused | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether there is something to stop."""
        return self.shown is not None and not self.shown.record.ended_at

    @property
    def can_begin(self) -> bool:
        """Whether it is offered."""
        return self.has_cache and not self.is_under_way and not self.waits and self.forbidden is None


@dataclass(frozen=True)
class Length:
    """How long it can take: `within` is ± what share would be known then, None where that cannot be told yet."""

    pairs: int
    days: int
    within: float | None


def switching_part(node: Node, inventory: Inventory, pool: Pool, now: datetime) -> SwitchingPart:
    """The part of the page of a pool."""
    stored, has_cache = newest_of(node, CacheSwitching, pool.guid), bool(pool.caches)
    forbidden = why_not(node.platform, Verbs.CHANGE) or _reason_against(node, inventory, pool, now)
    if stored is None:
        return SwitchingPart(None, has_cache, forbidden=forbidden)
    return SwitchingPart(
        shown=shown(stored.found(CacheSwitching)),
        has_cache=has_cache,
        waits=stored.is_under_way(now),
        is_unanswered=stored.is_unanswered(now),
        error=stored.error,
        forbidden=forbidden,
    )


def _reason_against(node: Node, inventory: Inventory, pool: Pool, now: datetime) -> Refused | None:
    """Why the host would not take one of the caches out of service."""
    forbidden = vetoes_on(node.platform.vetoes, "", pool.guid)
    ids = PlanIds("switching", now.isoformat(timespec="seconds"), ())
    plans = (make_plan(PlanRequest(pool.guid, offline_cache=cache.guid), inventory, ids) for cache in pool.caches)
    refusals = (refusal for plan in plans if isinstance(plan, PlanRefused) for refusal in plan.refusals)
    return next(iter((*forbidden, *refusals)), None)


def lengths_of(node: Node, guid: str, now: datetime) -> tuple[Length, ...]:
    """How long it can take, each with how exact the recorded hours let expect it to be."""
    hours = _hours(node, guid, now, max(days for _pairs, days in LENGTHS))
    return tuple(_length(guid, pairs, days, hours, now) for pairs, days in LENGTHS)


def usual_length(node: Node, guid: str, now: datetime) -> Length:
    """The one that is offered where there is room for one sentence."""
    days = dict(LENGTHS)[USUAL_PAIRS]
    return _length(guid, USUAL_PAIRS, days, _hours(node, guid, now, days), now)


def _hours(node: Node, guid: str, now: datetime, days: int) -> tuple[Sample, ...]:
    series = series_of(node, guid)
    if series is None:
        return ()
    return tuple(whole_samples_of(series, Resolution.HOUR, _after(now, days), int(now.timestamp()) + 1))


def _length(guid: str, pairs: int, days: int, hours: tuple[Sample, ...], now: datetime) -> Length:
    recent = tuple(hour for hour in hours if hour.at > _after(now, days))
    return Length(pairs, days, expected_within(guid, pairs, recent))


def _after(now: datetime, days: int) -> int:
    return int(now.timestamp()) + 1 - days * DAY_S - HOUR_S


def switching(request: HttpRequest, guid: str) -> HttpResponse:
    """The part of the page that changes while a cache is switched."""
    node, inventory, pool = pool_or_404(request, guid)
    part = switching_part(node, inventory, pool, timezone.now())
    return render(request, "evidence/_switching.html", {"pool": pool, "switching": part})


@operator_required
def start(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask for the password, then ask the host to switch the caches of a pool."""
    node, inventory, pool = pool_or_404(request, guid)
    require_only(request, POSTED_FIELDS | {"pairs"})
    if not switching_part(node, inventory, pool, timezone.now()).can_begin:
        return redirect("evidence-pool", guid)
    pairs = next((each for each, _ in LENGTHS if str(each) == request.POST.get("pairs")), USUAL_PAIRS)
    order = SwitchOrder(str(uuid4()), guid, pairs)
    context = {"lengths": lengths_of(node, guid, timezone.now()), "chosen": pairs, "usual": USUAL_PAIRS}
    return _asked(request, node, pool, Act.SWITCH, (START_SWITCHING, order), "evidence/switching_start.html", context)


@operator_required
def stop(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask for the password, then ask the host to switch no more and put the cache back."""
    node, inventory, pool = pool_or_404(request, guid)
    require_only(request, POSTED_FIELDS)
    if not switching_part(node, inventory, pool, timezone.now()).is_under_way:
        return redirect("evidence-pool", guid)
    return _asked(request, node, pool, Act.SWITCH_STOP, (STOP_SWITCHING, guid), "evidence/switching_stop.html", {})


def _asked(
    request: HttpRequest,
    node: Node,
    pool: Pool,
    act: Act,
    question: tuple[Question, object],
    template: str,
    context: dict[str, Any],
) -> HttpResponse:
    form: forms.Form = asked_of(request, PasswordForm(request.POST if request.method == "POST" else None))
    is_meant = request.method == "POST" and confirm_password(request, form)
    if is_meant and is_handed_over(request, lambda: hosts.ask(node, *question, by=user_of(request))):
        note_asked(node, question[0], pool.guid)
        audit.record(request, act, f"{node.name}: {pool.name}")
        return redirect("evidence-pool", pool.guid)
    return render(request, template, {"pool": pool, "node": node, "form": form, "section": "evidence", **context})
