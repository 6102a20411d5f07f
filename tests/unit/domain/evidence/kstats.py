"""A /proc and /sys with OpenZFS's counters, written the way OpenZFS 2.3 prints them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nasadvisor.domain.evidence.histogram import BUCKETS
from nasadvisor.host.storage.machine import Roots

ZIL = (
    "zil_commit_count",
    "zil_commit_writer_count",
    "zil_commit_error_count",
    "zil_itx_count",
    "zil_itx_indirect_count",
    "zil_itx_indirect_bytes",
    "zil_itx_copied_bytes",
    "zil_itx_needcopy_bytes",
    "zil_itx_metaslab_normal_count",
    "zil_itx_metaslab_normal_bytes",
    "zil_itx_metaslab_normal_write",
    "zil_itx_metaslab_normal_alloc",
    "zil_itx_metaslab_slog_count",
    "zil_itx_metaslab_slog_bytes",
    "zil_itx_metaslab_slog_write",
    "zil_itx_metaslab_slog_alloc",
)
TXG_HEADS = "txg birth state ndirty nread nwritten reads writes otime qtime wtime stime"


def named(values: Mapping[str, object]) -> str:
    """A named kstat as text."""
    rows = [f"{name:<31} {7 if isinstance(value, str) else 4}    {value}" for name, value in values.items()]
    return "\n".join(["31 1 0x01 27 7344 4178066853 41805316024", f"{'name':<31} type data", *rows, ""])


def objset(name: str, **values: int) -> str:
    """The kstat of a dataset."""
    counters = {"dataset_name": name, "writes": 0, "nwritten": 0, "reads": 0, "nread": 0, "nunlinks": 0}
    return named({**counters, **dict.fromkeys(ZIL, 0), **values})


def txgs(*rows: tuple[int, str, int]) -> str:
    """The history of transaction groups: number, state, and how long each was in each of its four phases."""
    lines = [f"{number} 4180541 {state} 0 0 0 0 0 {ns} {ns} {ns} {ns}" for number, state, ns in rows]
    return "\n".join(["18 0 0x01 100 11200 4140474 4180541", TXG_HEADS, *lines, ""])


def iostat_block(name: str, writes: Mapping[int, int], reads: Mapping[int, int] | None = None) -> str:
    """One vdev of `zpool iostat -vgwHp`; counts by bucket. Every write is a synchronous one."""
    lines = ["", name]
    for bucket in range(BUCKETS):
        read, write = (reads or {}).get(bucket, 0), writes.get(bucket, 0)
        cells = (read, write, read, write, read, write, 0, 0, 0, 0, 0)
        lines.append("\t".join(str(cell) for cell in ((1 << (bucket + 1)) - 1, *cells)))
    return "\n".join([*lines, ""])


def disk_stat(flushes: int, flush_ms: int, writes: int = 0) -> str:
    """/sys/block/DISK/stat."""
    cells: Sequence[int] = (10, 0, 80, 5, writes, 0, writes * 8, 7, 0, 9, 12, 0, 0, 0, 0, flushes, flush_ms)
    return " ".join(f"{cell:8}" for cell in cells) + "\n"


class FakeSystem:
    """A tree of files below a folder that stands for /proc, /sys and /dev."""

    def __init__(self, root: Path) -> None:
        self.roots = Roots(dev=root / "dev", etc=root / "etc", proc=root / "proc", sys=root / "sys")
        self.kstats = self.roots.proc / "spl/kstat/zfs"

    def put(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def dataset(self, number: int, name: str, **values: int) -> None:
        self.put(self.kstats / name.partition("/")[0] / f"objset-{number:#x}", objset(name, **values))

    def arc(self, **values: int) -> None:
        self.put(self.kstats / "arcstats", named(values))

    def disk(self, name: str, flushes: int, flush_ms: int) -> None:
        self.put(self.roots.sys / "block" / name / "stat", disk_stat(flushes, flush_ms))
