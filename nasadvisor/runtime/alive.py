"""Telling systemd that this process still works: one that has not said so for three minutes is started anew.

The protocol is that of sd_notify(3). Where nobody listens (containers, the command line), nothing is said.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from celery.signals import worker_init

WITHIN_S: Final = 180
"""Until the first word the units' `WatchdogSec=` counts, which is longer: a start on a small and busy machine takes
minutes, and one that was ended before it could say anything would be ended again and again.
"""

EVERY_S: Final = 20.0
"""A ninth of that; sd_watchdog_enabled(3) advises half of it at most."""

_WORDS: Final = f"WATCHDOG=1\nWATCHDOG_USEC={WITHIN_S * 10**6}".encode()


def say_alive() -> None:
    """Say so once. What cannot be delivered is said again the next time."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service:
        service.setblocking(False)  # a systemd that is just busy stops nobody's work
        service.connect(f"\0{address[1:]}" if address.startswith("@") else address)
        service.send(_WORDS)


def keep_saying_alive(is_well: Callable[[], bool]) -> threading.Thread:
    """Say so for as long as the process runs, whenever `is_well` holds. Its thread ends with the process."""

    def loop() -> None:
        while True:
            if is_well():
                say_alive()
            time.sleep(EVERY_S)

    thread = threading.Thread(target=loop, name="alive", daemon=True)
    thread.start()
    return thread


def say_alive_in_worker(is_well: Callable[[], bool]) -> None:
    """The same in the Celery worker that is about to start, also while Redis is away."""

    @worker_init.connect(weak=False)  # and not when it is ready: that is once it has reached Redis
    def begin(**_: object) -> None:
        keep_saying_alive(is_well)
