"""What somebody who is not signed in sends takes neither memory, disk nor a place for long."""

import asyncio
from typing import Any

import pytest
from django.core.asgi import get_asgi_application

from nasadvisor.console.bounded import BoundedRequests, Message, Receive, Scope, Send


def scope_of(length: int | None = None) -> Scope:
    headers = [(b"host", b"localhost"), (b"content-type", b"text/plain")]
    headers += [] if length is None else [(b"content-length", str(length).encode())]
    return {"type": "http", "method": "POST", "path": "/login/", "headers": headers, "query_string": b""}


class Client:
    """Sends parts of a body, each after a while; `status` is what it is answered."""

    def __init__(self, parts: int, size: int, pause_s: float = 0.0) -> None:
        self.left, self.size, self.pause_s = parts, size, pause_s
        self.sent, self.status = 0, 0

    async def receive(self) -> Message:
        await asyncio.sleep(self.pause_s)
        self.left -= 1
        self.sent += self.size
        return {"type": "http.request", "body": b"x" * self.size, "more_body": self.left > 0}

    async def send(self, message: Message) -> None:
        self.status = message.get("status", self.status)


async def take_all(_scope: Scope, receive: Receive, send: Send) -> None:
    """An application that reads a body, as Django's does."""
    while True:
        part: Message = await receive()
        if part["type"] == "http.disconnect":
            return
        if not part["more_body"]:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            return


def answer(client: Client, scope: Scope, **bounds: Any) -> int:
    asyncio.run(asyncio.wait_for(BoundedRequests(take_all, **bounds)(scope, client.receive, client.send), 5))
    return client.status


def test_a_body_that_says_it_is_too_large_is_not_read() -> None:
    client = Client(1500, 2**20)
    assert answer(client, scope_of(1500 * 2**20)) == 413
    assert client.sent == 0


def test_a_body_without_a_length_is_read_no_further_than_the_limit() -> None:
    client = Client(1500, 2**20)
    assert answer(client, scope_of()) == 0
    assert client.sent <= 2 * 2**20


def test_a_body_that_trickles_is_given_up() -> None:
    client = Client(10**6, 1, pause_s=0.05)
    assert answer(client, scope_of(10**6), within_s=0.3) == 0
    assert client.sent < 10


@pytest.mark.parametrize("length", [None, 100])
def test_a_usual_body_arrives(length: int | None) -> None:
    assert answer(Client(10, 10), scope_of(length)) == 200


def test_django_reads_no_body_that_is_too_large() -> None:
    client = Client(1500, 2**20)
    asyncio.run(BoundedRequests(get_asgi_application())(scope_of(), client.receive, client.send))
    assert client.sent <= 2 * 2**20
