"""What the kernel counts of disks and of the NFS server: /sys/block/DISK/stat and /proc/net/rpc/nfsd."""

import os
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.samples import DiskActivity
from nasadvisor.host.adapters.counts import count_in
from nasadvisor.host.adapters.procfs import text_or_nothing

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
