"""What a pool consists of, as zdb(8) counts it: how many blocks of which kind and size, and what they would take up on
a special vdev.

A special vdev takes metadata, and of data what `special_small_blocks` lets it (spa_preferred_class(),
module/zfs/spa_misc.c). Sizes are bytes; "stored" is a block as it is written, compressed, before parity and copies.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.units import align_up


class BlockKind(StrEnum):
    """What blocks are for."""

    FILES = "files"  # who owns each file and how large it is: dnodes, attributes, access lists
    DIRECTORIES = "directories"
    PLACES = "places"  # where the data lies: indirect blocks
    DEDUP = "dedup"
    POOL = "pool"  # what OpenZFS needs for itself: space maps, properties, lists of snapshots
    DATA = "data"  # what is in files
    VOLUMES = "volumes"


KIND_NAMES: Final = {
    BlockKind.FILES: _("Files: owner, size, attributes"),
    BlockKind.DIRECTORIES: _("Directories"),
    BlockKind.PLACES: _("Location of the data"),
    BlockKind.DEDUP: _("Deduplication table"),
    BlockKind.POOL: _("Pool metadata"),
    BlockKind.DATA: _("File contents"),
    BlockKind.VOLUMES: _("Volume contents"),
}

OF_DATA: Final = frozenset({BlockKind.DATA, BlockKind.VOLUMES})

VOLUME: Final = "zvol object"
DEDUP_TABLE: Final = "DDT ZAP algorithm"
_DATA_TYPES: Final = frozenset({"ZFS plain file", "other uint8[]", "other uint64[]", "deduplicated block"})
"""With VOLUME all that dmu_ot[] (module/zfs/dmu.c) does not call metadata."""

_DIRECTORIES: Final = frozenset({"ZFS directory"})
_FILES: Final = frozenset(
    {"DMU dnode", "DMU objset", "ZFS znode", "ZFS V0 ACL", "ZFS ACL", "ZFS SYSACL", "System attributes"}
)
_PASSING: Final = frozenset({"ZIL intent log", "deferred free", "dedup ditto"})
"""Not counted: what is gone in a moment, and what no release writes any more."""

PARITY: Final = re.compile(r"(?:raidz|draid)(?P<parity>[123])(?::(?P<data>[0-9]{1,3})d)?")
"""How OpenZFS names a top-level vdev: "raidz2-0", "draid2:4d:11c:1s-0" (zpoolconcepts(7))."""

IN_POOL_COPIES: Final = 3
METADATA_COPIES: Final = 2
"""How often metadata of the pool and of datasets is written (dmu_write_policy(), module/zfs/dmu.c; zfsprops(7),
redundant_metadata=all); for pools of which it cannot be worked out."""


@dataclass(frozen=True)
class TypeBlocks:
    """The blocks of one type and one level, as zdb prints them. `sizes` counts them by their stored size.

    `allocated_bytes` is with parity and all copies.
    """

    type_name: str
    level: int
    allocated_bytes: int
    sizes: Mapping[int, int]


@dataclass(frozen=True)
class StoredBlocks:
    """So many blocks of one stored size. `copies` is how often each is written, on the mean."""

    stored_bytes: int
    blocks: int
    copies: float

    def bytes_at(self, ashift: int) -> float:
        """What they take up on a mirror, each side of it."""
        return align_up(self.stored_bytes, 1 << ashift) * self.blocks * self.copies


@dataclass(frozen=True)
class KindBlocks:
    """All blocks of one kind. `allocated_bytes` is what they take up in the pool today, parity and copies included."""

    kind: BlockKind
    allocated_bytes: int
    sizes: tuple[StoredBlocks, ...]

    @property
    def blocks(self) -> int:
        """How many there are."""
        return sum(each.blocks for each in self.sizes)

    @property
    def stored_bytes(self) -> int:
        """What they take up in the memory, where each is kept once."""
        return sum(each.stored_bytes * each.blocks for each in self.sizes)

    def bytes_at(self, ashift: int) -> int:
        """What they take up on a mirror, each side of it."""
        return int(sum(each.bytes_at(ashift) for each in self.sizes))


@dataclass(frozen=True)
class BlockCount:
    """What one pool consisted of. `at` is the end of the counting, in ISO 8601 with its offset from UTC.

    `is_partial` is whether zdb met blocks that it could not read, as where a pool is written to meanwhile: what lay
    below them is not counted, and nobody knows how much that was.

    Raises:
        ValueError: `at` is not such a time.
    """

    pool_guid: str
    pool_name: str
    at: str
    seconds: int
    kinds: tuple[KindBlocks, ...]
    is_partial: bool = False

    def __post_init__(self) -> None:
        if datetime.fromisoformat(self.at).tzinfo is None:
            raise ValueError("the time of a count must say its offset from UTC")

    @property
    def metadata(self) -> tuple[KindBlocks, ...]:
        """All kinds but data."""
        return tuple(each for each in self.kinds if each.kind not in OF_DATA)

    @property
    def metadata_in_memory_bytes(self) -> int:
        """What all metadata would take up in the ARC, which keeps a block once and as it is stored, compressed."""
        return sum(each.stored_bytes for each in self.metadata)

    @property
    def metadata_blocks(self) -> int:
        """How many blocks of metadata there are."""
        return sum(each.blocks for each in self.metadata)

    def of(self, kind: BlockKind) -> KindBlocks:
        """One kind; no blocks where there are none."""
        return next((each for each in self.kinds if each.kind is kind), KindBlocks(kind, 0, ()))


def kind_of(type_name: str, level: int) -> BlockKind | None:
    """What a block of this type is for; None of those that are not counted. New types are the pool's own."""
    if type_name in _PASSING:
        return None
    if type_name == VOLUME or type_name in _DATA_TYPES:
        data = BlockKind.VOLUMES if type_name == VOLUME else BlockKind.DATA
        return BlockKind.PLACES if level > 0 else data
    if type_name == DEDUP_TABLE:
        return BlockKind.DEDUP
    if type_name in _DIRECTORIES:
        return BlockKind.DIRECTORIES
    return BlockKind.FILES if type_name in _FILES else BlockKind.POOL


def kinds_of(counted: Iterable[TypeBlocks], pool: Pool) -> tuple[KindBlocks, ...]:
    """The blocks of a pool by what they are for."""
    allocated: dict[BlockKind, int] = defaultdict(int)
    sizes: dict[BlockKind, dict[int, StoredBlocks]] = defaultdict(dict)
    for each in counted:
        kind = kind_of(each.type_name, each.level)
        if kind is None:
            continue
        allocated[kind] += each.allocated_bytes
        copies = _copies(each, kind, pool)
        for size, blocks in each.sizes.items():
            sizes[kind][size] = _together(sizes[kind].get(size), StoredBlocks(size, blocks, copies))
    return tuple(
        KindBlocks(kind, allocated[kind], tuple(sizes[kind][size] for size in sorted(sizes[kind])))
        for kind in BlockKind
        if sizes[kind]
    )


def allocated_on(vdev: Vdev, stored_bytes: int) -> int | None:
    """What one copy of a block takes up on a top-level vdev, parity included; None where its form is not known.

    vdev_raidz_asize() and vdev_draid_asize(), module/zfs/vdev_raidz.c and vdev_draid.c; as many disks as the vdev has
    now, though what was written before it was widened lies on fewer.
    """
    if not vdev.ashift:
        return None
    sectors = align_up(stored_bytes, 1 << vdev.ashift) >> vdev.ashift
    if not vdev.has_parity:
        return sectors << vdev.ashift
    form = PARITY.match(vdev.name)
    if form is None:
        return None
    parity = int(form["parity"])
    data_disks = int(form["data"] or len(vdev.children) - parity)
    if data_disks < 1:
        return None
    rows = -(-sectors // data_disks)
    if vdev.kind == "draid":
        return rows * (data_disks + parity) << vdev.ashift
    return align_up(sectors + parity * rows, parity + 1) << vdev.ashift


def _together(before: StoredBlocks | None, more: StoredBlocks) -> StoredBlocks:
    if before is None:
        return more
    blocks = before.blocks + more.blocks
    copies = (before.copies * before.blocks + more.copies * more.blocks) / blocks
    return StoredBlocks(more.stored_bytes, blocks, copies)


def _copies(counted: TypeBlocks, kind: BlockKind, pool: Pool) -> float:
    """How often its blocks are written: from what they take up, where all vdevs are alike, else as OpenZFS sets it."""
    at_once = _once(counted, pool)
    if at_once:
        return min(max(counted.allocated_bytes / at_once, 1.0), IN_POOL_COPIES)
    if kind in OF_DATA:
        return 1.0
    return IN_POOL_COPIES if kind in {BlockKind.POOL, BlockKind.DEDUP} else METADATA_COPIES


def _once(counted: TypeBlocks, pool: Pool) -> int:
    """What its blocks would take up if each were written once; 0 where that depends on the vdev they lie on."""
    if pool.specials or pool.dedups:
        return 0
    whole = 0
    for size, blocks in counted.sizes.items():
        each = {allocated_on(top, size) for top in pool.data}
        once = each.pop() if len(each) == 1 else None
        if once is None:
            return 0
        whole += once * blocks
    return whole
