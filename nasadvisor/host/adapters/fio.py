"""fio: writes that are made safe one by one, as the ZIL makes them; its JSON output.

Each job ends by itself, so that even a fio whose parent was killed is gone after its run time.
"""

import json
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from nasadvisor.domain.evidence.measuring.probing import FioFigures
from nasadvisor.host.adapters.answer import NOT_UNDERSTOOD
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import OutputUnreadable

MARGIN_S: Final = 120.0
"""Beyond its run time: making files, and the last sync on a slow pool."""


class Pattern(Enum):
    """Which places are written to, as fio(1) is told."""

    IN_ORDER = ("--rw=write",)
    SCATTERED = ("--rw=randwrite",)


@dataclass(frozen=True)
class FioJob:
    """One call. `target` are the options that say where; `sync` is "--fsync=1", "--fdatasync=1" or "".

    It begins again at its beginning until `seconds` are over.
    """

    target: tuple[str, ...]
    block_bytes: int
    writers: int
    seconds: int
    sync: str
    pattern: Pattern = Pattern.IN_ORDER

    def command(self) -> Command:
        """fio(1). Its buffers are random unless told otherwise, so nothing is compressed away."""
        args = (
            "--name=nasadvisor",
            *self.target,
            "--ioengine=psync",
            *self.pattern.value,
            f"--bs={self.block_bytes}",
            *((self.sync,) if self.sync else ()),
            f"--numjobs={self.writers}",
            "--group_reporting",
            "--time_based",
            f"--runtime={self.seconds}",
            "--output-format=json",
        )
        return Command(Tool.FIO, args, timeout_s=self.seconds + MARGIN_S)


def run_fio(runner: Runner, job: FioJob) -> FioFigures:
    """Run one job to its end.

    Raises:
        HostError: fio is missing, failed, or answered something else than its JSON.
    """
    command = job.command()
    return parse_fio(str(command), runner.run(command).stdout, job)


def parse_fio(source: str, text: str, job: FioJob) -> FioFigures:
    """The figures in fio's answer; notes may stand before the JSON.

    Raises:
        OutputUnreadable: it is not fio's JSON, or fio reports an error of its own.
    """
    try:
        document = json.loads(text[max(text.find("{"), 0) :])
        found = document["jobs"][0]
        if found["error"]:
            raise OutputUnreadable(source, f"fio reports error {found['error']}")
        write, sync = found["write"], found["sync"]["lat_ns"]
        return FioFigures(
            block_bytes=job.block_bytes,
            writers=job.writers,
            operations_per_s=_figure(write["iops"]),
            operations=int(write["total_ios"]),
            write_p50_ns=_percentile(write["clat_ns"], 50),
            sync_mean_ns=_figure(sync["mean"]),
            sync_p50_ns=_percentile(sync, 50),
            sync_p95_ns=_percentile(sync, 95),
            sync_p99_ns=_percentile(sync, 99),
            bytes_per_s=_figure(write["bw_bytes"]),
        )
    except NOT_UNDERSTOOD as error:
        raise OutputUnreadable(source, f"it is not fio's JSON ({error!r})") from error


def _percentile(latency: dict[str, Any], percent: int) -> float:
    """0 where nothing was counted: then fio leaves the percentiles out."""
    return _figure(latency.get("percentile", {}).get(f"{percent}.000000", 0))


def _figure(value: Any) -> float:
    figure = float(value)
    if not math.isfinite(figure):
        raise ValueError(f"{value!r:.60} is no figure")
    return figure
