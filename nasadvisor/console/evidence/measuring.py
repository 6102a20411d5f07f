"""Measuring by writing: the page that asks for consent, and what measurements told."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid4

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.passwords import POSTED_FIELDS, PasswordForm, asked_of, confirm_password, require_only
from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.evidence.commits import commits_context
from nasadvisor.console.evidence.models import StoredMeasurement
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.change.proposal import is_free_ssd
from nasadvisor.domain.evidence.measuring.measurement import MeasureOrder, Stage
from nasadvisor.domain.evidence.measuring.probing import against_probe
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.questions import MEASURE
from nasadvisor.domain.health.smart.power_loss import PowerLossProtection, weigh
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Inventory, Pool

SHOWN = 20

_STAGES: Final[dict[Stage, str | Promise]] = {
    Stage.LOOK: gettext_lazy("Checking that the pool is quiet."),
    Stage.PROBE: gettext_lazy("Writing to the pool: load %(number)s of %(count)s."),
    Stage.FILL: gettext_lazy("Filling the SSD's fast cache: half %(number)s of %(count)s."),
    Stage.TEST: gettext_lazy("Writing a log workload to the SSD: load %(number)s of %(count)s."),
    Stage.REPLAY: gettext_lazy("Replaying your commits on the SSD."),
}


class MeasureForm(PasswordForm):
    """Which SSD to test, if any, and the password."""

    disk = forms.ChoiceField(label=gettext_lazy("Also test this blank SSD"), required=False)
    field_order = ("disk", "password")

    def __init__(self, data: Any, inventory: Inventory) -> None:
        super().__init__(data)
        ssds = [disk for disk in inventory.disks if is_free_ssd(disk)]
        field = self.fields["disk"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [("", _("none, measure only the pool")), *((disk.key, disk.label) for disk in ssds)]


@operator_required
def measure(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask for consent and the password, then ask the host; below, what was measured before."""
    require_only(request, POSTED_FIELDS | {"disk"})
    node, inventory, pool = pool_or_404(request, guid)
    form = asked_of(request, MeasureForm(request.POST if request.method == "POST" else None, inventory))
    refusals = reasons_against_measuring(node, pool)
    if request.method == "POST" and not refusals and confirm_password(request, form):
        order = MeasureOrder(str(uuid4()), guid, form.cleaned_data["disk"])
        if is_handed_over(request, lambda: order_measurement(node, order, user_of(request))):
            audit.record(request, Act.MEASURE, f"{node.name}: {pool.name} {order.disk_key} {order.id}")
            messages.info(request, _("The measurement has started. It takes a few minutes; you can close this page."))
            return redirect("evidence-measure", guid)
    context = {
        "node": node,
        "pool": pool,
        "form": form,
        "refusals": refusals,
        "measurements": measurements_of(guid, timezone.now()),
        "section": "evidence",
    }
    return render(request, "evidence/measure.html", context | commits_context(node, guid, timezone.now()))


@operator_required
def measured(request: HttpRequest, guid: str) -> HttpResponse:
    """The part of the page that changes while something is measured."""
    _node, _inventory, pool = pool_or_404(request, guid)
    context = {"pool": pool, "measurements": measurements_of(guid, timezone.now())}
    return render(request, "evidence/_measured.html", context)


def reasons_against_measuring(node: Node, pool: Pool) -> list[Refused]:
    """Why nothing is written to a pool to measure it, as far as is known without asking its host."""
    return [*filter(None, (why_not(node.platform, Verbs.MEASURE),)), *against_probe(pool, None)]


def order_measurement(node: Node, order: MeasureOrder, by: User) -> StoredMeasurement:
    """Ask a host to measure by writing.

    Raises:
        HostUnreachable: the request could not be handed over.
    """
    with transaction.atomic():
        stored = StoredMeasurement.objects.create(
            id=UUID(order.id),
            node=node,
            pool_guid=order.pool_guid,
            disk_key=order.disk_key,
            requested_by=by.get_username(),
            requested_at=timezone.now(),
        )
        hosts.ask(node, MEASURE, order, by=by)
    return stored


@dataclass(frozen=True)
class UnderWay:
    """How far a measurement is: what is being done, since when, how long it will still take, how much is done."""

    words: str
    since: str
    left_s: float
    percent: int


@dataclass(frozen=True)
class TestedSsd:
    """What else is known of an SSD that was tested, from its newest health reading."""

    disk: StoredDisk
    protection: PowerLossProtection


@dataclass(frozen=True)
class Measured:
    """A measurement as its page shows it."""

    stored: StoredMeasurement
    under_way: UnderWay | None
    ssd: TestedSsd | None


def measurements_of(pool_guid: str, now: datetime) -> list[Measured]:
    """The last measurements of a pool, newest first."""
    found = StoredMeasurement.objects.filter(pool_guid=pool_guid)[:SHOWN]
    return [Measured(each, _under_way(each, now), _tested_ssd(each)) for each in found]


def _under_way(stored: StoredMeasurement, now: datetime) -> UnderWay | None:
    progress = stored.progress
    if not stored.is_under_way:
        return None
    if progress is None:
        return UnderWay(_("Waiting for the host."), stored.requested_at.isoformat(), 0.0, 0)
    left_s = progress.left_at(now).total_seconds()
    words = _STAGES[progress.stage] % {"number": progress.number, "count": progress.count}
    return UnderWay(words, progress.at, left_s, int(100 * (1 - left_s / progress.total_s)) if progress.total_s else 0)


def _tested_ssd(stored: StoredMeasurement) -> TestedSsd | None:
    """The health of the tested SSD; None without a test, and before its first reading."""
    if stored.measurement is None or stored.measurement.candidate is None:
        return None
    key = stored.measurement.candidate.disk_key
    disk = StoredDisk.objects.filter(node=stored.node_id, key=key, read_at__isnull=False).first()
    reading = disk.reading if disk else None
    return TestedSsd(disk, weigh(reading.power_loss)) if disk and reading else None
