"""The one table of disks: what each is used for, how it is, and how it wears."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Case, F, OrderBy, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.fleet.current_host import current_node
from nasadvisor.console.health.alerts.disk_badges import UNWELL, DiskBadge, badge_of
from nasadvisor.console.health.bytes_by_role import Written, written_by_role
from nasadvisor.console.health.forecasts import with_ratings
from nasadvisor.console.health.models import NOT_LISTED, NodeHealth, StoredDisk
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.console.storage.disks import Usage, issues_by_key, usage_of
from nasadvisor.console.storage.pools import open_pools
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Disk

PER_PAGE: Final = 50


COLUMNS: Final[dict[str, str | Promise]] = {
    "name": _("Disk"),
    "use": _("Used for"),
    "health": _("Health"),
    "worn": _("Worn, and used up by"),
    "temperature": _("Temp."),
    "written": _("Written a day"),
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
    asked = _asked(request)
    known = StoredDisk.objects.filter(node=node, is_forgotten=False)
    page = Paginator(_chosen(known, asked, index), PER_PAGE).get_page(request.GET.get("page"))
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


def _asked(request: HttpRequest) -> Asked:
    sort, kind = request.GET.get("sort", ""), request.GET.get("kind", "")
    return Asked(
        sort=sort if sort.removeprefix("-") in COLUMNS else "health",
        query=request.GET.get("q", "").strip(),
        kind=kind if kind in KINDS else "all",
    )


def _chosen(disks: QuerySet[StoredDisk], asked: Asked, index: Index | None) -> QuerySet[StoredDisk]:
    if asked.kind != "all":
        disks = disks.filter(is_rotational=asked.kind == "hdd")
    for word in asked.query.split():
        names = Q(model__icontains=word) | Q(serial__icontains=word) | Q(key__icontains=word)
        disks = disks.filter(names | Q(pool_name__icontains=word) | Q(role__icontains=word) | Q(vdev_name=word))
    return with_ratings(disks.defer(*NOT_LISTED)).order_by(*_order(asked.sort, index), "model", "serial", "pk")


def _order(sort: str, index: Index | None) -> Sequence[OrderBy]:
    name, is_down = sort.removeprefix("-"), sort.startswith("-")
    if name == "health":
        worn_out, used, worst_first = F("worn_out_at"), F("percent_used"), _worst_first(index)
        if is_down:
            return [worst_first.desc(), worn_out.desc(nulls_last=True), used.asc(nulls_last=True)]
        return [worst_first.asc(), worn_out.asc(nulls_last=True), used.desc(nulls_last=True)]
    fields = [F(field) for field in FIELDS[name]]
    return [each.desc(nulls_last=True) if is_down else each.asc(nulls_last=True) for each in fields]


def _worst_first(index: Index | None) -> Case:
    """The rank of a disk by what it says itself and by what its pools say against it."""
    issues = issues_by_key(index) if index else {}
    broken = Q(key__in=[key for key, issue in issues.items() if issue.state], is_present=True)
    erring = Q(key__in=list(issues), is_present=True)
    is_worst = (UNWELL & Q(worst_level=Level.CRITICAL.value)) | broken
    return Case(When(is_worst, then=Value(0)), When(UNWELL | erring, then=Value(1)), default=Value(2))


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
