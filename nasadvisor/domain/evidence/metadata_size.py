"""How large special vdevs would have to be for what a pool holds, and how they would be made and taken back.

They are advised and printed, never made: OpenZFS can take them out of some pools only, and their loss is the loss of
the pool.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.metadata_blocks import PARITY, BlockCount, BlockKind
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.figures import grouped, percent
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage import releases
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.units import GIB, KIB, align_up, size_text

USUAL_ASHIFT: Final = 12
"""Where OpenZFS does not tell a pool's: blocks of 4 KiB, which all SSDs like."""

CUT_OFFS: Final = tuple(size * KIB for size in (4, 8, 16, 32, 64))

FULL_SHARE: Final = 0.8
"""[policy] How full a pool gets before somebody adds disks; its metadata grows with it."""

LEFT_FREE: Final = 0.25
"""zfs_special_class_metadata_reserve_pct (zfs(4)): data is let in only while so much is free."""

FULLER_AT_MOST: Final = 4.0
"""[policy] Of a pool that is nearly empty nobody knows what will fill it: no more than so many times what it holds."""

DATA_TO_METADATA: Final = 1.0
"""[policy] A cut-off is recommended while small blocks add no more than the metadata takes up itself."""


@dataclass(frozen=True)
class CutOff:
    """A value of special_small_blocks: how many blocks of data are no larger, and what they would add."""

    block_bytes: int
    blocks: int
    added_bytes: int


@dataclass(frozen=True)
class SpecialSize:
    """What special vdevs would hold, each side of them; `size_bytes` is how large they should be.

    `metadata_bytes` is what the pool has today, `cut_off` the value of special_small_blocks that is recommended, 0 for
    metadata only. `grown` is how many times as much it is with the pool full, `sides` how many SSDs hold the same.
    """

    ashift: int
    metadata_bytes: int
    cut_offs: tuple[CutOff, ...]
    cut_off: int
    grown: float
    size_bytes: int
    sides: int

    @property
    def small_bytes(self) -> int:
        """What small blocks would add with the recommended cut-off."""
        return next((each.added_bytes for each in self.cut_offs if each.block_bytes == self.cut_off), 0)


@dataclass(frozen=True)
class Counted:
    """A count, what it asks of special vdevs, and how they would be made."""

    count: BlockCount
    size: SpecialSize
    command: str


def counted_of(count: BlockCount, pool: Pool, facts: PoolFacts) -> Counted:
    """What a count of this pool comes to."""
    version = facts.tunables.zfs_version
    with_volumes = releases.SMALL_VOLUME_BLOCKS.is_in(version)
    blocks = (each.block_bytes for each in facts.datasets if each.used_bytes and (with_volumes or not each.is_volume))
    size = special_size(count, pool, version, min(blocks, default=0))
    return Counted(count, size, command_of(size, pool))


def special_size(count: BlockCount, pool: Pool, zfs_version: str = "", smallest_block: int = 0) -> SpecialSize:
    """What a pool's metadata asks for; `smallest_block` is the smallest recordsize in it, 0 if that is not known.

    A cut-off at or above a dataset's recordsize would send all its data to the special vdevs.
    """
    ashift = pool.ashift or USUAL_ASHIFT
    metadata = sum(
        each.bytes_at(ashift) for each in count.metadata if each.kind is not BlockKind.DEDUP or not pool.dedups
    )
    cut_offs = tuple(_cut_off(count, limit, ashift, zfs_version) for limit in CUT_OFFS)
    fitting = [
        each
        for each in cut_offs
        if 0 < each.added_bytes <= DATA_TO_METADATA * metadata
        and (not smallest_block or each.block_bytes < smallest_block)
    ]
    advised = max(fitting, key=lambda each: each.added_bytes, default=CutOff(0, 0, 0))  # the first of several
    held = metadata + advised.added_bytes
    grown = _grown(pool)
    size = max(align_up(int(held * grown / (1 - LEFT_FREE)), GIB), GIB)
    return SpecialSize(ashift, metadata, cut_offs, advised.block_bytes, grown, size, sides_of(pool))


def sides_of(pool: Pool) -> int:
    """How many SSDs must hold the same so that special vdevs bear as many losses as the data, and one at the least."""
    return max(_losses(pool), 1) + 1


def _losses(pool: Pool) -> int:
    """How many disks of any data vdev may die."""
    return min((_losses_of(top) for top in pool.data), default=0)


def _losses_of(top: Vdev) -> int:
    if top.kind == "mirror":
        return len(top.children) - 1
    form = PARITY.match(top.name) if top.has_parity else None
    return int(form["parity"]) if form else 0


def special_in_words(size: SpecialSize) -> Iterator[Statement]:
    """What is advised and why, without the pool's own reasons for or against it."""
    values = {
        "size": size_text(size.size_bytes),
        "metadata": size_text(size.metadata_bytes),
        "free": percent(LEFT_FREE),
        "full": percent(FULL_SHARE),
        "grown": f"{size.grown:.1f}",
    }
    if size.cut_off:
        template = _(
            "At least {size} on each SSD: {metadata} of metadata today and {small} of data in blocks up to {cut}, "
            "{grown} times that once the pool is {full} full. {free} stays free; below that, OpenZFS accepts no data "
            "there."
        )
        more = {"small": size_text(size.small_bytes), "cut": size_text(size.cut_off)}
        yield Statement("special-size-small", template, values | more)
    else:
        template = _(
            "At least {size} on each SSD: {metadata} of metadata today, {grown} times that once the pool is {full} "
            "full, and {free} kept free."
        )
        yield Statement("special-size", template, values)
    template = _(
        "{sides} mirrored SSDs, so that as many can fail as among the data disks. Danger: if all of them fail, the "
        "whole pool is lost."
    )
    yield Statement("special-sides", template, {"sides": str(size.sides)})


def command_of(size: SpecialSize, pool: Pool) -> str:
    """How it would be made, for somebody to read and type: the names of the SSDs are theirs to put in.

    `zpool add` takes no mirror beside disks without one ("mismatched replication level", check_replication() in
    cmd/zpool/zpool_vdev.c), unless it is forced; an SSD is added like them, and the second attached to it.
    """
    disks = [f"SSD-{number + 1}" for number in range(size.sides)]
    add = f"zpool add -o ashift={size.ashift} {pool.name} special"
    if not _losses(pool):
        return f"{add} {disks[0]} && zpool attach {pool.name} {' '.join(disks)}"
    return f"{add} mirror {' '.join(disks)}"


def moved_in_words(count: BlockCount, size: SpecialSize, zfs_version: str) -> Iterator[Statement]:
    """What would still lie on the disks afterwards, and what brings it over."""
    values = {"metadata": size_text(size.metadata_bytes), "blocks": grouped(count.metadata_blocks)}
    template = _(
        "Only new writes go there. Today's {metadata} of metadata ({blocks} blocks) stays on the disks until it is "
        "rewritten."
    )
    yield Statement("special-stays-behind", template, values)
    if releases.REWRITE.is_in(zfs_version):
        template = _(
            "`zfs rewrite -r` on a directory rewrites the blocks of its files and their block pointers, but not the "
            "directories themselves and not volumes. Each block held by a snapshot takes up its space twice until the "
            "snapshot is destroyed."
        )
        yield Statement("special-rewrite", template)
        return
    template = _(
        "This OpenZFS has no `zfs rewrite` (2.3.4 and later have it). To move a dataset, copy it with `zfs send` and "
        "`zfs receive` into a new one on the same pool; until you delete the old one, it takes up its space twice."
    )
    yield Statement("special-send", template)


def _cut_off(count: BlockCount, limit: int, ashift: int, zfs_version: str) -> CutOff:
    """Data whose blocks are no larger; volumes only where the release lets them in."""
    kinds = [BlockKind.DATA]
    if releases.SMALL_VOLUME_BLOCKS.is_in(zfs_version):
        kinds.append(BlockKind.VOLUMES)
    found = [size for kind in kinds for size in count.of(kind).sizes if size.stored_bytes <= limit]
    return CutOff(limit, sum(each.blocks for each in found), int(sum(each.bytes_at(ashift) for each in found)))


def _grown(pool: Pool) -> float:
    if not pool.size_bytes or not pool.allocated_bytes:
        return 1.0
    return min(max(FULL_SHARE * pool.size_bytes / pool.allocated_bytes, 1.0), FULLER_AT_MOST)
