"""Which forms of documents a console and a host speak: told each other when they meet, compared for people."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _

FIRST: Final = 1
"""The number of a kind of which nothing is said: releases that told nothing of forms had only first ones."""


@dataclass(frozen=True)
class SchemaVersions:
    """What one side speaks. `forms` is the number of each kind that it writes, by name; it reads all up to that.

    `release` is how people call it. `node` is the host's name, "" for the console.
    """

    node: str
    release: str
    forms: Mapping[str, int]


@dataclass(frozen=True)
class Releases:
    """What each release that was installed on a machine writes, in the order in which they first were.

    `forms` of one also has what only it itself reads again; `release` is the version of its package.
    """

    known: tuple[SchemaVersions, ...]

    def with_one(self, release: SchemaVersions) -> "Releases":
        """The same with one more, or with what it writes now."""
        others = tuple(each for each in self.known if each.release != release.release)
        return Releases((*others, release))

    def beyond(self, release: str) -> tuple[str, ...]:
        """The kinds that may be stored here in a form which a release cannot read; one unknown reads first forms."""
        reads = next((each.forms for each in self.known if each.release == release), {})
        written = [(name, number) for each in self.known for name, number in each.forms.items()]
        return tuple(dict.fromkeys(name for name, number in written if number > reads.get(name, FIRST)))


class Age(StrEnum):
    """How the release of one side stands to ours, as far as documents tell."""

    SAME = "same"
    OLDER = "older"  # we read all that it writes
    NEWER = "newer"  # it writes something that we cannot read


def age_of(theirs: SchemaVersions | None, ours: SchemaVersions) -> Age:
    """How the other side stands to us; None is one that has never told."""
    forms = theirs.forms if theirs else {}
    if forms == ours.forms:
        return Age.SAME
    names = {*forms, *ours.forms}
    if any(forms.get(name, FIRST) > ours.forms.get(name, FIRST) for name in names):
        return Age.NEWER
    if any(forms.get(name, FIRST) < ours.forms.get(name, FIRST) for name in names):
        return Age.OLDER
    return Age.SAME


def difference(node: str, theirs: SchemaVersions | None, ours: SchemaVersions) -> Finding | None:
    """What the console says about the release of a host; None where both speak the same."""
    age = age_of(theirs, ours)
    if age is Age.SAME:
        return None
    values = {"node": node, "release": theirs.release if theirs and theirs.release else "?", "ours": ours.release}
    template, explanation = _SENTENCES[age]
    return Finding(f"host-{age.value}", template, values, Level.WARNING, explanation, subject=node)


_SENTENCES: Final = {
    Age.OLDER: (
        _(
            "{node} has an older release of NAS Advisor ({release}) than this console ({ours}). It is still read and "
            "sampled, and its runs can be finished and undone. Update the package nasadvisor there before you create "
            "a new plan."
        ),
        _("Each release can read data from earlier ones, but an older host may refuse requests from this console."),
    ),
    Age.NEWER: (
        _(
            "{node} has a newer release of NAS Advisor ({release}) than this console ({ours}), which cannot read "
            "everything it sends: its data here may be old or missing. Update NAS Advisor on the console's host. "
            "`nasadvisor` on {node} itself shows and undoes everything."
        ),
        _("An older release does not guess at data it cannot read. Nothing is lost: the host keeps its own records."),
    ),
}
