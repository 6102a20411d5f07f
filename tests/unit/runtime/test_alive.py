"""Whoever works says so to systemd, and who does not work says nothing."""

import asyncio
import socket
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from runpy import run_path

import kombu.exceptions
import pytest
from celery.signals import worker_init

from nasadvisor.console.celery_app import app
from nasadvisor.console.web.connections import BoundedLoop
from nasadvisor.console.worker import liveness as pulses
from nasadvisor.console.worker import tasks
from nasadvisor.console.worker.liveness import WITHIN, Liveness, Ticks
from nasadvisor.runtime import alive
from nasadvisor.runtime.alive import keep_saying_alive, say_alive, say_alive_in_worker

SOON_S = 5.0
NEVER_S = 0.2


class Systemd:
    """What systemd hears, on a socket of its own."""

    def __init__(self, place: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(place))

    def hears(self, within_s: float = SOON_S) -> bool:
        """Whether somebody says now that it is alive."""
        self.socket.settimeout(within_s)
        try:
            return self.socket.recv(100) == b"WATCHDOG=1\nWATCHDOG_USEC=180000000"
        except TimeoutError:
            return False


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Systemd]:
    place = tmp_path / "notify"
    found = Systemd(place)
    monkeypatch.setenv("NOTIFY_SOCKET", str(place))
    monkeypatch.setattr(alive, "EVERY_S", 0.01)
    yield found
    found.socket.close()


def test_what_is_alive_says_so(systemd: Systemd) -> None:
    say_alive()
    assert systemd.hears()


def test_nothing_is_said_where_nobody_listens(systemd: Systemd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET")
    say_alive()
    assert not systemd.hears(NEVER_S)


def test_a_systemd_that_went_away_is_no_trouble(systemd: Systemd) -> None:
    systemd.socket.close()
    say_alive()


def test_a_systemd_that_is_busy_keeps_nobody_waiting(systemd: Systemd) -> None:
    began = time.monotonic()
    for _ in range(1000):  # more than a socket holds
        say_alive()
    assert time.monotonic() - began < SOON_S
    assert systemd.hears()


def test_a_process_that_is_well_goes_on_saying_so(systemd: Systemd) -> None:
    answers = [True] * 3
    keep_saying_alive(lambda: bool(answers and answers.pop()))
    assert [systemd.hears() for _ in range(3)] == [True] * 3
    assert not systemd.hears(NEVER_S)


def test_the_web_server_says_that_its_loop_turns_and_nothing_once_it_does_not(
    systemd: Systemd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nasadvisor.console.web.connections.EVERY_S", 0.01)
    loop = BoundedLoop()

    async def serve() -> bool:
        server = await loop.create_server(asyncio.Protocol, "127.0.0.1", 0)
        heard = [await asyncio.to_thread(systemd.hears) for _ in range(3)]
        server.close()
        return all(heard)

    assert loop.run_until_complete(serve())
    systemd.socket.setblocking(False)
    while True:
        try:
            systemd.socket.recv(100)
        except BlockingIOError:
            break
    assert not systemd.hears(NEVER_S)
    loop.close()


def test_the_clock_notes_each_tick(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    scheduler = import_module("nasadvisor.console.worker.beat_scheduler")
    ticks = Ticks()
    monkeypatch.setattr(scheduler, "ticks", ticks)
    monkeypatch.setattr(scheduler.DatabaseScheduler, "tick", lambda _: 3.5)
    assert ticks.is_recent()
    request.getfixturevalue("later")
    assert not ticks.is_recent()
    assert object.__new__(scheduler.WatchedScheduler).tick() == pytest.approx(3.5)
    assert ticks.is_recent()


def test_the_clock_ticks_with_that_schedule() -> None:
    assert app.conf.beat_scheduler == "nasadvisor.console.worker.beat_scheduler:WatchedScheduler"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the worker sends to itself."""
    names: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, **_: names.append(name))
    return names


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time for an answer is over."""
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + WITHIN.total_seconds() + 1)


def test_a_worker_that_does_the_task_it_sent_to_itself_has_a_pulse(
    sent: list[str], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    liveness = Liveness()
    monkeypatch.setattr(tasks, "liveness", liveness)
    assert liveness.is_shown()
    request.getfixturevalue("later")
    app.tasks[sent[0]]()
    assert liveness.is_shown()


def test_a_worker_that_takes_no_task_any_more_has_none(sent: list[str], request: pytest.FixtureRequest) -> None:
    liveness = Liveness()
    request.getfixturevalue("later")
    assert not liveness.is_shown()
    assert sent == ["console.liveness"]


def test_a_worker_is_not_blamed_for_a_redis_that_is_away(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise kombu.exceptions.OperationalError

    monkeypatch.setattr(app, "send_task", unreachable)
    liveness = Liveness()
    request.getfixturevalue("later")
    assert liveness.is_shown()


@pytest.mark.parametrize(("ticks", "liveness"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_worker_is_well_while_its_clock_goes_and_its_tasks_are_done(
    monkeypatch: pytest.MonkeyPatch, ticks: bool, liveness: bool
) -> None:
    monkeypatch.setattr(Ticks, "is_recent", lambda _: ticks)
    monkeypatch.setattr(Liveness, "is_shown", lambda _: liveness)
    assert pulses.is_well() == (ticks and liveness)


def test_that_is_what_the_console_s_worker_is_asked_before_it_says_that_it_is_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(alive, "say_alive_in_worker", asked.append)
    loaded = run_path(pulses.__file__)
    assert asked == [loaded["is_well"]]


def test_a_worker_says_so_from_its_start_on_and_does_not_wait_for_redis(systemd: Systemd) -> None:
    say_alive_in_worker(lambda: True)
    _, begin = worker_init.receivers[-1]
    begin()
    assert systemd.hears()
    worker_init.disconnect(begin)
