"""What a disk said of its wear over time, each point with the indicator that it is read from."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from nasadvisor.console.disks.wear_chart import DrawnWear
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.health.readings import readings_of
from nasadvisor.stored.packed_readings import DiskReading


def wear_points(disk: StoredDisk, since: datetime | None = None) -> list[DrawnWear]:
    """Every reading that tells the wear, oldest first.

    A disk may tell it in several ways that differ by far, and in others after an update of its firmware or of the
    drive database of smartctl. The way that counts today is followed back through all readings that have it, as the
    forecast does (`wear.history`); where one lacks it, its point says from what else it is.
    """
    readings = readings_of(disk, since)
    known = [(each, each.percent_used) for each in readings if each.percent_used is not None]
    followed = next(_percents(known[-1][0].indicators), ("", 0.0))[0] if known else ""
    return [_point(each, percent, followed) for each, percent in known]


def _point(reading: DiskReading, percent: float, followed: str) -> DrawnWear:
    told = dict(_percents(reading.indicators))
    if followed in told:
        return DrawnWear(reading.taken_at, told[followed], reading.role, followed)
    return DrawnWear(reading.taken_at, percent, reading.role, next(iter(told), ""))


def _percents(documents: Any) -> Iterator[tuple[str, float]]:
    """The indicators of a stored reading by code, the most trusted first; what is damaged is left out."""
    for document in documents if isinstance(documents, list) else ():
        match document:
            case {"code": str(code), "percent_used": int() | float() as percent}:
                yield code, float(percent)
