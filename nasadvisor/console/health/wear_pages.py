"""The fleet by wear, and the page of one drive."""

import csv
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import F, Max, Min, Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.roles import operator_required, user_of
from nasadvisor.console.fleet.shown import current_node
from nasadvisor.console.health.alert_models import StoredAlert
from nasadvisor.console.health.bytes_by_role import ORDER, Written, written_by_role
from nasadvisor.console.health.bytes_by_role_chart import written_chart
from nasadvisor.console.health.charts import NARROW, WIDE, WearPoint, wear_chart
from nasadvisor.console.health.forecasts import stored_forecast
from nasadvisor.console.health.marks import UNWELL, WORST_FIRST
from nasadvisor.console.health.models import LARGE_FIELDS, NodeHealth, StoredDisk
from nasadvisor.console.health.ratings import RatingForm, clocks_of, rating_of, with_ratings
from nasadvisor.console.health.sweeps import request_sweep
from nasadvisor.domain.health.sweep import SelfTest, exit_words

PER_PAGE: Final = 50
TEMPERATURES_SHOWN: Final = timedelta(days=30)

SORTS: Final = {
    "state": (WORST_FIRST, F("worn_out_at").asc(nulls_last=True), F("percent_used").desc(nulls_last=True)),
    "date": (F("worn_out_at").asc(nulls_last=True), F("percent_used").desc(nulls_last=True)),
    "used": (F("percent_used").desc(nulls_last=True),),
    "written": (F("bytes_per_day").desc(nulls_last=True),),
    "temperature": (F("temperature_c").desc(nulls_last=True),),
    "name": ("model", "serial"),
    "role": ("pool_name", "role", "model"),
}
"""What the list may be sorted by; the first is how it comes."""

LARGE: Final = (*LARGE_FIELDS, "node__inventory_document")


@dataclass(frozen=True)
class Fleet:
    """The drives that are shown, how they are sorted, and what was asked for."""

    page: Page[StoredDisk]
    sort: str
    query: str
    kind: str


def wear(request: HttpRequest) -> HttpResponse:
    """Every drive of the node: what needs a look on top, then the one that wears out first."""
    node = current_node(request)
    if node is None:
        return render(request, "fleet/no_node.html", {"section": "wear"})
    fleet = _fleet(request, StoredDisk.objects.filter(node=node))
    context = {
        "node": node,
        "health": NodeHealth.objects.filter(node=node).first(),
        "fleet": fleet,
        "written": written_by_role(fleet.page.object_list, timezone.now()),
        "has_disks": StoredDisk.objects.filter(node=node).exists(),
        "section": "wear",
    }
    return render(request, "health/wear.html", context)


def drive(request: HttpRequest, pk: int) -> HttpResponse:
    """One drive: its wear so far and to come, what it says of itself, its self-tests."""
    disk = get_object_or_404(StoredDisk.objects.select_related("node").defer("node__inventory_document"), pk=pk)
    kept = stored_forecast(disk)
    now = timezone.now()
    rows = disk.readings.filter(percent_used__isnull=False).values_list("taken_at", "percent_used", "role")
    points = [WearPoint(at, percent or 0.0, role) for at, percent, role in rows]
    fan = kept.fan if kept else ()
    is_drawn = bool(points) and disk.is_solid_state is not False
    rating = rating_of(disk)
    context = {
        "disk": disk,
        "clocks": clocks_of(disk, rating, kept.forecast.bytes_per_day if kept else None, now),
        "rating_form": RatingForm(instance=rating),
        "reading": disk.reading,
        "forecast": kept.forecast if kept else None,
        "written": written_by_role([disk], now, kept.forecast.percent_per_year if kept else None).get(disk.pk),
        "days": written_chart(disk.written_days.filter(segment_at=disk.role_since), timezone.localtime(now).date()),
        "charts": [wear_chart(points, fan, now, width) for width in (WIDE, NARROW)] if is_drawn else [],
        "exit_words": [_(words) for words in exit_words(disk.exit_status)],
        "temperatures": disk.readings.filter(taken_at__gte=now - TEMPERATURES_SHOWN).aggregate(
            least=Min("temperature_c"), most=Max("temperature_c")
        ),
        "self_tests": disk.self_tests.all()[:20],
        "alerts": StoredAlert.objects.filter(subject=str(disk.pk), source__startswith="disks/")[:20],
        "section": "wear",
    }
    return render(request, "health/drive.html", context)


@operator_required
@require_POST
def start_self_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Make one drive test itself."""
    disk = get_object_or_404(StoredDisk.objects.select_related("node").defer("node__inventory_document"), pk=pk)
    test = SelfTest.LONG if request.POST.get("test") == SelfTest.LONG else SelfTest.SHORT
    try:
        hosts.request_self_test(disk.node, disk.key, test, user_of(request).get_username())
    except hosts.HostUnreachable as error:
        messages.error(request, str(error))
    else:
        messages.info(request, _("Asked %(disk)s to test itself. A later sweep shows the result.") % {"disk": disk})
    return redirect("drive", pk)


@operator_required
@require_POST
def rate(request: HttpRequest, pk: int) -> HttpResponse:
    """What the data sheet of a drive's model promises."""
    disk = get_object_or_404(StoredDisk, pk=pk)
    form = RatingForm(request.POST, instance=rating_of(disk))
    if form.is_valid():
        form.instance.model, form.instance.size_bytes = disk.model, disk.size_bytes
        form.instance.entered_by, form.instance.entered_at = user_of(request).get_username(), timezone.now()
        form.save()
        messages.success(request, _("Saved for every %(model)s of this size.") % {"model": disk.model})
    else:
        messages.error(request, _("Nothing was saved: each rating is a number above zero, or empty."))
    return redirect("drive", pk)


@operator_required
@require_POST
def forget(request: HttpRequest, pk: int) -> HttpResponse:
    """A drive was taken out for good: it is no longer missed. Its history stays."""
    disk = get_object_or_404(StoredDisk, pk=pk)
    if not disk.is_present:
        StoredDisk.objects.filter(pk=pk).update(is_forgotten=True)
        messages.success(request, _("%(disk)s is not missed any more.") % {"disk": disk})
    return redirect("wear")


@operator_required
@require_POST
def sweep_now(request: HttpRequest) -> HttpResponse:
    """Ask all disks of the node now."""
    node = current_node(request)
    if node:
        try:
            request_sweep(node, timezone.now())
        except hosts.HostUnreachable as error:
            messages.error(request, str(error))
        else:
            messages.info(request, _("Asked %(node)s to ask its disks. That takes up to a minute.") % {"node": node})
    return redirect("wear")


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
    lines = (_csv_cells((*row[1:], *_by_role(written.get(row[0])))) for row in rows.iterator(chunk_size=500))
    writer = csv.writer(_Echo())
    stream = (writer.writerow(line) for line in ((*heads, *(f"{role}_bytes_per_day" for role in ORDER)), *lines))
    response = StreamingHttpResponse(stream, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="wear.csv"'
    return response


def _by_role(written: Written | None) -> tuple[int | None, ...]:
    return tuple(written.bytes_per_day(role) if written else None for role in ORDER)


class _Echo:
    """A file that hands back what is written to it."""

    def write(self, value: str) -> str:
        return value


def _csv_cells(row: tuple[object, ...]) -> list[str]:
    return [_csv_cell(value) for value in row]


def _csv_cell(value: object) -> str:
    """A cell that no spreadsheet takes for a formula: the names come from disks."""
    text = value.isoformat(timespec="seconds") if hasattr(value, "isoformat") else "" if value is None else str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _fleet(request: HttpRequest, disks: QuerySet[StoredDisk]) -> Fleet:
    sort = request.GET.get("sort", "")
    sort = sort if sort in SORTS else "state"
    query = request.GET.get("q", "").strip()
    kind = "all" if request.GET.get("kind") == "all" else "ssd"
    disks = with_ratings(disks.filter(is_forgotten=False).defer(*LARGE))
    if kind == "ssd":
        disks = disks.filter(UNWELL | Q(is_rotational=False))
    for word in query.split():
        names = Q(model__icontains=word) | Q(serial__icontains=word)
        disks = disks.filter(names | Q(pool_name__icontains=word) | Q(role__icontains=word))
    return Fleet(Paginator(disks.order_by(*SORTS[sort]), PER_PAGE).get_page(request.GET.get("page")), sort, query, kind)
