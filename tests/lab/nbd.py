"""Serves disks to QEMU that are more than a file: the requests of NBD, for whoever carries them out.

Speaks the fixed newstyle of NBD with the few requests that QEMU makes (doc/proto.md of the nbd project), one connection
and one request after the other.
"""

import os
import socket
import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final, Protocol

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


class ServedDisk(Protocol):
    """What carries out the requests for one disk."""

    size_bytes: int

    def read(self, offset: int, length: int) -> bytes:
        """What is there."""
        ...

    def write(self, offset: int, data: bytes, is_durable: bool) -> None:
        """Store; `is_durable` where it shall last from when it was answered (FUA)."""
        ...

    def zero(self, offset: int, length: int) -> None:
        """Make it read as zeros: a discard, or zeros that are written."""
        ...

    def flush(self) -> None:
        """Make what was answered before last."""
        ...


def zero_in_file(descriptor: int, offset: int, length: int) -> None:
    """Make a stretch of a file read as zeros without storing them."""
    if length:
        _fallocate(descriptor, _HOLE, offset, length)


def _fallocate(descriptor: int, mode: int, offset: int, length: int) -> None:
    import ctypes  # noqa: PLC0415 - os has no fallocate(2) with a mode

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fallocate(descriptor, mode, ctypes.c_long(offset), ctypes.c_long(length)):
        raise OSError(ctypes.get_errno(), "fallocate")


def serve(disk: ServedDisk, path: Path) -> None:
    """Answer one connection after the other, for ever."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as reader:
            try:
                if _negotiate(connection, reader, disk.size_bytes):
                    _answer(connection, reader, disk)
            except (ConnectionError, EOFError):
                continue  # QEMU was killed


def go_into_background(pid_file: Path, log: Path, sockets: Sequence[Path]) -> None:
    """Go on as a process of our own; the one that was started ends once every socket is there."""
    if os.fork():
        while not all(path.exists() for path in sockets):
            time.sleep(0.05)
        os._exit(0)
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nowhere, descriptor)
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    pid_file.write_text(str(os.getpid()), encoding="ascii")


def _answer(connection: socket.socket, reader: BinaryIO, disk: ServedDisk) -> None:
    while True:
        _, flags, command, cookie, offset, length = _REQUEST.unpack(_exactly(reader, _REQUEST.size))
        if command == _DISC_CMD:
            return
        data = b""
        if command == _READ_CMD:
            data = disk.read(offset, length)
        elif command == _WRITE_CMD:
            disk.write(offset, _exactly(reader, length), bool(flags & _FUA))
        elif command in (_TRIM_CMD, _ZEROES_CMD):
            disk.zero(offset, length)
        elif command == _FLUSH_CMD:
            disk.flush()
        connection.sendall(struct.pack(">IIQ", 0x67446698, 0, cookie) + data)


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
