"""Refusals about the platform that a host is of, and what is said instead with an undo."""
# ruff: noqa: N802

from typing import Final

from nasadvisor.domain.statements import Finding, Level, Refused
from nasadvisor.domain.statements import gettext_noop as _

UNTESTED: Final = "platform-untested"
VERSION_UNKNOWN: Final = "platform-version-unknown"


def PlatformUntested(name: str, version: str, first: str, before: str) -> Refused:
    """What a platform does with disks changes from release to release: its own pages, its locks, its list of
    guests. What was learned about one release is not assumed of the next. An undo is allowed on every one, so that
    nobody is locked in.
    """
    return Refused(
        UNTESTED,
        _(
            "This host runs {name} {version}. This release of NAS Advisor was made for {name} from {first} up to, but not including, {before}, so it adds nothing here, and nothing was changed. Update NAS Advisor. What earlier runs added stays in use and can still be taken back."
        ),
        {"name": name, "version": version, "first": first, "before": before},
    )


def PlatformVersionUnknown(name: str) -> Refused:
    """What is safe on a platform depends on its version. An undo is still allowed, so that nobody is locked
    in.
    """
    return Refused(
        VERSION_UNKNOWN,
        _(
            "This host runs {name}, but its version cannot be told, so NAS Advisor adds nothing here, and nothing was changed. Repair the installation of {name} first; the journal of nasadvisor-host says what could not be read. What earlier runs added stays in use and can still be taken back."
        ),
        {"name": name},
    )


def PlatformBroken(package: str, problem: str) -> Refused:
    """The integration of a platform knows whom else a disk can belong to, such as a guest that it was given to.
    Without it a disk may look blank and be in use.
    """
    return Refused(
        "platform-broken",
        _(
            "The platform integration {package} cannot be loaded: {problem}. It may know of dangers on this host, so NAS Advisor only reads here: nothing was changed and nothing can be. Update or remove that package."
        ),
        {"package": package, "problem": problem},
    )


def said_with_undo(reason: Refused) -> Finding | None:
    """The warning that an undo gets where a platform's version forbids to add anything; None for other reasons.

    Whoever updates a platform must not find what was added before locked in.
    """
    sentences = {
        UNTESTED: _(
            "This is an undo on {name} {version}, for which this release of NAS Advisor was not made: it was made for {name} from {first} up to, but not including, {before}."
        ),
        VERSION_UNKNOWN: _("This is an undo on {name}, whose version cannot be told."),
    }
    if reason.code not in sentences:
        return None
    return Finding(
        "undo-on-untested-platform",
        sentences[reason.code],
        reason.values,
        Level.WARNING,
        _(
            "An undo touches only what the run itself added, by guid and PARTUUID, and reads each step off the host. Look once at the pool and the SSDs in the pages of {name} too."
        ),
    )
