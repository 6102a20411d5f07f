"""One connection to TrueNAS's middleware: JSON-RPC 2.0, one call at a time, and only the calls in the table below.

The API version is pinned in the path, so that an update of TrueNAS does not change what a call means (the middleware
translates for older versions: middlewared/main.py, _add_api_route).
"""

import json
import logging
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus, InvalidURI, WebSocketException
from websockets.sync.client import ClientConnection, connect, unix_connect

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.errors import HostError, OutputUnreadable
from plugins.truenas.api.access import TrueNasAccess
from plugins.truenas.api.errors import (
    CallRefused,
    CertificateUnknown,
    ConnectionLost,
    NoAnswer,
    NoCommonVersion,
    NotReached,
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
            access.host, Statement("other-certificate", _("its certificate is not the one that was stored"))
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
