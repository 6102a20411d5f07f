"""Serves disks to QEMU and records every write and flush in order: what a volatile cache can lose can then be lost.

A disk answers a write before it is durable, and promises only at a flush that all it answered before will last. The
record has the writes of all disks of a machine in one order, so that any moment at which the power may fail can be made
again: of each disk what was flushed, and of what was not whatever one likes.

    python -m tests.lab.recorder RECORD PID_FILE SOCKET IMAGE [SOCKET IMAGE]…

Each request is carried out on the image file at once.
"""

import os
import struct
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from .nbd import go_into_background, serve, zero_in_file

ENTRY: Final = struct.Struct(">BBQQ")
"""Kind, number of the disk, offset, length; the data follow where it is a write."""
WRITE, FLUSH, ZERO, DURABLE = 1, 2, 3, 4
"""DURABLE is a write that lasts from when it was answered (FUA)."""


@dataclass(frozen=True)
class Entry:
    """One request of the record. `data` is empty for a flush; for zeros `length` tells how many."""

    kind: int
    disk: int
    offset: int
    length: int
    data: bytes


def entries_of(record: Path, start: int = 0, end: int | None = None) -> Iterator[Entry]:
    """The requests between two places of a record."""
    with record.open("rb") as file:
        file.seek(start)
        while end is None or file.tell() < end:
            head = file.read(ENTRY.size)
            if not head:
                return
            kind, disk, offset, length = ENTRY.unpack(head)
            yield Entry(kind, disk, offset, length, file.read(length) if kind in (WRITE, DURABLE) else b"")


class Record:
    """The record of one machine, in which the requests of all its disks are in one order."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.lock = threading.Lock()


class RecordedDisk:
    """One disk by its number: see `nbd.ServedDisk`."""

    def __init__(self, record: Record, number: int, image: Path) -> None:
        self._record = record
        self._number = number
        self._image = os.open(image, os.O_RDWR)
        self.size_bytes = os.fstat(self._image).st_size

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._image, length, offset)

    def write(self, offset: int, data: bytes, is_durable: bool) -> None:
        with self._record.lock:
            self._note(DURABLE if is_durable else WRITE, offset, len(data), data)
            os.pwrite(self._image, data, offset)

    def zero(self, offset: int, length: int) -> None:
        with self._record.lock:
            self._note(ZERO, offset, length)
            zero_in_file(self._image, offset, length)

    def flush(self) -> None:
        with self._record.lock:
            self._note(FLUSH, 0, 0)
            self._record.file.flush()

    def _note(self, kind: int, offset: int, length: int, data: bytes = b"") -> None:
        self._record.file.write(ENTRY.pack(kind, self._number, offset, length) + data)


def main() -> None:
    """Go into the background once every socket is there."""
    path, pid_file, *rest = (Path(argument) for argument in sys.argv[1:])
    sockets, images = rest[::2], rest[1::2]
    go_into_background(pid_file, Path(f"{path}.log"), sockets)
    with path.open("ab") as file:
        record = Record(file)
        disks = [RecordedDisk(record, number, image) for number, image in enumerate(images)]
        threads = [threading.Thread(target=serve, args=each) for each in zip(disks, sockets, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main()
