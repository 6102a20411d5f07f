"""OpenZFS's counters in /proc/spl/kstat/zfs, which anybody may read.

A named kstat has a line of numbers, a line of heads, then "name type value" (kstat_seq_show_headers() in
module/os/linux/spl/spl-kstat.c). What a release does not have reads as nothing.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.counters import Txg
from nasadvisor.domain.evidence.samples import ArcActivity, DatasetActivity, Levels, PoolActivity
from nasadvisor.host.adapters.counts import count_in
from nasadvisor.host.adapters.procfs import text_or_nothing

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
