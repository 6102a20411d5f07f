"""bpftrace: which blocks are read through the ARC of OpenZFS, a share of all, chosen in the kernel."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.curve_distances import BlockRead
from nasadvisor.host.adapters.answer import NOT_UNDERSTOOD
from nasadvisor.host.adapters.bpftrace import START_S
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import OutputUnreadable

SCRIPT: Final = Path(__file__).with_name("arc_reads.bt")

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

SECTOR_BYTES: Final = 512


@dataclass(frozen=True)
class TracedReads:
    """The reads of one trace, times counted from its start, and whether it ended early since there were too many."""

    reads: tuple[BlockRead, ...]
    is_cut: bool

    @property
    def last_s(self) -> float:
        """When the last one was."""
        return self.reads[-1].at_s if self.reads else 0.0


def trace_reads(runner: Runner, pool: str, threshold: int, most: int, seconds: int) -> TracedReads:
    """The reads of blocks below a threshold (`curve_distances.place_of`) in the next `seconds`, of all pools.

    `pool` is whose reads are its own; `most` is how many are waited for.

    Raises:
        ToolMissing: bpftrace is not installed.
        HostError: it failed (OpenZFS is not loaded, or the kernel does not let anybody trace it), or took too long.
    """
    args = ("-q", "-f", "json", str(SCRIPT), str(threshold), str(most), str(seconds))
    text = runner.run(Command(Tool.BPFTRACE, args, timeout_s=seconds + START_S)).stdout
    # Each processor has a buffer of its own, so lines of two of them may be out of order.
    reads = tuple(sorted(parse_reads(text, pool), key=lambda each: each.at_s))
    return TracedReads(reads, len(reads) >= most)


def parse_reads(text: str, pool: str) -> Iterator[BlockRead]:
    """One JSON object a line, of which those of printf are ours: "NANOSECONDS BLOCK PROP FLAGS POOL".

    Raises:
        OutputUnreadable: a line is in another form.
    """
    for line in filter(None, text.splitlines()):
        try:
            document = json.loads(line)
            if document["type"] == "printf":
                yield _read(document["data"].rstrip("\n"), pool[:NAME_CHARS])
        except NOT_UNDERSTOOD as error:
            raise OutputUnreadable(str(Tool.BPFTRACE), f"a line reads {line[:80]!r} ({error!r:.80})") from None


def _read(line: str, pool: str) -> BlockRead:
    at, block, prop, flags, name = line.split(" ", 4)
    properties, set_flags = int(prop, 16), int(flags, 16)
    return BlockRead(
        at_s=int(at) / 1e9,
        block=int(block, 16),
        size_bytes=((properties >> 16 & 0xFFFF) + 1) * SECTOR_BYTES,
        is_metadata=_is_metadata(properties),
        is_prefetch=bool(set_flags & PREFETCH),
        is_eligible=bool(set_flags & L2CACHE),
        is_own=name[:NAME_CHARS] == pool,
    )


def _is_metadata(properties: int) -> bool:
    """Whether blk_prop is that of metadata: above the lowest level, or of such an object (BP_IS_METADATA, spa.h)."""
    level, kind = properties >> 56 & 0x1F, properties >> 48 & 0xFF
    return level > 0 or (bool(kind & NEW_METADATA) if kind & NEW_TYPE else kind not in DATA_TYPES)
