"""Known bugs of OpenZFS releases that matter to what we do, and the versions that have them."""

import re
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _

Version = tuple[int, int, int]


@dataclass(frozen=True)
class BugRange:
    """Releases from `first` up to, not including, `fixed`."""

    first: Version
    fixed: Version

    def has(self, version: Version) -> bool:
        return self.first <= version < self.fixed


MULTIHOST_HOLE: Final = (BugRange((2, 3, 6), (2, 3, 9)), BugRange((2, 4, 1), (2, 4, 4)))
"""OpenZFS issue 18823: a multihost pool with a hole vdev is refused at import as "in use by another host"."""

MULTIHOST_HOLE_WHY: Final = Statement(
    "multihost-hole",
    _(
        "taking a log out again leaves a hole, and a pool with multihost=on and a hole is then refused at import as in "
        "use by another host (issue 18823). Update OpenZFS to 2.3.9 or 2.4.4 first."
    ),
)

STALE_CACHE: Final = (BugRange((2, 0, 0), (2, 3, 9)), BugRange((2, 4, 0), (2, 4, 4)))
"""OpenZFS commit 36a398de22: a cache that was removed and added again may restore log blocks of its former life."""


def parse_version(text: str) -> Version | None:
    """Read "2.3.9-1~bpo", "zfs-kmod-2.2.6" or "2.4.0-rc1"; None where there are no three numbers."""
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def has_multihost_hole_bug(version_text: str) -> bool:
    """Whether a release is in the ranges of issue 18823; an unreadable version counts as not known to be."""
    version = parse_version(version_text)
    return version is not None and any(bug.has(version) for bug in MULTIHOST_HOLE)


def may_keep_stale_cache(version_text: str) -> bool:
    """Whether a release lacks commit 36a398de22; persistent caches, and with them the bug, came with 2.0."""
    version = parse_version(version_text)
    return version is not None and any(bug.has(version) for bug in STALE_CACHE)
