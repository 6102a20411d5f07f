"""How a host on another machine and its console call things: queues, users of the message service, tokens.

A node may take from `host_queue(node)`, keep what it has not acknowledged under keys of its own, and add to
`console_queue(node)`; `nasadvisor.console.fleet.remote.access` gives its user exactly that.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

PORT: Final = 8844
"""Where a console listens for its hosts unless another port is chosen; the pages have the one before."""

NODE_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
"""Names as of hosts; no character in it means anything in a pattern of Redis."""

_TOKEN: Final = re.compile(r"([A-Za-z0-9_-]{43})\.([0-9a-f]{64})")


@dataclass(frozen=True)
class Token:
    """What lets one host join: a secret, and the SHA-256 of the certificate behind which the secret may be said."""

    secret: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.secret}.{self.fingerprint}"


@dataclass(frozen=True)
class JoinRequest:
    """What a host says to join. Its password stays with it: the console gets the SHA-256, in hexadecimal."""

    host_name: str
    password_digest: str


@dataclass(frozen=True)
class JoinAnswer:
    """What a console says then: the host's name here, and the authority that signs the console's certificates."""

    node: str
    authority: str


@dataclass(frozen=True)
class ConsoleAccess:
    """How a host that has joined reaches its console. Kept on the host, readable for root only."""

    node: str
    address: str
    port: int
    password: str
    authority: str


def token_of(text: str) -> Token | None:
    """Read a token; None if it is none."""
    found = _TOKEN.fullmatch(text.strip())
    return Token(found[1], found[2]) if found else None


def digest_of(secret: str) -> str:
    """SHA-256 in hexadecimal, as Redis keeps passwords (ACL SETUSER) and the console tokens."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_node_name(name: str) -> bool:
    """Whether a host may be called that."""
    return NODE_NAME.fullmatch(name) is not None


def bracketed(address: str) -> str:
    """An address as it stands in a URL: IPv6 in brackets (RFC 3986, 3.2.2)."""
    return f"[{address}]" if ":" in address else address


def host_queue(node: str) -> str:
    """Where a node finds what it is asked for."""
    return f"host.{node}"


def console_queue(node: str) -> str:
    """Where a node that has joined puts what it tells the console."""
    return f"console.{node}"


def binding_of(queue: str) -> str:
    """The key in which kombu notes that a queue is there."""
    return f"_kombu.binding.{queue}"


def permanent_binding_of(queue: str) -> str:
    """The same for queues that do not expire (kombu 5.7 and later)."""
    return f"_kombu.binding_permanent.{queue}"


def unacknowledged(node: str) -> dict[str, str]:
    """Where a node keeps what it has taken and not acknowledged: kombu's options for its Redis transport."""
    return {
        "unacked_key": f"unacked.{node}",
        "unacked_index_key": f"unacked_index.{node}",
        "unacked_mutex_key": f"unacked_mutex.{node}",
    }


def user_of(node: str) -> str:
    """A node's name as a user of the message service."""
    return f"node.{node}"


def guest_of(digest: str) -> str:
    """Who a host is while it joins: the user that the token's digest names."""
    return f"join.{digest[:16]}"


def request_key(digest: str) -> str:
    """Where the request of a host that joins goes."""
    return f"joining.{digest[:16]}"


def answer_key(digest: str) -> str:
    """Where its answer comes."""
    return f"joined.{digest[:16]}"
