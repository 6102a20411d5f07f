"""Histories of made-up drives: whole percents, bytes and days, as a test states them."""

from collections.abc import Sequence

from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.health.wear.history import History, RoleChange, Snapshot, history_of
from tests.unit.domain.health.smart.drives import nvme

DAY = 24.0
TB = 10**12
NVME_UNIT = 512_000


def snapshot(day: float, percent: int, terabytes: float) -> Snapshot:
    """An NVMe drive that has this wear and has written this much on a day of its life."""
    return Snapshot(day * DAY, decode(nvme(percent=percent, units=round(terabytes * TB / NVME_UNIT))))


def history(points: Sequence[tuple[float, int, float]], changes: Sequence[RoleChange] = ()) -> History:
    """A history of (day, percent, terabytes)."""
    return history_of([snapshot(*point) for point in points], changes)
