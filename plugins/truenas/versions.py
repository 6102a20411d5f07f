"""Which versions of TrueNAS this plugin was written for."""

import re
from typing import Final

FIRST: Final = (25, 10)
FIRST_TOO_NEW: Final = (27, 0)

_MAJOR_MINOR: Final = re.compile(r"(\d+)\.(\d+)")


def is_in_range(version: str) -> bool:
    """Whether changes are allowed: 25.10 and every 26. An unreadable version is outside."""
    found = _MAJOR_MINOR.match(version)
    return bool(found) and FIRST <= (int(found[1]), int(found[2])) < FIRST_TOO_NEW
