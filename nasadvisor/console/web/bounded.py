"""Requests of bounded size, time and number: neither uvicorn nor Django bounds what clients may send and have made.

uvicorn has no such setting (`uvicorn --help`; beyond `--limit-concurrency` it refuses), and Django's `ASGIHandler`
spools a whole body before any page looks at it, and gives each request a thread of its own. No form here takes a file.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

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
