"""Following reads all day, without anybody asking, for at most half a percent of a processor.

Hours may lie between two reads of a block, and a trace of seconds sees no distance longer than itself. So reads are
followed without a break, a few a second. What that costs is measured part by part: too much, and fewer blocks are
followed. Each read of the host passes the probe, whether it is followed or not, so where that alone is too much, reads
are followed for some hours, and then not again until those are paid; where programs would feel it, they are not.

What was counted is in memory only: after a restart it begins anew, and the console keeps what it was told before.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from nasadvisor.domain.evidence.curve import CacheCurve, Traced
from nasadvisor.domain.evidence.curve_model import CurveModel
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import HOUR_S, MINUTE_S
from nasadvisor.host.adapters.bpftrace import READS_SCRIPTS, TracedReads
from nasadvisor.host.adapters.process import Tool
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.curve import FIRST_LOOK_S, FIRST_THRESHOLD, CurveTracer, first_threshold
from nasadvisor.host.evidence.trace_job import LongJob

log = logging.getLogger(__name__)

BUDGET: Final = 0.005
"""[policy] The share of one processor that following reads all day may take."""

PART_S: Final = 15 * MINUTE_S
"""[policy] To start bpftrace takes about a second of a processor, so a part is long enough to make little of that."""

WANTED_PER_S: Final = 10.0
MOST_PER_PART: Final = int(3 * WANTED_PER_S * PART_S)
"""[policy] Half a day at this rate is as many reads as an hour that somebody asks for."""

FEWEST_PER_S: Final = 1.0
"""[policy] Where fewer reads are followed, most of the cost is not theirs, and to follow fewer saves nothing."""

MOST_BLOCKS: Final = 8192
"""Fewer than where somebody asked: the authors of SHARDS measured so many to be exact to about 0.01 on the mean."""

PROBE_S: Final = 1e-6
"""What the probe costs each read of the host at the most; the kernel counts that as the reader's own. Half of it was
measured within the probe (docs/reference/benchmarks.md): how it is entered and left comes on top."""

MOST_AT_ONCE: Final = 0.05
"""[policy] Whatever is paid later: where following costs more of a processor than this, programs would feel it."""

SESSION_S: Final = 2 * HOUR_S
"""[policy] Where reads cannot be followed all the time, they are for so long."""

GAP_S: Final = 10 * MINUTE_S
"""[policy] After a longer break the ARC of the model is not the real one any more."""

ARC_CHANGED: Final = 0.25
"""[policy] Nor is it where the real one is by so much larger or smaller than it was."""

AGAIN_S: Final = HOUR_S
"""How long after a failure it is tried again."""


@dataclass
class Followed:
    """A pool: what its model was told since when. `missed` is what the ARC had counted at that time."""

    name: str
    model: CurveModel
    began_s: float
    missed: int


@dataclass
class AllDayTrace:
    """Reads that are followed without a break, at one threshold for all pools. It has cost `cost_s` so far."""

    began_s: float
    threshold: int
    arc_bytes: int
    cost_s: float
    ended_s: float
    pools: dict[str, Followed] = field(default_factory=dict)

    def follow(self, threshold: int) -> None:
        """Follow only blocks below a threshold from now on."""
        self.threshold = threshold
        for each in self.pools.values():
            each.model.follow(threshold)


@dataclass
class AllDayTracer:
    """Follows the reads of a host's pools. `told` hears of each curve that was followed long enough.

    While `is_yielding`, no part begins: somebody has asked for a trace. `processor_s` is what this thread has used.
    """

    tracer: CurveTracer
    told: Callable[[CacheCurve], None]
    is_yielding: Callable[[], bool] = lambda: False
    job: LongJob = field(default_factory=lambda: LongJob("curve"))
    processor_s: Callable[[], float] = time.thread_time
    _session: AllDayTrace | None = None
    _due_s: float = 0.0
    _said: str = ""

    def carry_on(self) -> None:
        """Begin the next part if it is due, in a thread of its own."""
        if self._may_begin() and self.job.take():
            self.job.run(self._work)

    def _may_begin(self) -> bool:
        has_tool = self.tracer.processor in READS_SCRIPTS and self.tracer.machine.runner.has(Tool.BPFTRACE)
        is_due = self.tracer.tick() >= self._due_s
        return has_tool and is_due and self.tracer.is_loaded and not self.is_yielding()

    def _work(self) -> None:
        try:
            self.trace()
        except HostError as error:
            self._session, self._due_s = None, self.tracer.tick() + AGAIN_S
            if str(error) != self._said:  # not every hour the same
                log.warning("reads are not followed: %s", error)
                self._said = str(error)

    def trace(self) -> None:
        """Follow reads for a part, tell what comes of it, and hold the cost.

        Raises:
            HostError: bpftrace or OpenZFS failed.
        """
        pools = self.tracer.machine.pools.read()
        session = self._session_of(pools)
        if session is None:
            return
        began_s, used_s, asked = self.tracer.tick(), self.processor_s(), self.tracer.arc().asked
        found = self.tracer.reads(session.threshold, MOST_PER_PART, PART_S)
        for each in session.pools.values():
            _play(found, each, began_s)
        session.ended_s = self.tracer.tick()
        for guid, each in session.pools.items():
            self._tell(guid, each, session.ended_s)
        asked = max(self.tracer.arc().asked - asked, 0)
        cost_s = found.cpu_s + self.processor_s() - used_s + asked * PROBE_S
        session.cost_s += cost_s
        self._hold_cost(session, found, cost_s, session.ended_s - began_s)

    def _session_of(self, pools: tuple[Pool, ...]) -> AllDayTrace | None:
        """The one that goes on, or a new one, with the pools of now; None without pools."""
        now_s, rules = self.tracer.tick(), self.tracer.rules()
        session = self._session
        if session and (now_s - session.ended_s > GAP_S or _has_changed(rules.arc_bytes, session.arc_bytes)):
            session = None
        if session is None and pools:
            asked = self.tracer.arc().asked
            look = self.tracer.reads(FIRST_THRESHOLD, MOST_PER_PART, FIRST_LOOK_S)
            if (self.tracer.arc().asked - asked) * PROBE_S > MOST_AT_ONCE * (self.tracer.tick() - now_s):
                self._session, self._due_s = None, self.tracer.tick() + AGAIN_S
                return None
            session = AllDayTrace(now_s, first_threshold(look, WANTED_PER_S), rules.arc_bytes, look.cpu_s, now_s)
        self._session = session
        if session is None:
            return None
        missed = self.tracer.arc().misses
        session.pools = {
            pool.guid: session.pools.get(pool.guid)
            or Followed(pool.name, CurveModel(rules, session.threshold, MOST_BLOCKS), self.tracer.tick(), missed)
            for pool in pools
        }
        return session

    def _tell(self, guid: str, followed: Followed, now_s: float) -> None:
        """Its curve, once that tells something."""
        at = self.tracer.machine.clock().isoformat(timespec="seconds")
        missed = max(self.tracer.arc().misses - followed.missed, 0)
        traced = Traced(guid, followed.name, at, int(now_s - followed.began_s), missed, is_all_day=True)
        curve = followed.model.curve(traced)
        if curve.is_followed:
            self.told(curve)

    def _hold_cost(self, session: AllDayTrace, found: TracedReads, cost_s: float, seconds: float) -> None:
        """Follow fewer blocks where a part cost too much; where that saves nothing, rest after some hours.

        The model has fewer blocks already where there was no room for more.
        """
        lowest = min((each.model.threshold for each in session.pools.values()), default=session.threshold)
        is_dear = cost_s > BUDGET * seconds
        if found.is_cut or (is_dear and len(found.reads) > FEWEST_PER_S * seconds):
            lowest //= 2
        session.follow(max(lowest, 1))
        owed_s = session.cost_s / BUDGET - (session.ended_s - session.began_s)
        is_felt = cost_s > MOST_AT_ONCE * seconds
        if is_felt or (owed_s > PART_S and session.ended_s - session.began_s >= SESSION_S):
            self._session, self._due_s = None, session.ended_s + owed_s


def _play(found: TracedReads, followed: Followed, began_s: float) -> None:
    since_s = began_s - followed.began_s
    for read in found.as_of(followed.name):
        followed.model.read(read._replace(at_s=since_s + read.at_s))


def _has_changed(arc_bytes: int, before: int) -> bool:
    return abs(arc_bytes - before) > ARC_CHANGED * before
