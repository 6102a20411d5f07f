"""zdb(8) counts the blocks of a pool: it reads all metadata, so it takes minutes to hours, and writes nothing."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.metadata_blocks import TypeBlocks
from nasadvisor.domain.units import align_up
from nasadvisor.host.adapters.process import DIRECTORIES, PACKAGES, Command, Runner, Tool
from nasadvisor.host.adapters.zdb import cache_file_option
from nasadvisor.host.errors import OutputUnreadable, ToolMissing

SECTOR_BYTES: Final = 512
"""SPA_MINBLOCKSIZE, in which zdb counts sizes."""

LARGEST: Final = 257
"""The last column of its histogram: all that is larger than SPA_OLD_MAXBLOCKSIZE, 128 KiB."""

DAMAGED: Final = 3
"""The exit code where some blocks could not be read (dump_block_stats() in cmd/zdb/zdb.c)."""

OWN_SUMS: Final = frozenset({"Total", "Metadata Total"})

_HEAD: Final = re.compile(r"^Blocks\tLSIZE\tPSIZE\tASIZE", re.MULTILINE)
_END: Final = "\nBlock Size Histogram"
_ROW: Final = re.compile(
    r" *([0-9]{1,20})\t *[0-9]+\t *([0-9]{1,20})\t *([0-9]{1,20})\t[^\t]*\t[^\t]*\t[^\t]*\t(?: {4}L([0-9]{1,2}) )?(.+)",
    re.ASCII,
)
_COLUMN: Final = re.compile(r"\t\t\t *([0-9]{1,3}): *([0-9]{1,20}) \**", re.ASCII)


@dataclass
class _Row:
    """A line of the table and the histogram below it. `level` is None of a sum over all levels."""

    type_name: str
    level: int | None
    stored_bytes: int
    allocated_bytes: int
    columns: Counter[int]

    @property
    def sizes(self) -> dict[int, int]:
        """Blocks by their stored size; of the last column the size is the mean of what is left."""
        known = {column * SECTOR_BYTES: blocks for column, blocks in self.columns.items() if 0 < column < LARGEST}
        larger = self.columns[LARGEST]
        if larger <= 0:
            return known
        left = self.stored_bytes - sum(size * blocks for size, blocks in known.items())
        return {**known, max(align_up(left // larger, SECTOR_BYTES), LARGEST * SECTOR_BYTES): larger}


def count_blocks(runner: Runner, pool: str, limit_s: float) -> tuple[tuple[TypeBlocks, ...], bool]:
    """Every block of a pool by type and level, and whether zdb could read all of it. Only looks, at the I/O class idle.

    Raises:
        ToolMissing: zdb is not installed.
        CommandTimedOut: it was not through after `limit_s`.
        CommandFailed: it could not open the pool.
        OutputUnreadable: it printed something else than it does.
    """
    if not runner.has(Tool.ZDB):  # ionice would only say that it cannot start it
        raise ToolMissing(Tool.ZDB, PACKAGES[Tool.ZDB], DIRECTORIES)
    where = cache_file_option(runner, pool)
    command = Command(Tool.IONICE, ("-c", "3", "zdb", "-LPbbbb", *where, pool), limit_s, frozenset({0, DAMAGED}))
    output = runner.run(command)
    return parse_blocks(output.stdout), output.code == DAMAGED


def parse_blocks(text: str) -> tuple[TypeBlocks, ...]:
    """What `zdb -LPbbbb` prints, the same from 2.1 to 2.4 but for sums that are not read.

    Raises:
        OutputUnreadable: there is no such table in it.
    """
    head = _HEAD.search(text)
    found = tuple(_by_level(_rows(text[head.end() :].partition(_END)[0]))) if head else ()
    if not found:
        raise OutputUnreadable(str(Tool.ZDB), "it printed no table of block types")
    return found


def _rows(table: str) -> Iterator[_Row]:
    row: _Row | None = None
    for line in table.splitlines():
        if column := _COLUMN.fullmatch(line):
            if row and int(column[2]):
                row.columns[int(column[1])] += int(column[2])
            continue
        found = _ROW.fullmatch(line)
        if found is None:
            continue
        if row:
            yield row
        level = int(found[4]) if found[4] else None
        row = _Row(found[5], level, int(found[2]), int(found[3]), Counter())
    if row:
        yield row


def _by_level(rows: Iterator[_Row]) -> Iterator[TypeBlocks]:
    """Each level of each type; of the lowest, which zdb prints only beside others, what the sum has more than those."""
    above: list[_Row] = []
    for row in rows:
        if row.level is not None:
            above.extend([row] if row.level else [])
            continue
        if row.type_name not in OWN_SUMS:
            for each in above:
                yield TypeBlocks(each.type_name, each.level or 0, each.allocated_bytes, each.sizes)
            lowest = _without(row, above)
            if lowest.sizes:
                yield TypeBlocks(lowest.type_name, 0, lowest.allocated_bytes, lowest.sizes)
        above.clear()


def _without(whole: _Row, parts: list[_Row]) -> _Row:
    columns = Counter(whole.columns)
    for each in parts:
        columns.subtract(each.columns)
    stored = whole.stored_bytes - sum(each.stored_bytes for each in parts)
    allocated = whole.allocated_bytes - sum(each.allocated_bytes for each in parts)
    return _Row(whole.type_name, 0, max(stored, 0), max(allocated, 0), +columns)
