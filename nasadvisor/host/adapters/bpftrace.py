"""bpftrace: which programs wait for a ZIL, which blocks are read through the ARC, and which go to the ZILs of a pool.

Where it is installed; nothing else needs it.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from nasadvisor.domain.evidence.curve_distances import BlockRead
from nasadvisor.domain.evidence.log_blocks import SECTOR_BYTES, LogBlocks
from nasadvisor.domain.evidence.spell_datasets import TracedSpell, ZilWait
from nasadvisor.domain.evidence.tracing import ProcessCalls
from nasadvisor.host.adapters.answer import NOT_UNDERSTOOD
from nasadvisor.host.adapters.process import Command, Output, Runner, Tool
from nasadvisor.host.errors import OutputUnreadable

WAITING_SCRIPT: Final = Path(__file__).with_name("waiting.bt")
FLAGS_SCRIPT: Final = Path(__file__).with_name("waiting_flags.bt")
"""The same where the kernel has zil_commit_flags(): bpftrace refuses a script that names what is not there."""

COMMIT_FLAGS: Final = "zil_commit_flags"

START_S: Final = 120.0
"""It compiles the script and attaches to the kernel first, which takes seconds, on a busy or emulated machine many."""

MAPS: Final = {"@fsyncs": "fsyncs", "@commits": "commits", "@ended": "ended", "@waited_ns": "waited_ns"}
"""The maps of the script, and which count of a process each one holds."""

READS_SCRIPTS: Final = {
    "x86_64": Path(__file__).with_name("arc_reads.bt"),
    "aarch64": Path(__file__).with_name("arc_reads_arm64.bt"),
}
"""By what `uname -m` says: an argument of the function that is traced lies in another place on each."""

SPELL_SCRIPT: Final = Path(__file__).with_name("spell.bt")
SPELL_FLAGS_SCRIPT: Final = Path(__file__).with_name("spell_flags.bt")

ADDRESS: Final = (1 << 64) - 1
"""bpftrace prints a number of 64 bits with a sign in some places and without it in others."""

BLOCKS_SCRIPT: Final = Path(__file__).with_name("log_blocks.bt")

NAME_CHARS: Final = 63
"""How much of a pool's name bpftrace's str() tells on its smallest setting (BPFTRACE_STRLEN, 64 with the last zero)."""

PREFETCH: Final = 1 << 2
L2CACHE: Final = 1 << 4
"""ARC_FLAG_PREFETCH and ARC_FLAG_L2CACHE (include/sys/arc.h, the same from 2.1 to 2.4)."""

DATA_TYPES: Final = frozenset({19, 23, 25, 26, 49})
"""What dmu_ot[] (module/zfs/dmu.c) does not call metadata: files, volumes, plain bytes and numbers, deduplicated."""

NEW_TYPE: Final = 0x80
NEW_METADATA: Final = 0x40
"""DMU_OT_NEWTYPE and DMU_OT_METADATA (include/sys/dmu.h)."""

LSIZE_UNIT_BYTES: Final = 512
"""What blk_prop counts the size of a block in (SPA_MINBLOCKSIZE, include/sys/fs/zfs.h)."""


def trace_waiting(runner: Runner, proc: Path, seconds: int) -> tuple[ProcessCalls, ...]:
    """Every process that called fsync on ZFS or waited for a ZIL in the next `seconds`.

    Raises:
        ToolMissing: bpftrace is not installed.
        HostError: it failed (OpenZFS is not loaded, or the kernel does not let anybody trace it), or took too long.
    """
    script = FLAGS_SCRIPT if has_commit_flags(proc) else WAITING_SCRIPT
    return parse_waiting(_output(runner, seconds, script, seconds).stdout)


def _output(runner: Runner, seconds: int, script: Path, *arguments: object) -> Output:
    """The answer of a script that ends by itself after so many seconds."""
    args = ("-q", "-f", "json", str(script), *map(str, arguments))
    return runner.run(Command(Tool.BPFTRACE, args, timeout_s=seconds + START_S))


@contextmanager
def _understood(line: str) -> Iterator[None]:
    """Whatever reading a line raises says that it is in another form."""
    try:
        yield
    except NOT_UNDERSTOOD as error:
        raise OutputUnreadable(str(Tool.BPFTRACE), f"a line reads {line[:80]!r} ({error!r:.80})") from None


def has_commit_flags(proc: Path) -> bool:
    """Whether OpenZFS commits through zil_commit_flags() too, as /proc/kallsyms has it: "ADDRESS TYPE NAME MODULE"."""
    try:
        with (proc / "kallsyms").open(encoding="ascii", errors="replace") as symbols:
            return any(line.split(None, 3)[2:3] == [COMMIT_FLAGS] for line in symbols if COMMIT_FLAGS in line)
    except OSError:
        return False


def parse_waiting(text: str) -> tuple[ProcessCalls, ...]:
    """One JSON object a line; a map that is empty is not printed. The keys are "PID,NAME".

    Raises:
        OutputUnreadable: a line is in another form.
    """
    found: dict[tuple[int, str], dict[str, int]] = {}
    for line in filter(None, text.splitlines()):
        with _understood(line):
            for name, values in _maps(json.loads(line)):
                for key, value in values.items():
                    pid, _, program = key.partition(",")
                    found.setdefault((int(pid), program), {})[name] = int(value)
    return tuple(ProcessCalls(pid, program, **counts) for (pid, program), counts in found.items())


def _maps(document: Any) -> list[tuple[str, dict[str, Any]]]:
    """The maps of ours in one line; other lines (lost events, messages) have none."""
    if document["type"] != "map":
        return []
    return [(MAPS[name], each) for name, each in document["data"].items() if name in MAPS]


def spell_script(proc: Path) -> Path:
    """The script of this OpenZFS. To look for it reads all symbols of the kernel, so whoever traces often keeps it."""
    return SPELL_FLAGS_SCRIPT if has_commit_flags(proc) else SPELL_SCRIPT


def trace_spell(runner: Runner, script: Path, lead_s: int, seconds: int) -> TracedSpell:
    """What programs waited for in the ZILs of this host for `seconds`, from `lead_s` after tracing began on.

    Raises:
        ToolMissing: bpftrace is not installed.
        HostError: it failed (OpenZFS is not loaded, or the kernel does not let anybody trace it), or took too long.
    """
    output = _output(runner, lead_s + seconds, script, lead_s, lead_s + seconds)
    return parse_spell(output.stdout, output.cpu_s)


def parse_spell(text: str, cost_s: float) -> TracedSpell:
    """One JSON object a line; a map that is empty may not be printed. Keys are "TID", or "ZILOG,NAME".

    Raises:
        OutputUnreadable: a line is in another form, or it was never begun to count.
    """
    maps: dict[str, Any] = {}
    for line in filter(None, text.splitlines()):
        with _understood(line):
            document = json.loads(line)
            if document["type"] == "map":
                maps |= document["data"]
    with _understood(text):
        from_ns, until_ns = int(maps["@from"]), int(maps["@until"])
        counts = _spell_counts(maps)
        waiting = [
            (int(maps["@zilog"][tid]) & ADDRESS, str(maps["@who"][tid]), until_ns - max(int(begun), from_ns))
            for tid, begun in maps.get("@begun", {}).items()
            if int(begun) < until_ns
        ]
    if not 0 < from_ns < until_ns:
        raise OutputUnreadable(str(Tool.BPFTRACE), f"counting began at {from_ns} and ended at {until_ns}")
    return TracedSpell(from_ns, until_ns, tuple(_zil_waits(counts, waiting)), cost_s)


def _spell_counts(maps: dict[str, Any]) -> dict[tuple[int, str], dict[str, int]]:
    """What was counted of each ZIL and program, by the names of the maps."""
    found: dict[tuple[int, str], dict[str, int]] = defaultdict(dict)
    for name in ("@calls", "@waited", "@ended", "@longest", "@lost", "@most"):
        for key, value in maps.get(name, {}).items():
            zilog, _, program = key.partition(",")
            found[int(zilog) & ADDRESS, program][name] = int(value)
    return found


def _zil_waits(counts: dict[tuple[int, str], dict[str, int]], waiting: list[tuple[int, str, int]]) -> Iterator[ZilWait]:
    """With the calls that were still waiting; those whose end the kernel missed count as the others of their program.

    Where ends were missed, a thread that seems to wait may have ended long ago: it counts for no longer than the
    longest.
    """
    still: dict[tuple[int, str], list[int]] = defaultdict(list)
    for zilog, program, ns in waiting:
        still[zilog, program].append(ns)
    for key in {**counts, **still}:
        each = counts.get(key, {})
        ended, lost = each.get("@ended", 0), each.get("@lost", 0)
        most_ns = each.get("@longest", 0) if lost else max(still[key], default=0)
        waited = each.get("@waited", 0) * (ended + lost) // max(ended, 1) + sum(min(ns, most_ns) for ns in still[key])
        yield ZilWait(*key, max(waited, 0), each.get("@calls", 0), max(each.get("@most", 0), len(still[key])))


class NamedRead(NamedTuple):
    """A read, and the name of its pool as far as bpftrace tells it."""

    pool: str
    read: BlockRead


@dataclass(frozen=True)
class TracedReads:
    """The reads of one trace, times counted from its start, and whether it ended early since there were too many.

    bpftrace took `cpu_s` seconds of a processor.
    """

    reads: tuple[NamedRead, ...]
    is_cut: bool
    cpu_s: float = 0.0

    @property
    def last_s(self) -> float:
        """When the last one was."""
        return self.reads[-1].read.at_s if self.reads else 0.0

    def as_of(self, pool: str) -> Iterator[BlockRead]:
        """All of them: all pools share one ARC. Those of this pool are its own."""
        return (read if name == pool[:NAME_CHARS] else read._replace(is_own=False) for name, read in self.reads)


def trace_reads(runner: Runner, processor: str, threshold: int, most: int, seconds: int) -> TracedReads:
    """The reads of blocks below a threshold (`curve_distances.place_of`) in the next `seconds`, of all pools.

    `processor` is one of those in `READS_SCRIPTS`; `most` is how many reads are waited for.

    Raises:
        ToolMissing: bpftrace is not installed.
        HostError: it failed (OpenZFS is not loaded, or the kernel does not let anybody trace it), or took too long.
    """
    output = _output(runner, seconds, READS_SCRIPTS[processor], threshold, most, seconds)
    # Each processor has a buffer of its own, so lines of two of them may be out of order.
    reads = tuple(sorted(parse_reads(output.stdout), key=lambda each: each.read.at_s))
    return TracedReads(reads, len(reads) >= most, output.cpu_s)


def parse_reads(text: str) -> Iterator[NamedRead]:
    """One JSON object a line, of which those of printf are ours: "NANOSECONDS BLOCK PROP FLAGS POOL".

    Raises:
        OutputUnreadable: a line is in another form.
    """
    for line in filter(None, text.splitlines()):
        with _understood(line):
            document = json.loads(line)
            if document["type"] == "printf":
                yield _read(document["data"].rstrip("\n"))


def _read(line: str) -> NamedRead:
    at, block, prop, flags, name = line.split(" ", 4)
    properties, set_flags = int(prop, 16), int(flags, 16)
    read = BlockRead(
        at_s=int(at) / 1e9,
        block=int(block, 16),
        size_bytes=((properties >> 16 & 0xFFFF) + 1) * LSIZE_UNIT_BYTES,
        is_metadata=_is_metadata(properties),
        is_prefetch=bool(set_flags & PREFETCH),
        is_eligible=bool(set_flags & L2CACHE),
    )
    return NamedRead(name[:NAME_CHARS], read)


def _is_metadata(properties: int) -> bool:
    """Whether blk_prop is that of metadata: above the lowest level, or of such an object (BP_IS_METADATA, spa.h)."""
    level, kind = properties >> 56 & 0x1F, properties >> 48 & 0xFF
    return level > 0 or (bool(kind & NEW_METADATA) if kind & NEW_TYPE else kind not in DATA_TYPES)


@dataclass(frozen=True)
class TracedBlocks:
    """One call: how many blocks there were, their bytes, and the first ones of them."""

    blocks: int
    written_bytes: int
    first: LogBlocks


def trace_blocks(runner: Runner, pool: str, most: int, seconds: int) -> TracedBlocks:
    """What goes to the ZILs of a pool in the next `seconds`, at most so many blocks one by one.

    Raises:
        ToolMissing: bpftrace is not installed.
        HostError: it failed (OpenZFS is not loaded, or the kernel does not let anybody trace it), or took too long.
    """
    return parse_blocks(_output(runner, seconds, BLOCKS_SCRIPT, most, seconds, pool[:NAME_CHARS]).stdout, most)


def parse_blocks(text: str, most: int) -> TracedBlocks:
    """One JSON object a line: what printf said, "BEGAN TOOK BYTES" in ns, and the two maps that are left at the end.

    Each processor has a buffer of its own, and what was issued first may be through last: lines are in any order.

    Raises:
        OutputUnreadable: a line is in another form.
    """
    found: list[tuple[int, int, int]] = []
    counts: dict[str, int] = {}
    for line in filter(None, text.splitlines()):
        with _understood(line):
            document = json.loads(line)
            if document["type"] == "printf":
                began, took, size = map(int, document["data"].split())
                found.append((began, took, size))
            elif document["type"] == "map":
                counts |= {name: int(value) for name, value in document["data"].items()}
    found = sorted(found)[:most]
    begins = [began for began, _, _ in found]
    try:
        first = LogBlocks(
            after_us=tuple((later - earlier) // 1000 for earlier, later in pairwise([*begins[:1], *begins])),
            sizes=tuple(-(-size // SECTOR_BYTES) * SECTOR_BYTES for _, _, size in found),
            took_us=tuple(took // 1000 for _, took, _ in found),
        )
    except ValueError as error:
        raise OutputUnreadable(str(Tool.BPFTRACE), str(error)) from None
    return TracedBlocks(counts.get("@blocks", 0), counts.get("@bytes", 0), first)
