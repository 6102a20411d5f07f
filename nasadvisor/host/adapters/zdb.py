"""What only zdb(8) tells: what the label on a device says of its pool, and which datasets have blocks in a log."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.advice import WaitingDataset
from nasadvisor.domain.change.device_scan import SliceLabel
from nasadvisor.domain.evidence.metadata_blocks import TypeBlocks
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.names import GUID
from nasadvisor.domain.units import align_up
from nasadvisor.host.adapters.answer import count_in
from nasadvisor.host.adapters.process import DIRECTORIES, PACKAGES, Command, Runner, Tool
from nasadvisor.host.errors import CommandFailed, CommandTimedOut, HostError, OutputUnreadable, ToolMissing

TIMEOUT_S: Final = 60.0
NO_LABEL: Final = 2
"""The exit code where no label could be unpacked (dump_label() in cmd/zdb/zdb.c)."""

WITHOUT_CACHE_FILE: Final = "none"
DEFAULT_CACHE_FILE: Final = "-"

REPLAY_NEEDED: Final = 1
"""ZIL_REPLAY_NEEDED, include/sys/zil.h: set when a pool is imported, cleared once the dataset is mounted or its device
is made. As long as one of a pool's datasets has it, `zpool remove` of a log that holds anything fails (zil_suspend() in
module/zfs/zil.c)."""

_DATASET: Final = re.compile(r"^Dataset (\S.*?) \[(\w+)", re.MULTILINE)
_CHAIN: Final = re.compile(r"^\s+ZIL header: .*?(?:flags 0x([0-9a-f]{1,16}))?$", re.MULTILINE)

_CACHE_HEADER: Final = "L2ARC device header"
"""Behind the label of a cache; tells a pool's guid that may be out of date."""

_FIELD: Final = re.compile(r"^ {4}(\w+): (.*)$", re.MULTILINE)  # of the label itself; what it nests stands deeper


class LabelUnreadable(HostError):  # noqa: N818 - named for what happened
    """There is a label, and what zdb prints of it is not understood."""

    def __init__(self, path: str, missing: str) -> None:
        template = _(
            "The ZFS label on {path} could not be read ({missing} is missing), so it is unknown whether a pool needs "
            "it. It was left unchanged. `zdb -l {path}` shows it."
        )
        super().__init__(template, path=path, missing=missing)


def read_label(runner: Runner, path: str) -> SliceLabel | None:
    """The label on a device, None where there is none.

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
        LabelUnreadable: zdb printed something else than it does.
    """
    output = runner.run(Command(Tool.ZDB, ("-l", path), TIMEOUT_S, frozenset({0, 1, NO_LABEL})))
    labels = output.stdout.partition(_CACHE_HEADER)[0]
    fields = dict(reversed(_FIELD.findall(labels)))  # of several labels the first counts
    if not fields and output.code != 0:
        return None
    return _label(fields, path)


@dataclass(frozen=True)
class LogChain:
    """A dataset that has blocks in a log, or had until it was unmounted; `needs_replay`: they wait since the import."""

    dataset: str
    is_volume: bool
    needs_replay: bool


def log_chains(runner: Runner, pool_name: str) -> tuple[LogChain, ...]:
    """The datasets of a pool with blocks in its logs; keys need not be loaded.

    None where zdb cannot read a pool that is written to, not in time, or aborts at a block on a dead log (2.3.9 does):
    OpenZFS then refuses by itself, and changes nothing.

    Raises:
        ToolMissing
    """
    try:
        words = ("-iv", *cache_file_option(runner, pool_name), pool_name)
        text = runner.run(Command(Tool.ZDB, words, TIMEOUT_S)).stdout
    except (CommandFailed, CommandTimedOut):
        return ()
    names = list(_DATASET.finditer(text))
    ends = [*(found.start() for found in names[1:]), len(text)]
    chains = []
    for name, end in zip(names, ends, strict=False):
        chain = _CHAIN.search(text, name.end(), end)
        if chain:
            flags = int(chain[1] or "0", 16)
            chains.append(LogChain(name[1], name[2] == "ZVOL", bool(flags & REPLAY_NEEDED)))
    return tuple(chains)


def cache_file_option(runner: Runner, pool: str) -> tuple[str, ...]:
    """How zdb finds an imported pool: it looks into /etc/zfs/zpool.cache, and not every pool is in there.

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
    """
    command = Command(Tool.ZPOOL, ("get", "-H", "-o", "value", "cachefile", pool), TIMEOUT_S)
    told = runner.run(command).stdout.strip()
    if told in {DEFAULT_CACHE_FILE, ""}:
        return ()
    return ("-e",) if told == WITHOUT_CACHE_FILE else ("-U", told)


def _label(fields: dict[str, str], path: str) -> SliceLabel:
    state, txg = count_in(fields.get("state", "")), count_in(fields.get("txg", "0"))
    guid = fields.get("guid", "")
    if state is None or txg is None or not re.fullmatch(GUID, guid):
        told = {"state": state is not None, "guid": re.fullmatch(GUID, guid), "txg": txg is not None}
        raise LabelUnreadable(path, ", ".join(name for name, is_told in told.items() if not is_told))
    return SliceLabel(state, txg, fields.get("name", "").strip("'"), fields.get("pool_guid", ""), guid)


COLUMNS: Final = ("name", "encryptionroot", "keystatus", "canmount", "mountpoint")
UNAVAILABLE: Final = "unavailable"


def waiting_writes(runner: Runner, pool_name: str) -> tuple[WaitingDataset, ...]:
    """The datasets whose writes OpenZFS cannot write out as they are: not mounted since the import, or without key.

    Raises:
        ToolMissing, CommandFailed, CommandTimedOut
    """
    chains = log_chains(runner, pool_name)
    if not chains:
        return ()
    command = ("list", "-H", "-r", "-t", "filesystem,volume", "-o", ",".join(COLUMNS), pool_name)
    output = runner.run(Command(Tool.ZFS, command, TIMEOUT_S))
    rows = (line.split("\t", len(COLUMNS) - 1) for line in output.stdout.split("\n"))
    known = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows if len(row) == len(COLUMNS)}
    waiting: list[WaitingDataset] = []
    for chain in (each for each in chains if each.dataset in known):  # no snapshot
        row = known[chain.dataset]
        key_root = row["encryptionroot"] if row["keystatus"] == UNAVAILABLE else ""
        if chain.needs_replay or row["keystatus"] == UNAVAILABLE:
            waiting.append(WaitingDataset(chain.dataset, chain.is_volume, key_root, row["mountpoint"], row["canmount"]))
    return tuple(waiting)


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
