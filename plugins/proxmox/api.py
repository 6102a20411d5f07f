"""Proxmox VE's API on this node, for who somebody is and what they may do. Nothing else is asked of it.

What is checked here is left to pveproxy as far as it can be: keys rotate, users are disabled and tickets are half
authenticated in ways that only it keeps track of (pve-access-control, AccessControl.pm, verify_ticket).

The connection never leaves the machine. It is made to nobody but the holder of the node's own certificate, compared as
a whole before a byte is sent: any local user can listen on a port while pveproxy is stopped.
"""

import hashlib
import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlencode

import urllib3
from urllib3.exceptions import HTTPError

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from plugins.contract.console import Access, PlatformSilent, Visitor

COOKIE: Final = "PVEAuthCookie"
PORT: Final = 8006

TIMEOUT_S: Final = 8.0
"""pveproxy answers what it refuses only after 3 s (pve-http-server, AnyEvent.pm)."""

MOST_BYTES: Final = 65536
"""Permissions on one path have less than 2 KiB."""

_TICKET: Final = re.compile(r"PVE:(?P<user>[^\s:/!]+@[A-Za-z][A-Za-z0-9._-]+):[0-9A-F]{8}::[A-Za-z0-9+/=]+")
"""assemble_rsa_ticket() in pve-common, Ticket.pm. A half-authenticated one has "!tfa!…" in place of the user."""

_SAFE: Final = re.compile(r"[A-Za-z0-9%:@._~+/=-]{1,4096}")
"""What such a cookie consists of, so that none can end a header."""

_OK: Final = 200
_NOT_LET_IN: Final = frozenset({401, 403})


@dataclass(frozen=True)
class ProxmoxApi:
    """The API behind the certificate in the file `certificate` (PEM, the node's own first)."""

    certificate: Path
    host: str = "127.0.0.1"
    port: int = PORT
    timeout_s: float = TIMEOUT_S

    def visitor(self, cookie: str) -> Visitor | None:
        """Whom a ticket belongs to and what they may do; None if pveproxy does not let them in, or not look.

        Raises:
            PlatformSilent: it could not be asked.
        """
        name = user_in(cookie)
        if not name or not _SAFE.fullmatch(cookie):
            return None
        answer = self._ask("GET", "/api2/json/access/permissions?path=/", {"Cookie": f"{COOKIE}={cookie}"})
        access = None if answer is None else _access(answer)
        return Visitor(name, access) if access else None

    def password_is_right(self, name: str, password: str) -> bool:
        """Whether this is the password of somebody; for those with a second factor, the first of the two.

        Raises:
            PlatformSilent: it could not be asked.
        """
        if is_ticket(password):
            return False
        answer = self._ask("POST", "/api2/json/access/ticket", {}, {"username": name, "password": password})
        return answer is not None and _user_of_answer(answer) == name

    def is_by_openid(self, name: str) -> bool:
        """Whether somebody's realm is one of OpenID, which knows no passwords (pve-access-control, Auth/OpenId.pm).

        Raises:
            PlatformSilent: it could not be asked.
        """
        answer = self._ask("GET", "/api2/json/access/domains", {})
        return answer is not None and name.rpartition("@")[2] in _openid_realms(answer)

    def _ask(
        self, method: str, path: str, headers: Mapping[str, str], fields: Mapping[str, str] | None = None
    ) -> object | None:
        """The `data` of an answer; None if it is that somebody is not let in."""
        body = urlencode(fields) if fields else None
        form = {"Content-Type": "application/x-www-form-urlencoded"} if fields else {}
        try:
            with urllib3.HTTPSConnectionPool(
                self.host,
                self.port,
                timeout=urllib3.Timeout(total=self.timeout_s),
                retries=False,
                cert_reqs="CERT_NONE",  # the fingerprint says more than a chain
                assert_fingerprint=self._fingerprint(),
            ) as pool:
                answer = pool.urlopen(method, path, body, {**headers, **form}, redirect=False, preload_content=False)
                said = answer.read(MOST_BYTES + 1)
                answer.close()
        except (HTTPError, OSError, ValueError) as error:
            # The kind of error only: its text may name what was sent.
            raise _silent(type(error).__name__) from None
        if answer.status in _NOT_LET_IN:
            return None
        if answer.status != _OK:
            raise _silent(f"HTTP {answer.status}")
        return _data(said)

    def _fingerprint(self) -> str:
        """SHA-256 of the certificate that pveproxy must show."""
        pem = self.certificate.read_text(encoding="ascii")
        end = "-----END CERTIFICATE-----"
        first = pem[pem.index("-----BEGIN CERTIFICATE-----") : pem.index(end) + len(end)]
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()


def user_in(cookie: str) -> str:
    """The user whom a ticket names; "" if it is none that is fully authenticated."""
    match = _TICKET.fullmatch(unquote(cookie))
    return match["user"] if match else ""


def is_ticket(password: str) -> bool:
    """Whether a password is a ticket. PVE takes one for the other, and a cookie must not pass as a password."""
    return unquote(password).lstrip().startswith("PVE:")


def _data(body: bytes) -> object:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise _silent("no JSON") from None
    if not isinstance(answer, dict) or answer.get("data") is None:
        raise _silent("no data")
    data: object = answer["data"]
    return data


def _access(data: object) -> Access | None:
    """From {"/": {"Sys.Audit": 1, …}}: a privilege is held if it is named; its value says whether it is handed down."""
    if not isinstance(data, dict) or not all(isinstance(each, dict) for each in data.values()):
        raise _silent("no permissions")
    held = data.get("/", {})
    if "Sys.Modify" in held:
        return Access.OPERATOR
    return Access.VIEWER if "Sys.Audit" in held else None


def _openid_realms(data: object) -> frozenset[str]:
    """From [{"realm": "sso", "type": "openid"}, …]."""
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise _silent("no realms")
    return frozenset(str(each.get("realm", "")) for each in data if each.get("type") == "openid")


def _user_of_answer(data: object) -> str:
    if not isinstance(data, dict) or not isinstance(data.get("ticket"), str):
        raise _silent("no ticket")
    return str(data.get("username", ""))


def _silent(why: str) -> PlatformSilent:
    statement = Statement(
        "proxmox-silent",
        _(
            "NAS Advisor could not check your identity with Proxmox VE ({why}), so sign-in through it is unavailable, "
            "and nothing was changed. Check `systemctl status pveproxy`. If its certificate was renewed in the last "
            "hour, run `systemctl restart nasadvisor-web`."
        ),
        {"why": why},
    )
    return PlatformSilent(statement)
