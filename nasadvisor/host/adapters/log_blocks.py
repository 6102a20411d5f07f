"""bpftrace: the blocks that go to the ZILs of one pool."""

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from nasadvisor.domain.evidence.commits import SECTOR_BYTES, LogBlocks
from nasadvisor.host.adapters.answer import NOT_UNDERSTOOD
from nasadvisor.host.adapters.arc_reads import NAME_CHARS
from nasadvisor.host.adapters.bpftrace import START_S
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import OutputUnreadable

SCRIPT: Final = Path(__file__).with_name("log_blocks.bt")


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
    args = ("-q", "-f", "json", str(SCRIPT), str(most), str(seconds), pool[:NAME_CHARS])
    return parse_blocks(runner.run(Command(Tool.BPFTRACE, args, timeout_s=seconds + START_S)).stdout, most)


def parse_blocks(text: str, most: int) -> TracedBlocks:
    """One JSON object a line: what printf said, "BEGAN TOOK BYTES" in ns, and the two maps that are left at the end.

    Each processor has a buffer of its own, and what was issued first may be through last: lines are in any order.

    Raises:
        OutputUnreadable: a line is in another form.
    """
    found: list[tuple[int, int, int]] = []
    counts: dict[str, int] = {}
    for line in filter(None, text.splitlines()):
        try:
            document = json.loads(line)
            if document["type"] == "printf":
                began, took, size = map(int, document["data"].split())
                found.append((began, took, size))
            elif document["type"] == "map":
                counts |= {name: int(value) for name, value in document["data"].items()}
        except NOT_UNDERSTOOD as error:
            raise OutputUnreadable(str(Tool.BPFTRACE), f"a line reads {line[:80]!r} ({error!r:.80})") from None
    return _traced(sorted(found)[:most], counts)


def _traced(found: list[tuple[int, int, int]], counts: dict[str, Any]) -> TracedBlocks:
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
