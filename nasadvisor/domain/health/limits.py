"""From where on a figure of a pool is worth a word, and at which level: every threshold of its findings."""

from typing import Final

from nasadvisor.domain.statements import Level

Steps = tuple[tuple[int, Level], ...]
"""The smallest figure of each level, rising."""

POOL_FULL_PERCENT: Final[Steps] = ((85, Level.INFO), (90, Level.WARNING), (95, Level.CRITICAL))
"""The levels that NAS systems commonly have. A full pool takes no writes; from about 90 % on they get slower."""

SPECIAL_FULL_PERCENT: Final = 90
"""From here on special vdevs soon have no room for metadata either."""

BEFORE_RESERVE_POINTS: Final = 10
"""So many points of use before special vdevs take no more small blocks it is said, while there is time to add one."""

SPECIAL_RESERVE_PERCENT: Final = 25
"""zfs_special_class_metadata_reserve_pct as it comes (zfs(4))."""

SCRUB_DAYS: Final = 45
"""Debian scrubs every second Sunday of a month, others after 35 days on a Sunday: both stay below this."""

SCRUB_AGE_DAYS: Final[Steps] = ((SCRUB_DAYS + 1, Level.INFO), (101, Level.WARNING))
"""After the second three monthly scrubs were missed: no longer an accident."""

SPARE_FROM_DISKS: Final = 12
"""With so many disks in mirrors or raidz, and two of a hundred failing a year, one does every four years."""

FORECAST_DAYS: Final = 5 * 365
"""A day further off than this is not named."""


def level_at(figure: int, steps: Steps) -> Level | None:
    """The level of the last step that a figure has reached; None below the first."""
    return next((level for least, level in reversed(steps) if figure >= least), None)
