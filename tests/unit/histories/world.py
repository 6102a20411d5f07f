"""A machine that exists as bytes and names in memory: SSDs with partition tables, pools, labels, mounts.

The product acts on it through `ModelExecutor`; anybody else through `foreign`. Nothing here asks a rule.
"""

import struct
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nasadvisor.domain.change.device_scan import SliceLabel
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.storage.gpt import GptUnreadable, parse_header, standard_area
from nasadvisor.domain.storage.inventory import (
    Disk,
    Hold,
    HoldKind,
    Inventory,
    Partition,
    Pool,
    TableKind,
    Vdev,
)
from nasadvisor.domain.units import GIB, MIB
from tests.unit.machines import READ_AT, TANK, home_server, ssd

SECTOR = 512
SIZE = 2 * GIB
HEAD, TAIL_START = standard_area(SIZE, SECTOR)
ENTRY = struct.Struct("<16s16sQQQ72s")


@dataclass
class Ssd:
    """An SSD: the sectors of its table area, and what lies in the MiB between them, by the number of the MiB.

    `name` is that of the disk; `present` whether it is plugged in; `blind` whether udev has not seen what is on it.
    """

    name: str
    head: bytearray = field(default_factory=lambda: bytearray(HEAD))
    tail: bytearray = field(default_factory=lambda: bytearray(SIZE - TAIL_START))
    content: dict[int, str] = field(default_factory=dict)
    labels: dict[int, SliceLabel] = field(default_factory=dict)
    mounted: set[str] = field(default_factory=set)
    present: bool = True
    blind: bool = False

    @property
    def disk(self) -> Disk:
        """As the inventory shows it without its partitions."""
        shown = ssd(self.name, "Model SSD", self.name.upper(), SIZE)
        return replace(shown, usable_start_bytes=HEAD, usable_end_bytes=TAIL_START)

    def parts(self) -> list[Partition]:
        """Its partitions as the kernel reads them: of the first table that is whole, none where neither is."""
        return list(self._parts(self.entries()))

    def entries(self) -> bytes:
        """The entries of the first table that is whole, none where neither is."""
        return self._entries(self.head, SECTOR, 2 * SECTOR) or self._entries(self.tail, len(self.tail) - SECTOR, 0)

    def _entries(self, area: bytearray, header_at: int, entries_at: int) -> bytes:
        """The entries of one of its two tables; none where that is broken."""
        try:
            header = parse_header(bytes(area[header_at:]), SECTOR)
        except GptUnreadable:
            return b""
        entries = bytes(area[entries_at : entries_at + header.entries_size_bytes])
        return entries if zlib.crc32(entries) == header.entries_crc else b""

    def _parts(self, entries: bytes) -> Iterator[Partition]:
        for number, raw in enumerate(ENTRY.iter_unpack(entries), 1):
            kind, unique, first, last, _, name = raw
            if not any(kind):
                continue
            partuuid = str(uuid.UUID(bytes_le=unique))
            path = f"/dev/disk/by-partuuid/{partuuid}"
            yield Partition(
                number=number,
                partuuid=partuuid,
                type_uuid=str(uuid.UUID(bytes_le=kind)),
                name=name.decode("utf-16-le", "replace").rstrip("\0"),
                start_bytes=first * SECTOR,
                size_bytes=(last + 1 - first) * SECTOR,
                kernel_name=f"{self.name}p{number}",
                path=path,
                links=(path, f"{self.disk.path}-part{number}"),
            )

    def table(self) -> tuple[TableKind, str]:
        """What udev says of its table; it takes the second one where the first is broken."""
        for raw in (self.head[SECTOR:], self.tail[-SECTOR:]):
            try:
                return TableKind.GPT, parse_header(bytes(raw), SECTOR).table_uuid
            except GptUnreadable:
                continue
        return TableKind.NONE, ""

    def is_whole(self) -> bool:
        """Whether both copies of its table are whole, and the same."""
        second = self._entries(self.tail, len(self.tail) - SECTOR, 0)
        return bool(second) and second == self._entries(self.head, SECTOR, 2 * SECTOR)

    def is_broken(self) -> bool:
        """Whether a table is there and its first copy is not whole."""
        return self.table()[0] is TableKind.GPT and not self._entries(self.head, SECTOR, 2 * SECTOR)

    def blank(self, start_bytes: int, size_bytes: int) -> None:
        """What the product writes into a slice: zeros over its first 8 MiB and its last one."""
        first, last = start_bytes // MIB, (start_bytes + size_bytes) // MIB - 1
        for place in (*range(first, first + 8), last):
            self.content.pop(place, None)
        self.labels.pop(first, None)


ONE, TWO = (Ssd(name).disk.key for name in ("eui.one", "eui.two"))
"""How plans call the two SSDs that are beside each other."""


@dataclass
class World:
    """Everything there is. `pools` are imported, those in `away` exported.

    `before` is what lay in the table area of each disk when the product first wrote there. `offline` and `broken` are
    the guids of caches that somebody took out of service, and that did not come back; `expands` is autoexpand=on.
    """

    ssds: list[Ssd]
    pools: list[Pool]
    away: list[Pool] = field(default_factory=list)
    before: dict[str, Area] = field(default_factory=dict)
    offline: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    expands: bool = False
    next_guid: int = 9_000_000

    def guid(self) -> str:
        """A guid that nothing has."""
        self.next_guid += 1
        return str(self.next_guid)

    def ssd(self, key: str) -> Ssd | None:
        """The SSD with this key, if it is plugged in."""
        return next((each for each in self.ssds if each.present and each.disk.key == key), None)

    def find(self, partuuid: str) -> list[tuple[Ssd, Partition]]:
        """Every partition with this PARTUUID that is there."""
        return [
            (each, part) for each in self.ssds if each.present for part in each.parts() if part.partuuid == partuuid
        ]

    def used_paths(self) -> dict[str, str]:
        """The paths of the devices of all imported pools, each with the pool's name."""
        return {vdev.path: pool.name for pool in self.pools for vdev in pool.vdevs() if vdev.path}

    def open_paths(self) -> set[str]:
        """The paths of the devices that the kernel holds: of one that is offline it lets go."""
        vdevs = (vdev for pool in self.pools for vdev in pool.vdevs())
        return {vdev.path for vdev in vdevs if vdev.path and vdev.guid not in self.offline | self.broken}

    def inventory(self) -> Inventory:
        """What a reader of the machine would show."""
        disks = tuple(self._shown(each) for each in self.ssds if each.present)
        pools = tuple(self._with_states(pool) for pool in self.pools)
        return Inventory(home_server().host, disks, pools, READ_AT)

    def _shown(self, each: Ssd) -> Disk:
        kind, table_uuid = (TableKind.NONE, "") if each.blind else each.table()
        parts = () if each.blind else tuple(self._held(each, part) for part in each.parts())
        holds = []
        if 0 in each.content and not each.blind:
            holds.append(Hold(HoldKind.FILESYSTEM, each.content[0]))
        if each.is_broken() and not each.blind:
            holds.append(Hold(HoldKind.UNREADABLE, "its partition table is damaged"))
        return replace(each.disk, table=kind, table_uuid=table_uuid, partitions=parts, holds=tuple(holds))

    def _held(self, each: Ssd, part: Partition) -> Partition:
        pool = self.used_paths().get(part.path, "")
        first = part.start_bytes // MIB
        holds = [Hold(HoldKind.MOUNT, "/mnt")] if part.partuuid in each.mounted else []
        if pool:
            holds.append(Hold(HoldKind.POOL, pool))
        elif first in each.content:
            holds.append(Hold(HoldKind.FILESYSTEM, each.content[first]))
        elif first in each.labels:
            holds.append(Hold(HoldKind.EXPORTED_POOL, each.labels[first].pool_name or "without a name"))
        if len(self.find(part.partuuid)) > 1:
            holds.append(Hold(HoldKind.COPY, part.partuuid))
        return replace(part, holds=tuple(holds))

    def _with_states(self, pool: Pool) -> Pool:
        return replace(
            pool,
            logs=tuple(self._with_state(top) for top in pool.logs),
            caches=tuple(self._with_state(top) for top in pool.caches),
        )

    def _with_state(self, vdev: Vdev) -> Vdev:
        children = tuple(map(self._with_state, vdev.children))
        if children:
            worst = "ONLINE" if all(child.state == "ONLINE" for child in children) else "DEGRADED"
            return replace(vdev, children=children, state=worst)
        if vdev.guid in self.offline | self.broken:
            return replace(vdev, state="OFFLINE" if vdev.guid in self.offline else "UNAVAIL")
        there = self.find(vdev.path.rpartition("/")[2])
        return replace(vdev, state="ONLINE" if there else "REMOVED")


def new_world() -> World:
    """Two blank SSDs beside each other, a third, and the pool tank without log and cache."""
    tank = next(pool for pool in home_server().pools if pool.guid == TANK)
    data = Vdev("1", "disk", "hdd", "ONLINE", path="/dev/disk/by-id/hdd", ashift=tank.ashift)
    return World([Ssd("eui.one"), Ssd("eui.two"), Ssd("eui.three")], [replace(tank, data=(data,), logs=(), caches=())])
