"""What a disk said of its wear over time, each point with the indicator that it is read from."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from nasadvisor.console.health.charts import WearPoint
from nasadvisor.console.health.models import StoredDisk


def wear_points(disk: StoredDisk, since: datetime | None = None) -> list[WearPoint]:
    """Every reading that tells the wear, oldest first.

    A disk may tell it in several ways that differ by far, and in others after an update of its firmware or of the
    drive database of smartctl. The way that counts today is followed back through all readings that have it, as the
    forecast does (`wear.history`); where one lacks it, its point says from what else it is.
    """
    fields = ("taken_at", "role", "percent_used", "indicators")
    found = disk.readings.filter(percent_used__isnull=False, **({"taken_at__gte": since} if since else {}))
    rows = list(found.values_list(*fields))
    followed = next(_percents(rows[-1][3]), ("", 0.0))[0] if rows else ""
    return [_point(at, role, percent, dict(_percents(told)), followed) for at, role, percent, told in rows]


def _point(at: datetime, role: str, percent: float, told: dict[str, float], followed: str) -> WearPoint:
    if followed in told:
        return WearPoint(at, told[followed], role, followed)
    return WearPoint(at, percent, role, next(iter(told), ""))


def _percents(documents: Any) -> Iterator[tuple[str, float]]:
    """The indicators of a stored reading by code, the most trusted first; what is damaged is left out."""
    for document in documents if isinstance(documents, list) else ():
        match document:
            case {"code": str(code), "percent_used": int() | float() as percent}:
                yield code, float(percent)
