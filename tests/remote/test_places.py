"""Nobody takes the places of all others at the message service, whether they have a password or not."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import redis
from django.test import override_settings
from django.utils import timezone

from nasadvisor.console.fleet.remote.listening import Listening, folder, listen
from nasadvisor.console.worker import enrolment
from nasadvisor.domain.fleet.joining import ConsoleAccess
from nasadvisor.host.fleet.joining import sign_in
from tests.remote.conftest import Console, as_node

PLACES = 80


@pytest.fixture
def nas1(console: Console) -> ConsoleAccess:
    """A host in order, at a service with few places."""
    access = console.join("nas1")
    console.inbox.service.config_set("maxclients", PLACES)
    return access


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    """Connections that stay open for a test."""
    with ExitStack() as stack:
        yield stack


def connected(console: Console) -> int:
    return int(console.inbox.service.info("clients")["connected_clients"])


def say_nothing(console: Console, opened: ExitStack, count: int = PLACES) -> None:
    for _ in range(count):
        opened.enter_context(socket.create_connection(("127.0.0.1", console.port)))


def test_strangers_who_say_nothing_keep_no_host_out(console: Console, nas1: ConsoleAccess, opened: ExitStack) -> None:
    say_nothing(console, opened)
    with pytest.raises(redis.RedisError):
        sign_in(nas1)
    console.look()
    sign_in(nas1)
    assert connected(console) <= enrolment.MOST_OF_STRANGERS + 3


def test_a_host_that_takes_all_places_keeps_only_its_share(
    console: Console, nas1: ConsoleAccess, opened: ExitStack
) -> None:
    """Proves it for connections that wait for something, which the time-out of Redis never ends."""
    nas2 = console.join("nas2")
    for _ in range(PLACES - 5):
        attacker = opened.enter_context(as_node(nas2))
        connection = attacker.connection_pool.get_connection()
        connection.send_command("BRPOP", "host.nas2", 0)
    console.look()
    of_users = [each["user"] for each in console.inbox.service.client_list()]
    assert of_users.count("node.nas2") == enrolment.MOST_OF_A_HOST
    sign_in(nas1)


def test_who_is_connected_where_there_is_room_stays(console: Console, nas1: ConsoleAccess, opened: ExitStack) -> None:
    alone = connected(console)
    say_nothing(console, opened, 15)
    until = time.monotonic() + 10
    while connected(console) < alone + 15 and time.monotonic() < until:  # Redis takes them one after the other
        time.sleep(0.01)
    console.look()
    assert connected(console) == alone + 15


def test_there_is_room_for_as_many_hosts_as_are_set(console: Console) -> None:
    assert "maxclients 4000\n" in (folder() / "redis.conf").read_text()
    with override_settings(MOST_HOSTS=2000):
        listen(Listening(("127.0.0.1",), console.port), timezone.now())
    assert "maxclients 16000\n" in (folder() / "redis.conf").read_text()
