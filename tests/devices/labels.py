"""The labels that ZFS writes on its devices, as far as libblkid and people look at them.

Four of 256 KiB: two in front, two at the end of the device, the latter aligned to 256 KiB. In each an XDR name-value
list at 16 KiB and an array of uberblocks at 128 KiB (vdev_impl.h, nvpair.c and uberblock_impl.h of OpenZFS;
libblkid/src/superblocks/zfs.c of util-linux wants four uberblocks).
"""

import struct
from enum import IntEnum
from typing import Final

from nasadvisor.domain.units import KIB

LABEL_BYTES: Final = 256 * KIB
_LIST_OFFSET: Final = 16 * KIB
_UBERBLOCKS_OFFSET: Final = 128 * KIB
_UBERBLOCK_BYTES: Final = KIB
_UBERBLOCK_MAGIC: Final = 0x00BAB10C
_VERSION: Final = 5000
_TYPE_UINT64: Final = 8
_TYPE_STRING: Final = 9


class PoolState(IntEnum):
    """pool_state_t in include/sys/fs/zfs.h."""

    ACTIVE = 0
    EXPORTED = 1
    DESTROYED = 2
    L2CACHE = 4


def label(pool_name: str, pool_guid: int, vdev_guid: int, state: PoolState) -> bytes:
    """One label; a cache's has no pool, so an empty name and the guid 0."""
    pairs = _uint64("version", _VERSION) + _uint64("state", state) + _uint64("guid", vdev_guid)
    if pool_name:
        pairs += (
            _uint64("txg", 4)
            + _string("name", pool_name)
            + _uint64("pool_guid", pool_guid)
            + _uint64("top_guid", vdev_guid)
        )
    listed = bytes((1, 1, 0, 0)) + struct.pack(">ii", 0, 1) + pairs + struct.pack(">ii", 0, 0)
    uberblock = struct.pack("<5Q", _UBERBLOCK_MAGIC, _VERSION, 4, vdev_guid, 0).ljust(_UBERBLOCK_BYTES, b"\0")
    head = (bytes(_LIST_OFFSET) + listed).ljust(_UBERBLOCKS_OFFSET, b"\0")
    return (head + uberblock * 8).ljust(LABEL_BYTES, b"\0")


def label_offsets(size_bytes: int) -> tuple[int, ...]:
    """Where the four labels of a device of this size are."""
    end = size_bytes // LABEL_BYTES * LABEL_BYTES
    return 0, LABEL_BYTES, end - 2 * LABEL_BYTES, end - LABEL_BYTES


def has_label(front: bytes) -> bool:
    """Whether the first bytes of a device are those of a label that was not cleared."""
    return front[_UBERBLOCKS_OFFSET : _UBERBLOCKS_OFFSET + 8] == struct.pack("<Q", _UBERBLOCK_MAGIC)


def as_zdb_prints(front: bytes) -> str | None:
    """What `zdb -l` prints of the label in the first bytes of a device; None where there is none."""
    at, lines = _LIST_OFFSET + 12, []
    if front[_LIST_OFFSET : _LIST_OFFSET + 4] != bytes((1, 1, 0, 0)):
        return None
    while (size := struct.unpack_from(">i", front, at)[0]) > 0:
        (length,) = struct.unpack_from(">i", front, at + 8)
        name = front[at + 12 : at + 12 + length].decode()
        value_at = at + 12 + length + -length % 4 + 8
        if struct.unpack_from(">i", front, value_at - 8)[0] == _TYPE_UINT64:
            lines.append(f"    {name}: {struct.unpack_from('>Q', front, value_at)[0]}")
        else:
            (length,) = struct.unpack_from(">i", front, value_at)
            lines.append(f"    {name}: '{front[value_at + 4 : value_at + 4 + length].decode()}'")
        at += size
    return "\n".join(["------------------------------------", "LABEL 0", *lines]) + "\n"


def _pair(name: str, kind: int, value: bytes) -> bytes:
    body = _text(name) + struct.pack(">ii", kind, 1) + value
    return struct.pack(">ii", len(body) + 8, len(body) + 8) + body


def _uint64(name: str, value: int) -> bytes:
    return _pair(name, _TYPE_UINT64, struct.pack(">Q", value))


def _string(name: str, value: str) -> bytes:
    return _pair(name, _TYPE_STRING, _text(value))


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">i", len(data)) + data + bytes(-len(data) % 4)
