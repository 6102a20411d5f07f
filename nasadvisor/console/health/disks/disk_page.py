"""The page of one disk: how it is, how it wears, and what lies on it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.charts.history_chart import LINES_AT_MOST, HistoryChart, Series, history_charts, start_of
from nasadvisor.console.charts.svg import NARROW, WIDE
from nasadvisor.console.fleet.current_host import current_node, show_here
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.disk_badges import badge_of
from nasadvisor.console.health.alerts.models import AlertStates, StoredAlert
from nasadvisor.console.health.bytes_by_role import LOOK_BACK, ORDER, ROLE_OF_COLUMN
from nasadvisor.console.health.disks.wear_chart import wear_chart, wear_points
from nasadvisor.console.health.forecasts import RatingForm, clocks_of, rating_of, stored_forecast
from nasadvisor.console.health.models import LARGE_FIELDS, StoredDisk, WrittenDay
from nasadvisor.console.health.readings import (
    counts_of,
    newest_values,
    readings_of,
    temperatures_of,
    told_per_day,
    trends_of,
)
from nasadvisor.console.health.wear_bill import bill_of_disk
from nasadvisor.console.storage.diagrams import draw_disk
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.console.storage.disks import hold_words, is_free, issue_of, reason_against, uses_of
from nasadvisor.console.storage.pools import open_pools
from nasadvisor.domain.fleet.permissions import Verbs, why_not
from nasadvisor.domain.fleet.platforms import in_wear
from nasadvisor.domain.health.smart.attributes import SmartValue, in_flash
from nasadvisor.domain.health.sweep import exit_words
from nasadvisor.domain.health.wear.bill import UNATTRIBUTED
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.domain.units import DAY_S

TEMPERATURE: Final = "temperature_c"
WORN: Final = "percent_used"
OF_READINGS: Final[dict[str, str | Promise]] = {
    TEMPERATURE: _("Temperature"),
    WORN: _("Worn"),
    "bytes_written": _("Lifetime writes"),
    "spare_percent": _("Spare blocks"),
    "media_errors": _("Media errors"),
}
"""What every reading has, whatever the disk calls it; a field of `DiskReading` each."""

UNITS: Final = {TEMPERATURE: " °C", WORN: " %", "spare_percent": " %", "bytes_written": " B"}
SPANS: Final[dict[int, str | Promise]] = {30: _("30 days"), 365: _("a year"), 3650: _("all time")}


@dataclass(frozen=True)
class Choice:
    """A figure that can be shown."""

    key: str
    name: str | Promise


@dataclass(frozen=True)
class FigureHistory:
    """What is shown: the figure `key` of the last `days` days, of one disk or of all that are in its vdev."""

    disk: StoredDisk
    values: tuple[SmartValue, ...]
    key: str
    days: int
    is_beside: bool
    now: datetime

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Every figure there is of this disk."""
        own = (Choice(key, name) for key, name in OF_READINGS.items())
        counted = (
            Choice(each.key, f"{each.key} {each.name}" if each.key.isdecimal() else each.name) for each in self.values
        )
        return (*own, *counted)

    @property
    def name(self) -> str | Promise:
        """What is shown, in words."""
        return next((each.name for each in self.choices if each.key == self.key), self.key)

    @property
    def spans(self) -> dict[int, str | Promise]:
        """The lengths of time to choose from."""
        return SPANS

    @cached_property
    def neighbours(self) -> tuple[StoredDisk, ...]:
        """The disks that work with it in the same vdev, the only ones whose figures can be expected to be alike."""
        disk = self.disk
        if not disk.pool_name or not disk.vdev_name:
            return ()
        # Those that are there: one that is not may have served another pool, which had the same name.
        names = {"pool_name": disk.pool_name, "vdev_name": disk.vdev_name}
        found = StoredDisk.objects.filter(node=disk.node_id, is_present=True, **names)
        return tuple(found.exclude(pk=disk.pk).defer(*LARGE_FIELDS)[: LINES_AT_MOST - 1])

    @cached_property
    def charts(self) -> tuple[HistoryChart, ...]:
        """The picture for wide and for narrow screens; none where nothing is known of that time."""
        disks = (self.disk, *self.neighbours) if self.is_beside else (self.disk,)
        series = [self._series(each) for each in disks]
        begins = [each.points[0][0] for each in series if each.points]
        begin = max(min(begins, default=self.now), self.now - timedelta(days=self.days))
        return history_charts(series, begin, self.now, UNITS.get(self.key, ""))

    def _series(self, disk: StoredDisk) -> Series:
        since = self.now - timedelta(days=self.days)
        label = f"{disk.model} {disk.serial}".strip()
        if self.key == WORN:
            told = wear_points(disk, since)
            return Series(label, [(each.at, each.percent) for each in told if each.source == told[-1].source])
        if self.key in OF_READINGS:
            values = ((each.taken_at, getattr(each, self.key)) for each in readings_of(disk, since))
            return Series(label, [(at, float(value)) for at, value in values if value is not None])
        days = counts_of(disk, self.key, timezone.localtime(since).date())
        points = [(min(max(start_of(day), since), self.now), float(raw)) for day, raw in days]
        return Series(label, points, is_stepped=True)


def history_of(disk: StoredDisk, values: tuple[SmartValue, ...], asked: QueryDict, now: datetime) -> FigureHistory:
    """What was asked for; the temperature of the last month where that makes no sense."""
    keys = {*OF_READINGS, *(each.key for each in values)}
    key = asked.get("show", "")
    days = next((days for days in SPANS if str(days) == asked.get("days", "")), next(iter(SPANS)))
    return FigureHistory(disk, values, key if key in keys else TEMPERATURE, days, asked.get("beside") == "yes", now)


COLUMN: Final = 20
GAP: Final = 4
HEIGHT: Final = 120
LEAST_SEEN_S: Final = DAY_S / 24


@dataclass(frozen=True)
class Block:
    """One role on one day; lengths are units of the view box."""

    role: str
    x: int
    y: float
    height: float
    label: str
    count: int


@dataclass(frozen=True)
class WrittenChart:
    """All that the template draws. `most` is what the tallest column stands for, in bytes."""

    width: int
    height: int
    column: int
    blocks: tuple[Block, ...]
    most: int
    first: date
    last: date


def written_chart(days: Iterable[WrittenDay], today: date) -> WrittenChart | None:
    """Draw it; None where there is nothing to draw. Days that were seen in part are drawn as they were seen."""
    begin = today - LOOK_BACK + timedelta(days=1)
    shown = [day for day in days if begin <= day.day <= today and day.seconds >= LEAST_SEEN_S]
    most = max((sum(_counts(day).values()) for day in shown), default=0)
    if not most:
        return None
    blocks = []
    for day in shown:
        x, top = (day.day - begin).days * (COLUMN + GAP), float(HEIGHT)
        for role, count in _counts(day).items():
            height = count / most * HEIGHT
            top -= height
            if count:
                blocks.append(Block(role, x, round(top, 2), round(height, 2), date_format(day.day), count))
    return WrittenChart(LOOK_BACK.days * (COLUMN + GAP), HEIGHT, COLUMN, tuple(blocks), most, begin, today)


def _counts(day: WrittenDay) -> dict[str, int]:
    """What each role wrote, in the order of the bar."""
    counts = {role: getattr(day, column) for column, role in ROLE_OF_COLUMN.items()}
    counts[UNATTRIBUTED] = max(day.drive_bytes - sum(counts.values()), 0)
    return {role: counts[role] for role in ORDER}


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
    return render(request, "health/disks/disk.html", {**context, **layout, **health})


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
        "issue": issue_of(index.pool_uses_of(found)),
        "is_free": is_free(found, inventory.host),
        "open_pools": open_pools(node, inventory),
        "refusal": reason_against(found, inventory.host),
    }


def _health(request: HttpRequest, stored: StoredDisk, now: datetime) -> dict[str, Any]:
    """What it says of itself, and how that moves."""
    values = newest_values(stored.raw_answers.all())
    mark = badge_of(stored)
    said_above = [finding.code for finding in mark.findings] if mark else []
    trends = trends_of(stored, values, now)
    alerts = StoredAlert.objects.filter(subject=str(stored.pk), source__startswith="disks/")
    return {
        "stored": stored,
        "mark": mark,
        "reading": stored.reading,
        "exit_words": [gettext(words) for words in exit_words(stored.exit_status)],
        "temperatures": temperatures_of([stored], now - TEMPERATURES_SHOWN).get(stored.pk),
        "may_not_test": why_not(stored.node.platform, Verbs.MEASURE),
        "self_tests": stored.self_tests.all()[:ROWS_SHOWN],
        "alerts": alerts.exclude(state=AlertStates.NEW, code__in=said_above)[:ROWS_SHOWN],
        "is_said_above": alerts.filter(state=AlertStates.NEW, code__in=said_above).exists(),
        "trends": trends,
        "in_flash": in_flash(values, stored.bytes_written),
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
    return {
        "has_wear": True,
        "forecast": kept.forecast if kept else None,
        "charts": [wear_chart(points, fan, now, width) for width in (WIDE, NARROW)] if is_drawn else [],
        "clocks": clocks_of(stored, rating, kept.forecast.bytes_per_day if kept else None, now),
        "rating_form": RatingForm(instance=rating),
        "bill": bill_of_disk(stored, kept.forecast if kept else None, rating, now),
        "told_per_day": told_per_day(stored, now - LOOK_BACK),
        "days": written_chart(stored.written_days.filter(segment_at=stored.role_since), timezone.localtime(now).date()),
    }
