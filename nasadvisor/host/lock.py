"""One writer per host: a flock held from the first write to the last check.

The lock's descriptors are handed on to the commands that run under it. If the worker is killed, the lock stays held
until its last command has ended, so nobody looks at a half-changed host and takes it for settled.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.errors import HostError

POLL_S: Final = 0.1


class HostBusy(HostError):  # noqa: N818 - named for what happened
    """Somebody else is changing this host's disks."""

    def __init__(self, path: Path) -> None:
        template = _(
            "Another disk operation is running on this host (the lock {path} is held). Nothing was changed. Wait until "
            "it is done and try again."
        )
        super().__init__(template, path=str(path))


@contextmanager
def host_lock(paths: tuple[Path, ...], timeout_s: float) -> Iterator[tuple[int, ...]]:
    """Hold all locks, in the order given; yields their descriptors.

    Raises:
        HostBusy: one of them was not free in time. None is held then.
    """
    deadline = time.monotonic() + timeout_s
    with ExitStack() as stack:
        yield tuple(_take(path, deadline, stack) for path in paths)


def is_held(path: Path) -> bool:
    """Whether somebody, possibly this process, holds the lock now."""
    try:
        with host_lock((path,), 0):
            return False
    except HostBusy:
        return True


def _take(path: Path, deadline: float, stack: ExitStack) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    stack.callback(os.close, descriptor)
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise HostBusy(path) from None
            time.sleep(POLL_S)
        else:
            return descriptor
