"""bpftrace: which processes call fsync and wait for a ZIL. Where it is installed; nothing else needs it."""

import json
from pathlib import Path
from typing import Any, Final

from nasadvisor.domain.evidence.tracing import ProcessCalls
from nasadvisor.host.adapters.answer import NOT_UNDERSTOOD
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import OutputUnreadable

SCRIPT: Final = Path(__file__).with_name("waiting.bt")
FLAGS_SCRIPT: Final = Path(__file__).with_name("waiting_flags.bt")
"""The same where the kernel has zil_commit_flags(): bpftrace refuses a script that names what is not there."""

COMMIT_FLAGS: Final = "zil_commit_flags"

START_S: Final = 120.0
"""It compiles the script and attaches to the kernel first, which takes seconds, on a busy or emulated machine many."""

MAPS: Final = {"@fsyncs": "fsyncs", "@commits": "commits", "@ended": "ended", "@waited_ns": "waited_ns"}
"""The maps of the script, and which count of a process each one holds."""


def trace_waiting(runner: Runner, proc: Path, seconds: int) -> tuple[ProcessCalls, ...]:
    """Every process that called fsync on ZFS or waited for a ZIL in the next `seconds`.

    Raises:
        ToolMissing: bpftrace is not installed.
        HostError: it failed (OpenZFS is not loaded, or the kernel does not let anybody trace it), or took too long.
    """
    script = FLAGS_SCRIPT if has_commit_flags(proc) else SCRIPT
    args = ("-q", "-f", "json", str(script), str(seconds))
    return parse_waiting(runner.run(Command(Tool.BPFTRACE, args, timeout_s=seconds + START_S)).stdout)


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
        try:
            for name, values in _maps(json.loads(line)):
                for key, value in values.items():
                    pid, _, program = key.partition(",")
                    found.setdefault((int(pid), program), {})[name] = int(value)
        except NOT_UNDERSTOOD as error:
            raise OutputUnreadable(str(Tool.BPFTRACE), f"a line reads {line[:80]!r} ({error!r:.80})") from None
    return tuple(ProcessCalls(pid, program, **counts) for (pid, program), counts in found.items())


def _maps(document: Any) -> list[tuple[str, dict[str, Any]]]:
    """The maps of ours in one line; other lines (lost events, messages) have none."""
    if document["type"] != "map":
        return []
    return [(MAPS[name], each) for name, each in document["data"].items() if name in MAPS]
