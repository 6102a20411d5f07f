"""What OpenZFS and the kernel count: kstats, latency histograms, requests to disks and to the NFS server."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.counters import Txg, VdevCounters
from nasadvisor.domain.evidence.histogram import Histogram
from nasadvisor.domain.evidence.samples import ArcActivity, DatasetActivity, DiskActivity, Levels, PoolActivity
from nasadvisor.host.adapters.answer import count_in
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.adapters.procfs import text_or_nothing
from nasadvisor.host.errors import OutputUnreadable

HEAD_LINES: Final = 2
COMMITTED: Final = "C"
DEMAND: Final = ("demand_data", "demand_metadata")
PREFETCH: Final = ("prefetch_data", "prefetch_metadata")
ZIL_FIELDS: Final = {
    "commits": "zil_commit_count",
    "commit_writers": "zil_commit_writer_count",
    "records": "zil_itx_count",
    "indirect_bytes": "zil_itx_indirect_bytes",
    "copied_bytes": "zil_itx_copied_bytes",
    "needcopy_bytes": "zil_itx_needcopy_bytes",
    "log_blocks": "zil_itx_metaslab_slog_count",
    "pool_blocks": "zil_itx_metaslab_normal_count",
    "writes": "writes",
    "written_bytes": "nwritten",
    "reads": "reads",
    "read_bytes": "nread",
}
"""Fields of a dataset's activity and the names of their counters (include/sys/zil.h, dataset_kstats.h)."""

COMMIT_COUNT: Final = re.compile(r"^(dataset_name|zil_commit_count) +[0-9]+ +(.*)$", re.MULTILINE)


def read_named(path: Path) -> dict[str, str]:
    """The values of a named kstat as text; nothing where there is none."""
    # At most two splits: the value of dataset_name may hold spaces.
    rows = (line.split(None, 2) for line in text_or_nothing(path).split("\n")[HEAD_LINES:])
    return {row[0]: row[2] for row in rows if len(row) == 3}


def read_datasets(pool: Path) -> Iterator[DatasetActivity]:
    """Every mounted file system and active volume of a pool; snapshots have no kstat."""
    try:
        paths = sorted(path for path in pool.iterdir() if path.name.startswith("objset-"))
    except OSError:
        return
    for path in paths:
        values = read_named(path)
        if "dataset_name" in values:
            yield dataset_activity(values)


def read_commit_counts(kstats: Path) -> dict[str, int]:
    """The commits of every mounted file system and active volume of all pools, by name, and nothing else of them.

    Before OpenZFS 2.2 they are not counted by dataset.
    """
    texts = map(text_or_nothing, kstats.glob("*/objset-*"))
    found = (dict(COMMIT_COUNT.findall(text)) for text in texts)
    return {each["dataset_name"]: count_in(each["zil_commit_count"]) or 0 for each in found if len(each) == 2}


def dataset_activity(values: Mapping[str, str]) -> DatasetActivity:
    """The counters of one dataset. Of log blocks the allocated size is taken, or before 2.2 the written one."""
    numbers = {field: _number(values, name) for field, name in ZIL_FIELDS.items()}
    return DatasetActivity(
        name=values["dataset_name"],
        log_bytes=_number(values, "zil_itx_metaslab_slog_alloc") or _number(values, "zil_itx_metaslab_slog_bytes"),
        pool_bytes=_number(values, "zil_itx_metaslab_normal_alloc") or _number(values, "zil_itx_metaslab_normal_bytes"),
        **numbers,
    )


def read_totals(pool: Path) -> PoolActivity:
    """The pool's own counters, from OpenZFS 2.3 on."""
    values = read_named(pool / "iostats")
    return PoolActivity(
        arc_reads=_number(values, "arc_read_count"),
        arc_read_bytes=_number(values, "arc_read_bytes"),
        direct_written_bytes=_number(values, "direct_write_bytes"),
    )


def read_txgs(pool: Path) -> tuple[Txg, ...]:
    """The last transaction groups that are committed (zfs_txg_history of them); a line that tells less is none."""
    lines = text_or_nothing(pool / "txgs").split("\n")
    heads = next((line.split() for line in lines if line.startswith("txg ")), [])
    rows = (dict(zip(heads, line.split(), strict=False)) for line in lines)
    found = (_txg(row) for row in rows if row.get("state") == COMMITTED)
    return tuple(txg for txg in found if txg)


def _txg(row: Mapping[str, str]) -> Txg | None:
    number, *times = (count_in(row.get(head, "")) for head in ("txg", "otime", "qtime", "wtime", "stime"))
    known = [time for time in times if time is not None]
    return Txg(number, sum(known)) if number is not None and len(known) == len(times) else None


def read_arc(kstats: Path) -> tuple[ArcActivity, Levels]:
    """The ARC's counters and levels."""
    values = read_named(kstats / "arcstats")

    def total(kinds: tuple[str, ...], *ends: str) -> int:
        return sum(_number(values, f"{kind}_{end}") for kind in kinds for end in ends)

    activity = ArcActivity(
        demand_hits=total(DEMAND, "hits", "iohits"),
        demand_misses=total(DEMAND, "misses"),
        prefetch_hits=total(PREFETCH, "hits", "iohits"),
        prefetch_misses=total(PREFETCH, "misses"),
        ghost_hits=total(("mru", "mfu"), "ghost_hits"),
        evicted_eligible_bytes=_number(values, "evict_l2_eligible"),
        l2_hits=_number(values, "l2_hits"),
        l2_misses=_number(values, "l2_misses"),
        l2_read_bytes=_number(values, "l2_read_bytes"),
        l2_written_bytes=_number(values, "l2_write_bytes"),
        metadata_misses=total(("demand_metadata", "prefetch_metadata"), "misses"),
        evicted_ineligible_bytes=_number(values, "evict_l2_ineligible"),
    )
    levels = Levels(
        arc_bytes=_number(values, "size"),
        arc_target_bytes=_number(values, "c"),
        arc_most_bytes=_number(values, "c_max"),
        l2_bytes=_number(values, "l2_asize"),
        l2_header_bytes=_number(values, "l2_hdr_size"),
    )
    return activity, levels


def _number(values: Mapping[str, str], name: str) -> int:
    return count_in(values.get(name, "0")) or 0


TIMEOUT_S: Final = 30.0
COMMAND: Final = Command(Tool.ZPOOL, ("iostat", "-vgwHp"), timeout_s=TIMEOUT_S)
DISK_READ, DISK_WRITE, SYNC_READ, SYNC_WRITE = 3, 4, 5, 6
"""Columns, after the bucket and total_wait: disk_wait and syncq_wait, each read and write."""


def read_iostat(runner: Runner) -> dict[str, tuple[VdevCounters, ...]]:
    """The vdevs of every pool, by the pool's name. Guids are numbers, and no pool's name begins with one.

    Raises:
        HostError: zpool failed or answered in a form that is not known.
    """
    pools: dict[str, list[VdevCounters]] = {}
    name = ""
    for vdev in parse_iostat(runner.run(COMMAND).stdout):
        is_pool = not vdev.guid.isdecimal()
        name = vdev.guid if is_pool else name
        pools.setdefault(name, []).append(replace(vdev, guid="") if is_pool else vdev)
    return {name: tuple(vdevs) for name, vdevs in pools.items()}


def parse_iostat(text: str) -> Iterator[VdevCounters]:
    """Every block of the answer; `guid` is the pool's name in the first one of each pool.

    Raises:
        OutputUnreadable: a row is not made of numbers.
    """
    name, rows = "", list[list[int]]()
    for line in text.split("\n"):
        cells = line.split("\t")
        if len(cells) == 1:
            if name and line:
                yield _vdev(name, rows)
            name, rows = (line or name), ([] if line else rows)
            continue
        try:
            rows.append([int(cell) for cell in cells])
        except ValueError:
            raise OutputUnreadable(str(COMMAND), f"a row reads {line[:80]!r}") from None
        if len(cells) <= SYNC_WRITE:
            raise OutputUnreadable(str(COMMAND), f"a row has {len(cells)} columns")
    if name:
        yield _vdev(name, rows)


def _vdev(name: str, rows: list[list[int]]) -> VdevCounters:
    columns = (DISK_READ, DISK_WRITE, SYNC_READ, SYNC_WRITE)
    reads, writes, sync_reads, sync_writes = (Histogram.of([row[column] for row in rows]) for column in columns)
    return VdevCounters(name, reads, writes, sync_reads, sync_writes)


SECTOR_BYTES: Final = 512
"""Sectors here are always of 512 bytes (Linux, Documentation/block/stat.rst)."""

SECTORS_WRITTEN: Final = 6

FLUSHES, FLUSH_MS = 15, 16
"""The fields "flush I/Os" and "flush ticks", from Linux 5.5 on; partitions have none."""

NFS3_WRITE, NFS3_COMMIT = 7, 21
NFS4_WRITE, NFS4_COMMIT = 38, 5
"""Numbers of operations (RFC 1813, RFC 8881). The server does not count stable writes apart."""


def read_disk(sys: Path, name: str) -> DiskActivity | None:
    """The counters of a whole disk; None where it is gone."""
    told = text_or_nothing(sys / "block" / name / "stat").split()
    cells = [cell for cell in map(count_in, told) if cell is not None]
    if not cells or len(cells) != len(told):
        return None
    cells += [0] * (FLUSH_MS + 1 - len(cells))
    return DiskActivity(
        key=name,
        flushes=cells[FLUSHES],
        flush_ms=cells[FLUSH_MS],
        reads=cells[0],
        read_bytes=cells[2] * SECTOR_BYTES,
        writes=cells[4],
        written_bytes=cells[SECTORS_WRITTEN] * SECTOR_BYTES,
        write_ms=cells[7],
    )


def read_written(sys: Path, name: str) -> int:
    """Bytes written to a disk or partition since it appeared; 0 where it is gone."""
    return _cell(text_or_nothing(sys / "class/block" / name / "stat").split(), SECTORS_WRITTEN) * SECTOR_BYTES


def device_at(sys: Path, path: str) -> str:
    """The kernel's name of the disk or partition that a vdev's path leads to; "" where it leads to none."""
    name = Path(os.path.realpath(path)).name if path.startswith("/dev/") else ""
    return name if name and (sys / "class/block" / name).exists() else ""


def disk_below(sys: Path, device: str) -> str:
    """The whole disk of a disk or partition, by the kernel's names.

    A device-mapper or multipath device counts as the disk: it is where flushes are sent to.
    """
    folder = sys / "class/block" / device
    return folder.resolve().parent.name if device and (folder / "partition").exists() else device


def disk_fact(sys: Path, name: str, fact: str) -> str:
    """A line such as queue/rotational or queue/write_cache of a disk; "" where there is none."""
    return text_or_nothing(sys / "block" / name / fact)


def size_of(sys: Path, name: str) -> int:
    """The size of a disk or partition in bytes; 0 where it is gone."""
    return _cell(text_or_nothing(sys / "class/block" / name / "size").split(), 0) * SECTOR_BYTES if name else 0


def read_nfs(proc: Path) -> tuple[int, int]:
    """How many commits and writes the NFS server has done, versions 3 and 4 together; zeros where there is none."""
    lines = text_or_nothing(proc / "net/rpc/nfsd").split("\n")
    rows = {cells[0]: cells[2:] for cells in map(str.split, lines) if len(cells) > 1}  # cells[1] is how many follow
    third, fourth = rows.get("proc3", []), rows.get("proc4ops", [])
    commits = _cell(third, NFS3_COMMIT) + _cell(fourth, NFS4_COMMIT)
    return commits, _cell(third, NFS3_WRITE) + _cell(fourth, NFS4_WRITE)


def _cell(cells: list[str], number: int) -> int:
    return (count_in(cells[number]) or 0) if number < len(cells) else 0
