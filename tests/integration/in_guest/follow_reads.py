"""Runs inside the lab guest: `nasadvisor curve` of a pool for MINUTES, and what following reads costs meanwhile.

Prints as JSON, of the last part of the trace and in seconds: how long it was watched (`watched_s`), the processor time
of bpftrace in it (`bpftrace_s`) and that of our script within the reads themselves, as the kernel counts it
(`in_reads_s`, `reads`: kernel.bpf_stats_enabled); then the processor time of our process from when that part began
until it ended (`model_s`), and how long that part was (`part_s`).
"""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
SETTLED_S: Final = 20.0
"""After which bpftrace has read its script, and does nothing but follow."""


@dataclass(frozen=True)
class Seen:
    """What a bpftrace had cost by a time."""

    pid: int
    at_s: float
    process_s: float
    in_reads_ns: int
    reads: int


def main(pool: str, minutes: int) -> None:
    Path("/proc/sys/kernel/bpf_stats_enabled").write_text("1")
    command = [sys.executable, "-m", "nasadvisor.cli", "curve", pool, "--minutes", str(minutes), "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as curve:
        began = first = last = Seen(0, 0.0, 0.0, 0, 0)
        model_before_s = 0.0
        while not _has_ended(curve.pid):
            now = _bpftrace_of(curve.pid)
            if now and now.pid != began.pid:
                began = first = last = now
                model_before_s = _process_s(curve.pid)
            if now and now.at_s - began.at_s < SETTLED_S:
                first = now
            if now and now.reads >= last.reads:
                last = now
            time.sleep(0.5)
        answer = {
            "watched_s": last.at_s - first.at_s,
            "bpftrace_s": last.process_s - first.process_s,
            "in_reads_s": (last.in_reads_ns - first.in_reads_ns) / 1e9,
            "reads": last.reads - first.reads,
            "model_s": _process_s(curve.pid) - model_before_s,
            "part_s": last.at_s - began.at_s,
        }
    assert curve.returncode == 0, curve.returncode
    print(json.dumps(answer))


def _has_ended(pid: int) -> bool:
    """Whether it waits for nothing but its exit code to be read: what it has cost can still be read then."""
    return _stat(pid)[0] == "Z"


def _bpftrace_of(pid: int) -> Seen | None:
    """The bpftrace that a process has started, as it is now; none between two of them."""
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended in between
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if Path(f"/proc/{child}/comm").read_text().strip() == "bpftrace":
                return _seen(int(child))
    return None


def _seen(pid: int) -> Seen:
    """Now; no reads of its programs in the kernel before they are loaded, and once it has ended."""
    found = Seen(pid, time.monotonic(), _process_s(pid), 0, 0)
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        values = dict(line.split(":\t", 1) for line in path.read_text().splitlines() if ":\t" in line)
        if values.get("prog_type"):
            more = int(values["run_time_ns"]), int(values["run_cnt"])
            found = replace(found, in_reads_ns=found.in_reads_ns + more[0], reads=found.reads + more[1])
    return found


def _process_s(pid: int) -> float:
    """Of its own, in user and in the kernel (proc(5), fields 14 and 15)."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) * TICK_S


def _stat(pid: int) -> list[str]:
    """From its state on, the third field: the second, its name, may hold spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
