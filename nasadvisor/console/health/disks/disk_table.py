"""The one table of disks: what each is used for, how it is, and how it wears; and what one may have done about disks:
testing, asking, rating, forgetting.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Case, F, OrderBy, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.roles import operator_required, user_of
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.current_host import current_node
from nasadvisor.console.fleet.hosts import is_handed_over
from nasadvisor.console.health.alerts.disk_badges import UNWELL, DiskBadge, badge_of
from nasadvisor.console.health.bytes_by_role import ORDER, Written, written_by_role
from nasadvisor.console.health.forecasts import RatingForm, rating_of, with_ratings
from nasadvisor.console.health.models import NOT_LISTED, NodeHealth, StoredDisk
from nasadvisor.console.health.sweeps import request_sweep
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.console.storage.disks import Usage, issues_by_key, usage_of
from nasadvisor.console.storage.pools import open_pools
from nasadvisor.console.web.sanitise import cells
from nasadvisor.console.wording.statements import said
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.questions import START_SELF_TEST
from nasadvisor.domain.health.sweep import SelfTest
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Disk

PER_PAGE: Final = 50


COLUMNS: Final[dict[str, str | Promise]] = {
    "name": _("Disk"),
    "use": _("Used for"),
    "health": _("Health"),
    "worn": _("Wear and endurance limit"),
    "temperature": _("Temp."),
    "written": _("Written per day"),
    "protection": _("Power-loss protection"),
}
"""The columns of the table; all of them sort."""

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "name": ("model", "serial"),
    "use": ("pool_name", "role", "vdev_name", "model"),
    "worn": ("percent_used", "reallocated"),
    "temperature": ("temperature_c",),
    "written": ("bytes_per_day",),
    "protection": ("power_loss",),
}

MOST_FIRST: Final = frozenset({"worn", "temperature", "written"})
"""Columns of which one wants to see the most first."""

KINDS: Final[dict[str, str | Promise]] = {"all": _("All disks"), "ssd": _("SSDs"), "hdd": _("Hard disks")}


@dataclass(frozen=True)
class DiskRow:
    """A line of the table: what is remembered of a disk, what is said of it, and its use, None once it is gone."""

    stored: StoredDisk
    mark: DiskBadge | None
    usage: Usage | None
    written: Written | None


@dataclass(frozen=True)
class Head:
    """A column: where a click on its head leads, and how the table is sorted by it now."""

    words: str | Promise
    address: str
    sorted: str


@dataclass(frozen=True)
class Asked:
    """What somebody asked for: order, words to look for, kind of disks, page."""

    sort: str
    query: str
    kind: str

    def address(self, **changes: object) -> str:
        """The same list with something else."""
        return "?" + urlencode({"sort": self.sort, "kind": self.kind, "q": self.query} | changes)

    @property
    def is_narrowed(self) -> bool:
        """Whether it leaves disks out."""
        return bool(self.query) or self.kind != "all"


def disks(request: HttpRequest) -> HttpResponse:
    """Every disk of the node; what needs a look is on top."""
    node = current_node(request)
    if node is None:
        return render(request, "fleet/no_node.html", {"section": "disks"})
    inventory = node.inventory
    index = Index(inventory) if inventory else None
    sort, kind = request.GET.get("sort", ""), request.GET.get("kind", "")
    asked = Asked(
        sort=sort if sort.removeprefix("-") in COLUMNS else "health",
        query=request.GET.get("q", "").strip(),
        kind=kind if kind in KINDS else "all",
    )
    known = StoredDisk.objects.filter(node=node, is_forgotten=False)
    chosen: QuerySet[StoredDisk] = known
    if asked.kind != "all":
        chosen = chosen.filter(is_rotational=asked.kind == "hdd")
    for word in asked.query.split():
        names = Q(model__icontains=word) | Q(serial__icontains=word) | Q(key__icontains=word)
        chosen = chosen.filter(names | Q(pool_name__icontains=word) | Q(role__icontains=word) | Q(vdev_name=word))
    chosen = with_ratings(chosen.defer(*NOT_LISTED))
    chosen = chosen.order_by(*_order(asked.sort, index), "model", "serial", "pk")
    page = Paginator(chosen, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "node": node,
        "inventory": inventory,
        "open_pools": open_pools(node, inventory) if inventory else (),
        "health": NodeHealth.objects.filter(node=node).first(),
        "asked": asked,
        "kinds": KINDS,
        "heads": [_head(name, asked) for name in COLUMNS],
        "page": page,
        "back": asked.address(page=page.previous_page_number()) if page.has_previous() else "",
        "next": asked.address(page=page.next_page_number()) if page.has_next() else "",
        "rows": _rows(page, index),
        "others": _others(known, index) if index else (),
        "section": "disks",
    }
    return render(request, "health/disks/disks.html", context)


def _order(sort: str, index: Index | None) -> Sequence[OrderBy]:
    name, is_down = sort.removeprefix("-"), sort.startswith("-")
    if name == "health":
        # First those of which they or their pools say the worst.
        issues = issues_by_key(index) if index else {}
        broken = Q(key__in=[key for key, issue in issues.items() if issue.state], is_present=True)
        erring = Q(key__in=list(issues), is_present=True)
        is_worst = (UNWELL & Q(worst_level=Level.CRITICAL.value)) | broken
        worst_first = Case(When(is_worst, then=Value(0)), When(UNWELL | erring, then=Value(1)), default=Value(2))
        worn_out, used = F("worn_out_at"), F("percent_used")
        if is_down:
            return [worst_first.desc(), worn_out.desc(nulls_last=True), used.asc(nulls_last=True)]
        return [worst_first.asc(), worn_out.asc(nulls_last=True), used.desc(nulls_last=True)]
    fields = [F(field) for field in FIELDS[name]]
    return [each.desc(nulls_last=True) if is_down else each.asc(nulls_last=True) for each in fields]


def _head(name: str, asked: Asked) -> Head:
    """A second click sorts the other way round."""
    first = f"-{name}" if name in MOST_FIRST else name
    second = name if name in MOST_FIRST else f"-{name}"
    is_here = asked.sort.removeprefix("-") == name
    state = ("descending" if asked.sort.startswith("-") else "ascending") if is_here else ""
    return Head(COLUMNS[name], asked.address(sort=second if asked.sort == first else first), state)


def _rows(page: Page[StoredDisk], index: Index | None) -> list[DiskRow]:
    written = written_by_role(page.object_list, timezone.now())
    rows = []
    for stored in page.object_list:
        found = index.inventory.disk(stored.key) if index and stored.is_present else None
        usage = usage_of(found, index) if index and found else None
        rows.append(DiskRow(stored, badge_of(stored), usage, written.get(stored.pk)))
    return rows


def _others(known: QuerySet[StoredDisk], index: Index) -> list[tuple[Disk, Usage]]:
    """What the host sees beside: copies of a disk, and disks that another host remembers, as in a shared shelf."""
    keys = set(known.values_list("key", flat=True))
    inventory = index.inventory
    unknown = [each for each in inventory.disks if each.key not in keys or inventory.disk(each.key) is None]
    return [(each, usage_of(each, index)) for each in unknown]


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
        messages.info(
            request,
            gettext("Self-test requested on %(disk)s. A later health check will show the result.") % {"disk": disk},
        )
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
        messages.success(request, gettext("Saved for all %(model)s disks of this size.") % {"model": disk.model})
    else:
        messages.error(request, gettext("Nothing was saved: each rating must be a number above zero, or empty."))
    return redirect("disk", disk.key)


@operator_required
@require_POST
def forget(request: HttpRequest, pk: int) -> HttpResponse:
    """A drive was taken out for good: it is no longer missed. Its history stays."""
    disk = _disk(pk)
    if not disk.is_present:
        StoredDisk.objects.filter(pk=pk).update(is_forgotten=True)
        audit.record(request, Act.DISK_FORGOTTEN, f"{disk.node.name}: {disk}")
        messages.success(request, gettext("%(disk)s is no longer reported as missing.") % {"disk": disk})
    return redirect("disks")


@operator_required
@require_POST
def sweep_now(request: HttpRequest) -> HttpResponse:
    """Ask all disks of the node now."""
    node = current_node(request)
    if node and is_handed_over(request, lambda: request_sweep(node, timezone.now(), user_of(request))):
        messages.info(
            request, gettext("Disk health check requested on %(node)s. It takes up to a minute.") % {"node": node}
        )
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
