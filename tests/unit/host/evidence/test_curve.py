"""Following reads: what bpftrace prints of them, how the trace is cut into parts, and what is made of it."""

import json
import math
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.curve_cache import Passes
from nasadvisor.domain.evidence.curve_distances import SPACE, BlockRead, place_of
from nasadvisor.domain.evidence.pool_facts import Tunables
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import KIB, MIB
from nasadvisor.host.adapters.bpftrace import READS_SCRIPTS, NamedRead, TracedReads, parse_reads, trace_reads
from nasadvisor.host.adapters.process import Command, Output, Tool
from nasadvisor.host.errors import HostError, OutputUnreadable, ToolMissing
from nasadvisor.host.evidence.curve import (
    FIRST_THRESHOLD,
    MOST_PER_PART,
    WANTED_PER_S,
    CurveTracer,
    OtherProcessor,
    PoolNotThere,
    first_threshold,
    passes_of,
    rules_of,
)
from nasadvisor.host.evidence.trace_job import TraceJob, TraceUnderWay
from nasadvisor.host.storage.machine import Machine, Roots
from tests.unit.domain.evidence.curve_reads import mixed
from tests.unit.domain.evidence.kstats import named
from tests.unit.fakes import FakeRunner
from tests.unit.machines import TANK, home_server

FILE_128K, ZVOL_16K, DNODE_16K, INDIRECT = (
    0x8013_0207_00FF_00FF,  # plain file contents (19), level 0, 256 sectors
    0x8017_0207_001F_001F,  # zvol object (23), 32 sectors
    0x800A_0207_001F_001F,  # DMU dnode (10)
    0x8113_0207_0007_00FF,  # an indirect block of a file: level 1, 8 sectors
)
PRINTED = f"""
{{"type": "attached_probes", "data": {{"probes": 4}}}}
{{"type": "printf", "data": "2000000000 ab00000001 {FILE_128K:x} 10 tank\\n"}}
{{"type": "printf", "data": "1000000000 ab00000002 {ZVOL_16K:x} 15 my pool\\n"}}
{{"type": "printf", "data": "3000000000 ab00000003 {DNODE_16K:x} 0 tank\\n"}}
{{"type": "printf", "data": "3500000000 ab00000004 {INDIRECT:x} 10 tank\\n"}}
{{"type": "lost_events", "data": {{"events": 3}}}}
"""


def command(threshold: int, most: int, seconds: int) -> str:
    return f"bpftrace -q -f json {READS_SCRIPTS['x86_64']} {threshold} {most} {seconds}"


def test_it_reads_what_bpftrace_prints_in_the_order_of_time() -> None:
    runner = FakeRunner({command(1000, 50, 20): PRINTED})
    found = trace_reads(runner, "x86_64", 1000, 50, 20)
    assert not runner.ran[0].mutates
    assert not found.is_cut
    assert tuple(found.as_of("tank")) == (
        BlockRead(1.0, 0xAB00000002, 16 * KIB, is_prefetch=True, is_own=False),
        BlockRead(2.0, 0xAB00000001, 128 * KIB),
        BlockRead(3.0, 0xAB00000003, 16 * KIB, is_metadata=True, is_eligible=False),
        BlockRead(3.5, 0xAB00000004, 4 * KIB, is_metadata=True),
    )
    assert place_of(0xAB00000001) == 0xAB


def test_a_pool_with_a_blank_or_a_long_name_is_known_again() -> None:
    long = "p" * 100
    line = {"type": "printf", "data": f"1 1 {FILE_128K:x} 10 {long[:63]}\n"}
    assert next(TracedReads(tuple(parse_reads(json.dumps(line))), False).as_of(long)).is_own
    found = TracedReads(tuple(parse_reads(PRINTED)), False)
    assert [each.is_own for each in found.as_of("my pool")] == [False, True, False, False]


def test_on_arm64_the_script_differs_in_the_place_of_one_argument() -> None:
    """The eighth argument is the second on the stack of x86-64, and in the last register of arm64 (AAPCS64, 6.8.2)."""
    here, there = (READS_SCRIPTS[each].read_text() for each in ("x86_64", "aarch64"))
    assert here != there == here.replace("*(uint32*)sarg1", "*(uint32*)arg7")
    words = ("-q", "-f", "json", str(READS_SCRIPTS["aarch64"]), "1", "1", "1")
    assert not Command(Tool.BPFTRACE, words, timeout_s=1).mutates


@pytest.mark.parametrize("line", ["Attaching 4 probes...", "[]", "{}", '{"type": "printf", "data": "1 2 3"}'])
def test_another_form_is_told(line: str) -> None:
    with pytest.raises(OutputUnreadable, match="bpftrace"):
        list(parse_reads(f"{line}\n"))


@given(st.text())
def test_nothing_but_that_error_comes_of_any_text(text: str) -> None:
    with suppress(OutputUnreadable):
        list(parse_reads(text))


@pytest.mark.parametrize("words", [("0", "1", "1"), ("1", "1"), ("1", "1", "x"), ("1", "1000000", "1")])
def test_bpftrace_takes_no_other_numbers(words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not a command that NAS Advisor may run"):
        Command(Tool.BPFTRACE, ("-q", "-f", "json", str(READS_SCRIPTS["x86_64"]), *words), timeout_s=1)


@dataclass
class Tracing:
    """A kernel whose reads go round over blocks of one pool: time passes while it is traced."""

    blocks: int = 400
    per_s: float = 100
    now: float = 0.0
    fails_after_s: float = 1e9
    calls: list[tuple[int, int]] = field(default_factory=list)

    def has(self, tool: Tool) -> bool:
        return True

    def holding(self, descriptors: tuple[int, ...]) -> "Tracing":
        return self

    def run(self, command: Command) -> Output:
        threshold, most, seconds = (int(each) for each in command.args[-3:])
        if self.now > self.fails_after_s:
            raise ToolMissing("bpftrace", "bpftrace", ("/usr/bin",))
        self.calls.append((threshold, seconds))
        first = int(self.now * self.per_s)
        numbers = range(first, first + int(seconds * self.per_s))
        blocks = ((n - first, mixed(n % self.blocks + 1) & (1 << 56) - 1) for n in numbers)
        lines = [self._line(n, block) for n, block in blocks if place_of(block) < threshold][:most]
        self.now += seconds if len(lines) < most else seconds / 2
        return Output("\n".join(lines), "", 0, float(seconds))

    def _line(self, number: int, block: int) -> str:
        data = f"{int(number * 10**9 / self.per_s)} {block:x} {FILE_128K:x} 10 tank\n"
        return json.dumps({"type": "printf", "data": data})

    def clock(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)


class Unread:
    """A machine of which nothing but pools and counters is asked."""

    def read(self, *_: Any) -> Any:
        raise AssertionError

    identify = read


@dataclass
class Pools:
    pools: tuple[Pool, ...]

    def read(self) -> tuple[Pool, ...]:
        return self.pools


def tracer(tracing: Tracing, tmp_path: Path, processor: str = "x86_64") -> CurveTracer:
    """An ARC of 16 MiB, 4 of them still free, which holds 128 of the blocks, and caches that are written as much more
    slowly."""
    kstats = tmp_path / "proc/spl/kstat/zfs"
    kstats.mkdir(parents=True, exist_ok=True)
    values = {"mru_size": 6 * MIB, "mfu_size": 6 * MIB, "size": 16 * MIB, "c": 20 * MIB, "demand_data_misses": 7}
    (kstats / "arcstats").write_text(named(values))
    roots = Roots(proc=tmp_path / "proc", sys=tmp_path / "sys")
    parameters = roots.sys / "module/zfs/parameters"
    parameters.mkdir(parents=True, exist_ok=True)
    (parameters / "l2arc_write_max").write_text(f"{4 * MIB}\n")
    pools = Pools(home_server().pools)
    machine = Machine(tracing, Unread(), pools, Unread(), tracing.clock, roots)
    return CurveTracer(machine, lambda: tracing.now, processor)


def test_an_arc_that_is_beyond_its_target_for_a_moment_is_taken_as_it_will_be(tmp_path: Path) -> None:
    over = tracer(Tracing(), tmp_path)
    values = {"mru_size": 10 * MIB, "mfu_size": 10 * MIB, "size": 24 * MIB, "c": 20 * MIB}
    (tmp_path / "proc/spl/kstat/zfs/arcstats").write_text(named(values))
    assert over.trace(TANK, 60).arc_bytes == 16 * MIB


def test_a_trace_is_cut_into_parts_and_told_after_each(tmp_path: Path) -> None:
    tracing, told = Tracing(), list[CacheCurve]()
    found = tracer(tracing, tmp_path).trace(TANK, 700, told.append)
    assert [seconds for _, seconds in tracing.calls] == [10, 300, 300, 90]
    assert [each.traced.is_done for each in told] == [False, False]
    assert (found.traced.seconds, found.traced.is_done, found.arc_bytes) == (700, True, 16 * MIB)
    assert found.is_enough
    assert found.points[-1].served > 0.95
    assert found.knee
    assert 40 * MIB < found.knee.size_bytes < 80 * MIB


def test_so_many_blocks_are_followed_that_about_fifty_reads_a_second_are_seen(tmp_path: Path) -> None:
    assert first_threshold(TracedReads((), False), WANTED_PER_S) == SPACE
    read = NamedRead("tank", BlockRead(5.0, 1, 1))
    assert first_threshold(TracedReads((read,) * 500, False), WANTED_PER_S) == FIRST_THRESHOLD
    assert first_threshold(TracedReads((read,) * MOST_PER_PART, True), WANTED_PER_S) == FIRST_THRESHOLD // 120
    tracing = Tracing(blocks=4000, per_s=1000)
    found = tracer(tracing, tmp_path).trace(TANK, 310)
    assert tracing.calls[1][0] < SPACE // 5
    assert found.followed_reads / 300 < 150


def test_a_part_with_too_many_reads_halves_what_is_followed(tmp_path: Path) -> None:
    tracing = Tracing(blocks=10)

    def busier(told: CacheCurve) -> None:
        tracing.per_s = 400

    tracing.per_s = 90
    found = tracer(tracing, tmp_path).trace(TANK, 1000, busier)
    thresholds = [threshold for threshold, _ in tracing.calls[1:]]
    assert thresholds == sorted(thresholds, reverse=True)
    assert thresholds[-1] < thresholds[0]
    assert found.traced.is_done


def test_a_trace_that_is_stopped_keeps_what_it_has(tmp_path: Path) -> None:
    tracing, stopped = Tracing(), Event()
    found = tracer(tracing, tmp_path).trace(TANK, 86400, lambda _: stopped.set(), stopped.is_set)
    assert (found.traced.seconds, found.traced.is_done) == (310, True)


def test_what_cannot_be_traced_is_said(tmp_path: Path) -> None:
    with pytest.raises(PoolNotThere, match="No pool with the guid 77"):
        tracer(Tracing(), tmp_path).trace("77", 60)
    with pytest.raises(OtherProcessor, match="this host is riscv64"):
        tracer(Tracing(), tmp_path, "riscv64").trace(TANK, 60)
    assert tracer(Tracing(), tmp_path, "aarch64").trace(TANK, 60).followed_reads
    with pytest.raises(ToolMissing, match="bpftrace"):
        tracer(Tracing(fails_after_s=-1), tmp_path).trace(TANK, 60)


def test_the_feed_is_that_of_the_release_as_it_is_set(tmp_path: Path) -> None:
    """Headroom 8 and a boost of 200 % are the defaults; eight processors have lists in eight parts."""
    now = passes_of(Tunables(l2arc_write_max_bytes=32 * MIB), tmp_path, 8)
    assert (now.bytes_each, now.busy_s, now.idle_s) == (32 * MIB, 0.2, 1.0)
    assert (now.reach_bytes, now.sublists) == (8 * 2 * 32 * MIB * 8, 8)
    old = passes_of(Tunables(zfs_version="2.1.11-1", l2arc_feed_again=0, l2arc_feed_secs=2), tmp_path, 2)
    assert (old.bytes_each, old.busy_s, old.idle_s, old.sublists) == (8 * MIB, 2.0, 2.0, 4)
    own_thread = passes_of(Tunables(l2arc_write_max_bytes=32 * MIB, l2arc_dwpd_limit=100), tmp_path, 8)
    assert (own_thread.busy_s, own_thread.idle_s) == (1.0, 1.0)
    parameters = tmp_path / "module/zfs/parameters"
    parameters.mkdir(parents=True)
    for name, value in (("l2arc_headroom", 4), ("zfs_compressed_arc_enabled", 0), ("zfs_multilist_num_sublists", 3)):
        (parameters / name).write_text(f"{value}\n")
    found = passes_of(Tunables(), tmp_path, 8)
    assert (found.reach_bytes, found.sublists) == (4 * 32 * MIB * 3, 3)
    (parameters / "l2arc_headroom").write_text("0\n")
    assert passes_of(Tunables(), tmp_path, 8).reach_bytes == math.inf


def test_what_is_read_ahead_is_fed_and_served_as_the_release_does() -> None:
    now = rules_of(Tunables(zfs_version="2.3.4-1"), Passes(MIB), MIB)
    assert (now.feeds_ahead, now.serves_ahead) == (False, True)
    assert not rules_of(Tunables(zfs_version="2.1.11-1"), Passes(MIB), MIB).serves_ahead
    assert rules_of(Tunables(l2arc_noprefetch=0, zfs_version="2.1.11-1"), Passes(MIB), MIB).serves_ahead


def test_one_trace_at_a_time_runs_beside_the_worker_and_is_stopped(tmp_path: Path) -> None:
    tracing, told, failed = Tracing(), list[CacheCurve](), list[HostError]()
    first_part, go_on = Event(), Event()

    def hold(curve: CacheCurve) -> None:
        told.append(curve)
        first_part.set()
        assert go_on.wait(20)

    job = TraceJob(tracer(tracing, tmp_path).trace)
    job.stop()
    job.start(TANK, 86400, hold, failed.append)
    assert first_part.wait(20)
    with pytest.raises(TraceUnderWay, match="only one can run at a time"):
        job.start(TANK, 60, told.append, failed.append)
    job.stop()
    go_on.set()
    job.wait(20)
    assert [each.traced.is_done for each in told] == [False, True]
    job.start("77", 60, told.append, failed.append)
    job.wait(20)
    assert [type(each) for each in failed] == [PoolNotThere]
