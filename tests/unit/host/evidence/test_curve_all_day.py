"""Following reads all day: what is told, what it may cost, and when it waits."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.units import HOUR_S, MIB
from nasadvisor.host.adapters.process import Command, Output
from nasadvisor.host.evidence.curve_all_day import (
    AGAIN_S,
    BUDGET,
    GAP_S,
    MOST_AT_ONCE,
    PART_S,
    PROBE_S,
    SESSION_S,
    AllDayTracer,
)
from tests.unit.domain.evidence.kstats import named
from tests.unit.host.evidence.test_curve import Pools, Tracing, tracer
from tests.unit.machines import TANK

ARC = {"mru_size": 6 * MIB, "mfu_size": 6 * MIB, "size": 16 * MIB, "c": 20 * MIB, "demand_data_misses": 7}


@dataclass
class Costly(Tracing):
    """A kernel in which each call of bpftrace takes so much of a processor, and each line that it prints."""

    per_call_s: float = 0.0
    per_line_s: float = 0.0

    def run(self, command: Command) -> Output:
        output = super().run(command)
        lines = output.stdout.count("\n") + 1
        return Output(output.stdout, "", 0, output.seconds, self.per_call_s + lines * self.per_line_s)


@dataclass
class Day:
    """A host whose reads are followed all day; the model costs nothing."""

    tracing: Costly
    folder: Path
    told: list[CacheCurve] = field(default_factory=list)
    is_asked: bool = False
    day: AllDayTracer = field(init=False)

    def __post_init__(self) -> None:
        following = tracer(self.tracing, self.folder)
        [tank] = (pool for pool in following.machine.pools.read() if pool.guid == TANK)
        following.machine = replace(following.machine, pools=Pools((tank,)))
        for name, value in (("l2arc_feed_secs", 600), ("l2arc_feed_again", 0)):  # a model that has little to do
            (self.folder / "sys/module/zfs/parameters" / name).write_text(f"{value}\n")
        self.day = AllDayTracer(following, self.told.append, lambda: self.is_asked, processor_s=lambda: 0.0)

    def counters(self, **values: int) -> None:
        (self.folder / "proc/spl/kstat/zfs/arcstats").write_text(named({**ARC, **values}))

    def pass_time(self, seconds: float) -> int:
        """Look every quarter of a minute, as the worker does; how many parts began."""
        ends_s, before = self.tracing.now + seconds, self.parts
        while self.tracing.now < ends_s:
            self.tracing.now += 15
            self.day.carry_on()
            self.day.job.wait(20)
        return self.parts - before

    @property
    def parts(self) -> int:
        return sum(seconds == PART_S for _, seconds in self.tracing.calls)

    @property
    def thresholds(self) -> list[int]:
        return [threshold for threshold, seconds in self.tracing.calls if seconds == PART_S]


Days = Callable[..., Day]


@pytest.fixture
def host(tmp_path: Path) -> Days:
    return lambda **tracing: Day(Costly(**{"blocks": 400, "per_s": 0.5, **tracing}), tmp_path)


def test_a_curve_is_told_once_reads_were_followed_for_an_hour_and_then_after_each_part(host: Days) -> None:
    found = host()
    assert found.pass_time(45 * 60) == 3
    assert found.told == []
    found.pass_time(2 * HOUR_S)
    assert len(found.told) >= 6
    assert {each.traced.is_all_day for each in found.told} == {True}
    assert found.told[-1].is_followed
    assert found.told[-1].traced.seconds > 2 * HOUR_S
    assert found.told[-1].traced.seconds > found.told[-2].traced.seconds


def test_where_lines_cost_too_much_fewer_blocks_are_followed(host: Days) -> None:
    found = host(per_s=4, per_line_s=0.002)
    found.pass_time(HOUR_S)
    assert found.thresholds[-1] < found.thresholds[0]
    assert found.thresholds == sorted(found.thresholds, reverse=True)


def test_where_the_probe_alone_costs_too_much_hours_are_followed_and_then_paid_for(host: Days) -> None:
    found = host(per_call_s=0.02 * PART_S)
    began = found.tracing.now
    parts = found.pass_time(24 * HOUR_S)
    cost_s = parts * 0.02 * PART_S
    assert SESSION_S / PART_S <= parts <= 1.4 * 24 * HOUR_S / PART_S * BUDGET / 0.02
    assert cost_s <= 1.4 * BUDGET * (found.tracing.now - began)
    assert found.told
    assert max(each.traced.seconds for each in found.told) >= SESSION_S * 0.9


def reading(found: Day, per_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the host read so much a second through the ARC."""

    class Counting:
        misses = 7

        @property
        def asked(self) -> int:
            return int(per_s * found.tracing.now)

    monkeypatch.setattr(found.day.tracer, "arc", Counting)


def test_reads_of_the_host_pay_for_the_probe(host: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million reads a minute: 16 ms of each second."""
    found = host()
    reading(found, 1e6 / 60, monkeypatch)
    assert SESSION_S / PART_S <= found.pass_time(12 * HOUR_S) <= 2.2 * SESSION_S / PART_S


def test_a_host_that_reads_so_much_that_its_programs_would_feel_the_probe_is_let_alone(
    host: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = host()
    reading(found, 1.1 * MOST_AT_ONCE / PROBE_S, monkeypatch)
    assert found.pass_time(24 * HOUR_S) == 0
    reading(found, 0.1 * BUDGET / PROBE_S, monkeypatch)
    assert found.pass_time(AGAIN_S + HOUR_S) >= 1


def test_one_that_begins_to_read_so_much_is_let_alone_after_the_part(
    host: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = host()
    assert found.pass_time(HOUR_S) >= 1
    reading(found, 2 * MOST_AT_ONCE / PROBE_S, monkeypatch)
    assert found.pass_time(24 * HOUR_S) <= 2


def test_it_waits_while_somebody_has_a_trace_and_begins_anew_after_a_long_break(host: Days) -> None:
    found = host()
    found.pass_time(2 * HOUR_S)
    before = found.told[-1].traced.seconds
    found.is_asked = True
    assert found.pass_time(2 * GAP_S) == 0
    found.is_asked = False
    found.told.clear()
    found.pass_time(90 * 60)
    assert 0 < found.told[0].traced.seconds < before


def test_another_size_of_the_arc_begins_anew(host: Days) -> None:
    found = host()
    found.pass_time(2 * HOUR_S)
    found.counters(c=40 * MIB)
    found.told.clear()
    found.pass_time(90 * 60)
    assert [each.arc_bytes for each in found.told][:1] == [36 * MIB]
    assert found.told[0].traced.seconds < 90 * 60


def test_what_fails_is_tried_again_after_an_hour_and_said_once(host: Days, caplog: pytest.LogCaptureFixture) -> None:
    found = host(fails_after_s=0.0)
    found.pass_time(2.5 * HOUR_S)
    assert len([each for each in caplog.records if "not followed" in each.message]) == 1
    found.tracing.fails_after_s = 1e9
    assert found.pass_time(AGAIN_S + 60) >= 1


def test_without_openzfs_or_on_another_processor_nothing_begins(host: Days) -> None:
    found = host()
    (found.folder / "proc/spl/kstat/zfs/arcstats").unlink()
    assert found.pass_time(HOUR_S) == 0
    found.counters()
    found.day.tracer.processor = "riscv64"
    assert found.pass_time(HOUR_S) == 0
    assert found.tracing.calls == []
