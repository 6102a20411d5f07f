"""Where TrueNAS is and who asks: the address, the user, the API key and the certificate to expect."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from plugins.truenas.api.errors import AccessNotSet, PlainTransport

URL: Final = "NASADVISOR_TRUENAS_URL"
USER: Final = "NASADVISOR_TRUENAS_USER"
KEY_FILE: Final = "NASADVISOR_TRUENAS_KEY_FILE"
CERTIFICATE: Final = "NASADVISOR_TRUENAS_CERTIFICATE"

TLS_PORT: Final = 443
GROUP_AND_OTHERS: Final = 0o077


@dataclass(frozen=True)
class TrueNasAccess:
    """How to reach one TrueNAS.

    `certificate` is the one the server must present, in DER; empty means that the system's authorities vouch for it.
    """

    host: str
    port: int
    user: str
    key: str = field(repr=False)
    certificate: bytes = field(default=b"", repr=False)

    @property
    def origin(self) -> str:
        """The address without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"wss://{host}:{self.port}"


def is_set_up(environment: Mapping[str, str]) -> bool:
    """Whether somebody entered an address."""
    return bool(environment.get(URL))


def access_from(environment: Mapping[str, str]) -> TrueNasAccess:
    """The access that the settings NASADVISOR_TRUENAS_* describe.

    Raises:
        AccessNotSet: something is missing, or others can read the key.
        PlainTransport: the address is not one of TLS.
    """
    host, port = _parse(environment.get(URL, ""))
    user = environment.get(USER, "")
    if not user:
        raise AccessNotSet(USER, Statement("user", _("the name of the user who owns the API key")))
    return TrueNasAccess(
        host, port, user, _key(environment.get(KEY_FILE, "")), _certificate(environment.get(CERTIFICATE, ""))
    )


def _parse(url: str) -> tuple[str, int]:
    wanted = Statement("url", _("an address such as wss://nas.example"))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or TLS_PORT
    except ValueError:
        raise AccessNotSet(URL, wanted) from None
    if host and parts.scheme != "wss":
        raise PlainTransport(f"{parts.scheme}://{host}")
    if not host or parts.path.strip("/") or parts.username or parts.query:
        raise AccessNotSet(URL, wanted)
    return host, port


def _key(name: str) -> str:
    """The first line of the key file, which must be its owner's alone."""
    if not name:
        raise AccessNotSet(KEY_FILE, Statement("key-file", _("the path of the file that contains the API key")))
    path = Path(name)
    try:
        mode, key = path.stat().st_mode, path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise AccessNotSet(KEY_FILE, str(error)) from None
    if mode & GROUP_AND_OTHERS:
        raise AccessNotSet(
            KEY_FILE, Statement("mode", _("other users can read {path}: run chmod 600 on it"), {"path": name})
        )
    if not key:
        raise AccessNotSet(KEY_FILE, Statement("empty", _("{path} is empty"), {"path": name}))
    return key


def _certificate(name: str) -> bytes:
    if not name:
        return b""
    try:
        return ssl.PEM_cert_to_DER_cert(Path(name).read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise AccessNotSet(CERTIFICATE, str(error)) from None
