"""What somebody who is not signed in sends takes neither memory, disk nor a place for long."""

import asyncio
import importlib
import sys
from typing import Any

import pytest
from django.core.asgi import get_asgi_application
from django.db import connections

from nasadvisor.console.web.connections import BoundedRequests, InTurn, Message, Receive, Scope, Send


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


class Kitchen:
    """An application that notes how many are worked on at once, and how many have been."""

    def __init__(self) -> None:
        self.inside = self.most = self.done = 0

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(0.01)
        self.inside -= 1
        self.done += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"soup"})


class Slow(Client):
    """Takes no byte of its answer."""

    async def send(self, message: Message) -> None:
        await super().send(message)
        await asyncio.sleep(3600)


async def served(application: InTurn, clients: list[Client], seconds: float = 5) -> None:
    """Let all of them ask at once, and wait for those that ever come to an end."""
    asking = [asyncio.create_task(application(scope_of(), each.receive, each.send)) for each in clients]
    await asyncio.wait(asking, timeout=seconds)
    for task in asking:
        task.cancel()


def test_a_hundred_requests_at_once_are_answered_a_few_at_a_time() -> None:
    kitchen, clients = Kitchen(), [Client(1, 0) for _ in range(100)]
    asyncio.run(served(InTurn(kitchen, most=4), clients))
    assert (kitchen.most, kitchen.done) == (4, 100)
    assert {client.status for client in clients} == {200}


def test_who_takes_time_to_ask_or_to_read_keeps_nobody_waiting() -> None:
    kitchen = Kitchen()
    slow: list[Client] = [Slow(1, 0) for _ in range(4)] + [Client(2, 1, pause_s=3600) for _ in range(4)]
    quick = [Client(1, 0) for _ in range(10)]
    asyncio.run(served(InTurn(kitchen, most=4), slow + quick, seconds=1))
    assert {client.status for client in quick} == {200}


def test_a_request_that_fails_gives_its_turn_back() -> None:
    async def fail(_scope: Scope, receive: Receive, _send: Send) -> None:
        await receive()
        raise ZeroDivisionError

    async def fail_often() -> int:
        application = InTurn(fail, most=2)
        clients = [Client(1, 0) for _ in range(10)]
        asked = (application(scope_of(), client.receive, client.send) for client in clients)
        await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 5)
        return application.turns._value

    assert asyncio.run(fail_often()) == 2


def test_pages_keep_no_connection_to_the_database_for_a_thread_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept, they were a hundred within a minute of many visitors, which is all that PostgreSQL has."""
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 600)
    monkeypatch.setattr("gc.freeze", lambda: None)
    monkeypatch.delitem(sys.modules, "nasadvisor.asgi", raising=False)
    importlib.import_module("nasadvisor.asgi")
    assert connections.settings["default"]["CONN_MAX_AGE"] == 0
