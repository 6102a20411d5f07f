"""Measuring by writing: the page that asks for consent, and what measurements told."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console import hosts
from nasadvisor.console.models import StoredMeasurement, StoredRun
from nasadvisor.console.passwords import POSTED_FIELDS, PasswordForm, confirm_password, require_only
from nasadvisor.console.pools import pool_or_404
from nasadvisor.console.roles import operator_required, user_of
from nasadvisor.console.wizard.draft import is_free_ssd
from nasadvisor.domain.inventory import Inventory
from nasadvisor.domain.lifecycle import Run
from nasadvisor.domain.measurement import Measurement, MeasureOrder
from nasadvisor.domain.prediction import Range
from nasadvisor.domain.probing import against_probe

SHOWN = 20


class MeasureForm(PasswordForm):
    """Which SSD to test, if any, and the password."""

    disk = forms.ChoiceField(label=gettext_lazy("Test this blank SSD too"), required=False)
    field_order = ("disk", "password")

    def __init__(self, data: Any, inventory: Inventory) -> None:
        super().__init__(data)
        ssds = [disk for disk in inventory.disks if is_free_ssd(disk)]
        field = self.fields["disk"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [("", _("none, only the pool")), *((disk.key, disk.label) for disk in ssds)]


@operator_required
def measure(request: HttpRequest, guid: str) -> HttpResponse:
    """Ask for consent and the password, then ask the host; below, what was measured before."""
    require_only(request, POSTED_FIELDS | {"disk"})
    node, inventory, pool = pool_or_404(request, guid)
    form = MeasureForm(request.POST if request.method == "POST" else None, inventory)
    refusals = list(against_probe(pool, None))
    if request.method == "POST" and not refusals and confirm_password(request, form):
        order = MeasureOrder(str(uuid4()), guid, form.cleaned_data["disk"])
        try:
            hosts.measure(node, order, user_of(request).get_username())
        except hosts.HostUnreachable as error:
            messages.error(request, str(error))
        else:
            messages.info(request, _("Measuring has begun. It takes some minutes; reload this page to see the result."))
            return redirect("evidence-measure", guid)
    context = {
        "node": node,
        "pool": pool,
        "form": form,
        "refusals": refusals,
        "measurements": measurements_of(guid),
        "section": "evidence",
    }
    return render(request, "evidence/measure.html", context)


def measurements_of(pool_guid: str) -> list[StoredMeasurement]:
    """The last measurements of a pool, newest first."""
    return list(StoredMeasurement.objects.filter(pool_guid=pool_guid)[:SHOWN])


@dataclass(frozen=True)
class ProbedRow:
    """One kind of load, measured before and after a run, and what was predicted; 0 and None where there is nothing."""

    block_bytes: int
    writers: int
    before_per_s: float
    after_per_s: float
    before_p99_ns: float
    after_p99_ns: float
    predicted: Range | None

    @property
    def gain(self) -> float:
        """How many times as much is done."""
        return self.after_per_s / self.before_per_s if self.before_per_s else 0.0


def probed_rows(stored: StoredRun) -> tuple[ProbedRow, ...]:
    """The last measurement before a run beside the first one after it; nothing if one of them is missing."""
    found = [each.measurement for each in StoredMeasurement.objects.filter(pool_guid=stored.pool_guid)]
    measured = sorted((each for each in found if each), key=lambda each: each.probe.at)
    before, after = _around(stored.run, measured)
    return tuple(_rows(before, after)) if before and after else ()


def _around(run: Run, measured: Iterable[Measurement]) -> tuple[Measurement | None, Measurement | None]:
    """Times are all UTC in ISO 8601, so they sort as text."""
    before = after = None
    applied = max((step.ended_at for step in run.steps), default="")
    for each in measured:
        if each.probe.at < run.started_at and not each.probe.had_log:
            before = each
        elif applied and each.probe.at > applied and each.probe.had_log and after is None:
            after = each
    return before, after


def _rows(before: Measurement, after: Measurement) -> Iterator[ProbedRow]:
    later = {(each.block_bytes, each.writers): each for each in after.probe.figures}
    predicted = {(each.block_bytes, each.writers): each.after_per_s for each in before.predictions}
    for figures in before.probe.figures:
        key = (figures.block_bytes, figures.writers)
        if key in later:
            now = later[key]
            yield ProbedRow(
                *key,
                figures.operations_per_s,
                now.operations_per_s,
                figures.sync_p99_ns,
                now.sync_p99_ns,
                predicted.get(key),
            )
