"""`zpool iostat -vgwHp`: latency histograms of every vdev, counted since import.

Never with an interval: then counts are divided by the seconds and cut to whole numbers, and what is rare disappears
(print_iostat_histo() in cmd/zpool/zpool_main.c). Per vdev: a blank line, its guid (the pool's name for the whole pool),
then 37 rows of the bucket's upper end in ns and 11 columns.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from nasadvisor.domain.evidence.counters import VdevCounters
from nasadvisor.domain.evidence.histogram import Histogram
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import OutputUnreadable

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
