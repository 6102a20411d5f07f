"""One writer per host: a flock held from the first write to the last check.

The lock's descriptors are handed on to the commands that run under it. If the worker is killed, the lock stays held
until its last command has ended, so nobody looks at a half-changed host and takes it for settled.

The platforms' own locks are among them: whoever else takes one opens the file under its name and flocks that,
so both hold the same one as long as it is the file that stands there.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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


class LockUnusable(HostError):  # noqa: N818
    """What lies where a lock should be cannot be locked."""

    def __init__(self, path: Path, error: OSError) -> None:
        template = _(
            "The lock {path} cannot be acquired: {problem}. Nothing was changed. It must be a regular file that root "
            "can write; if it is a link or something else, remove it and try again."
        )
        super().__init__(template, path=str(path), problem=error.strerror or str(error))


@contextmanager
def host_lock(paths: tuple[Path, ...], timeout_s: float) -> Iterator[tuple[int, ...]]:
    """Hold all locks, in the order given; yields their descriptors.

    Raises:
        HostBusy: one of them was not free in time. None is held then.
        LockUnusable: one of them is no file that could be locked, or a link.
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
    """The descriptor of a lock that is held, of the file that others find under its name as well.

    A file that was removed or replaced while it was waited for is no lock any more: the next one makes another.

    Raises:
        HostBusy, LockUnusable
    """
    while True:
        try:
            with ExitStack() as attempt:
                descriptor = _open(path)
                attempt.callback(_close, descriptor)
                if _is_ours(path, descriptor):
                    stack.push(attempt.pop_all())
                    return descriptor
        except OSError as error:
            raise LockUnusable(path, error) from error
        if time.monotonic() >= deadline:
            raise HostBusy(path)
        time.sleep(POLL_S)


def _open(path: Path) -> int:
    """A descriptor of the lock's own file; never of what a link there leads to.

    Raises:
        OSError
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)


def _close(descriptor: int) -> None:
    with suppress(OSError):  # it is closed all the same, and with it the lock is free (close(2))
        os.close(descriptor)


def _is_ours(path: Path, descriptor: int) -> bool:
    """Whether this process now holds the file that stands under the name of the lock.

    Raises:
        OSError: no lock, or what is no ordinary file.
    """
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(found, os.lstat(path))
    except (BlockingIOError, FileNotFoundError):
        return False
