"""The processes that store what hosts on other machines tell, each from its share of the hosts.

Storing is work for the processor, and a process of Python has one. The first process starts the others, sees to the
message service, and ends when one of the others has ended: whoever started it starts all of them anew.
"""

import gc
import logging
import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_double, sizeof
from dataclasses import dataclass
from mmap import mmap
from multiprocessing.context import ForkProcess
from typing import Final

import redis
from django.db import close_old_connections, connection, connections

from nasadvisor.console.fleet.remote.listening import NotListening, client, listening
from nasadvisor.console.worker.enrolment import Enrolment
from nasadvisor.console.worker.inbox import Inbox, Share
from nasadvisor.runtime.alive import say_alive

log = logging.getLogger(__name__)

BETWEEN_S: Final = 0.1
"""After a round that took something. Asking 500 queues costs as much as storing a message, so they are asked for many
at once; and of a node that floods 40 are taken a second."""

STANDS_STILL_S: Final = 120.0
"""A process that has not begun a round for so long is not said to be alive; a round takes seconds."""

END_S: Final = 20.0
"""For what is being stored; the unit's `TimeoutStopSec=` is longer."""

_FORK = multiprocessing.get_context("fork")
"""What is loaded is shared with the first process: four take 148 MiB (PSS, measured), where one takes 75."""

IsOver = Callable[[], bool]


class OneEnded(Exception):  # noqa: N818 - named for what happened
    """One of several processes has ended."""


@dataclass(frozen=True)
class Other:
    """A process beside the first one; `round_at` is the machine's monotonic clock when its last round began."""

    process: ForkProcess
    round_at: c_double

    @property
    def is_well(self) -> bool:
        """Whether it works, and does not stand still."""
        return self.process.is_alive() and time.monotonic() - self.round_at.value < STANDS_STILL_S


def receive(is_over: IsOver, processes: int = 1) -> None:
    """Take messages until it is over.

    Raises:
        NotListening
        OneEnded: one of the other processes has ended; all of them have then.
        redis.exceptions.RedisError: the message service does not answer; whoever started this starts it again.
    """
    if listening() is None:
        raise NotListening
    logging.getLogger("celery.app.trace").setLevel(logging.WARNING)  # else a line for every message
    if processes > 1 and connection.vendor == "sqlite":
        log.warning("SQLite lets one process write at a time, so one takes what hosts tell instead of %s", processes)
        processes = 1
    with _others(is_over, processes) as others, client() as service:
        enrolment, inbox = Enrolment(service), Inbox(service, Share(0, processes))
        while not is_over():
            ended = [each.process.name for each in others if not each.process.is_alive()]
            if ended:
                raise OneEnded(", ".join(ended))
            if all(each.is_well for each in others):
                say_alive()
            enrolment.look_around()
            _one_round(inbox)


@contextmanager
def _others(is_over: IsOver, processes: int) -> Iterator[list[Other]]:
    """All but the first, for the length of a `with` block."""
    connections.close_all()  # two processes that share one connection would read each other's answers
    gc.freeze()
    others = [_start(Share(number, processes), is_over) for number in range(1, processes)]
    try:
        yield others
    finally:
        for each in others:
            each.process.terminate()
        until = time.monotonic() + END_S
        for each in others:
            each.process.join(max(0.0, until - time.monotonic()))
            each.process.kill()
            each.process.join()


def _start(share: Share, is_over: IsOver) -> Other:
    round_at = c_double.from_buffer(mmap(-1, sizeof(c_double)))  # both processes have it, and no file does
    round_at.value = time.monotonic()
    name = f"receiver {share.number + 1} of {share.processes}"
    process = _FORK.Process(target=_take_share, args=(share, is_over, round_at), name=name)
    process.start()
    return Other(process, round_at)


def _take_share(share: Share, is_over: IsOver, round_at: c_double) -> None:
    """What another process does, until it is over or the first one is gone."""
    first = multiprocessing.parent_process()
    try:
        with client() as service:
            inbox = Inbox(service, share)
            while not is_over() and first is not None and first.is_alive():
                round_at.value = time.monotonic()
                _one_round(inbox)
    except redis.RedisError as error:
        raise SystemExit(f"The message service for other hosts does not answer: {error}") from error


def _one_round(inbox: Inbox) -> None:
    close_old_connections()
    inbox.look_around()
    if inbox.one_round():
        time.sleep(BETWEEN_S)
    else:
        inbox.wait()
