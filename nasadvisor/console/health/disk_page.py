"""The page of one disk: how it is, how it wears, and what lies on it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from nasadvisor.console.fleet.current_host import current_node, show_here
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alert_models import AlertStates, StoredAlert
from nasadvisor.console.health.bytes_by_role import written_by_role
from nasadvisor.console.health.bytes_by_role_chart import written_chart
from nasadvisor.console.health.charts import wear_chart
from nasadvisor.console.health.disk_badges import mark_of
from nasadvisor.console.health.disk_history import history_of
from nasadvisor.console.health.forecasts import stored_forecast
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.ratings import RatingForm, clocks_of, rating_of
from nasadvisor.console.health.readings import temperatures_of
from nasadvisor.console.health.smart_days import newest_values, trends_of
from nasadvisor.console.health.wear_points import wear_points
from nasadvisor.console.storage.diagrams import draw_disk
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.console.storage.disks import hold_words, is_free, reason_against, trouble_of, uses_of
from nasadvisor.console.storage.pools import open_pools
from nasadvisor.console.svg import NARROW, WIDE
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.rewrites import in_wear
from nasadvisor.domain.health.sweep import exit_words
from nasadvisor.domain.storage.inventory import Disk, Inventory

TEMPERATURES_SHOWN: Final = timedelta(days=30)
ROWS_SHOWN: Final = 20


@dataclass(frozen=True)
class FoundDisk:
    """A disk: what its host's last inventory says of it, None once it is gone, and what is remembered of its health."""

    node: Node
    inventory: Inventory | None
    disk: Disk | None
    stored: StoredDisk | None


def disk(request: HttpRequest, key: str) -> HttpResponse:
    """One disk of any host: that of the node that is shown first, where two hosts know one by the same key."""
    found = _find(request, key)
    now = timezone.now()
    context = {"node": found.node, "inventory": found.inventory, "section": "disks"}
    layout = _layout(found.node, found.disk, found.inventory) if found.disk and found.inventory else {}
    health = _health(request, found.stored, now) if found.stored else {}
    pools = [use.pool.name for use in layout.get("pool_uses", ())]
    health["rewrites"] = in_wear(found.node.platform.rewrites, pools, now.timestamp())
    return render(request, "health/disk.html", {**context, **layout, **health})


def _find(request: HttpRequest, key: str) -> FoundDisk:
    """The disk with this key.

    Raises:
        Http404: no host has or had one.
    """
    node = current_node(request)
    inventory = node.inventory if node else None
    here = _disk_in(inventory, key)
    disks = StoredDisk.objects.select_related("node").defer("node__inventory_document")
    stored = disks.now_known_as([key]).get(key)
    if node and here:
        return FoundDisk(node, inventory, here, stored)
    if stored is None:
        raise Http404
    inventory = stored.node.inventory
    show_here(request, stored.node)
    return FoundDisk(stored.node, inventory, _disk_in(inventory, key), stored)


def _disk_in(inventory: Inventory | None, key: str) -> Disk | None:
    """The first of those with this key: a copy of a disk has the same, and is said to be one on the page."""
    return next((each for each in inventory.disks if each.key == key), None) if inventory else None


def _layout(node: Node, found: Disk, inventory: Inventory) -> dict[str, Any]:
    """What lies on it, and what it is called."""
    index = Index(inventory)
    return {
        "disk": found,
        "drawing": draw_disk(found, index),
        "locate_command": f"ledctl locate={found.path}" if found.slot and found.path else "",
        "uses": uses_of(found, index),
        "parts": [(part, [hold_words(hold) for hold in part.holds]) for part in found.partitions],
        "pool_uses": index.pool_uses_of(found),
        "trouble": trouble_of(index.pool_uses_of(found)),
        "is_free": is_free(found, inventory.host),
        "open_pools": open_pools(node, inventory),
        "refusal": reason_against(found, inventory.host),
    }


def _health(request: HttpRequest, stored: StoredDisk, now: datetime) -> dict[str, Any]:
    """What it says of itself, and how that moves."""
    values = newest_values(stored.raw_answers.all())
    mark = mark_of(stored)
    said_above = [finding.code for finding in mark.findings] if mark else []
    trends = trends_of(stored, values, now)
    alerts = StoredAlert.objects.filter(subject=str(stored.pk), source__startswith="disks/")
    return {
        "stored": stored,
        "mark": mark,
        "reading": stored.reading,
        "exit_words": [_(words) for words in exit_words(stored.exit_status)],
        "temperatures": temperatures_of([stored], now - TEMPERATURES_SHOWN).get(stored.pk),
        "may_not_test": why_not(stored.node.platform, Verbs.MEASURE),
        "self_tests": stored.self_tests.all()[:ROWS_SHOWN],
        "alerts": alerts.exclude(state=AlertStates.NEW, code__in=said_above)[:ROWS_SHOWN],
        "is_said_above": alerts.filter(state=AlertStates.NEW, code__in=said_above).exists(),
        "trends": trends,
        "has_scale": any(trend.value.value is not None for trend in trends),
        "history": history_of(stored, values, request.GET, now),
        **_wear(stored, now),
    }


def _wear(stored: StoredDisk, now: datetime) -> dict[str, Any]:
    """How far it is worn, and what is to be expected."""
    if stored.is_rotational:
        return {}
    kept = stored_forecast(stored)
    points = wear_points(stored)
    fan = kept.fan if kept and kept.forecast.exhaustion else ()
    is_drawn = bool(points) and stored.is_solid_state is not False
    rating = rating_of(stored)
    per_year = kept.forecast.percent_per_year if kept else None
    return {
        "has_wear": True,
        "forecast": kept.forecast if kept else None,
        "charts": [wear_chart(points, fan, now, width) for width in (WIDE, NARROW)] if is_drawn else [],
        "clocks": clocks_of(stored, rating, kept.forecast.bytes_per_day if kept else None, now),
        "rating_form": RatingForm(instance=rating),
        "written": written_by_role([stored], now, per_year).get(stored.pk),
        "days": written_chart(stored.written_days.filter(segment_at=stored.role_since), timezone.localtime(now).date()),
    }
