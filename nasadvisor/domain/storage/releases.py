"""What OpenZFS does in some releases and not in others: one row each, with where it is from. No other code compares
versions.

Distributions and platforms keep the upstream number in the version of their module ("2.2.2-0ubuntu9", "2.2.99-1"), so a
row is of upstream numbers. x.y.99 is a build from master after x.y was branched off. Where the module itself shows what
it does, by a parameter, that is believed and no number: a build from master, or a patched one, may have it without
being later.
"""

import re
from dataclasses import dataclass
from typing import Final

Version = tuple[int, int, int]

EVER: Final[Version] = (0, 0, 0)

MASTER: Final = 99
"""The last number of builds from master."""


@dataclass(frozen=True)
class ReleaseSpan:
    """Releases from `first` up to, not including, `until`; None if it has not ended."""

    first: Version
    until: Version | None = None

    def has(self, version: Version) -> bool:
        """Whether a release lies in it."""
        return self.first <= version and (self.until is None or version < self.until)


def spans(*texts: str) -> tuple[ReleaseSpan, ...]:
    """Spans as they are written in tables: "2.1.0 2.1.14" ends before 2.1.14, "2.3.0" has not ended."""
    pairs = (text.split() for text in texts)
    return tuple(ReleaseSpan(_version(first), _version(rest[0]) if rest else None) for first, *rest in pairs)


@dataclass(frozen=True)
class Release:
    """What runs, as its maker numbers it: a release ("2.3.4-1~bpo12"), or a build on the way to the next branch:
    x.y.99, and the candidates of x.y.0.
    """

    version: Version
    is_between: bool

    def has(self, held: tuple[ReleaseSpan, ...]) -> bool | None:
        """Whether it lies in one of the spans. A build on the way does where both its ends do, does not where neither
        does, and else cannot be told: what was mended on the way may have been mended before or after it.
        """
        ends = self._ends if self.is_between else (self.version,)
        found = {any(span.has(end) for span in held) for end in ends}
        return found.pop() if len(found) == 1 else None

    @property
    def _ends(self) -> tuple[Version, Version]:
        major, minor, patch = self.version
        return ((major, minor, 0), (major, minor + 1, 0)) if patch else ((major, minor - 1, 0), self.version)


def parse_release(text: str) -> Release | None:
    """Read "2.3.4-1~bpo12", "zfs-2.3.99-412" or "2.4.0-rc3"; None where there are no three numbers."""
    version = parse_version(text)
    if version is None:
        return None
    is_candidate = version[2] == 0 and bool(re.search(r"\d[-~]rc\d", text))
    return Release(version, is_candidate or version[2] == MASTER)


def first_after(release: Release, held: tuple[ReleaseSpan, ...]) -> tuple[Version, ...]:
    """The releases later than this one in which what was in the spans is no more, one a branch."""
    return tuple(span.until for span in held if span.until and span.until > release.version)


def version_text(version: Version) -> str:
    """As it is printed: "2.3.9"."""
    return ".".join(map(str, version))


def _version(text: str) -> Version:
    version = parse_version(text)
    if version is None:
        raise ValueError(f"{text!r} is no version")
    return version


@dataclass(frozen=True)
class Behaviour:
    """One row: what these releases do, and the change of openzfs/zfs that began or ended it.

    `parameter` is a parameter of the module that exists only where they do it, "" where none tells.
    """

    what: str
    spans: tuple[ReleaseSpan, ...]
    source: str
    parameter: str = ""

    def is_in(self, release: str) -> bool | None:
        """Whether a release, in the module's own words, does it; None where they hold no version."""
        version = parse_version(release)
        return None if version is None else any(span.has(version) for span in self.spans)


PREFETCH_FROM_CACHE: Final = Behaviour(
    "what is read ahead comes from a cache that holds it, whatever l2arc_noprefetch says",
    (ReleaseSpan((2, 2, 1)),),
    "PR 15451: 7aef672b77 (2.2.1), 043c6ee3b6 (2.3.0)",
)

FAST_FEED: Final = Behaviour(
    "l2arc_write_max is 32 MiB unless it is set, 8 MiB before",
    (ReleaseSpan((2, 2, 7)),),
    "PR 15457: 022bf86370 (2.2.7), 887a3c533b (2.3.0)",
)

FEED_BUDGET: Final = Behaviour(
    "each cache has a feed thread of its own and a budget of writes a day; a busy thread does not feed more often",
    (),
    "b525525b44 (threads) and d1f290f1ea (budget), in master; in no release up to 2.4.4",
    "l2arc_dwpd_limit",
)

ZIL_ON_SPECIAL: Final = Behaviour(
    "without a log, the ZIL lies on the special vdevs where there are any",
    (ReleaseSpan((2, 4, 0)),),
    "PR 17505: be1e991a1a (2.4.0)",
    "zil_special_is_slog",
)

SMALL_VOLUME_BLOCKS: Final = Behaviour(
    "`special_small_blocks` holds for the blocks of volumes as well, before for those of files only",
    (ReleaseSpan((2, 4, 0)),),
    "PR 14876: b048bfa9c1 (2.4.0)",
)

REWRITE: Final = Behaviour(
    "`zfs rewrite` writes the blocks of files anew, so that they move to where new ones would go",
    (ReleaseSpan((2, 3, 4)),),
    "PR 17246: 809b553940 (2.3.4), 49fbdd4533 (2.4.0)",
)

METADATA_BALANCE: Final = Behaviour(
    "the ARC weighs metadata against data by zfs_arc_meta_balance; before, zfs_arc_meta_limit_percent bounds metadata",
    (ReleaseSpan((2, 2, 0)),),
    "PR 14359: a8d83e2a24 (2.2.0)",
)

REPLAY_FLAG_LEFT: Final = Behaviour(
    "a log that was lost and imported without (`zpool import -m`) may not be removable: its replay flag is left set",
    (ReleaseSpan(EVER, (2, 3, 8)), ReleaseSpan((2, 4, 0), (2, 4, 3))),
    "PR 18277: ec88deb2cd (2.3.8), 50697dc93d (2.4.3)",
)

MULTIHOST_HOLE: Final = Behaviour(
    'a multihost pool with a hole, which a removed log leaves, is refused at import as "in use by another host"',
    (ReleaseSpan((2, 3, 6), (2, 3, 9)), ReleaseSpan((2, 4, 1), (2, 4, 4))),
    "issue 18823: 9c1b3a497c (2.3.9), 9623afdb9f (2.4.4)",
)

STALE_CACHE: Final = Behaviour(
    "a cache that was removed and added again may restore log blocks of its former life; caches persist from 2.0 on",
    (ReleaseSpan((2, 0, 0), (2, 3, 9)), ReleaseSpan((2, 4, 0), (2, 4, 4))),
    "c236a48f77 (2.3.9), 36a398de22 (2.4.4)",
)

ALL: Final = (
    *(PREFETCH_FROM_CACHE, FAST_FEED, FEED_BUDGET, ZIL_ON_SPECIAL),
    *(SMALL_VOLUME_BLOCKS, REWRITE, METADATA_BALANCE),
    *(REPLAY_FLAG_LEFT, MULTIHOST_HOLE, STALE_CACHE),
)


def parse_version(text: str) -> Version | None:
    """Read "2.3.9-1~bpo", "zfs-kmod-2.2.6" or "2.4.0-rc1"; None where there are no three numbers."""
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None
