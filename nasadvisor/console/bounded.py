"""Requests of bounded size and time: neither uvicorn nor Django bounds what somebody who is not signed in may send.

uvicorn has no such setting (`uvicorn --help`), and Django's `ASGIHandler` spools a whole body before any page looks at
it. No form here takes a file.
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


def _declared(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0
