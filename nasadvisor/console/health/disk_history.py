"""Any figure of a disk over time, if somebody wants beside the same of the disks it works with."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from django.http import QueryDict
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.health.models import LARGE_FIELDS, StoredDisk
from nasadvisor.console.health.readings import readings_of
from nasadvisor.console.health.smart_days import counts_of
from nasadvisor.console.health.wear_points import wear_points
from nasadvisor.console.history_chart import LINES_AT_MOST, HistoryChart, Series, history_charts, start_of
from nasadvisor.domain.health.smart.attributes import SmartValue

TEMPERATURE: Final = "temperature_c"
WORN: Final = "percent_used"
OF_READINGS: Final[dict[str, str | Promise]] = {
    TEMPERATURE: _("Temperature"),
    WORN: _("Worn"),
    "bytes_written": _("Written in its life"),
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
