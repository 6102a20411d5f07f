"""Room on the disk of the console itself, where its database is unless that is elsewhere."""

import shutil
from typing import Final

from django.conf import settings

from nasadvisor.domain.units import MIB

ENOUGH_BYTES: Final = 256 * MIB
"""The samples of a pool take 3.5 MB a day (400 bytes every ten seconds), so there is time to do something."""

FULL_BYTES: Final = 4 * MIB
"""Less than SQLite's log of changes grows by before it is taken over (1,000 pages; sqlite.org/wal.html)."""


def free_bytes() -> int:
    """How much the console can still write."""
    place = next(path for path in (settings.STATE_DIR, *settings.STATE_DIR.parents) if path.is_dir())
    return shutil.disk_usage(place).free
