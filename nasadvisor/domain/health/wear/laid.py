"""What was written to each SSD of a pool, laid to the datasets of the pool, their metadata, its log and its cache.

The kernel counts a slice's bytes (`VdevActivity.written_bytes`, /sys/class/block/NAME/stat) and OpenZFS what programs
wrote to each dataset (`written_bytes`, nwritten of module/zfs/dataset_kstats.c), but nobody whose block a write to a
disk was. So the bytes of all data vdevs of a pool, D, are divided by what each dataset must have caused within the same
time. All of it is a share: compression differs from block to block, and what is overwritten in memory before its txg
syncs never reaches a disk.

    expected = logical x copies / compression x spread + ZIL x spread
    room     = (writes x whole records - logical) x copies / compression x spread

- compression is refcompressratio, copies the property (zfsprops(7)). A record is recordsize or volblocksize: of a
  write that is smaller, the whole record is written again (dmu_sync and dbuf_sync_leaf(), module/zfs/dbuf.c), unless
  its neighbours were written in the same txg. So `room` is the most that small writes can have caused, at none the
  least.
- spread is what a block takes up on its vdev: all sides of a mirror, parity of raidz and draid, whole sectors
  (`allocated_on`).
- ZIL is what was written to the pool's own vdevs before each txg, where it has no log: the bytes that were handed over
  by copy, and for each block what it is rounded up by (ZIL_MIN_BLKSZ, zil_lwb_write_issue() in module/zfs/zil.c). What
  is handed over by reference (`indirect_bytes`) lies where it stays and is written once.

Where D is more than expected, datasets have the rest up to their room, in proportion to it, and what remains is
metadata: indirect blocks, dnodes, space maps, and whatever else the pool wrote of its own accord. What one side of a
vdev is written far beyond all others (a resilver) is laid there first. Where D is less, or a data vdev is a hard disk
whose bytes nobody counts, D is divided in proportion to what was expected. Special and dedup vdevs are written
metadata, and small blocks if the pool puts them there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from nasadvisor.domain.evidence.metadata_blocks import allocated_on
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, PoolFacts
from nasadvisor.domain.evidence.samples import DatasetActivity, Sample
from nasadvisor.domain.health.wear.bill import BillLine, Payee
from nasadvisor.domain.storage.inventory import Pool, Vdev, VdevClass
from nasadvisor.domain.units import KIB

USUAL_RECORD: Final = 128 * KIB
ZIL_BLOCK: Final = 4 * KIB
"""ZIL_MIN_BLKSZ (include/sys/zil_impl.h): blocks of the ZIL are rounded up to it, and begin with what chains them."""

RATIO_CUT: Final = 0.99
"""Of a ratio the third decimal is cut off (zfs_prop_get() in lib/libzfs/libzfs_dataset.c), so a block is up to 1 %
smaller than it says; taken at its word it would need a sector more than it has."""

UNEVEN: Final = 1.5
"""[policy] Sides of a mirror are written alike, members of a raidz nearly: only a resilver takes them so far apart."""

FINE: Final = 1 << 20
"""Weights are taken to a millionth of a byte."""

USUAL_ASHIFT: Final = 12
CLASSES: Final = (VdevClass.NORMAL, VdevClass.LOG, VdevClass.CACHE, VdevClass.SPECIAL, VdevClass.DEDUP)


@dataclass(frozen=True)
class ExpectedWrites:
    """What one dataset must have had written to the data vdevs of its pool, in bytes; `zil` is a part of `least`."""

    activity: DatasetActivity
    least: float
    room: float
    zil: float


def laid(hour: Sample, facts: PoolFacts, pool: Pool) -> dict[str, tuple[BillLine, ...]]:
    """The lines of each leaf on an SSD that was written, by its guid. They add up to what the kernel counted for it."""
    written = {vdev.guid: vdev.written_bytes for vdev in hour.vdevs if vdev.written_bytes > 0}
    alone = dict(_written_alone(written, pool))
    found: dict[str, tuple[BillLine, ...]] = {}
    for kind in CLASSES:
        leaves = {leaf.guid: written[leaf.guid] for leaf in facts.leaves_of(kind) if leaf.guid in written}
        shared = {guid: count - alone.get(guid, 0) for guid, count in leaves.items()}
        lines = list(_lines_of(kind, sum(shared.values()), hour, facts, pool)) if leaves else []
        found |= {guid: tuple(_part_of(lines, count)) for guid, count in shared.items()}
    for guid in alone.keys() & found.keys():
        found[guid] = (*found[guid], BillLine(Payee.METADATA, "", alone[guid]))
    return found


def _written_alone(written: Mapping[str, int], pool: Pool) -> Iterator[tuple[str, int]]:
    """What one leaf of a data vdev was written beyond `UNEVEN` times the next, all of which are written alike."""
    for top in pool.data:
        sides = sorted((written.get(leaf.guid, 0), leaf.guid) for leaf in top.leaves())
        if len(sides) > 1 and sides[-2][0]:
            most, guid = sides[-1]
            beyond = int(most - UNEVEN * sides[-2][0])
            if beyond > 0:
                yield guid, beyond


def apportioned(total: int, weights: Sequence[float]) -> list[int]:
    """Whole numbers in proportion to weights that add up to the total (largest remainders); equal ones for no weight.

    Raises:
        ValueError: there are no weights, or one is below zero.
    """
    if not weights or min(weights) < 0:
        raise ValueError("Weights are numbers from zero on, at least one.")
    exact = [round(weight * FINE) for weight in weights]  # floats of so large numbers would not add up
    exact = exact if any(exact) else [1] * len(weights)
    whole = sum(exact)
    parts = [total * each // whole for each in exact]
    rests = [total * each % whole for each in exact]
    for index in sorted(range(len(parts)), key=rests.__getitem__, reverse=True)[: total - sum(parts)]:
        parts[index] += 1
    return parts


def _lines_of(kind: VdevClass, device: int, hour: Sample, facts: PoolFacts, pool: Pool) -> Iterable[BillLine]:
    """What all SSDs of one class of vdevs were written."""
    datasets = sorted(hour.datasets, key=lambda each: each.name)
    if kind is VdevClass.NORMAL:
        is_counted = not any(leaf.rotational for leaf in facts.leaves_of(kind))
        return _data_lines(device, tuple(_expected(datasets, facts, pool)), is_counted)
    if kind is VdevClass.LOG:
        return _log_lines(device, [each for each in datasets if each.log_bytes > 0])
    return (BillLine(Payee.CACHE if kind is VdevClass.CACHE else Payee.METADATA, "", device),)


def _part_of(lines: Sequence[BillLine], count: int) -> Iterator[BillLine]:
    """The lines of one of several leaves that have them in common."""
    whole = sum(line.device_bytes for line in lines)
    for line, device in zip(lines, apportioned(count, [line.device_bytes for line in lines]), strict=True):
        yield replace(
            line,
            device_bytes=device,
            logical_bytes=round(line.logical_bytes * count / whole),
            writes=round(line.writes * count / whole),
            rewritten_bytes=min(round(line.rewritten_bytes * count / whole), device),
            zil_bytes=min(round(line.zil_bytes * count / whole), device),
        )


def _log_lines(device: int, datasets: Sequence[DatasetActivity]) -> list[BillLine]:
    """A log, divided by the blocks that each dataset wrote to it."""
    if not datasets:
        return [BillLine(Payee.LOG, "", device)]
    parts = apportioned(device, [each.log_bytes for each in datasets])
    return [BillLine(Payee.LOG, each.name, part) for each, part in zip(datasets, parts, strict=True)]


def _data_lines(device: int, datasets: Sequence[ExpectedWrites], is_counted: bool) -> Iterator[BillLine]:
    least, room = (sum(getattr(each, name) for each in datasets) for name in ("least", "room"))
    rest = max(device - least, 0.0) if is_counted or not datasets else 0.0
    beyond = min(rest, room)
    of_room = beyond / room if room else 0.0
    of_least = 1.0 if device > least and is_counted else device / least if least else 0.0
    weights = [each.least * of_least + each.room * of_room for each in datasets]
    *parts, metadata = apportioned(device, [*weights, max(rest - beyond, 0.0)])
    for each, part in zip(datasets, parts, strict=True):
        yield BillLine(
            Payee.DATASET,
            each.activity.name,
            part,
            each.activity.written_bytes,
            each.activity.writes,
            min(round(each.room * of_room), part),
            min(round(each.zil * of_least), part),
        )
    yield BillLine(Payee.METADATA, "", metadata)


def _expected(datasets: Iterable[DatasetActivity], facts: PoolFacts, pool: Pool) -> Iterator[ExpectedWrites]:
    tops = [replace(top, ashift=top.ashift or pool.ashift or USUAL_ASHIFT) for top in pool.data]
    for each in datasets:
        found = _expected_of(each, facts.dataset(each.name), tops)
        if found.least > 0:
            yield found


def _expected_of(activity: DatasetActivity, known: DatasetFacts | None, tops: Sequence[Vdev]) -> ExpectedWrites:
    record = (known.block_bytes if known else 0) or USUAL_RECORD
    ratio, copies = (max(known.compress_ratio, 1.0), known.copies) if known else (1.0, 1)
    once = copies / ratio * _spread(tops, record / ratio)
    logical, writes = max(activity.written_bytes, 0), max(activity.writes, 0)
    whole = writes * ceil(logical / writes / record) * record if writes else 0
    zil, blocks = _zil_bytes(activity), max(activity.pool_blocks, 1)
    in_zil = zil * _spread(tops, zil / blocks)
    return ExpectedWrites(activity, logical * once + in_zil, max(whole - logical, 0) * once, in_zil)


def _zil_bytes(activity: DatasetActivity) -> float:
    """What was written to the ZIL on the pool itself: `pool_bytes` are allocated, of which not all is written."""
    blocks = activity.pool_blocks + activity.log_blocks
    handed = max(activity.copied_bytes + activity.needcopy_bytes, 0)
    on_pool = handed * activity.pool_blocks / blocks if blocks > 0 else 0.0
    return max(min(on_pool + activity.pool_blocks * ZIL_BLOCK, activity.pool_bytes), 0.0)


def _spread(tops: Sequence[Vdev], block_bytes: float) -> float:
    """Bytes on all disks for each byte of a block of that size, the mean of the pool's data vdevs."""
    if not tops or block_bytes <= 0:
        return 1.0
    size = ceil(block_bytes * RATIO_CUT)
    found = ((allocated_on(top, size) or size) * (len(top.children) if top.kind == "mirror" else 1) for top in tops)
    return max(sum(found) / len(tops) / block_bytes, 1.0)
