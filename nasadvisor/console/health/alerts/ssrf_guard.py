"""Where messages to services may go: not to the console's own machine or network, unless an administrator says so.

Whoever may enter the address of a service could otherwise have the console talk to what only it can reach. Addresses
are looked at when a name is resolved for a connection, and the connection goes to what was looked at; so neither a
redirect nor a name that changes leads elsewhere. Link-local addresses are never reached: services of clouds that hand
out credentials are there, and nothing that messages go to.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from django.utils.translation import gettext as _

NAMES_FILE: Final = frozenset(
    {"attach", "cafile", "cert", "certfile", "certificate", "config", "file", "include", "keyfile", "path", "pem"}
    | {"subfile", "template"}
)
"""Options of Apprise's addresses that name a file of this machine."""

PATHS: Final = ("/", "~", "./", "../", "file:")
"""How a value begins that is the path of a file."""

LOCAL: Final = frozenset(["dbus", "glib", "gnome", "kde", "macosx", "qt", "rsyslog", "syslog", "windows"])
"""Services that do not resolve a name where it could be looked at, or that are on this machine."""

_MAY_BE_PRIVATE: ContextVar[bool | None] = ContextVar("may_be_private", default=None)
"""None where nothing is looked at: the console's other connections."""

_resolve = socket.getaddrinfo


class NotOutward(OSError):  # noqa: N818 - named for what it is
    """An address that messages may not go to; `str(error)` says so."""


def fault_in(address: str, *, may_be_private: bool) -> str:
    """Why no message goes to this address of a service, as far as the address itself tells; "" if nothing does."""
    for each in address.replace(",", " ").split():
        parts = urlsplit(each)
        options = parse_qsl(parts.query, keep_blank_values=True)
        if any(name.lower().lstrip("+-:") in NAMES_FILE or value.startswith(PATHS) for name, value in options):
            return _("A service address cannot refer to a file on the console.")
        if parts.scheme.lower() in LOCAL and not may_be_private:
            return _said()
        try:
            literal = ip_address(parts.hostname or "")
        except ValueError:
            continue
        if not _is_allowed(literal, may_be_private):
            return _said()
    return ""


@contextmanager
def outward_only(*, may_be_private: bool) -> Iterator[None]:
    """Connections that are made in here go outwards.

    Raises:
        NotOutward: from within, where a name leads elsewhere.
    """
    socket.getaddrinfo = _guarded
    token = _MAY_BE_PRIVATE.set(may_be_private)
    try:
        yield
    finally:
        _MAY_BE_PRIVATE.reset(token)


@wraps(_resolve)
def _guarded(*args: Any, **options: Any) -> list[Any]:
    found = _resolve(*args, **options)
    may_be_private = _MAY_BE_PRIVATE.get()
    if may_be_private is None:
        return found
    allowed = [each for each in found if _is_allowed(ip_address(str(each[4][0]).partition("%")[0]), may_be_private)]
    if not allowed:
        raise NotOutward(_said())
    return allowed


def _is_allowed(address: IPv4Address | IPv6Address, may_be_private: bool) -> bool:
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner:
            return _is_allowed(inner, may_be_private)
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    return address.is_global or (may_be_private and (address.is_private or address.is_loopback))


def _said() -> str:
    return _(
        "That address is on the console's own network. Tick “Allow addresses on the console's own network” to use it."
    )
