"""Whether the worker still takes tasks and does them: now and then it sends one to itself.

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


class Pulse:
    """When this worker did a task of its own for the last time."""

    def __init__(self) -> None:
        self._felt_at = time.monotonic()

    def feel(self) -> None:
        """One was done."""
        self._felt_at = time.monotonic()

    def beats(self) -> bool:
        """Send one more; whether one was done lately. Without Redis there is nothing to do, and nobody is to blame."""
        try:
            app.send_task("console.pulse", queue=QUEUE, expires=WITHIN.total_seconds(), retry=False)
        except UNREACHABLE:
            self.feel()
        return time.monotonic() - self._felt_at < WITHIN.total_seconds()


pulse: Final = Pulse()
say_alive_in_worker(pulse.beats)
