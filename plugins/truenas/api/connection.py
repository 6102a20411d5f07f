"""One connection to TrueNAS's middleware: JSON-RPC 2.0, one call at a time, and only the calls in the table below.

The API version is pinned in the path, so that an update of TrueNAS does not change what a call means (the middleware
translates for older versions: middlewared/main.py, _add_api_route).

A session is a connection on which we are logged in, with the version of the TrueNAS behind it.
"""

import json
import logging
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus, InvalidURI, WebSocketException
from websockets.sync.client import ClientConnection, connect, unix_connect

from nasadvisor.domain.change.refusals import PlatformUntested, said_with_undo
from nasadvisor.domain.statements import Finding, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.errors import HostError, OutputUnreadable
from plugins.truenas import PLATFORM_NAME, SUPPORTS
from plugins.truenas.api.access import TrueNasAccess
from plugins.truenas.api.errors import (
    BAD_KEY,
    DENIED,
    EXPIRED,
    MECHANISM,
    OTHER_NODE,
    SECOND_FACTOR,
    CallRefused,
    CertificateUnknown,
    ConnectionLost,
    LoginRefused,
    NoAnswer,
    NoCommonVersion,
    NotReached,
    VersionOutside,
)

API_VERSIONS: Final = ("v26.0.0", "v25.10.0")
"""Tried in this order; every release since 25.10 has at least one of them."""

READS: Final = frozenset({"system.version_short", "pool.query", "disk.details", "core.get_jobs", "auth.login_ex"})
CHANGES: Final = frozenset({"pool.update", "pool.remove"})
METHODS: Final = READS | CHANGES | {"mail.send"}
"""All that is ever called over the network. Nothing private, nothing that wipes or expands or runs commands."""

LOCAL: Final = frozenset(
    {
        "system.version_short",
        "initshutdownscript.query",
        "vm.query",
        "vm.device.query",
        "container.query",
        "container.device.query",
        "virt.instance.query",
        "virt.instance.device_list",
        "zfs.tier.rewrite_job_query",
        "zfs.tier.rewrite_job_status",
    }
)
"""All that is ever called over the middleware's own socket, where root may do everything: it only reads."""

SOCKET: Final = "run/middleware/middlewared.sock"
"""Whoever connects as root needs no key (middleware, plugins/auth.py, check_permission)."""

OPEN_TIMEOUT_S: Final = 10.0
OPENINGS: Final = 3
"""Each in its time: 30 s until it is said that nobody answers."""

CALL_TIMEOUT_S: Final = 60.0
CLOSE_TIMEOUT_S: Final = 2.0
MAX_ANSWER_BYTES: Final = 64 * 2**20
"""The details of a thousand disks with their partitions are about a megabyte."""

NOT_FOUND: Final = 404

_frames = logging.getLogger(f"{__name__}.frames")
_frames.setLevel(logging.INFO)  # at DEBUG the library writes every message to the log, the key among them


@dataclass(frozen=True)
class Connection:
    """An open connection; `version` is the API version in its path, `methods` all that may be called on it."""

    socket: ClientConnection
    version: str
    timeout_s: float = CALL_TIMEOUT_S
    methods: frozenset[str] = METHODS
    _numbers: Iterator[int] = field(default_factory=lambda: count(1), repr=False)

    def call(self, method: str, *params: object) -> Any:
        """The result of one call; of a job it is the job's number.

        Raises:
            CallRefused: TrueNAS will not or cannot do it.
            ConnectionLost, NoAnswer: nobody knows whether it did it.
            OutputUnreadable: the answer is not JSON-RPC.
        """
        if method not in self.methods:
            raise ValueError(f"{method} is not in the table of calls")
        number = next(self._numbers)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}
        deadline = time.monotonic() + self.timeout_s
        try:
            self.socket.send(json.dumps(request))
            while True:
                answer = _document(method, self.socket.recv(max(deadline - time.monotonic(), 0)))
                if answer.get("id") == number:
                    return _result(method, answer)
        except TimeoutError:
            raise NoAnswer(method, self.timeout_s, changes=method in CHANGES) from None
        except ConnectionClosed as error:
            why = (error.rcvd.reason if error.rcvd else "") or str(error)
            raise ConnectionLost(method, why, changes=method in CHANGES) from None


@contextmanager
def connection_to(access: TrueNasAccess, timeout_s: float = CALL_TIMEOUT_S) -> Iterator[Connection]:
    """An open connection on which nobody has logged in yet.

    Raises:
        NotReached, CertificateUnknown, NoCommonVersion: there is none.
    """
    with ExitStack() as stack:
        socket, version = _open(access.host, lambda version: _connect(access, version), stack)
        _check_certificate(access, socket)
        yield Connection(socket, version, timeout_s)


@contextmanager
def local_connection(root: Path, timeout_s: float = CALL_TIMEOUT_S) -> Iterator[Connection]:
    """An open connection to the middleware of this host, whose file system begins at `root`; nobody logs in on it.

    Raises:
        NotReached, NoCommonVersion: there is none.
    """
    path = str(root / SOCKET)
    with ExitStack() as stack:
        socket, version = _open(path, lambda version: _connect_locally(path, version), stack)
        yield Connection(socket, version, timeout_s, LOCAL)


def _open(name: str, connect_to: Callable[[str], ClientConnection], stack: ExitStack) -> tuple[ClientConnection, str]:
    for version in API_VERSIONS:
        try:
            return stack.enter_context(connect_to(version)), version
        except InvalidStatus as error:
            if error.response.status_code != NOT_FOUND:
                raise NotReached(name, f"HTTP {error.response.status_code}") from None
        except ssl.SSLCertVerificationError as error:
            raise CertificateUnknown(name, error.verify_message) from None
        except (OSError, InvalidURI, WebSocketException) as error:
            raise NotReached(name, str(error) or type(error).__name__) from None
    raise NoCommonVersion(name, API_VERSIONS)


def _connect_locally(path: str, version: str) -> ClientConnection:
    return unix_connect(
        path,
        f"ws://localhost/api/{version}",
        compression=None,
        open_timeout=OPEN_TIMEOUT_S,
        close_timeout=CLOSE_TIMEOUT_S,
        max_size=MAX_ANSWER_BYTES,
        logger=_frames,
    )


def _connect(access: TrueNasAccess, version: str) -> ClientConnection:
    """Open it; again if it was closed meanwhile: then the library may not tell which status was answered.

    And again if nothing was answered in time. The library reads and writes in two threads, and OpenSSL holds back the
    request for ever if the other thread takes a session ticket at that moment: seen twice in 5,000 openings with the
    two tickets that servers send, three times in 700 with a hundred, never without.
    """
    for _attempt in range(OPENINGS - 1):
        with suppress(ConnectionClosed, InvalidMessage, TimeoutError):
            return _connect_once(access, version)
    return _connect_once(access, version)


def _connect_once(access: TrueNasAccess, version: str) -> ClientConnection:
    return connect(
        f"{access.origin}/api/{version}",
        ssl=_tls(access),
        proxy=None,  # it would see the key
        compression=None,
        open_timeout=OPEN_TIMEOUT_S,
        close_timeout=CLOSE_TIMEOUT_S,
        max_size=MAX_ANSWER_BYTES,
        logger=_frames,
    )


def _tls(access: TrueNasAccess) -> ssl.SSLContext:
    """Authorities of the system, or none where one certificate is expected: then `_check_certificate` decides.

    TrueNAS's own certificate is self-signed for "localhost", so neither its issuer nor its name could be checked.
    """
    if not access.certificate:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _check_certificate(access: TrueNasAccess, socket: ClientConnection) -> None:
    """Before anything is said: the certificate is the one that was stored, byte for byte."""
    if not access.certificate:
        return
    secured = socket.socket
    presented = secured.getpeercert(binary_form=True) if isinstance(secured, ssl.SSLSocket) else None
    if presented != access.certificate:
        raise CertificateUnknown(
            access.host, Statement("other-certificate", _("its certificate does not match the stored one"))
        )


def _document(method: str, message: str | bytes) -> dict[str, Any]:
    try:
        answer = json.loads(message)
    except (ValueError, RecursionError) as error:
        raise _unreadable(method, f"it is not JSON ({error})") from None
    if not isinstance(answer, dict):
        raise _unreadable(method, "it is not an object")
    return answer


def _result(method: str, answer: dict[str, Any]) -> Any:
    if "error" in answer:
        error = answer["error"] if isinstance(answer["error"], dict) else {}
        number = error.get("code")
        raise CallRefused(method, number if isinstance(number, int) else 0, _reason(error), changes=method in CHANGES)
    if "result" not in answer:
        raise _unreadable(method, "it has neither a result nor an error")
    return answer["result"]


def _reason(error: dict[str, Any]) -> str:
    """The faults of a validation one by one, else the reason, else the message; never the trace."""
    data = error.get("data")
    details = data if isinstance(data, dict) else {}
    faults = details.get("extra")
    if isinstance(faults, list):
        said = [f"{fault[0]}: {fault[1]}" for fault in faults if isinstance(fault, list) and len(fault) > 1]
        if said:
            return "; ".join(said)
    return str(details.get("reason") or error.get("message") or "it gave no reason")


def _unreadable(method: str, problem: str) -> HostError:
    return OutputUnreadable(f"TrueNAS ({method})", problem)


REFUSALS: Final = {
    "AUTH_ERR": BAD_KEY,
    "EXPIRED": EXPIRED,
    "DENIED": DENIED,
    "OTP_REQUIRED": SECOND_FACTOR,
    "REDIRECT": OTHER_NODE,
}
"""The answers of auth.login_ex other than SUCCESS (api/v26_0_0/auth.py, AuthLoginExResult)."""

_NUMBERS: Final = re.compile(r"\d+\.\d+[\w.-]*")


@dataclass(frozen=True)
class Session:
    """Logged in. `host` is its address, `version` that of TrueNAS, e.g. "25.10.1"."""

    connection: Connection
    host: str
    version: str

    def call(self, method: str, *params: object) -> Any:
        """As `Connection.call`."""
        return self.connection.call(method, *params)

    def must_allow_adding(self) -> None:
        """Raises VersionOutside where nothing is added. Taking back is possible there, with a warning."""
        if not SUPPORTS.holds(self.version):
            raise VersionOutside(self.version)

    @property
    def warning_with_undo(self) -> Finding | None:
        """What is said with an undo on a version that this release was not made for."""
        if SUPPORTS.holds(self.version):
            return None
        return said_with_undo(PlatformUntested(PLATFORM_NAME, self.version, SUPPORTS.first, SUPPORTS.before))


Sessions = Callable[[], AbstractContextManager[Session]]
"""Opens a session; called again when one was lost."""


@contextmanager
def session_with(access: TrueNasAccess, timeout_s: float = CALL_TIMEOUT_S) -> Iterator[Session]:
    """Connect and log in.

    Raises:
        HostError: one of those in `errors`; nothing was changed.
    """
    with connection_to(access, timeout_s) as connection:
        _log_in(connection, access)
        version = connection.call("system.version_short")
        if not isinstance(version, str) or not _NUMBERS.fullmatch(version):
            raise OutputUnreadable("TrueNAS (system.version_short)", "it is not a version")
        yield Session(connection, access.host, version)


def _log_in(connection: Connection, access: TrueNasAccess) -> None:
    login = {
        "mechanism": "API_KEY_PLAIN",
        "username": access.user,
        "api_key": access.key,
        "login_options": {"user_info": False},
    }
    try:
        answer = connection.call("auth.login_ex", login)
    except CallRefused as error:
        raise LoginRefused(access.user, MECHANISM) from error
    kind = answer.get("response_type") if isinstance(answer, dict) else None
    if kind == "SUCCESS":
        return
    if kind not in REFUSALS:
        raise OutputUnreadable("TrueNAS (auth.login_ex)", "it says neither that the key is right nor that it is wrong")
    raise LoginRefused(access.user, REFUSALS[kind])
