#!/usr/bin/env python3
"""Works out from the history of OpenZFS in which of its releases each known bug is, and compares that with our table.

    scripts/releases.py CLONE

CLONE is a clone of https://github.com/openzfs/zfs with its tags. A fix is known by the subject of its commit, since
each release branch has a copy of it. Ends with 1 where the table differs, with 2 where there is no such clone.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from nasadvisor.domain.storage import known_bugs_table
from nasadvisor.domain.storage.known_bugs import Bug
from nasadvisor.domain.storage.releases import MASTER, ReleaseSpan, Version, parse_version, version_text

OLDEST = (2, 1, 0)
"""Where the table begins."""

RELEASE_TAG = re.compile(r"zfs-(\d+\.\d+\.\d+)")


class NoClone(Exception):  # noqa: N818 - named for what is missing
    """There is no history of OpenZFS at a path."""


class History:
    """The releases of a clone, and which of them have a commit with a subject."""

    def __init__(self, clone: Path) -> None:
        self._clone = clone
        self.tags = dict(self._releases())
        if not self.tags:
            raise NoClone(f"{clone} has no tags of releases from {version_text(OLDEST)} on")
        self._commits: dict[str, list[str]] = {}
        for line in self._git("log", "--format=%H %s", *self.tags).splitlines():
            commit, _, subject = line.partition(" ")
            self._commits.setdefault(bare(subject), []).append(commit)

    def releases_with(self, subject: str) -> set[Version]:
        """The releases that have a commit with this subject, whatever a branch wrote around it."""
        commits = self._commits.get(bare(subject), [])
        if not commits:
            return set()
        tags = self._git("tag", *(f"--contains={commit}" for commit in commits)).split()
        return {self.tags[tag] for tag in tags if tag in self.tags}

    def _releases(self) -> Iterator[tuple[str, Version]]:
        for tag in self._git("tag", "--list").split():
            match = RELEASE_TAG.fullmatch(tag)
            version = parse_version(match[1]) if match else None
            if version and version >= OLDEST and version[2] != MASTER:
                yield tag, version

    def _git(self, *args: str) -> str:
        command = ("git", "-C", str(self._clone), *args)
        done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", errors="replace")
        if done.returncode:
            raise NoClone(f"{self._clone} is no clone of OpenZFS: {done.stderr.strip()}")
        return done.stdout


def bare(subject: str) -> str:
    """A subject without what a release branch adds to it: "[2.3.9] …", "Backport of …", "… (#18222)"."""
    without = re.sub(r"^(\[[^]]*\] *|Backport of )+", "", subject)
    return re.sub(r" *\(#\d+\)$", "", without).rstrip(". ").lower()


def spans_of(history: History, bug: Bug) -> tuple[ReleaseSpan, ...]:
    """The releases with a bug: from the first that has what began it to the first that has all that ended it."""
    everywhere = set(history.tags.values())
    begun = history.releases_with(bug.begun_by) if bug.begun_by else everywhere
    fixed = set.intersection(*(history.releases_with(subject) for subject in bug.fixed_by))
    return tuple(_runs(sorted(everywhere), begun - fixed))


def _runs(releases: Iterable[Version], ill: set[Version]) -> Iterator[ReleaseSpan]:
    first: Version | None = None
    for version in releases:
        if version in ill:
            first = first or version
        elif first:
            yield ReleaseSpan(first, version)
            first = None
    if first:
        yield ReleaseSpan(first)


def written(found: Iterable[ReleaseSpan]) -> str:
    """Spans as the table has them: "2.3.0 2.3.7, 2.4.0 2.4.2"."""
    return ", ".join(" ".join(version_text(each) for each in (span.first, span.until) if each) for span in found)


def main(arguments: list[str]) -> int:
    """Print the table, and what differs."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        history = History(Path(arguments[0]))
        found = {bug: spans_of(history, bug) for bug in known_bugs_table.ALL}
    except NoClone as error:
        print(f"{error}\nGet one: git clone https://github.com/openzfs/zfs", file=sys.stderr)
        return 2
    for bug, spans in found.items():
        differs = "" if spans == bug.spans else f"   the table has {written(bug.spans) or 'none'}"
        print(f"{bug.code:22}{written(spans) or 'none'}{differs}")
    return 1 if any(spans != bug.spans for bug, spans in found.items()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
