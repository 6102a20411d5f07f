"""Whether the worker still does its tasks, and its clock still asks for them.

A process whose threads all wait for something for ever is alive for the kernel, and stores nothing and alerts nobody.
"""

import time
from datetime import timedelta
from typing import Final

from nasadvisor.alive import say_alive_in_worker
from nasadvisor.console.celery_app import QUEUE, app
from nasadvisor.console.fleet.hosts import UNREACHABLE

WITHIN: Final = timedelta(minutes=5)
"""A task waits behind what was sent before it. The longest that the console does, a report or a week of samples that
come at once, takes a minute on a slow machine, and there are two threads.
"""


TICKS_WITHIN: Final = timedelta(minutes=3)
"""A tick comes every five seconds. It waits for Redis where that is away, a few seconds for each message."""


class _Felt:
    """When something that must not stop was felt for the last time."""

    within: timedelta

    def __init__(self) -> None:
        self._felt_at = time.monotonic()

    def feel(self) -> None:
        """It happened now."""
        self._felt_at = time.monotonic()

    def go_on(self) -> bool:
        """Whether it happened lately."""
        return time.monotonic() - self._felt_at < self.within.total_seconds()


class Pulse(_Felt):
    """The tasks that this worker has sent to itself, and done."""

    within = WITHIN

    def beats(self) -> bool:
        """Send one more; whether one was done lately. Without Redis there is nothing to do, and nobody is to blame."""
        try:
            app.send_task("console.pulse", queue=QUEUE, expires=WITHIN.total_seconds(), retry=False)
        except UNREACHABLE:
            self.feel()
        return self.go_on()


class Ticks(_Felt):
    """The clock's looks at what is due."""

    within = TICKS_WITHIN


pulse: Final = Pulse()
ticks: Final = Ticks()


def is_well() -> bool:
    """Whether the worker does its tasks and its clock goes."""
    return ticks.go_on() and pulse.beats()


say_alive_in_worker(is_well)
