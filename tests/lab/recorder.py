"""Serves disks to QEMU and records every write and flush in order: what a volatile cache can lose can then be lost.

A disk answers a write before it is durable, and promises only at a flush that all it answered before will last. The
record has the writes of all disks of a machine in one order, so that any moment at which the power may fail can be made
again: of each disk what was flushed, and of what was not whatever one likes.

    python -m tests.lab.recorder RECORD PID_FILE SOCKET IMAGE [SOCKET IMAGE]…

Speaks the fixed newstyle of NBD with the few requests that QEMU makes (doc/proto.md of the nbd project). Each request
is carried out on the image file at once.
"""

import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

ENTRY: Final = struct.Struct(">BBQQ")
"""Kind, number of the disk, offset, length; the data follow where it is a write."""
WRITE, FLUSH, ZERO, DURABLE = 1, 2, 3, 4
"""DURABLE is a write that lasts from when it was answered (FUA)."""

_OPTION: Final = struct.Struct(">QII")
_REQUEST: Final = struct.Struct(">IHHQQI")
_OPTION_MAGIC: Final = 0x49484156454F5054
_REPLY_MAGIC: Final = 0x3E889045565A9
_ACK, _INFO, _UNSUPPORTED = 1, 3, (1 << 31) + 1
_ABORT, _GO = 2, 7
_READ_CMD, _WRITE_CMD, _DISC_CMD, _FLUSH_CMD, _TRIM_CMD, _ZEROES_CMD = 0, 1, 2, 3, 4, 6
_FUA: Final = 1
_FLAGS: Final = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6
"""HAS_FLAGS, SEND_FLUSH, SEND_FUA, SEND_TRIM, SEND_WRITE_ZEROES."""
_HOLE: Final = 0x01 | 0x02
"""FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE (linux/falloc.h)."""


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


def zero(descriptor: int, offset: int, length: int) -> None:
    """Make a stretch of a file read as zeros without storing them."""
    if length:
        _fallocate(descriptor, _HOLE, offset, length)


def _fallocate(descriptor: int, mode: int, offset: int, length: int) -> None:
    import ctypes  # noqa: PLC0415 - os has no fallocate(2) with a mode

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fallocate(descriptor, mode, ctypes.c_long(offset), ctypes.c_long(length)):
        raise OSError(ctypes.get_errno(), "fallocate")


class Recorder:
    """The record of one machine, and its disks by their numbers."""

    def __init__(self, record: BinaryIO) -> None:
        self._record = record
        self._lock = threading.Lock()

    def serve(self, number: int, path: Path, image: Path) -> None:
        """Answer one connection after the other, for ever."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(1)
        descriptor = os.open(image, os.O_RDWR)
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as reader:
                try:
                    if _negotiate(connection, reader, os.fstat(descriptor).st_size):
                        self._answer(connection, reader, number, descriptor)
                except (ConnectionError, EOFError):
                    continue  # QEMU was killed

    def _answer(self, connection: socket.socket, reader: BinaryIO, number: int, image: int) -> None:
        while True:
            _, flags, command, cookie, offset, length = _REQUEST.unpack(_exactly(reader, _REQUEST.size))
            if command == _DISC_CMD:
                return
            data = b""
            if command == _READ_CMD:
                data = os.pread(image, length, offset)
            elif command == _WRITE_CMD:
                kind = DURABLE if flags & _FUA else WRITE
                self._write(kind, number, image, offset, _exactly(reader, length))
            elif command in (_TRIM_CMD, _ZEROES_CMD):
                with self._lock:
                    self._record.write(ENTRY.pack(ZERO, number, offset, length))
                    zero(image, offset, length)
            elif command == _FLUSH_CMD:
                self._flush(number)
            connection.sendall(struct.pack(">IIQ", 0x67446698, 0, cookie) + data)

    def _write(self, kind: int, number: int, image: int, offset: int, data: bytes) -> None:
        with self._lock:
            self._record.write(ENTRY.pack(kind, number, offset, len(data)) + data)
            os.pwrite(image, data, offset)

    def _flush(self, number: int) -> None:
        with self._lock:
            self._record.write(ENTRY.pack(FLUSH, number, 0, 0))
            self._record.flush()


def _negotiate(connection: socket.socket, reader: BinaryIO, size: int) -> bool:
    """Agree on the one export there is; whether requests follow."""
    connection.sendall(b"NBDMAGIC" + struct.pack(">QH", _OPTION_MAGIC, 1 | 2))
    _exactly(reader, 4)
    while True:
        _, option, length = _OPTION.unpack(_exactly(reader, _OPTION.size))
        _exactly(reader, length)
        reply = struct.pack(">QI", _REPLY_MAGIC, option)
        if option == _GO:
            info = struct.pack(">HQH", 0, size, _FLAGS)
            connection.sendall(reply + struct.pack(">II", _INFO, len(info)) + info)
            connection.sendall(reply + struct.pack(">II", _ACK, 0))
            return True
        connection.sendall(reply + struct.pack(">II", _ACK if option == _ABORT else _UNSUPPORTED, 0))
        if option == _ABORT:
            return False


def _exactly(reader: BinaryIO, length: int) -> bytes:
    data = reader.read(length)
    if len(data) != length:
        raise EOFError
    return data


def main() -> None:
    """Go into the background once every socket is there."""
    record, pid_file, *rest = (Path(argument) for argument in sys.argv[1:])
    disks = list(zip(rest[::2], rest[1::2], strict=True))
    if os.fork():
        while not all(path.exists() for path, _ in disks):
            time.sleep(0.05)
        return
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nowhere, descriptor)
    os.dup2(os.open(f"{record}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    pid_file.write_text(str(os.getpid()), encoding="ascii")
    with record.open("ab") as file:
        recorder = Recorder(file)
        threads = [
            threading.Thread(target=recorder.serve, args=(number, path, image))
            for number, (path, image) in enumerate(disks)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main()
