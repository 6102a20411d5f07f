# ruff: noqa: N818 - an error is named for what happened, as in a sentence: "raise NotListening"
"""The message service for hosts on other machines: a Redis of its own, with TLS, beside the private one.

It has a process, memory and users of its own, so that a host which misuses it reaches nothing of what the services on
the console's machine say to each other. Its folder holds everything it needs; without one the console does not listen.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import redis
from django.conf import settings
from kombu import Connection
from kombu.pools import connections

from nasadvisor.domain.fleet.joining import digest_of
from nasadvisor.runtime.private_files import write_private
from nasadvisor.stored.documents import from_json, to_json
from nasadvisor.stored.kinds import Kind, register


def authority_path(folder: Path) -> Path:
    """The certificate that hosts trust."""
    return folder / "authority.pem"


def certificate_path(folder: Path) -> Path:
    """The certificate of the message service."""
    return folder / "server.pem"


def key_path(folder: Path) -> Path:
    """Its key."""
    return folder / "server.key"


CONSOLE_USER: Final = "console"
MEMORY: Final = "512mb"

IDLE_S: Final = 120
"""A connection that is silent so long is ended. A host asks its queue every second and tells something every ten."""

PLACES_OF_A_HOST: Final = 8
"""Connections for which there is room, for each of `NASADVISOR_MOST_HOSTS`: its worker has some six, ten at the most.
Each takes 30 KiB with TLS (measured: 1,500 of Redis 7.0). All stay below `LimitNOFILE` of the unit."""

LARGEST_MESSAGE: Final = "32mb"
"""An inventory of 1,000 disks has less than 1 MB; the answers of a sweep come in parts."""

TIMEOUT_S: Final = 10
CONNECT_TIMEOUT_S: Final = 3


class NotListening(Exception):
    """The console takes no hosts from other machines."""


@dataclass(frozen=True)
class Listening:
    """Under which names and IP addresses hosts reach the message service, and at which port: inside, and from behind a
    router that hands connections on, it may well have two.
    """

    addresses: tuple[str, ...]
    port: int


register(Kind("listening", Listening))


def folder() -> Path:
    """Where everything about the message service for other hosts lies."""
    return settings.STATE_DIR / "remote"


def socket_path() -> Path:
    """How the console itself reaches it."""
    return settings.RUN_DIR / "remote.sock"


def listening() -> Listening | None:
    """Where the console listens; None where it does not."""
    try:
        return from_json(Listening, (folder() / "listening.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def listen(where: Listening, now: datetime) -> None:
    """Write all that the message service needs. Done again, it changes the addresses and renews the certificate."""
    from nasadvisor.console.fleet.remote import certificates  # noqa: PLC0415 - 9 MiB, and few consoles listen

    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    certificates.make_authority(folder(), now)
    certificates.make_server_certificate(folder(), where.addresses, now)
    if not _password_path().exists():
        write_private(_password_path(), secrets.token_urlsafe(32).encode())
    write_private(folder() / "listening.json", to_json(where).encode())
    # Last, for it starts the services (nasadvisor-remote.path).
    write_private(folder() / "redis.conf", _redis_configuration(where).encode())


def renew_if_due(now: datetime) -> None:
    """Renew the certificate in time.

    Raises:
        NotListening
        redis.exceptions.RedisError: it is renewed, and used from the next start.
    """
    from nasadvisor.console.fleet.remote import certificates  # noqa: PLC0415 - as above

    where = listening()
    if where is None:
        raise NotListening
    if certificates.is_due(folder(), now):
        certificates.make_server_certificate(folder(), where.addresses, now)
        use_certificate()


def use_certificate() -> None:
    """Make a message service that runs take the certificate that lies there now.

    Raises:
        redis.exceptions.RedisError
    """
    files = {"tls-cert-file": certificate_path(folder()), "tls-key-file": key_path(folder())}
    arguments = [str(part) for pair in files.items() for part in pair]
    with client() as service:
        command(service, "CONFIG", "SET", *arguments)


def client() -> redis.Redis:
    """A connection to it with all rights. Nothing is sent before its first command."""
    return redis.Redis(
        unix_socket_path=str(socket_path()),
        username=CONSOLE_USER,
        password=_password(),
        socket_timeout=TIMEOUT_S,
        decode_responses=False,
    )


def command(service: redis.Redis, *words: str) -> Any:
    """The answer to a command as it stands in the manual of Redis."""
    return service.execute_command(*words)  # type: ignore[no-untyped-call]


def broker() -> Any:
    """A connection for Celery, from a pool; for a `with` block.

    Raises:
        NotListening
    """
    url = f"redis+socket://{CONSOLE_USER}:{_password()}@{socket_path()}"
    options = {
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        "socket_timeout": TIMEOUT_S,
        "max_retries": 1,
        "interval_start": 0,
        "priority_steps": [0],  # as at the hosts: see `nasadvisor.host.tasks`
    }
    return connections[Connection(url, transport_options=options)].acquire(block=True)


def authority() -> str:
    """The certificate that hosts trust, as PEM."""
    return authority_path(folder()).read_text(encoding="ascii")


def server_fingerprint() -> str:
    """Which certificate hosts meet now."""
    from nasadvisor.console.fleet.remote import certificates  # noqa: PLC0415 - as above

    return certificates.fingerprint(folder())


def _password() -> str:
    try:
        return _password_path().read_text(encoding="ascii")
    except FileNotFoundError:
        raise NotListening from None


def _password_path() -> Path:
    return folder() / "password"


def _redis_configuration(where: Listening) -> str:
    """See redis.conf(5); users come from the console's database (`access`), so a restart asks for them again."""
    digest = digest_of(_password())
    lines = (
        "# Written by `manage listen`, which also changes it: NAS Advisor's messages with hosts on other machines.",
        "port 0",
        f"tls-port {where.port}",
        "bind * -::*",
        f"tls-cert-file {certificate_path(folder())}",
        f"tls-key-file {key_path(folder())}",
        f"tls-ca-cert-file {authority_path(folder())}",
        "tls-auth-clients no",
        'tls-protocols "TLSv1.2 TLSv1.3"',
        f"unixsocket {socket_path()}",
        "unixsocketperm 600",
        "user default reset off",
        f"user {CONSOLE_USER} reset on #{digest} ~* &* +@all",
        "supervised auto",
        "dir /tmp",
        'save ""',
        "appendonly no",
        "databases 1",
        f"maxmemory {MEMORY}",
        "maxmemory-policy noeviction",
        f"proto-max-bulk-len {LARGEST_MESSAGE}",
        f"timeout {IDLE_S}",
        f"maxclients {settings.MOST_HOSTS * PLACES_OF_A_HOST}",
        "tcp-keepalive 60",
    )
    return "\n".join(lines) + "\n"
