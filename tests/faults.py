"""An error in the place of a system call of the product: each of its calls can be the one that fails."""

import errno
import fcntl
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from nasadvisor.host.adapters import process

CALLS: Final = (
    (os, "open pread pwrite fsync close fstat ftruncate posix_fallocate stat lstat"),
    (os, "rename replace unlink mkdir rmdir listdir scandir statvfs readlink"),
    (fcntl, "ioctl flock"),
    (io, "open"),
    (subprocess, "Popen"),
    (process, "CountedProcess"),
)
HOST: Final = str(Path(__file__).parents[1] / "nasadvisor" / "host")
WRITERS: Final = ("/change/", "/adapters/blockdev.py", "/adapters/process.py")
"""Every call of these is a point, but reads. Of those and of readers, each line is one, the first time."""

CLOSED_ALL_THE_SAME: Final = "close"
"""A descriptor is freed whatever close(2) answers."""


@dataclass
class Faults:
    """Counts the calls of the product, and makes the one at `at` (counted from 1) fail with `error`.

    With `lasting`, every later one of the same name fails too, as of a disk that has become read-only. `only` are the
    names that count, `beside` the files of the product that do not.
    """

    at: int = 0
    error: int = errno.EIO
    lasting: bool = False
    only: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    seen: list[str] = field(default_factory=list)
    failing: str = ""
    _lines: set[str] = field(default_factory=set)

    def fails(self, name: str) -> bool:
        """Whether this call is the one."""
        line = _line_of_host(sys._getframe(2))
        if not line or line.startswith(self.beside) or (self.only and name not in self.only):
            return False
        if self.failing and self.lasting and name == self.failing.split()[0]:
            return True
        place = f"{name} in {line}"
        if name == "pread" or not any(part in line for part in WRITERS):
            if place in self._lines:
                return False
            self._lines.add(place)
        self.seen.append(place)
        if len(self.seen) == self.at:
            self.failing = place
            return True
        return False


def _line_of_host(frame: FrameType | None) -> str:
    """The line of the product's host part that makes a call, through whatever of Python's own; "" where a test does."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(HOST):
            return f"{file.removeprefix(HOST)}:{frame.f_lineno}"
        if "/nasadvisor/" in file or "/tests/" in file:
            return ""
        frame = frame.f_back
    return ""


@contextmanager
def faulty(faults: Faults) -> Iterator[Faults]:
    """While this lasts, calls may fail."""

    def call(real: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        if not faults.fails(name):
            return real(*args, **kwargs)
        if name == CLOSED_ALL_THE_SAME:
            with suppress(OSError):
                real(*args)
        raise OSError(faults.error, os.strerror(faults.error))

    with pytest.MonkeyPatch.context() as patched:
        for module, names in CALLS:
            for name in names.split():
                real = getattr(module, name)
                patched.setattr(module, name, partial(call, real, name))
        yield faults
