"""Doing something every so often for as long as the worker runs, without Redis and without the console."""

import threading
import time
from collections.abc import Callable
from typing import Final

from celery.signals import worker_init, worker_shutting_down

EVERY_S: Final = 15.0


def nothing() -> None:
    """What most work leaves to be done at the end."""


def repeat_in_worker(work: Callable[[], None], first_after_s: float, last: Callable[[], None] = nothing) -> None:
    """Have `work` done every so often by the worker that is about to start, also while Redis is away; `last` when it
    ends.
    """
    stopping = threading.Event()

    @worker_init.connect(weak=False)  # and not when it is ready: that is once it has reached Redis
    def begin(**_: object) -> None:
        start_timer(work, stopping, first_after_s, last)

    @worker_shutting_down.connect(weak=False)
    def stop(**_: object) -> None:
        stopping.set()


def start_timer(
    work: Callable[[], None], stopping: threading.Event, first_after_s: float, last: Callable[[], None] = nothing
) -> threading.Thread:
    """Call `work` after a while and then every `EVERY_S` seconds, until `stopping` is set or the main thread ends; then
    `last`, once.

    Each call has a thread of its own: an error that nobody foresaw ends that one and stands in the log, and the next
    call comes in its time. No thread is a daemon: a worker that stops waits for what has been begun.
    """
    began = time.monotonic()

    def loop() -> None:
        while threading.main_thread().is_alive() and not stopping.wait(EVERY_S):
            if time.monotonic() - began >= first_after_s:
                call = threading.Thread(target=work, name="timer-call")
                call.start()
                call.join()
        last()

    thread = threading.Thread(target=loop, name="timer")
    thread.start()
    return thread
