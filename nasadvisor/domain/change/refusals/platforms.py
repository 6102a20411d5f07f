"""Refusals about the platform that a host is of, and what is said instead with an undo."""
# ruff: noqa: N802

from typing import Final

from nasadvisor.domain.statements import Finding, Level, Refused
from nasadvisor.domain.statements import gettext_noop as _

UNTESTED: Final = "platform-untested"
VERSION_UNKNOWN: Final = "platform-version-unknown"


def PlatformUntested(name: str, version: str, first: str, before: str) -> Refused:
    """The way a platform handles disks changes from release to release: its own pages, its locks, its list of guests.
    Knowledge of one release is not assumed to apply to the next. An undo is allowed on every release, so that you are
    never locked in.
    """
    return Refused(
        UNTESTED,
        _(
            "This host runs {name} {version}. This release of NAS Advisor supports {name} from {first} up to, but not "
            "including, {before}, so it adds nothing here, and nothing was changed. Update NAS Advisor. Everything "
            "that earlier runs added stays in use and can still be undone."
        ),
        {"name": name, "version": version, "first": first, "before": before},
    )


def PlatformVersionUnknown(name: str) -> Refused:
    """Safety on a platform depends on its version. An undo is still allowed, so that you are never locked in."""
    return Refused(
        VERSION_UNKNOWN,
        _(
            "This host runs {name}, but its version cannot be determined, so NAS Advisor adds nothing here, and "
            "nothing was changed. Repair the installation of {name} first; the journal of nasadvisor-host shows what "
            "could not be read. Everything that earlier runs added stays in use and can still be undone."
        ),
        {"name": name},
    )


def PlatformBroken(package: str, problem: str) -> Refused:
    """A platform integration knows who else can own a disk, such as a guest to which it is assigned. Without the
    integration, a disk may look blank and still be in use.
    """
    return Refused(
        "platform-broken",
        _(
            "The platform integration {package} cannot be loaded: {problem}. It may know of dangers on this host, so "
            "NAS Advisor is read-only here: nothing was changed, and nothing can be. Update or remove that package."
        ),
        {"package": package, "problem": problem},
    )


def said_with_undo(reason: Refused) -> Finding | None:
    """The warning that an undo gets where a platform's version forbids to add anything; None for other reasons.

    Whoever updates a platform must not find what was added before locked in.
    """
    sentences = {
        UNTESTED: _(
            "This undo is on {name} {version}, which this release of NAS Advisor does not support: it supports {name} "
            "from {first} up to, but not including, {before}."
        ),
        VERSION_UNKNOWN: _("This undo is on {name}, whose version cannot be determined."),
    }
    if reason.code not in sentences:
        return None
    return Finding(
        "undo-on-untested-platform",
        sentences[reason.code],
        reason.values,
        Level.WARNING,
        _(
            "An undo touches only the devices that the run itself added, identified by guid and PARTUUID, and "
            "verifies each step on the host. Check the pool and the SSDs in the pages of {name} as well."
        ),
    )
