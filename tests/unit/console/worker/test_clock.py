"""The clock in the console's worker: it goes as long as the worker does, and the worker no longer than it."""

import os
import signal
import threading
from collections.abc import Iterator
from importlib import reload
from types import SimpleNamespace

import pytest
from celery import Celery
from celery.beat import Scheduler

from nasadvisor.console.celery_app import app
from nasadvisor.console.worker import __main__ as main
from nasadvisor.console.worker.clock import Clock

SOON_S = 5.0


class Ticked(Scheduler):
    """A schedule that notes what is asked of it."""

    ticks: list[str]
    ticked: threading.Event
    ended: threading.Event

    def tick(self, *_: object, **__: object) -> float:
        self.ticks.append(threading.current_thread().name)
        self.ticked.set()
        return 0.01

    def close(self) -> None:
        self.ended.set()


class Broken(Ticked):
    def tick(self, *_: object, **__: object) -> float:
        raise OSError("the database is gone")


@pytest.fixture(autouse=True)
def noted() -> None:
    Ticked.ticks, Ticked.ticked, Ticked.ended = [], threading.Event(), threading.Event()


@pytest.fixture
def ended_with(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The signals that the process was sent."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    return sent


def clock_with(scheduler: type[Scheduler]) -> Clock:
    own = Celery("clock", set_as_current=False, broker="memory://")
    own.conf.beat_scheduler = scheduler
    return Clock(SimpleNamespace(app=own, steps=[]))


@pytest.fixture
def clock() -> Iterator[Clock]:
    made = clock_with(Ticked)
    made.start(None)
    yield made
    made.stop(None)


def test_the_worker_has_it() -> None:
    app.steps["worker"].discard(Clock)
    reload(main)
    assert Clock in app.steps["worker"]


def test_it_ticks_beside_the_worker(clock: Clock) -> None:
    assert Ticked.ticked.wait(SOON_S)
    assert set(Ticked.ticks) == {"clock"}


@pytest.mark.parametrize("how", ["stop", "terminate"])
def test_as_the_worker_ends_it_stores_when_each_was_sent(how: str, ended_with: list[tuple[int, int]]) -> None:
    made = clock_with(Ticked)
    made.start(None)
    assert Ticked.ticked.wait(SOON_S)
    getattr(made, how)(None)
    assert Ticked.ended.is_set()
    before = len(Ticked.ticks)
    assert not threading.Event().wait(0.1)
    assert len(Ticked.ticks) == before
    assert ended_with == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_clock_that_fails_ends_the_worker(
    ended_with: list[tuple[int, int]], caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody would be asked for anything any more; systemd starts the worker anew, and the clock with it."""
    made = clock_with(Broken)
    made.start(None)
    made._thread.join(SOON_S)
    assert ended_with == [(os.getpid(), signal.SIGTERM)]
    assert "The clock stopped" in caplog.text
