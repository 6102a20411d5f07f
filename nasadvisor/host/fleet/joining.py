# ruff: noqa: N818 - an error is named for what happened, as in a sentence: "raise TokenRefused"
"""Joining a console on another machine, and leaving it.

The token names the certificate behind which it may be said. Over that connection the host sends the hash of a password
of its own making, and gets its name and the authority to trust from then on. The password itself leaves the host only
towards that authority's service, when it signs in.
"""

import hashlib
import secrets
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import redis
import redis.exceptions
from cryptography import x509

from nasadvisor.domain.fleet import clocks
from nasadvisor.domain.fleet.joining import (
    ConsoleAccess,
    JoinAnswer,
    JoinRequest,
    Token,
    answer_key,
    bracketed,
    digest_of,
    guest_of,
    is_node_name,
    request_key,
    user_of,
)
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.change.journal import write_whole
from nasadvisor.host.config import watch_only_path_in
from nasadvisor.host.errors import HostError
from nasadvisor.stored.documents import DocumentError, from_json, to_json

CONNECT_S: Final = 10
ANSWER_S: Final = 30
"""The console looks for hosts that want to join every two seconds."""


class ConsoleUnreachable(HostError):
    """Nobody answers there, or somebody else than a console."""

    def __init__(self, console: str, reason: str) -> None:
        template = _(
            "The console at {console} cannot be reached: {reason}. This host did not join. Check the address, the "
            "port and any firewall in between, and run `systemctl status nasadvisor-remote-redis` on the console."
        )
        super().__init__(template, console=console, reason=reason)


class AnotherConsole(HostError):
    """The certificate is not the one in the token."""

    def __init__(self, console: str) -> None:
        template = _(
            "The server at {console} is not the console that created this token, or its certificate was renewed "
            "since. Nothing was sent to it, and this host did not join. Check the address, then create a new token."
        )
        super().__init__(template, console=console)


class TokenRefused(HostError):
    """The console knows no such token."""

    def __init__(self, console: str) -> None:
        template = _(
            "The console at {console} does not accept this token: it was already used, has expired or was revoked. "
            "This host did not join. Create a new token on the console."
        )
        super().__init__(template, console=console)


class ClockWrong(HostError):
    """By this host's clock the console's certificate is not valid yet, or not any more."""

    def __init__(self, console: str, now: datetime) -> None:
        template = _(
            "The clock of this host shows {now}, and at that time the certificate of the console at {console} is not "
            "valid. This host did not join. Set the clock, for example with `timedatectl set-ntp true` (requires "
            "chrony or systemd-timesyncd), and try again."
        )
        super().__init__(template, console=console, now=now.isoformat(timespec="seconds"))


class NoAnswer(HostError):
    """The message service took the request, but nobody looked at it."""

    def __init__(self, console: str) -> None:
        template = _(
            "The message service at {console} accepted the request, but the console did not answer. This host did not "
            "join. Run `systemctl status nasadvisor-remote` there, create a new token and try again."
        )
        super().__init__(template, console=console)


@dataclass(frozen=True)
class ConsoleAddress:
    """Where a console listens."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"{bracketed(self.address)}:{self.port}"


@dataclass(frozen=True)
class Joined:
    """How the console is reached from now on, and how far this host's clock is ahead of the console's."""

    access: ConsoleAccess
    ahead: timedelta


def join(place: ConsoleAddress, token: Token, host_name: str, path: Path, *, watch_only: bool = False) -> Joined:
    """Join, and keep in a file how the console is reached from now on; one that was joined before is left.

    With `watch_only` a mark is left first, by which the host refuses whatever would change something.

    Raises:
        ConsoleUnreachable, AnotherConsole, ClockWrong, TokenRefused, NoAnswer: this host did not join.
        JournalUnwritable: the file could not be written; the console waits for a host that does not come.
    """
    password = secrets.token_urlsafe(32)
    request = JoinRequest(host_name, digest_of(password))
    try:  # whoever signed it; nothing is said to it
        certificate = ssl.get_server_certificate((place.address, place.port), timeout=CONNECT_S)
    except OSError as error:
        raise ConsoleUnreachable(str(place), str(error)) from error
    if hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest() != token.fingerprint:
        raise AnotherConsole(str(place))
    shown, now = x509.load_pem_x509_certificate(certificate.encode()), datetime.now(UTC)
    if not shown.not_valid_before_utc <= now <= shown.not_valid_after_utc:
        raise ClockWrong(str(place), now)
    answer = _ask(place, token, certificate, request)
    access = ConsoleAccess(answer.node, place.address, place.port, password, answer.authority)
    try:
        ahead = sign_in(access)
    except (redis.exceptions.RedisError, OSError) as error:
        raise ConsoleUnreachable(str(place), str(error)) from error
    mark = watch_only_path_in(path.parent)
    if watch_only:
        write_whole(mark, "")
    else:
        mark.unlink(missing_ok=True)
    write_whole(path, to_json(access))
    return Joined(access, ahead)


def leave(path: Path) -> bool:
    """Forget how the console was reached; whether there was one."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    watch_only_path_in(path.parent).unlink(missing_ok=True)
    return True


def sign_in(access: ConsoleAccess) -> timedelta:
    """Sign in once; how far this host's clock is ahead of the console's then.

    Raises:
        redis.exceptions.RedisError, OSError: it does not answer, or does not take this host.
    """
    place = ConsoleAddress(access.address, access.port)
    with _service(place, user_of(access.node), access.password, access.authority) as service:
        service.ping()  # before the clocks are compared: to connect takes a while
        before = datetime.now(UTC)
        return clocks.ahead(service.time(), before, datetime.now(UTC))


def _ask(place: ConsoleAddress, token: Token, certificate: str, request: JoinRequest) -> JoinAnswer:
    digest = digest_of(token.secret)
    service = _service(place, guest_of(digest), token.secret, certificate)
    try:
        with service:
            service.lpush(request_key(digest), to_json(request))
            found = service.brpop([answer_key(digest)], timeout=ANSWER_S)
    except (redis.exceptions.AuthenticationError, redis.exceptions.NoPermissionError) as error:
        raise TokenRefused(str(place)) from error
    except (redis.exceptions.RedisError, OSError) as error:
        raise ConsoleUnreachable(str(place), str(error)) from error
    try:
        answer = from_json(JoinAnswer, _text(found[1])) if found else None
    except (DocumentError, UnicodeDecodeError) as error:
        raise ConsoleUnreachable(str(place), str(error)) from error
    if answer is None or not is_node_name(answer.node):
        raise NoAnswer(str(place))
    return answer


def _service(place: ConsoleAddress, user: str, password: str, trusted: str) -> redis.Redis:
    """A connection that trusts these certificates and nothing else; the name in them must be that of the place."""
    return redis.Redis(
        host=place.address,
        port=place.port,
        username=user,
        password=password,
        ssl=True,
        ssl_ca_data=trusted,
        ssl_cert_reqs="required",
        ssl_check_hostname=True,
        ssl_include_verify_flags=[ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN],
        socket_connect_timeout=CONNECT_S,
        socket_timeout=ANSWER_S + CONNECT_S,
    )


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
