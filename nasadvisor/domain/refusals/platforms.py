"""Refusals about the platform that a host is of."""
# ruff: noqa: N802

from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _


def PlatformUntested(name: str, version: str, first: str, before: str) -> Refused:
    return Refused(
        "platform-untested",
        _(
            "This host runs {name} {version}. This release of NAS Advisor was made for {name} from {first} up to, but not including, {before}, so it only reads here: nothing was changed and nothing can be. Update NAS Advisor. What a run has done can be taken back by hand with the commands on its page."
        ),
        {"name": name, "version": version, "first": first, "before": before},
    )


def PlatformVersionUnknown(name: str) -> Refused:
    return Refused(
        "platform-version-unknown",
        _(
            "This host runs {name}, but its version cannot be told, so NAS Advisor only reads here: nothing was changed and nothing can be. Repair the installation of {name} first; the journal of nasadvisor-host says what could not be read."
        ),
        {"name": name},
    )


def PlatformBroken(package: str, problem: str) -> Refused:
    return Refused(
        "platform-broken",
        _(
            "The platform integration {package} cannot be loaded: {problem}. It may know of dangers on this host, so NAS Advisor only reads here: nothing was changed and nothing can be. Update or remove that package."
        ),
        {"package": package, "problem": problem},
    )
