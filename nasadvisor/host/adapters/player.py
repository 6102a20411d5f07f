"""The program that writes blocks of a ZIL to a slice (`play_blocks.py`): its call, and what it answers."""

import json
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.log_blocks import CommitTrace, LogBlocks, Replayed, replayed
from nasadvisor.host.adapters.answer import NOT_UNDERSTOOD
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import OutputUnreadable

SCRIPT: Final = Path(__file__).with_name("play_blocks.py")

SLOWER: Final = 2
"""An SSD that needs more than so many times as long as was recorded has shown what it is: it is stopped then."""

LEAST_S: Final = 10
MOST_S: Final = 3600
"""[policy] Five minutes are recorded at most; whatever a file says, no SSD is written to for longer than an hour."""

MARGIN_S: Final = 60.0


def play_text(blocks: LogBlocks) -> str:
    """What the program reads."""
    return json.dumps({"after_us": blocks.after_us, "sizes": blocks.sizes, "at_once": blocks.most_at_once})


def play(runner: Runner, trace: CommitTrace, slice_path: str, file: Path) -> Replayed:
    """Write the busiest blocks of a trace, which are in the file (`play_text`), to a slice.

    Raises:
        HostError: the program is missing, failed, or answered something else.
    """
    limit_s = min(max(int(trace.busiest.seconds * SLOWER), LEAST_S), MOST_S)
    args = ("-I", str(SCRIPT), slice_path, str(file), str(limit_s))
    return parse_played(trace, runner.run(Command(Tool.PYTHON, args, timeout_s=limit_s + MARGIN_S)).stdout)


def parse_played(trace: CommitTrace, text: str) -> Replayed:
    """What the program prints: JSON with what each block took, and all of them together.

    Raises:
        OutputUnreadable: it is something else.
    """
    try:
        document = json.loads(text)
        took_ns, played_s = [int(each) for each in document["took_ns"]], float(document["played_s"])
        if not 0 < len(took_ns) <= len(trace.busiest.sizes) or min(took_ns) < 0 or not 0 <= played_s < float("inf"):
            raise ValueError("it does not tell of the blocks that it was given")
    except NOT_UNDERSTOOD as error:
        raise OutputUnreadable(str(SCRIPT), f"{error!r:.80}") from error
    return replayed(trace, took_ns, played_s)
