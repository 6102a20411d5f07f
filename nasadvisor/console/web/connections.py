"""Requests and connections of bounded size, time and number: neither uvicorn nor Django bounds what clients may send
and have made.

uvicorn has no limit for how long somebody may take to send a request (Kludex/uvicorn issue 157), and no middleware sees
one before its headers are whole. Its settings `--http …:BoundedConnections` and `--loop …:BoundedLoop` take classes;
these end a connection that is too slow, and those beyond what one network needs. With TLS asyncio would tell of a
connection once the handshake is over, for which it waits a minute. So the loop hands the context to the connection,
which is counted and then does its handshake itself. See docs/explanation/decisions/0014-bounds-in-the-web-service.md.

uvicorn bounds no body either (`uvicorn --help`; beyond `--limit-concurrency` it refuses), and Django's `ASGIHandler`
spools a whole body before any page looks at it, and gives each request a thread of its own. No form here takes a file.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from nasadvisor.console.web.networks import network_of
from nasadvisor.runtime.alive import EVERY_S, say_alive

HEADERS_WITHIN_S: Final = 10.0
"""From the connection, or from the first byte of a further request, until its headers are whole."""

MOST_OF_ONE_NETWORK: Final = 200
"""A tenth of all (`--limit-concurrency` in the unit). A browser opens six to one server."""

PROXIES_HERE: Final = frozenset({"127.0.0.1", "::"})
"""This machine, as `network_of` calls it: a proxy on it has the connections of all."""


class BoundedConnections(H11Protocol):
    """uvicorn's own protocol, ended where somebody takes too long or too many.

    `tls` is what `BoundedLoop` gives it; None for plain HTTP.
    """

    of_network: ClassVar[Counter[str]] = Counter()
    headers_within_s: ClassVar[float] = HEADERS_WITHIN_S
    tls: ssl.SSLContext | None = None
    _network = ""
    _deadline: asyncio.TimerHandle | None = None
    _handshake: asyncio.Task[None] | None = None
    _early: bytearray
    _is_lost = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it, and begin to wait."""
        super().connection_made(transport)
        self._network = network_of(self.client[0] if self.client else "") or ""
        self.of_network[self._network] += 1
        if self._network not in PROXIES_HERE and self.of_network[self._network] > MOST_OF_ONE_NETWORK:
            transport.abort()
            return
        self._wait()
        if self.tls:
            self._early = bytearray()
            transport.pause_reading()  # until the handshake reads
            self._handshake = self.loop.create_task(self._begin_tls(transport, self.tls))

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several."""
        if self._handshake:
            self._early += data  # it came with the end of the handshake
            return
        before: RequestResponseCycle | None = self.cycle
        if before is not None and before.response_complete and self._deadline is None:
            self._wait()  # a further request begins
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if self._is_lost:  # asyncio tells of a handshake that failed in some cases only, so it is told here as well
            return
        self._is_lost = True
        self._stop_waiting()
        self.of_network[self._network] -= 1
        if self.of_network[self._network] <= 0:
            del self.of_network[self._network]
        super().connection_lost(exc)

    async def _begin_tls(self, transport: asyncio.Transport, context: ssl.SSLContext) -> None:
        """The handshake, within the time for headers; then this is the protocol of what is decrypted."""
        try:
            within_s = self.headers_within_s
            secured = await self.loop.start_tls(
                transport, self, context, server_side=True, ssl_handshake_timeout=within_s
            )
        except OSError as error:  # no TLS, none that we speak, or the end of the connection or of the time
            self.connection_lost(error)
            return
        if secured is None or self._is_lost:
            self.connection_lost(None)
            return
        super().connection_made(secured)
        self._handshake = None
        if self._early:
            self.data_received(bytes(self._early))

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(self.headers_within_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


EVERY_ADDRESS: Final = "::"
"""asyncio would take IPv6 alone by it. With no address at all it opens a socket for each family that the kernel has, so
that IPv4 is told by its own addresses too."""


class BoundedLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop, whose servers leave the handshake to `BoundedConnections`, and listen by IPv4 and IPv6.

    From when it serves on, it says that it turns.
    """

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], Any],
        host: str | None = None,
        *args: Any,
        ssl: ssl.SSLContext | None = None,
        **options: Any,
    ) -> asyncio.Server:
        """As asyncio's, except that the connection is handed over before TLS begins."""
        self._keep_saying_alive()
        place = None if host == EVERY_ADDRESS else host
        return await super().create_server(partial(_with_tls, protocol_factory, ssl), place, *args, **options)

    def _keep_saying_alive(self) -> None:
        say_alive()
        self.call_later(EVERY_S, self._keep_saying_alive)


def _with_tls(protocol_factory: Callable[[], Any], context: ssl.SSLContext | None) -> Any:
    protocol = protocol_factory()
    protocol.tls = context
    return protocol


Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES: Final = 2**20
"""The largest form, one for a channel, has a few kilobytes."""

WITHIN_S: Final = 20.0
"""As long as a whole body may take to arrive."""

MOST_AT_ONCE: Final = 6
"""Pages in the making. Each has a connection to the database, of which PostgreSQL gives 100 to all of its clients
(`max_connections`); and threads of one Python take it from each other: with 100 clients sixteen at once made 502 pages
in the time in which six made 669 and four 702. Some may wait for something else than the processor."""

_TOO_LARGE: Final = 413
_GONE: Final[Message] = {"type": "http.disconnect"}


class BoundedRequests:
    """An ASGI application that ends requests which are too large or too slow."""

    def __init__(self, application: Application, most_bytes: int = MOST_BYTES, within_s: float = WITHIN_S) -> None:
        self.application, self.most_bytes, self.within_s = application, most_bytes, within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
        elif _declared(scope) > self.most_bytes:
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": _TOO_LARGE, "headers": headers})
            await send({"type": "http.response.body", "body": b"The request is too large.\n"})
        else:
            await self.application(scope, self._bounded(receive), send)

    def _bounded(self, receive: Receive) -> Receive:
        """What arrives until the body is whole; then the client counts as gone once it is too much or too late."""
        until = asyncio.get_running_loop().time() + self.within_s
        taken, is_whole = 0, False

        async def next_part() -> Message:
            nonlocal taken, is_whole
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    part = await receive()
            except TimeoutError:
                return _GONE
            taken += len(part.get("body", b""))
            is_whole = not part.get("more_body", False)
            return part if taken <= self.most_bytes else _GONE

        return next_part


class InTurn:
    """An ASGI application that works on so many requests at once; the others wait, those that came first go first.

    A request has its turn from when it is whole until its answer begins: slow clients hold none.
    """

    def __init__(self, application: Application, most: int = MOST_AT_ONCE) -> None:
        self.application, self.turns = application, asyncio.Semaphore(most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        turn = _Turn(self.turns)

        async def next_part() -> Message:
            part = await receive()
            if part["type"] == "http.request" and not part.get("more_body", False):
                await turn.begin()
            return part

        async def answer(message: Message) -> None:
            turn.end()
            await send(message)

        try:
            await self.application(scope, next_part, answer)
        finally:
            turn.end()


class _Turn:
    """Of one request; it can be ended more than once."""

    def __init__(self, turns: asyncio.Semaphore) -> None:
        self.turns, self.is_held = turns, False

    async def begin(self) -> None:
        await self.turns.acquire()
        self.is_held = True

    def end(self) -> None:
        if self.is_held:
            self.turns.release()
        self.is_held = False


def _declared(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0
