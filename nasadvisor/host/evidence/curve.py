"""Following a share of all reads for a while, and what a cache of each size would make of them.

The trace is cut into parts of five minutes, each a call of bpftrace: what a part told becomes numbers before the next,
so neither memory nor what is lost by a stop grows with its length. The second or two between them are not seen.
"""

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.curve import CacheCurve, Traced
from nasadvisor.domain.evidence.curve_cache import Passes
from nasadvisor.domain.evidence.curve_distances import SPACE
from nasadvisor.domain.evidence.curve_model import CacheRules, CurveModel
from nasadvisor.domain.evidence.feed import bytes_a_turn, feed_of
from nasadvisor.domain.evidence.pool_facts import Tunables
from nasadvisor.domain.evidence.samples import ArcActivity
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.bpftrace import READS_SCRIPTS, TracedReads, trace_reads
from nasadvisor.host.adapters.counters import read_arc, read_named
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.sample import module_parameter, read_tunables
from nasadvisor.host.storage.machine import Machine

PART_S: Final = 300
FIRST_LOOK_S: Final = 10
FIRST_THRESHOLD: Final = SPACE >> 6
WANTED_PER_S: Final = 50.0
MOST_PER_PART: Final = 30_000
"""[policy] 50 followed reads a second cost about 0.3 % of a core in the model, at 55 us each; bpftrace's own printing
is of the same order. Twice as many, and the part ends early and fewer blocks are followed."""

HEADROOM: Final = 8
HEADROOM_BOOST: Final = 200
"""l2arc_headroom and, in percent, l2arc_headroom_boost where they cannot be read (zfs(4))."""

FEWEST_SUBLISTS: Final = 4
"""Of each list of the ARC (multilist_create(), module/zfs/multilist.c)."""

Told = Callable[[CacheCurve], None]
IsStopped = Callable[[], bool]


class PoolNotThere(HostError):  # noqa: N818 - named for what happened
    """The pool that was to be followed is not imported."""

    def __init__(self, guid: str) -> None:
        template = _("No pool with the guid {guid} is imported on this host, so nothing was traced.")
        super().__init__(template, guid=guid)


class OtherProcessor(HostError):  # noqa: N818 - named for what happened
    """The script reads an argument where x86-64 and arm64 put it."""

    def __init__(self, machine: str) -> None:
        template = _(
            "Reads can be traced only on x86-64 and arm64, and this host is {machine}. Nothing was traced. The ghost "
            "hits of the ARC still show what a cache about the size of the ARC would serve."
        )
        super().__init__(template, machine=machine)


@dataclass
class CurveTracer:
    """Follows the reads of one machine. `tick` is a clock that is never set, `processor` what `uname -m` says.

    `processors` is how many the machine has.
    """

    machine: Machine
    tick: Callable[[], float] = time.monotonic
    processor: str = os.uname().machine
    processors: int = os.cpu_count() or 1

    def trace(
        self, guid: str, seconds: int, told: Told = lambda _: None, is_stopped: IsStopped = lambda: False
    ) -> CacheCurve:
        """The curve of a pool after `seconds`; `told` hears of it after each part, `is_stopped` is asked before one.

        Raises:
            HostError: the pool is not there, bpftrace is missing or failed.
        """
        if self.processor not in READS_SCRIPTS:
            raise OtherProcessor(self.processor)
        pool = self._pool(guid)
        began, missed_before = self.tick(), self.arc().misses
        first = self.reads(FIRST_THRESHOLD, MOST_PER_PART, FIRST_LOOK_S)
        model = CurveModel(self.rules(), first_threshold(first, WANTED_PER_S))
        while True:
            left = seconds - (self.tick() - began)
            if left >= 1 and not is_stopped():
                self._part(model, pool.name, min(PART_S, int(left)), began)
            passed = self.tick() - began
            is_done = passed + 1 > seconds or is_stopped()
            at = self.machine.clock().isoformat(timespec="seconds")
            missed = max(self.arc().misses - missed_before, 0)
            curve = model.curve(Traced(guid, pool.name, at, int(passed), missed, is_done))
            if is_done:
                return curve
            told(curve)

    def _part(self, model: CurveModel, pool: str, seconds: int, began: float) -> None:
        """One call of bpftrace. Where it was cut short, half as many blocks are followed from now on."""
        since = self.tick() - began
        found = self.reads(model.threshold, MOST_PER_PART, seconds)
        for read in found.as_of(pool):
            model.read(read._replace(at_s=since + read.at_s))
        if found.is_cut:
            model.follow(max(model.threshold // 2, 1))

    def _pool(self, guid: str) -> Pool:
        found = next((pool for pool in self.machine.pools.read() if pool.guid == guid), None)
        if found is None:
            raise PoolNotThere(guid)
        return found

    @property
    def _kstats(self) -> Path:
        return self.machine.roots.proc / "spl/kstat/zfs"

    def reads(self, threshold: int, most: int, seconds: int) -> TracedReads:
        """The reads of blocks below a threshold in the next `seconds`, of all pools, as many as `most`.

        Raises:
            HostError: bpftrace is missing or failed.
        """
        return trace_reads(self.machine.runner, self.processor, threshold, most, seconds)

    def arc(self) -> ArcActivity:
        """What the ARC has counted so far.

        Raises:
            HostError: OpenZFS could not be read.
        """
        return read_arc(self._kstats)[0]

    @property
    def is_loaded(self) -> bool:
        """Whether OpenZFS is."""
        return (self._kstats / "arcstats").exists()

    def rules(self) -> CacheRules:
        """With an ARC of what it holds once it is as large as it wants to be.

        One that is not full yet drops nothing, and under load it is beyond its target for moments.
        """
        values = read_named(self._kstats / "arcstats")
        held = sum(int(values.get(name, "0")) for name in ("mru_size", "mfu_size"))
        _arc, levels = read_arc(self._kstats)
        beside = levels.arc_bytes - held if held else 0
        arc_bytes = (levels.arc_target_bytes or levels.arc_bytes) - beside
        sys = self.machine.roots.sys
        tunables = read_tunables(sys, self.machine.roots.proc)
        return rules_of(tunables, passes_of(tunables, sys, self.processors), max(arc_bytes, MIB))


def passes_of(tunables: Tunables, sys: Path, processors: int) -> Passes:
    """How this release, as it is set, feeds one cache. A daily budget (l2arc_dwpd_limit) is not in the model.

    In one part of a list it looks as far as l2arc_headroom passes write, with memory that may be compressed
    l2arc_headroom_boost percent of that (l2arc_write_buffers(), module/zfs/arc.c). There are as many parts as
    processors, and four at the least (multilist_create(), module/zfs/multilist.c).
    """

    def parameter(name: str, default: int) -> int:
        found = module_parameter(sys, name)
        return default if found is None else found

    one_pass = bytes_a_turn(tunables)
    sublists = parameter("zfs_multilist_num_sublists", 0) or max(processors, FEWEST_SUBLISTS)
    headroom = float(parameter("l2arc_headroom", HEADROOM))
    if parameter("zfs_compressed_arc_enabled", 1):
        headroom *= parameter("l2arc_headroom_boost", HEADROOM_BOOST) / 100
    busy_s = one_pass / feed_of(tunables, 0, ()).filling
    return Passes(
        bytes_each=one_pass,
        busy_s=busy_s,
        idle_s=max(float(tunables.l2arc_feed_secs), busy_s),
        reach_bytes=headroom * one_pass * sublists or math.inf,
        sublists=sublists,
    )


def rules_of(tunables: Tunables, passes: Passes, arc_bytes: int) -> CacheRules:
    """How this release feeds one cache and reads from it."""
    return CacheRules(
        arc_bytes=arc_bytes,
        passes=passes,
        feeds_ahead=not tunables.l2arc_noprefetch,
        serves_ahead=tunables.reads_streams_from_cache,
    )


def first_threshold(look: TracedReads, wanted_per_s: float) -> int:
    """Below which hash blocks are followed, so that about so many reads of them come in a second."""
    seconds = look.last_s if look.is_cut else float(FIRST_LOOK_S)
    per_s = len(look.reads) / max(seconds, 0.001)
    return SPACE if not per_s else max(min(int(FIRST_THRESHOLD * wanted_per_s / per_s), SPACE), 1)
