"""One reader of bytes that somebody else wrote."""

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nasadvisor.host.adapters.process import Command, Output, Tool
from nasadvisor.host.errors import HostError

Read = Callable[[bytes], object]


@dataclass(frozen=True)
class Reader:
    """`read` takes any bytes; it may raise only what it says it raises. `seeds` are such as were recorded."""

    name: str
    read: Read
    seeds: tuple[bytes, ...]
    raises: tuple[type[Exception], ...] = ()

    def check(self, data: bytes) -> None:
        """Have it read.

        Raises:
            Exception: one that the reader does not say it raises.
        """
        try:
            self.read(data)
        except self.raises as error:
            str(error)  # it is a sentence, and it can be said


@dataclass(frozen=True)
class Answering:
    """A runner of which every command answers the same, or what stands under the longest beginning of it."""

    text: str
    known: Mapping[str, str] = field(default_factory=dict)

    def has(self, tool: Tool) -> bool:
        return True

    def holding(self, descriptors: tuple[int, ...]) -> "Answering":
        return self

    def run(self, command: Command) -> Output:
        begins = [known for known in self.known if str(command).startswith(known)]
        return Output(self.known[max(begins, key=len)] if begins else self.text, "", 0, 0.0)


def as_shown(data: bytes) -> str:
    """What a program printed, as `process` hands it on."""
    return data.decode("utf-8", "backslashreplace")


def of_text(read: Callable[[str], object]) -> Read:
    """A reader of what a program printed."""
    return lambda data: read(as_shown(data))


def of_answers(read: Callable[[Answering], object], known: Mapping[str, str] | None = None) -> Read:
    """A reader that asks a program itself."""
    return lambda data: read(Answering(as_shown(data), known or {}))


def of_file(read: Callable[[Path], object], name: str) -> Read:
    """A reader of a file; it is given the folder in which the file has this name."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.TemporaryDirectory(prefix="nasadvisor-", dir=memory)
    path = Path(folder.name, name)
    path.parent.mkdir(parents=True, exist_ok=True)

    def read_file(data: bytes) -> object:
        path.write_bytes(data)
        return read(Path(folder.name))

    return read_file


def all_of(found: Iterable[object]) -> None:
    """What is told one after the other, to its end."""
    deque(found, maxlen=0)


TOLD: tuple[type[Exception], ...] = (HostError,)
"""An error of the host is a sentence for an administrator, whichever it is."""
