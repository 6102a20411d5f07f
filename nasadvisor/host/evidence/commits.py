"""Following what goes to the ZILs of a pool for a while, so that it can be replayed on an SSD.

The trace is cut into parts of five minutes, each a call of bpftrace. Of each part the first blocks are told one by
one and all are counted, so neither what it costs nor what is kept grows with the load.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.log_blocks import MOST_BLOCKS, CommitTrace, LogBlocks
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.host.adapters.bpftrace import trace_blocks
from nasadvisor.host.evidence.curve import PoolNotThere
from nasadvisor.host.evidence.measuring.replay import keep_commits
from nasadvisor.host.storage.machine import Machine

PART_S: Final = 300

Told = Callable[[CommitTrace], None]
IsStopped = Callable[[], bool]


@dataclass(frozen=True)
class CommitTracer:
    """Follows what the pools of one machine commit. `kept` is where the newest trace of each is.

    `tick` is a clock that is never set.
    """

    machine: Machine
    kept: Path
    tick: Callable[[], float] = time.monotonic

    def trace(
        self, guid: str, seconds: int, told: Told = lambda _: None, is_stopped: IsStopped = lambda: False
    ) -> CommitTrace:
        """What went to the ZILs of a pool in so many seconds; `told` hears of it after each part.

        `is_stopped` is asked before each. What was found is kept on this host, for the next test of an SSD.

        Raises:
            HostError: the pool is not there, bpftrace is missing or failed, or it cannot be kept.
        """
        pool, began = self._pool(guid), self.tick()
        trace, most = CommitTrace(guid, pool.name, self._now(), 0, False, 0, 0, LogBlocks()), -1
        while not trace.is_done:
            length = max(min(PART_S, int(seconds - (self.tick() - began))), 1)
            part = trace_blocks(self.machine.runner, pool.name, MOST_BLOCKS, length)
            is_done = self.tick() - began + 1 > seconds or is_stopped()
            trace = replace(
                trace,
                at=self._now(),
                seconds=trace.seconds + length,
                is_done=is_done,
                blocks=trace.blocks + part.blocks,
                written_bytes=trace.written_bytes + part.written_bytes,
                busiest=part.first if part.blocks > most else trace.busiest,
            )
            most = max(most, part.blocks)
            keep_commits(self.kept, trace)
            if not is_done:
                told(trace)
        return trace

    def _now(self) -> str:
        return self.machine.clock().isoformat(timespec="seconds")

    def _pool(self, guid: str) -> Pool:
        found = next((pool for pool in self.machine.pools.read() if pool.guid == guid), None)
        if found is None:
            raise PoolNotThere(guid)
        return found
