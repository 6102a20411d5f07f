"""Proxmox VE for the console: who is signed in there is signed in here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from plugins.contract.console import ConsolePlatform, Panel, PanelLink, Visitor
from plugins.proxmox import SUPPORTS
from plugins.proxmox.api import COOKIE, ProxmoxApi

CERTIFICATE = Path("/run/nasadvisor-tls/certificate.pem")
"""A copy of what pveproxy shows, made when the web service starts; the pages are served with it as well."""

WAITS = Statement(
    "proxmox-waits",
    _(
        "NAS Advisor holds Proxmox VE's disk lock during this run. Actions under Disks wait and give up after 10 "
        "seconds without changing anything; repeat them after the run. Wipe Disk and Initialize Disk with GPT do not "
        "wait: do not use them now."
    ),
)


@dataclass(frozen=True)
class ProxmoxConsole(ConsolePlatform):
    """Proxmox VE 8 and 9. Browsers send its cookie to every port of the node, so to us too."""

    name = "Proxmox VE"
    supports = SUPPORTS
    cookies = (COOKIE,)
    during_runs = WAITS
    api: ProxmoxApi = field(default_factory=lambda: ProxmoxApi(CERTIFICATE))

    def detect(self) -> bool:
        """Every node has the tool that calls the API."""
        return Path("/usr/bin/pvesh").exists()

    def authenticate(self, cookies: Mapping[str, str]) -> Visitor | None:
        """See `ConsolePlatform.authenticate`."""
        return self.api.visitor(cookies.get(COOKIE, ""))

    def check_password(self, name: str, password: str, cookies: Mapping[str, str]) -> Visitor | None:
        """A fresh ticket by the password, and the permissions by the cookie as they are now.

        The cookie's session has passed the second factor, where the user has one; the password shows that it is still
        the user who sits there. So the second factor is not asked for again.
        """
        visitor = self.authenticate(cookies)
        if visitor is None or visitor.name != name:
            return None
        return visitor if self.api.password_is_right(name, password) else None

    def no_password(self, name: str) -> Statement | None:
        """Whoever came by OpenID has a password elsewhere; Proxmox VE only refuses when it is asked for theirs."""
        return _by_openid(name.rpartition("@")[2]) if self.api.is_by_openid(name) else None

    def panel(self) -> Panel:
        """The way back, and what signs somebody in."""
        line = Statement(
            "proxmox-sign-on",
            _(
                "Anyone signed in to Proxmox VE under the same host name is also signed in here. Sys.Audit on / "
                "allows viewing; Sys.Modify on / allows applying and undoing."
            ),
        )
        return Panel((line,), (PanelLink(Statement("proxmox-open", _("Open Proxmox VE")), "https://{host}:8006/"),))


def _by_openid(realm: str) -> Statement:
    return Statement(
        "proxmox-openid",
        _(
            "Users in the realm {realm} sign in to Proxmox VE with OpenID, so Proxmox VE cannot check a password for "
            "you, and changes here require one. Sign out and sign in as a NAS Advisor user; an administrator creates "
            "one under Settings, Users."
        ),
        {"realm": realm},
    )


PLATFORM = ProxmoxConsole()
