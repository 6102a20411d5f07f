"""Whether the worker still does its tasks, and its clock still asks for them.

A process whose threads all wait for something for ever is alive for the kernel, and stores nothing and alerts nobody.
"""

import time
from datetime import timedelta
from typing import Final

from nasadvisor.console.celery_app import QUEUE, app
from nasadvisor.console.fleet.hosts import UNREACHABLE
from nasadvisor.runtime.alive import say_alive_in_worker

WITHIN: Final = timedelta(minutes=5)
"""A task waits behind what was sent before it. The longest that the console does, a report or a week of samples that
come at once, takes a minute on a slow machine, and there are two threads.
"""


TICKS_WITHIN: Final = timedelta(minutes=3)
"""A tick comes every five seconds. It waits for Redis where that is away, a few seconds for each message."""


class _Noted:
    """When something that must not stop was noted last."""

    within: timedelta

    def __init__(self) -> None:
        self._noted_at = time.monotonic()

    def note(self) -> None:
        """It happened now."""
        self._noted_at = time.monotonic()

    def is_recent(self) -> bool:
        """Whether it happened lately."""
        return time.monotonic() - self._noted_at < self.within.total_seconds()


class Liveness(_Noted):
    """The tasks that this worker has sent to itself, and done."""

    within = WITHIN

    def is_shown(self) -> bool:
        """Send one more; whether one was done lately. Without Redis there is nothing to do, and nobody is to blame."""
        try:
            app.send_task("console.liveness", queue=QUEUE, expires=WITHIN.total_seconds(), retry=False)
        except UNREACHABLE:
            self.note()
        return self.is_recent()


class Ticks(_Noted):
    """The clock's looks at what is due."""

    within = TICKS_WITHIN


liveness: Final = Liveness()
ticks: Final = Ticks()


def is_well() -> bool:
    """Whether the worker does its tasks and its clock goes."""
    return ticks.is_recent() and liveness.is_shown()


say_alive_in_worker(is_well)
