"""What one may have done about disks: testing, asking, rating, forgetting; and all of them as a table for programs."""

import csv

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.current_host import current_node
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.health.bytes_by_role import ORDER, written_by_role
from nasadvisor.console.health.forecasts import RatingForm, rating_of, with_ratings
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.sweeps import request_sweep
from nasadvisor.console.web.sanitise import cells
from nasadvisor.console.wording.statements import said
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.questions import START_SELF_TEST
from nasadvisor.domain.health.sweep import SelfTest


@operator_required
@require_POST
def start_self_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Make one drive test itself."""
    disk = _disk(pk)
    test = SelfTest.LONG if request.POST.get("test") == SelfTest.LONG else SelfTest.SHORT
    forbidden = why_not(disk.node.platform, Verbs.MEASURE)
    if forbidden:
        messages.error(request, said(forbidden))
        return redirect("disk", disk.key)
    if is_handed_over(request, lambda: hosts.ask(disk.node, START_SELF_TEST, disk.key, test, by=user_of(request))):
        audit.record(request, Act.SELF_TEST, f"{disk.node.name}: {disk} {test.value}")
        messages.info(request, _("Asked %(disk)s to test itself. A later sweep shows the result.") % {"disk": disk})
    return redirect("disk", disk.key)


@operator_required
@require_POST
def rate(request: HttpRequest, pk: int) -> HttpResponse:
    """What the data sheet of a drive's model promises."""
    disk = _disk(pk)
    form = RatingForm(request.POST, instance=rating_of(disk))
    if form.is_valid():
        form.instance.model, form.instance.size_bytes = disk.model, disk.size_bytes
        form.instance.entered_by, form.instance.entered_at = user_of(request).get_username(), timezone.now()
        form.save()
        audit.record(request, Act.DISK_RATED, f"{disk.node.name}: {disk}")
        messages.success(request, _("Saved for every %(model)s of this size.") % {"model": disk.model})
    else:
        messages.error(request, _("Nothing was saved: each rating is a number above zero, or empty."))
    return redirect("disk", disk.key)


@operator_required
@require_POST
def forget(request: HttpRequest, pk: int) -> HttpResponse:
    """A drive was taken out for good: it is no longer missed. Its history stays."""
    disk = _disk(pk)
    if not disk.is_present:
        StoredDisk.objects.filter(pk=pk).update(is_forgotten=True)
        audit.record(request, Act.DISK_FORGOTTEN, f"{disk.node.name}: {disk}")
        messages.success(request, _("%(disk)s is no longer reported as missing.") % {"disk": disk})
    return redirect("disks")


@operator_required
@require_POST
def sweep_now(request: HttpRequest) -> HttpResponse:
    """Ask all disks of the node now."""
    node = current_node(request)
    if node and is_handed_over(request, lambda: request_sweep(node, timezone.now(), user_of(request))):
        messages.info(request, _("Asked %(node)s to ask its disks. That takes up to a minute.") % {"node": node})
    return redirect("disks")


def wear_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Every drive of every node as a table, for other programs: bytes, ISO 8601, "" for unknown."""
    del request
    heads = (
        *("node", "model", "serial", "role", "pool", "size_bytes", "read_at", "outcome", "power_on_hours"),
        *("percent_used", "bytes_written", "bytes_per_day", "temperature_c", "spare_percent", "media_errors"),
        *("worn_out_earliest_at", "worn_out_at", "worn_out_latest_at", "rated_terabytes"),
    )
    fields = ["node__name" if head == "node" else "pool_name" if head == "pool" else head for head in heads]
    disks = StoredDisk.objects.filter(is_forgotten=False)
    rows = with_ratings(disks).order_by("node__name", "model", "serial").values_list("pk", *fields)
    written = written_by_role(disks.only("pk"), timezone.now())

    def line(pk: int, *values: object) -> list[str]:
        found = written.get(pk)
        return cells((*values, *(found.bytes_per_day(role) if found else None for role in ORDER)))

    lines = (line(*row) for row in rows.iterator(chunk_size=500))
    writer = csv.writer(_Echo())
    stream = (writer.writerow(line) for line in ((*heads, *(f"{role}_bytes_per_day" for role in ORDER)), *lines))
    response = StreamingHttpResponse(stream, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="wear.csv"'
    return response


def _disk(pk: int) -> StoredDisk:
    return get_object_or_404(StoredDisk.objects.select_related("node").defer("node__inventory_document"), pk=pk)


class _Echo:
    """A file that hands back what is written to it."""

    def write(self, value: str) -> str:
        return value
