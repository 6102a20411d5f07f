"""Who connects and says little takes no place for long, and never those of others: with real sockets and uvicorn."""

import resource
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import uvicorn

from nasadvisor.console.web.connections import (
    MOST_OF_ONE_NETWORK,
    BoundedConnections,
    BoundedRequests,
    Receive,
    Scope,
    Send,
)
from nasadvisor.console.web.networks import network_of
from nasadvisor.runtime import serving
from tests.lab.instance import free_port

OK = 200
HALF_SENT = b"GET /login/ HTTP/1.1\r\nHost: nas.example\r\nX-Slow: "
ATTACKER = "127.0.0.5"
WITHIN_S = 2.0


class Impatient(BoundedConnections):
    headers_within_s = WITHIN_S


async def page(_scope: Scope, receive: Receive, send: Send) -> None:
    """A page that reads what it is sent, as Django does."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A page behind the web server of the unit, with its options."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("too few files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    with served() as port:
        yield port


@contextmanager
def served(**options: Any) -> Iterator[int]:
    """The page, until it is no longer asked for."""
    port = free_port()
    ours: dict[str, Any] = {
        "lifespan": "off",
        "log_level": "critical",
        "limit_concurrency": 2000,
        "timeout_keep_alive": 5,
        "http": Impatient,
        "loop": "nasadvisor.console.web.connections:BoundedLoop",
    }
    server = uvicorn.Server(uvicorn.Config(BoundedRequests(page), port=port, **ours, **options))
    thread = Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield port
    server.should_exit = True
    thread.join(30)


def connect(port: int, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5, source_address=(source, 0))


def ask(port: int) -> int:
    """The status of the page, 0 where nobody answers."""
    with suppress(OSError), connect(port) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: nas.example\r\n\r\n")
        return int(client.recv(100).split()[1])
    return 0


def answer_to(client: socket.socket) -> bytes:
    """The whole answer of the page; its head and body may come apart."""
    said = b""
    while not said.endswith(b"ok") and (part := client.recv(1000)):
        said += part
    return said


def is_ended(client: socket.socket, within_s: float) -> bool:
    """Whether the server ends it; what was on its way before may come in several pieces."""
    client.settimeout(within_s)
    try:
        while client.recv(1000):
            pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True
    return True


@pytest.mark.parametrize(("host", "families"), [("::", (4, 6)), ("0.0.0.0", (4,)), ("127.0.0.1", (4,))])
def test_pages_are_served_by_both_families_unless_one_is_chosen(host: str, families: tuple[int, ...]) -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with served(host=host) as port:
        for family, address in ((4, "127.0.0.1"), (6, "::1")):
            answers = False
            with suppress(ConnectionRefusedError), socket.create_connection((address, port), timeout=5):
                answers = True
            assert answers == (family in families), address


@pytest.mark.parametrize("sent", [b"", HALF_SENT])
def test_eleven_hundred_half_sent_requests_leave_the_page_answering(port: int, sent: bytes) -> None:
    """Proves that it answers at once while they hang, and that none of them is there a little later."""
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(port, ATTACKER)) for _ in range(1100)]
        for client in clients:
            with suppress(OSError):  # ended already
                client.sendall(sent)
        began = time.monotonic()
        assert ask(port) == 200
        assert time.monotonic() - began < 2
        ended = sum(is_ended(client, 0.001) for client in clients[MOST_OF_ONE_NETWORK:])
        assert ended >= 1100 - MOST_OF_ONE_NETWORK - 1
        assert all(is_ended(client, 2 * WITHIN_S) for client in clients[:MOST_OF_ONE_NETWORK])
        assert ask(port) == 200


def test_headers_byte_by_byte_end_with_their_time(port: int) -> None:
    """Proves that to say something again and again buys no more of it."""
    began = time.monotonic()
    with connect(port) as client:
        client.sendall(HALF_SENT)
        while not is_ended(client, 0.1) and time.monotonic() - began < 3 * WITHIN_S:
            with suppress(OSError):  # the end shows at the next look
                client.sendall(b"x")
    assert WITHIN_S - 0.5 < time.monotonic() - began < 2 * WITHIN_S


def test_a_browser_keeps_its_connection_and_its_further_request_has_its_own_time(port: int) -> None:
    with connect(port) as client:
        for _ in range(3):
            client.sendall(b"GET / HTTP/1.1\r\nHost: nas.example\r\n")
            time.sleep(WITHIN_S / 2)
            client.sendall(b"\r\n")
            assert answer_to(client).startswith(b"HTTP/1.1 200")
        client.sendall(HALF_SENT)
        assert is_ended(client, 2 * WITHIN_S)


def test_a_body_of_a_gigabyte_and_a_half_is_refused_before_it_comes(port: int) -> None:
    with connect(port) as client:
        client.sendall(b"POST /login/ HTTP/1.1\r\nHost: nas.example\r\nContent-Length: 1610612736\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 413")
        assert is_ended(client, 5)
    assert ask(port) == 200


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[tuple[int, ssl.SSLContext]]:
    """The page over TLS, and what trusts its certificate."""
    own = serving.own_certificate(tmp_path)
    serving.make_own(own, ["127.0.0.1"], datetime.now(UTC))
    settings = {"ssl_certfile": own.chain, "ssl_keyfile": own.key, "ssl_ciphers": serving.CIPHERS}
    with served(**settings) as port:
        yield port, ssl.create_default_context(cafile=str(own.chain))


def test_who_begins_no_handshake_or_half_of_one_takes_no_place_of_others(secured: tuple[int, ssl.SSLContext]) -> None:
    """Proves that the limits begin before TLS does: asyncio alone would wait a minute for each handshake."""
    port, trusting = secured
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(port, ATTACKER)) for _ in range(MOST_OF_ONE_NETWORK + 100)]
        for client in clients[::2]:
            with suppress(OSError):  # ended already
                client.sendall(b"\x16\x03\x01\x02\x00\x01")
        with connect(port) as raw, trusting.wrap_socket(raw, server_hostname="127.0.0.1") as other:
            other.sendall(b"GET / HTTP/1.1\r\nHost: nas.example\r\n\r\n")
            assert answer_to(other).startswith(b"HTTP/1.1 200")
        assert all(is_ended(client, 0.5) for client in clients[MOST_OF_ONE_NETWORK:])
        assert all(is_ended(client, 2 * WITHIN_S) for client in clients[:MOST_OF_ONE_NETWORK])
    deadline = time.monotonic() + 5
    while Impatient.of_network:
        assert time.monotonic() < deadline, "somebody who is gone is still counted"
        time.sleep(0.05)


def test_a_browser_keeps_its_connection_over_tls_and_is_ended_when_it_sends_half_a_request(
    secured: tuple[int, ssl.SSLContext],
) -> None:
    port, trusting = secured
    with connect(port) as raw, trusting.wrap_socket(raw, server_hostname="127.0.0.1") as client:
        for _ in range(3):
            client.sendall(b"GET / HTTP/1.1\r\nHost: nas.example\r\n")
            time.sleep(WITHIN_S / 2)
            client.sendall(b"\r\n")
            assert answer_to(client).startswith(b"HTTP/1.1 200")
        client.sendall(HALF_SENT)
        assert is_ended(client, 2 * WITHIN_S)


def test_plain_http_gets_no_answer_where_there_is_tls(secured: tuple[int, ssl.SSLContext]) -> None:
    port, _trusting = secured
    with connect(port) as client:
        client.sendall(b"GET /login/ HTTP/1.1\r\nHost: nas.example\r\n\r\n")
        assert client.recv(1000) in (b"", b"\x15\x03\x01\x00\x02\x02\x46")  # nothing, or TLS' alert


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::1", "::"),
        ("unix", None),
    ],
)
def test_one_network_is_what_one_client_has_for_itself(address: str, network: str | None) -> None:
    assert network_of(address) == network
