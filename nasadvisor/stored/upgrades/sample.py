"""Packed samples: what stood where in the rows of each number, and how the parts of one become those of the next.

A part is an object for `pool`, `arc`, `levels` and `busy`, a list of objects for `datasets`, `disks` and `vdevs`, each
with its columns by name; zeros at the end are left out.
"""

from typing import Final

from nasadvisor.stored.upgrades import Document, Upgrade

COLUMNS_1: Final = {
    "datasets": (
        *("name", "commits", "commit_writers", "records", "indirect_bytes", "copied_bytes", "needcopy_bytes"),
        *("log_blocks", "log_bytes", "pool_blocks", "pool_bytes", "writes", "written_bytes", "reads", "read_bytes"),
    ),
    "disks": ("key", "flushes", "flush_ms", "reads", "read_bytes", "writes", "written_bytes", "write_ms"),
    "pool": ("arc_reads", "arc_read_bytes", "direct_written_bytes", "nfs_commits", "nfs_writes"),
    "arc": (
        *("demand_hits", "demand_misses", "prefetch_hits", "prefetch_misses", "ghost_hits", "evicted_eligible_bytes"),
        *("l2_hits", "l2_misses", "l2_read_bytes", "l2_written_bytes"),
    ),
    "levels": ("arc_bytes", "arc_target_bytes", "arc_most_bytes", "l2_bytes", "l2_header_bytes"),
    "busy": ("seconds", "commits", "sync_bytes", "peak_commits_per_s", "peak_bytes_per_s"),
    "vdevs": ("guid", "reads", "writes", "sync_reads", "sync_writes", "written_bytes"),
}

COLUMNS_2: Final = {
    **COLUMNS_1,
    "arc": (*COLUMNS_1["arc"], "metadata_misses", "evicted_ineligible_bytes"),
    "busy": (*COLUMNS_1["busy"], "peak_log_bytes"),
}


def to_second(document: Document) -> Document:
    """What was not counted yet is nothing, as zeros at the end of a row are."""
    return document


UPGRADES: Final[tuple[Upgrade, ...]] = (to_second,)
