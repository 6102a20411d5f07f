"""The console's clock: a thread of its worker, which sends what is due.

As a process of its own it held 59 MiB, to send a few messages that nobody but the worker takes.
"""

import logging
import os
import signal
import threading
from typing import Any, Final

from celery import bootsteps
from celery.beat import Service

log = logging.getLogger(__name__)

STOPS_WITHIN_S: Final = 10.0
"""Between two looks it sleeps for five seconds at most (DEFAULT_MAX_INTERVAL of django_celery_beat.schedulers)."""


class Clock(bootsteps.StartStopStep):
    """Goes for as long as the worker, also while Redis is away. As it stops it stores when each task was sent last."""

    label = "Clock"

    def __init__(self, parent: Any, **kwargs: Any) -> None:
        super().__init__(parent, **kwargs)
        self._service = Service(parent.app, scheduler_cls=parent.app.conf.beat_scheduler)
        self._thread = threading.Thread(target=self._run, name="clock", daemon=True)
        self._is_stopping = False

    def start(self, _worker: Any) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self, _worker: Any) -> None:
        """Send nothing any more."""
        self._is_stopping = True
        self._service.stop()
        self._thread.join(STOPS_WITHIN_S)

    def terminate(self, worker: Any) -> None:
        """The same: what is not stored is sent again after the next start."""
        self.stop(worker)

    def _run(self) -> None:
        """Where it fails the whole process ends, and is started anew: a worker that nobody asks does nothing."""
        try:
            self._service.start()
        finally:
            if not self._is_stopping:
                log.critical("The clock stopped, so nothing would be asked for any more. The worker ends.")
                os.kill(os.getpid(), signal.SIGTERM)
