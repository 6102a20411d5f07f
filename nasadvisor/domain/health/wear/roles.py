"""How much of a drive's wear each of its roles causes: the log's writing, the cache's feed, and the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.wear.forecast import DAYS_PER_YEAR, Forecast, Spread
from nasadvisor.domain.statements import Finding
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import GIGABYTE

UNATTRIBUTED = "other"
"""The role of bytes that the drive counted and no role accounts for."""


@dataclass(frozen=True)
class RoleBytes:
    """Bytes that one role wrote to a drive within a time: differences of `zpool iostat -v` or of L2ARC kstats."""

    role: str
    bytes_written: int


@dataclass(frozen=True)
class RoleShare:
    """A role's part in what a drive wrote: `share` is of the drive's total, `percent_used` of its rated endurance."""

    role: str
    bytes_written: int
    share: float
    percent_per_year: float | None


@dataclass(frozen=True)
class Attribution:
    """The parts, the largest first. They add up to the drive's own counter, or to the roles if that is more."""

    shares: tuple[RoleShare, ...]
    findings: tuple[Finding, ...]


def attribute(drive_bytes: int | None, roles: Sequence[RoleBytes], percent_per_year: float | None) -> Attribution:
    """Split what the drive wrote within a time among its roles.

    Args:
        drive_bytes: what the drive's own counter gained within that time, or None if it has none.
        roles: what each role wrote within the same time; repeated roles are added up.
        percent_per_year: the drive's wear in a year, which is split in the same proportion.
    """
    written: dict[str, int] = {}
    for role in roles:
        written[role.role] = written.get(role.role, 0) + max(role.bytes_written, 0)
    accounted = sum(written.values())
    total = max(accounted, drive_bytes or 0)
    if total > accounted:
        written[UNATTRIBUTED] = written.get(UNATTRIBUTED, 0) + total - accounted
    shares = (
        RoleShare(role, count, count / total, None if percent_per_year is None else percent_per_year * count / total)
        for role, count in written.items()
        if total
    )
    ordered = tuple(sorted(shares, key=lambda share: (-share.bytes_written, share.role)))
    return Attribution(ordered, tuple(_disagreement(drive_bytes, accounted)))


def _disagreement(drive_bytes: int | None, accounted: int) -> list[Finding]:
    """Roles that claim a tenth more than the drive counted: one of the two is read wrongly."""
    if drive_bytes is None or accounted <= 1.1 * drive_bytes + 2**30:
        return []
    template = _(
        "The roles of this disk wrote {roles} GB, but the disk itself counted {drive} GB in the same time. Its "
        "counter may use another unit; the split follows the figures of the roles."
    )
    values = {"roles": f"{accounted / GIGABYTE:.1f}", "drive": f"{drive_bytes / GIGABYTE:.1f}"}
    return [
        Finding(
            "role-bytes-exceed-drive",
            template,
            values,
            explanation=_(
                "OpenZFS counts the writes of a log and a cache, and the disk counts the writes it receives. They "
                "should agree within 10 %."
            ),
        )
    ]


ENOUGH_PERCENT: Final = 100.0


@dataclass(frozen=True)
class WhatIf:
    """A role that is being weighed. `added_percent_per_year` is None where the drive's wear per byte is unknown.

    `years_left` counts what is left of the rated endurance with the present writing and the added one.
    """

    role: str
    added_bytes_per_day: float
    added_percent_per_year: Spread | None
    years_left: Spread | None


def with_added(now: Forecast, role: str, added: float) -> WhatIf:
    """With so many bytes a day more, in whatever role.

    As a log here, all synchronous writes of the pool, measured, go to it once more; to both sides of a mirror.
    """
    if now.percent_used is None or now.percent_per_year is None or now.bytes_per_day is None:
        return WhatIf(role, added, None, None)
    per_byte = now.percent_per_year.middle / (now.bytes_per_day.middle * DAYS_PER_YEAR)
    growth = added * DAYS_PER_YEAR * per_byte
    # Wear per byte itself is uncertain by as much as the forecast of the present wear is.
    spread = now.percent_per_year
    low, high = (end / spread.middle if spread.middle > 0 else 1.0 for end in (spread.low, spread.high))
    percent = Spread(growth * low, growth, growth * high)
    left = max(ENOUGH_PERCENT - now.percent_used, 0.0)
    total = Spread(spread.low + percent.low, spread.middle + percent.middle, spread.high + percent.high)
    years = None
    if total.low > 0:
        years = Spread(left / total.high, left / total.middle, left / total.low)
    return WhatIf(role, added, percent, years)
