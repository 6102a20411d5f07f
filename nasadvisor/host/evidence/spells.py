"""Tracing what programs wait for in spells of some seconds, all day, and summing it up by the hour.

The samples of the counters set the pace: they tell how many commits there were, and come only while a console asks. So
spells need no clock of their own, and what they tell goes to the console with the next sample.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final

from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.spell_datasets import (
    Candidates,
    CommitCounts,
    bounds_of,
    candidates_of,
    names_of,
    remembered,
    spells_by_pool,
)
from nasadvisor.domain.evidence.spells import PoolSpells, Spell, Stratum
from nasadvisor.domain.units import HOUR_S
from nasadvisor.host.adapters.bpftrace import spell_script, trace_spell
from nasadvisor.host.adapters.counters import read_commit_counts
from nasadvisor.host.adapters.process import Tool
from nasadvisor.host.adapters.procfs import is_running, text_or_nothing
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.spell_pace import BUSY_COMMITS_PER_S, FAILED_COST_S, Pace
from nasadvisor.host.evidence.trace_job import LongJob
from nasadvisor.host.storage.machine import Machine

log = logging.getLogger(__name__)

LEAD_S: Final = 4
"""[policy] For so long it is traced before it counts: a commit that takes longer, and was under way, counts in part."""

SPELL_S: Final = 10
"""[policy] Starting the tracer costs most, so a spell is long enough to be worth it."""

POLL_S: Final = 0.25
POLL_SHARE: Final = 0.02
"""[policy] How often the commits of each dataset are read meanwhile; on a host with thousands of them more seldom."""

CALL_COST_S: Final = 10e-6
"""[policy] What a traced commit costs the program that makes it, at the most: two probes with six steps each. The
kernel counts that as the program's own.
"""

TRACE: Final = frozenset({"bpftrace"})
LOAD: Final = frozenset({"fio"})
"""What somebody else traces, and a load that somebody measures: beside them nothing is traced."""


@dataclass
class SpellTracer:
    """Traces spells of one machine, and remembers which dataset each ZIL is of."""

    machine: Machine
    _known: Candidates = field(default_factory=dict)
    _script: tuple[str, Path] | None = None

    @property
    def is_possible(self) -> bool:
        """Whether there is a tracer, and nothing that a spell would disturb. Reads followed all day do not mind."""
        proc = self.machine.roots.proc
        is_disturbing = is_running(proc, TRACE, os.getpid()) or is_running(proc, LOAD)
        return self.machine.runner.has(Tool.BPFTRACE) and not is_disturbing

    def trace(self, pools: tuple[str, ...]) -> tuple[dict[str, Spell], float]:
        """A spell of each of these pools, by name, and what they cost together in seconds of a processor. There are
        none where nobody can say which pool was waited for.

        Raises:
            HostError: bpftrace failed.
        """
        began_s = time.thread_time()
        with self._counting() as (counts, costs):
            traced = trace_spell(self.machine.runner, self._script_of_now(), LEAD_S, SPELL_S)
        calls = traced.calls
        bounds = bounds_of(counts, traced.from_ns, traced.until_ns)
        self._known = remembered(self._known, candidates_of(calls, bounds))
        candidates = {zilog: self._known.get(zilog, frozenset()) for zilog in calls}
        spells = spells_by_pool(traced, candidates, names_of(candidates, bounds), pools)
        probed_s = sum(calls.values()) * CALL_COST_S * (LEAD_S + SPELL_S) / SPELL_S
        own_s = sum(costs) + time.thread_time() - began_s
        return spells, (traced.cost_s or FAILED_COST_S) + probed_s + own_s

    def _script_of_now(self) -> Path:
        """Looked for anew where another OpenZFS was loaded."""
        version = text_or_nothing(self.machine.roots.sys / "module/zfs/version")
        if self._script is None or self._script[0] != version:
            self._script = (version, spell_script(self.machine.roots.proc))
        return self._script[1]

    @contextmanager
    def _counting(self) -> Iterator[tuple[list[CommitCounts], list[float]]]:
        """The commits of each dataset, read over and over while this is entered; and what that cost, afterwards."""
        counts, costs, is_over = [self._read()], list[float](), Event()

        def poll() -> None:
            took_s = 0.0
            while not is_over.wait(max(POLL_S, took_s / POLL_SHARE)):
                counts.append(self._read())
                took_s = (counts[-1].ended_ns - counts[-1].began_ns) / 1e9
            costs.append(time.thread_time())

        thread = Thread(target=poll, name="spell-counts")
        thread.start()
        try:
            yield counts, costs
        finally:
            is_over.set()
            thread.join()
            counts.append(self._read())

    def _read(self) -> CommitCounts:
        began_ns = time.monotonic_ns()  # the clock of bpftrace's `nsecs`
        commits = read_commit_counts(self.machine.roots.proc / "spl/kstat/zfs")
        return CommitCounts(began_ns, time.monotonic_ns(), commits)


@dataclass
class SpellKeeper:
    """Reads the counters with `counters`, has spells traced between, and tells the sums of each hour so far.

    What was summed up since the last reading is handed to `keep` too. While `is_yielding`, no spell begins: somebody
    has asked for a trace.
    """

    counters: Callable[[], Reading]
    tracer: SpellTracer
    keep: Callable[[PoolSpells], None] = lambda _: None
    is_yielding: Callable[[], bool] = lambda: False
    pace: Pace = field(default_factory=Pace)
    job: LongJob = field(default_factory=lambda: LongJob("spell"))
    _hours: dict[str, PoolSpells] = field(default_factory=dict)
    _ended: tuple[PoolSpells, ...] = ()
    _changed: set[str] = field(default_factory=set)
    _stratum: Stratum = Stratum.QUIET
    _has_traced: bool = False
    _said: str = ""
    _lock: Lock = field(default_factory=Lock)

    def sample(self) -> Reading:
        """A reading with the spells since the last one. May begin a spell, in a thread of its own.

        Raises:
            HostError: OpenZFS could not be read.
        """
        reading = self.counters()
        with self._lock:
            self._pass(reading.samples)
            news, self._ended = (*self._ended, *(self._hours[guid] for guid in sorted(self._changed))), ()
            self._changed.clear()
        self._keep(news)
        pools = {each.pool_name: each.pool_guid for each in reading.samples}
        is_due = self.pace.is_due and not self.is_yielding()
        if pools and is_due and self.tracer.is_possible and self.job.take():
            stratum = self._stratum
            self.job.run(lambda: self._trace(pools, stratum))
        return replace(reading, spells=news)

    def _keep(self, news: tuple[PoolSpells, ...]) -> None:
        try:
            for each in news:
                self.keep(each)
        except OSError as error:
            self._warn(f"what spells told is not kept: {error}")

    def _warn(self, what: str) -> None:
        """Not every hour the same."""
        if what != self._said:
            log.warning("%s", what)
            self._said = what

    def _pass(self, samples: tuple[Sample, ...]) -> None:
        """Time has passed, in the stratum that the interval before it said."""
        for each in samples:
            hour = self._hour_of(each)
            sums = hour.sums(self._stratum)
            longer = replace(sums, seconds=sums.seconds + each.seconds, counted=sums.counted + each.commits)
            self._hours[each.pool_guid] = replace(hour.with_sums(self._stratum, longer), until=each.at)
        if samples:
            is_busy = any(each.commits >= BUSY_COMMITS_PER_S * each.seconds for each in samples)
            self._stratum = Stratum.BUSY if is_busy else Stratum.QUIET
            self.pace.go_on(max(each.seconds for each in samples), self._stratum)

    def _hour_of(self, sample: Sample) -> PoolSpells:
        """The sums of the hour that a sample ends in; those of the hour before are told a last time."""
        hour = self._hours.get(sample.pool_guid)
        if hour and hour.began // HOUR_S == sample.at // HOUR_S and hour.until <= sample.at:
            return hour
        if hour and self._has_traced:  # also one without spells: its time counts
            self._ended += (hour,)
            self._changed.discard(hour.pool_guid)
        return PoolSpells(sample.pool_guid, sample.at, sample.at)

    def _trace(self, pools: dict[str, str], stratum: Stratum) -> None:
        try:
            spells, cost_s = self.tracer.trace(tuple(pools))
        except HostError as error:
            with self._lock:
                self.pace.pay(FAILED_COST_S)
            self._warn(f"no spell was traced: {error}")
            return
        with self._lock:
            self._has_traced = True
            self.pace.pay(cost_s)
            for name in spells:
                self._add(pools[name], spells[name], cost_s, stratum)

    def _add(self, guid: str, spell: Spell, cost_s: float, stratum: Stratum) -> None:
        hour = self._hours[guid]
        more = hour.with_sums(stratum, hour.sums(stratum).with_spell(spell))
        self._hours[guid] = replace(more, cost_s=hour.cost_s + cost_s)
        self._changed.add(guid)
