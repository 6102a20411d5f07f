"""The labels that ZFS writes on its devices, as far as libblkid and people look at them.

Four of 256 KiB: two in front, two at the end of the device, the latter aligned to 256 KiB. In each an XDR name-value
list at 16 KiB and an array of uberblocks at 128 KiB (vdev_impl.h, nvpair.c and uberblock_impl.h of OpenZFS;
libblkid/src/superblocks/zfs.c of util-linux wants four uberblocks).
"""

import struct
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Label:
    """What a label tells. A cache's tells no pool, and has "" and 0 there.

    `txg` is 0 once the device was removed or detached (vdev_label_init() in module/zfs/vdev_label.c).
    """

    pool_name: str
    pool_guid: int
    vdev_guid: int
    state: PoolState
    txg: int = 4

    def packed(self) -> bytes:
        """The label as it is on a device."""
        pairs = _uint64("version", _VERSION)
        if self.pool_name:
            pairs += _string("name", self.pool_name)
        pairs += _uint64("state", self.state)
        if self.pool_name:
            pairs += _uint64("txg", self.txg) + _uint64("pool_guid", self.pool_guid)
        pairs += _uint64("guid", self.vdev_guid)
        listed = bytes((1, 1, 0, 0)) + struct.pack(">ii", 0, 1) + pairs + struct.pack(">ii", 0, 0)
        uberblock = struct.pack("<5Q", _UBERBLOCK_MAGIC, _VERSION, self.txg, self.vdev_guid, 0)
        head = (bytes(_LIST_OFFSET) + listed).ljust(_UBERBLOCKS_OFFSET, b"\0")
        return (head + uberblock.ljust(_UBERBLOCK_BYTES, b"\0") * 8).ljust(LABEL_BYTES, b"\0")

    @property
    def told(self) -> str:
        """What `zdb -l` prints of it (dump_label() in cmd/zdb/zdb.c)."""
        line = "-" * 36
        name = [f"    name: '{self.pool_name}'"] if self.pool_name else []
        pool = [f"    txg: {self.txg}", f"    pool_guid: {self.pool_guid}"] if self.pool_name else []
        rest = [f"    state: {int(self.state)}", *pool, f"    guid: {self.vdev_guid}", "    labels = 0 1 2 3 "]
        return "\n".join([line, "LABEL 0 ", line, f"    version: {_VERSION}", *name, *rest, ""])


def read_label(front: bytes) -> Label | None:
    """The label in the first bytes of a device, None if there is none."""
    if front[_LIST_OFFSET : _LIST_OFFSET + 4] != bytes((1, 1, 0, 0)):
        return None
    found: dict[str, bytes] = {}
    at = _LIST_OFFSET + 12
    while size := _int(front, at):
        pair = front[at + 8 : at + size]
        name_end = 4 + _int(pair, 0)
        value_at = name_end + -name_end % 4 + 8
        found[pair[4:name_end].decode()] = pair[value_at:]
        at += size
    numbers = {name: int.from_bytes(value[:8]) for name, value in found.items() if name != "name"}
    name = found.get("name", bytes(4))
    return Label(
        pool_name=name[4 : 4 + _int(name, 0)].decode(),
        pool_guid=numbers.get("pool_guid", 0),
        vdev_guid=numbers["guid"],
        state=PoolState(numbers["state"]),
        txg=numbers.get("txg", 0),
    )


def label_offsets(size_bytes: int) -> tuple[int, ...]:
    """Where the four labels of a device of this size are."""
    end = size_bytes // LABEL_BYTES * LABEL_BYTES
    return 0, LABEL_BYTES, end - 2 * LABEL_BYTES, end - LABEL_BYTES


def _int(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4])


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
