"""Asking libblkid what lies on an open device: the library behind blkid(8), wipefs(8) and udev's own knowledge.

Called in this process, on the very descriptor whose identity was checked, so that what is looked at is what is written
to; and thousands of places can be asked without starting a program for each.
"""

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.domain.storage.unrecognised import first_data, stretches_to_read
from nasadvisor.host.errors import HostError

LIBRARY: Final = "libblkid.so.1"

# libblkid/src/blkid.h.in of util-linux: BLKID_SUBLKS_… and BLKID_PARTS_MAGIC.
_SUBLKS: Final = (1 << 1) | (1 << 3) | (1 << 5) | (1 << 7) | (1 << 9)  # label, UUID, type, usage, magic
_SUBLKS_BADCSUM: Final = 1 << 10
_PARTS_MAGIC: Final = 1 << 3
_FOUND: Final = 0


class LibblkidMissing(HostError):  # noqa: N818 - named for what happened
    """The library is not installed, so nothing can be called blank."""

    def __init__(self, error: OSError) -> None:
        template = _(
            "The library {library} could not be loaded ({problem}), so it is unknown whether a disk is blank. Nothing "
            "was changed. Install the package libblkid1."
        )
        super().__init__(template, library=LIBRARY, problem=str(error))


class ProbeFailed(HostError):  # noqa: N818
    """A device could not be examined."""

    def __init__(self, path: str, offset_bytes: int) -> None:
        template = _(
            "{path} could not be examined at byte {offset}, so its contents there are unknown. Nothing was written to "
            "it. Check the kernel log."
        )
        super().__init__(template, path=path, offset=str(offset_bytes))


@dataclass(frozen=True)
class Found:
    """What was recognised: "ext4", "zfs_member", "gpt" …, with its label and UUID (of a ZFS label the pool's guid)."""

    kind: str
    label: str = ""
    uuid: str = ""


def recognise(descriptor: int, offset_bytes: int, size_bytes: int, path: str) -> tuple[Found, ...]:
    """Everything that libblkid recognises in so many bytes from there on; superblocks whose checksum is wrong as well.

    Raises:
        LibblkidMissing
        ProbeFailed: the device could not be read.
    """
    return tuple(_found(descriptor, offset_bytes, size_bytes, path))


def _found(descriptor: int, offset_bytes: int, size_bytes: int, path: str) -> Iterator[Found]:
    library = _library()
    with _probe(library) as probe:
        if library.blkid_probe_set_device(probe, descriptor, offset_bytes, size_bytes):
            raise ProbeFailed(path, offset_bytes)
        library.blkid_probe_enable_superblocks(probe, 1)
        library.blkid_probe_set_superblocks_flags(probe, _SUBLKS | _SUBLKS_BADCSUM)
        library.blkid_probe_enable_partitions(probe, 1)
        library.blkid_probe_set_partitions_flags(probe, _PARTS_MAGIC)
        while (answer := library.blkid_do_probe(probe)) == _FOUND:
            kind = _value(library, probe, b"TYPE") or _value(library, probe, b"PTTYPE")
            if kind:
                yield Found(kind, _value(library, probe, b"LABEL"), _value(library, probe, b"UUID"))
        if answer < 0:
            raise ProbeFailed(path, offset_bytes)


@contextmanager
def _probe(library: Any) -> Iterator[Any]:
    probe = library.blkid_new_probe()
    if not probe:
        raise MemoryError("libblkid has no memory for a probe")
    try:
        yield probe
    finally:
        library.blkid_free_probe(probe)


def _value(library: Any, probe: Any, name: bytes) -> str:
    data, length = ctypes.c_char_p(), ctypes.c_size_t()
    if library.blkid_probe_lookup_value(probe, name, ctypes.byref(data), ctypes.byref(length)) or data.value is None:
        return ""
    return os.fsdecode(data.value)


@cache
def _library() -> Any:
    try:
        library: Any = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise LibblkidMissing(error) from error
    pointer, number, offset = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
    library.blkid_new_probe.restype = pointer
    library.blkid_free_probe.argtypes = (pointer,)
    library.blkid_probe_set_device.argtypes = (pointer, number, offset, offset)
    library.blkid_probe_lookup_value.argtypes = (
        pointer,
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.POINTER(ctypes.c_size_t),
    )
    library.blkid_do_probe.argtypes = (pointer,)
    for name in ("superblocks", "partitions"):
        getattr(library, f"blkid_probe_enable_{name}").argtypes = (pointer, number)
        getattr(library, f"blkid_probe_set_{name}_flags").argtypes = (pointer, number)
    return library


ReadAt = Callable[[int, int], bytes]
"""Reads a disk: from this offset, so many bytes."""


def find_unrecognised(disk: Disk, read_at: ReadAt) -> int | None:
    """Where such data begin in the free space of a disk; None where all that is read is empty."""
    for stretch in stretches_to_read(disk):
        found = first_data(read_at(stretch.start_bytes, stretch.size_bytes), stretch.start_bytes)
        if found is not None:
            return found
    return None
