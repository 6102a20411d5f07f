"""The console part of a platform integration: runs unprivileged, in the web service and the console's worker."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from nasadvisor.domain.fleet.platforms import Notice
from nasadvisor.domain.statements import Statement
from plugins.contract import VersionRange


class Access(StrEnum):
    """What somebody whom the platform knows may do here."""

    VIEWER = "viewer"
    OPERATOR = "operator"


@dataclass(frozen=True)
class Visitor:
    """Somebody whom the platform knows, by the name that it uses ("root@pam")."""

    name: str
    access: Access


@dataclass(frozen=True)
class PanelLink:
    """A way into the platform's own pages. `url` may hold {host}: the name under which the reader reached us."""

    label: Statement
    url: str


@dataclass(frozen=True)
class Panel:
    """What the platform adds to the settings: sentences, and links."""

    lines: tuple[Statement, ...] = ()
    links: tuple[PanelLink, ...] = ()


class PlatformSilent(Exception):  # noqa: N818 - named for what happened
    """The platform was asked and gave no usable answer; the statement says so without any secret."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        super().__init__(str(statement))


class ConsolePlatform(Protocol):
    """One platform, as the console sees it. Subclass it to inherit the answers of a platform that wants nothing.

    `cookies` names the cookies by which it knows somebody. `during_runs` is what its users should know while a run is
    on, `scrub_advice` who plans scrubs there; both are asked for also where the console is not on that platform, but
    one of its hosts is. `signs_in` says that `check_password` serves our login as well, `notifies` that `notify` sends
    messages.
    """

    name: str
    supports: VersionRange
    cookies: tuple[str, ...] = ()
    during_runs: Statement | None = None
    scrub_advice: Statement | None = None
    signs_in: bool = False
    notifies: bool = False

    def detect(self) -> bool:
        """Whether the console runs on, or is set up for, that platform. The rest is called only if it is."""
        ...

    def authenticate(self, cookies: Mapping[str, str]) -> Visitor | None:
        """Who brings these cookies; None if the platform does not let them in.

        Raises:
            PlatformSilent: it could not be asked, so nobody is let in.
        """
        return None

    def check_password(self, name: str, password: str, cookies: Mapping[str, str]) -> Visitor | None:
        """The visitor, as the platform knows them now, if this is their password; None if it is not.

        Raises:
            PlatformSilent: it could not be asked, so nobody is let in.
        """
        return None

    def no_password(self, name: str) -> Statement | None:
        """Why somebody whom it knows has no password that it could check, and what they can do; None if they have one.

        Raises:
            PlatformSilent: it could not be asked.
        """
        return None

    def notify(self, notice: Notice) -> None:
        """Send a message by the platform's own means.

        Raises:
            PlatformSilent: it was not sent.
        """
        return

    def panel(self) -> Panel:
        """What it adds to the settings."""
        return Panel()
