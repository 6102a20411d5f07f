"""Spells on the host: what bpftrace prints of one, when the next one begins, and what is told of them."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import DatasetActivity, Sample
from nasadvisor.domain.evidence.spell_datasets import ZilWait
from nasadvisor.domain.evidence.spells import PoolSpells, ProgramWait, Spell, Stratum
from nasadvisor.host.adapters.bpftrace import SPELL_FLAGS_SCRIPT, SPELL_SCRIPT, parse_spell, spell_script, trace_spell
from nasadvisor.host.adapters.counters import read_commit_counts
from nasadvisor.host.adapters.process import Command, Output, Tool
from nasadvisor.host.adapters.procfs import is_running
from nasadvisor.host.errors import CommandFailed, HostError, OutputUnreadable
from nasadvisor.host.evidence.kept_spells import KEPT_S, keep_spells, kept_spells
from nasadvisor.host.evidence.spell_pace import BUDGET, FAILED_COST_S, FIRST_BLOCK_S, QUIET, Pace
from nasadvisor.host.evidence.spells import LEAD_S, SPELL_S, SpellKeeper, SpellTracer
from nasadvisor.host.storage.machine import Machine
from tests.unit.domain.evidence.kstats import FakeSystem
from tests.unit.fakes import FakeRunner
from tests.unit.host.evidence.test_curve import Unread
from tests.unit.machines import TANK

DB, FILES = 0xFFFF_9A00_0000_1000, 0xFFFF_9A00_0000_2000
SIGNED = DB - (1 << 64)
COMMAND = f"bpftrace -q -f json {SPELL_SCRIPT} {LEAD_S} {LEAD_S + SPELL_S}"
PRINTED = f"""
{{"type": "attached_probes", "data": {{"probes": 5}}}}
{{"type": "map", "data": {{"@begun": {{"77": 13500000000, "78": 14000000001}}}}}}
{{"type": "map", "data": {{"@calls": {{"{SIGNED},postgres": 40, "{FILES},a, \\"b\\"": 3}}}}}}
{{"type": "map", "data": {{"@ended": {{"{SIGNED},postgres": 39, "{FILES},a, \\"b\\"": 3}}}}}}
{{"type": "map", "data": {{"@from": 4000000000}}}}
{{"type": "map", "data": {{"@longest": {{"{SIGNED},postgres": 40000000, "{FILES},a, \\"b\\"": 9000000}}}}}}
{{"type": "map", "data": {{"@most": {{"{SIGNED},postgres": 4, "{FILES},a, \\"b\\"": 1}}}}}}
{{"type": "map", "data": {{"@until": 14000000000}}}}
{{"type": "map", "data": {{"@waited": {{"{SIGNED},postgres": 900000000, "{FILES},a, \\"b\\"": 20000000}}}}}}
{{"type": "map", "data": {{"@who": {{"77": "postgres", "78": "postgres"}}}}}}
{{"type": "map", "data": {{"@zilog": {{"77": {DB}, "78": {DB}}}}}}}
"""


def printed(**maps: object) -> str:
    return "".join(json.dumps({"type": "map", "data": {f"@{name}": each}}) + "\n" for name, each in maps.items())


class TestTracing:
    def test_it_reads_what_bpftrace_prints_with_the_calls_that_still_wait(self, tmp_path: Path) -> None:
        runner = FakeRunner({COMMAND: Output(PRINTED, "", 0, 15.0, cpu_s=0.31)})
        found = trace_spell(runner, spell_script(tmp_path), LEAD_S, SPELL_S)
        assert not runner.ran[0].mutates
        assert (found.from_ns, found.until_ns, found.seconds, found.cost_s) == (4 * 10**9, 14 * 10**9, 10.0, 0.31)
        postgres, other = found.waits
        assert postgres == ZilWait(DB, "postgres", 900_000_000 + 500_000_000, 40, 4)
        assert other == ZilWait(FILES, 'a, "b"', 20_000_000, 3, 1)
        assert found.calls == {DB: 40, FILES: 3}

    def test_a_call_that_waits_all_the_time_counts_for_all_of_it(self) -> None:
        text = printed(**{"from": 4, "until": 14}, begun={"7": 1}, zilog={"7": DB}, who={"7": "nfsd"})
        assert parse_spell(text, 0.1).waits == (ZilWait(DB, "nfsd", 10, 0, 1),)

    def test_ends_that_the_kernel_missed_count_as_the_others_and_who_seems_to_wait_no_longer_than_the_longest(
        self,
    ) -> None:
        key = f"{DB},nfsd"
        text = printed(
            **{"from": 4 * 10**9, "until": 14 * 10**9},
            calls={key: 101},
            waited={key: 8 * 10**8},
            ended={key: 80},
            lost={key: 20},
            longest={key: 3 * 10**7},
            begun={"7": 5 * 10**9},
            zilog={"7": DB},
            who={"7": "nfsd"},
        )
        assert parse_spell(text, 0.1).waits == (ZilWait(DB, "nfsd", 10**9 + 3 * 10**7, 101, 1),)

    def test_nobody_waited(self) -> None:
        assert parse_spell(printed(**{"from": 4, "until": 14}), 0.1).waits == ()

    def test_where_openzfs_commits_through_a_second_function_both_are_watched(self, tmp_path: Path) -> None:
        (tmp_path / "kallsyms").write_text("ffffffffc0a1b2f0 T zil_commit_flags\t[zfs]\n")
        runner = FakeRunner({COMMAND.replace("spell.bt", "spell_flags.bt"): PRINTED})
        assert trace_spell(runner, spell_script(tmp_path), LEAD_S, SPELL_S).waits
        plain, flags = (each.read_text().split("BEGIN", 1)[1] for each in (SPELL_SCRIPT, SPELL_FLAGS_SCRIPT))
        alike = flags.replace("kprobe:zil_commit, kprobe:zil_commit_flags", "kprobe:zil_commit")
        alike = alike.replace("kretprobe:zil_commit, kretprobe:zil_commit_flags", "kretprobe:zil_commit")
        assert alike.replace("(@begun[tid] == 0 || nsecs - @begun[tid] > 200000) && ", "") == plain

    def test_the_scripts_take_no_argument_but_the_first_which_every_processor_has(self) -> None:
        for script in (SPELL_SCRIPT, SPELL_FLAGS_SCRIPT):
            assert "arg1" not in script.read_text()
            assert "reg(" not in script.read_text()
            assert "sarg" not in script.read_text()

    @pytest.mark.parametrize(
        "text",
        [
            "Attaching 4 probes...",
            "[]",
            printed(until=4),
            printed(**{"from": 14, "until": 14}),
            printed(**{"from": 4, "until": 14}, calls=3),
            printed(**{"from": 4, "until": 14}, calls={"x,y": 3}),
            printed(**{"from": 4, "until": 14}, begun={"7": 5}),
        ],
    )
    def test_another_form_is_told(self, text: str) -> None:
        with pytest.raises(OutputUnreadable, match="bpftrace"):
            parse_spell(text, 0.1)

    @given(st.text())
    def test_nothing_but_that_error_comes_of_any_text(self, text: str) -> None:
        with suppress(OutputUnreadable):
            parse_spell(text, 0.1)

    @pytest.mark.parametrize("words", [("4",), ("4", "x"), ("4", "14", "15")])
    def test_bpftrace_takes_two_numbers(self, words: tuple[str, ...]) -> None:
        with pytest.raises(ValueError, match="not a command that NAS Advisor may run"):
            Command(Tool.BPFTRACE, ("-q", "-f", "json", str(SPELL_SCRIPT), *words), timeout_s=1)


class TestPace:
    @given(st.integers(0, 9999), st.floats(0.05, 30), st.sampled_from(Stratum))
    def test_all_of_them_together_cost_no_more_than_the_budget(
        self, seed: int, most_s: float, stratum: Stratum
    ) -> None:
        """Whatever each one costs: only the last may not be paid for yet."""
        random = Random(seed)
        pace, spent, passed = Pace(random.random), [0.0], 0.0
        for _ in range(20_000):
            passed += 10
            pace.go_on(10, stratum)
            if pace.is_due:
                spent.append(random.uniform(0, most_s))
                pace.pay(spent[-1])
        assert sum(spent[:-1]) <= BUDGET * max(passed, FIRST_BLOCK_S)

    def test_while_it_is_busy_the_budget_is_used_and_else_an_eighth_of_it(self) -> None:
        found = dict[Stratum, int]()
        for stratum in Stratum:
            pace, spells = Pace(Random(1).random), 0
            for _ in range(8640):
                pace.go_on(10, stratum)
                if pace.is_due:
                    spells += 1
                    pace.pay(0.4)
            found[stratum] = spells
        assert found[Stratum.BUSY] == pytest.approx(86400 * BUDGET / 0.4, rel=0.1)
        assert found[Stratum.QUIET] == pytest.approx(found[Stratum.BUSY] / QUIET, rel=0.15)

    def test_the_moments_are_spread_over_the_whole_block(self) -> None:
        firsts = []
        for seed in range(200):
            pace, passed = Pace(Random(seed).random), 0
            while not pace.is_due:
                pace.go_on(10, Stratum.BUSY)
                passed += 10
            firsts.append(passed)
        assert min(firsts) < FIRST_BLOCK_S / 10
        assert max(firsts) > FIRST_BLOCK_S * 0.9
        assert sum(firsts) / 200 == pytest.approx(FIRST_BLOCK_S / 2, rel=0.15)

    def test_a_machine_that_slept_has_nothing_to_catch_up_with(self) -> None:
        pace = Pace(lambda: 0.5)
        pace.go_on(90_000, Stratum.BUSY)
        pace.pay(1.0)
        assert not pace.is_due


@dataclass
class Clock:
    at: float = 1_787_000_000.0

    def __call__(self) -> datetime:
        return datetime.fromtimestamp(self.at, UTC)


@dataclass
class FakeTracer:
    """Traces at once; raises what there is to raise."""

    spells: dict[str, Spell] = field(default_factory=dict)
    cost_s: float = 0.4
    error: HostError | None = None
    is_possible: bool = True
    traced: list[tuple[str, ...]] = field(default_factory=list)

    def trace(self, pools: tuple[str, ...]) -> tuple[dict[str, Spell], float]:
        self.traced.append(pools)
        if self.error:
            raise self.error
        return {name: self.spells.get(name, Spell(10.0)) for name in pools}, self.cost_s


WAITED = Spell(10.0, 80, (ProgramWait("postgres", "tank/db", 4.0, 80, 2),))
HOUR = 1_786_998_000 // 3600 * 3600


def reading(at: int, commits: int = 100) -> Reading:
    return Reading((Sample(TANK, "tank", at, 10.0, (DatasetActivity("tank/db", commits),)),))


def keeper_of(tracer: FakeTracer, told: Callable[[], Reading], kept: list[PoolSpells] | None = None) -> SpellKeeper:
    keep = (lambda _: None) if kept is None else kept.append
    return SpellKeeper(told, tracer, keep, pace=Pace(lambda: 0.0))  # type: ignore[arg-type]


def told_by(keeper: SpellKeeper) -> Reading:
    found = keeper.sample()
    keeper.job.wait(5)
    return found


class TestKeeper:
    def test_a_spell_is_told_with_the_next_reading_and_kept_on_the_host(self) -> None:
        moments, kept = iter(range(HOUR + 10, HOUR + 60, 10)), list[PoolSpells]()
        tracer = FakeTracer({"tank": WAITED})
        keeper = keeper_of(tracer, lambda: reading(next(moments)), kept)
        assert told_by(keeper).spells == ()
        [told] = told_by(keeper).spells
        assert (told.pool_guid, told.began, told.until, told.cost_s) == (TANK, HOUR + 10, HOUR + 20, 0.4)
        assert (told.busy.spells, told.quiet.spells) == (1, 0)
        assert told.busy.programs[0].waited_s == 4.0
        assert (told.quiet.seconds, told.busy.seconds) == (10.0, 10.0)
        assert (told.quiet.counted, told.busy.counted) == (100, 100)
        assert kept == [told]
        assert tracer.traced == [("tank",)]
        assert told_by(keeper).spells == ()

    def test_an_hour_is_told_once_more_as_it_ends_and_the_next_begins_with_nothing(self) -> None:
        moments = iter((HOUR + 10, HOUR + 20, HOUR + 3590, HOUR + 3600, HOUR + 3610))
        keeper = keeper_of(FakeTracer(), lambda: reading(next(moments), commits=0))
        told = [told_by(keeper).spells for _ in range(5)]
        assert [len(each) for each in told] == [0, 1, 0, 1, 0]
        assert (told[3][0].began, told[3][0].until, told[3][0].seconds) == (HOUR + 10, HOUR + 3590, 30.0)

    def test_hours_without_a_spell_are_told_too_for_their_time_counts(self) -> None:
        moments = iter(range(HOUR + 10, HOUR + 10**6, 1800))
        keeper = keeper_of(FakeTracer(cost_s=1000.0), lambda: reading(next(moments)))
        told = [each for _ in range(8) for each in told_by(keeper).spells]
        assert {each.began for each in told if not each.busy.spells + each.quiet.spells}

    def test_where_nothing_was_ever_traced_nothing_is_told(self) -> None:
        moments = iter(range(HOUR + 10, HOUR + 10**6, 1800))
        keeper = keeper_of(FakeTracer(is_possible=False), lambda: reading(next(moments)))
        assert [told_by(keeper).spells for _ in range(6)] == [()] * 6

    def test_what_cannot_be_traced_is_said_once_and_tried_again_in_an_hour(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        moments = iter(range(HOUR + 10, HOUR + 10**6, 10))
        tracer = FakeTracer(error=CommandFailed("bpftrace", 1, "lockdown", mutates=False))
        keeper = keeper_of(tracer, lambda: reading(next(moments)))
        for _ in range(800):
            assert told_by(keeper).spells == ()
        assert len(tracer.traced) == pytest.approx(8000 / (FAILED_COST_S / BUDGET), abs=1)
        assert [record.message for record in caplog.records if "lockdown" in record.message]
        assert len(caplog.records) == 1

    def test_while_somebody_has_asked_for_a_trace_no_spell_begins(self) -> None:
        moments, asked = iter(range(HOUR + 10, HOUR + 60, 10)), [True, True, False, False]
        keeper = replace(keeper_of(FakeTracer(), lambda: reading(next(moments))), is_yielding=lambda: asked.pop(0))
        assert [len(told_by(keeper).spells) for _ in range(4)] == [0, 0, 0, 1]

    def test_a_pool_that_was_exported_and_a_reading_without_samples_do_no_harm(self) -> None:
        readings = iter((reading(HOUR + 10), Reading(), reading(HOUR + 20)))
        keeper = keeper_of(FakeTracer(), lambda: next(readings))
        assert [len(told_by(keeper).spells) for _ in range(3)] == [0, 1, 0]

    def test_a_host_without_room_for_it_says_so_once_and_tells_all_the_same(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        def full(_: PoolSpells) -> None:
            raise OSError("no space left")

        moments = iter(range(HOUR + 10, HOUR + 60, 10))
        keeper = replace(keeper_of(FakeTracer(), lambda: reading(next(moments))), keep=full)
        told_by(keeper)
        assert told_by(keeper).spells
        assert "no space left" in caplog.text


@dataclass
class Committing(FakeRunner):
    """A host whose datasets commit while it is traced."""

    system: FakeSystem | None = None

    def run(self, command: Command) -> Output:
        if self.system:
            self.system.dataset(1, "tank/db", zil_commit_count=1040)
            self.system.dataset(2, "tank/my files", zil_commit_count=503)
        return super().run(command)


def tracer_of(tmp_path: Path, missing: frozenset[Tool] = frozenset()) -> SpellTracer:
    system = FakeSystem(tmp_path)
    system.dataset(1, "tank/db", zil_commit_count=1000)
    system.dataset(2, "tank/my files", zil_commit_count=500)
    runner = Committing({COMMAND: Output(PRINTED, "", 0, 15.0, 0.31)}, missing, system=system)
    unread = Unread()
    return SpellTracer(Machine(runner, unread, unread, unread, Clock(), system.roots))


class TestTracer:
    def test_the_dataset_is_found_by_its_counter_and_the_cost_is_all_that_it_took(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        moments = iter((1, 2, 20, 21))
        monkeypatch.setattr("time.monotonic_ns", lambda: next(moments) * 10**9)
        monkeypatch.setattr("nasadvisor.host.evidence.spells.POLL_S", 60)
        spells, cost_s = tracer_of(tmp_path).trace(("tank",))
        assert {(each.program, each.dataset) for each in spells["tank"].waits} == {
            ("postgres", "tank/db"),
            ('a, "b"', "tank/my files"),
        }
        assert spells["tank"].commits == 43
        assert 0.31 < cost_s < 1.0

    def test_the_symbols_of_the_kernel_are_read_once_for_each_openzfs(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looked: list[Path] = []

        def look(proc: Path) -> Path:
            looked.append(proc)
            return SPELL_SCRIPT

        monkeypatch.setattr("nasadvisor.host.evidence.spells.spell_script", look)
        tracer, version = tracer_of(tmp_path), tmp_path / "sys/module/zfs/version"
        version.parent.mkdir(parents=True)
        for loaded, times in (("2.3.9", 1), ("2.3.9", 1), ("2.4.1", 2)):
            version.write_text(f"{loaded}\n")
            tracer.trace(("tank",))
            assert len(looked) == times

    def test_without_bpftrace_beside_another_trace_and_beside_a_measurement_nothing_is_traced(
        self, tmp_path: Path
    ) -> None:
        assert tracer_of(tmp_path).is_possible
        assert not tracer_of(tmp_path, frozenset({Tool.BPFTRACE})).is_possible
        for name in ("bpftrace", "fio"):
            comm = tmp_path / "proc/4711/comm"
            comm.parent.mkdir(exist_ok=True)
            comm.write_text(f"{name}\n")
            assert not tracer_of(tmp_path).is_possible
        stat = f"4711 (bpftrace) S {os.getpid()} 4711 4711 0"
        (tmp_path / "proc/4711/stat").write_text(stat)
        assert not tracer_of(tmp_path).is_possible
        comm.write_text("bpftrace\n")
        assert tracer_of(tmp_path).is_possible, "reads that this worker follows all day"
        assert not is_running(tmp_path / "proc", frozenset({"fi"}))


def test_commits_are_counted_by_dataset_whatever_its_name_holds(tmp_path: Path) -> None:
    system = FakeSystem(tmp_path)
    system.dataset(1, "tank/my files", zil_commit_count=12)
    system.dataset(2, "other", zil_commit_count=3, zil_commit_writer_count=1)
    system.put(system.kstats / "old/objset-0x36", "dataset_name 7 old\n")
    assert read_commit_counts(system.kstats) == {"tank/my files": 12, "other": 3}
    assert read_commit_counts(tmp_path / "nowhere") == {}


def test_a_week_is_kept_an_hour_a_file_and_what_is_damaged_is_left_out(tmp_path: Path) -> None:
    old, new = PoolSpells(TANK, 100, 3600), PoolSpells(TANK, KEPT_S + 200, KEPT_S + 300, cost_s=1.0)
    keep_spells(tmp_path, old)
    keep_spells(tmp_path, replace(old, cost_s=2.0))
    assert kept_spells(tmp_path, TANK, 0) == (replace(old, cost_s=2.0),)
    assert kept_spells(tmp_path, TANK, 3600) == ()
    keep_spells(tmp_path, new)
    assert kept_spells(tmp_path, TANK, 0) == (new,)
    (tmp_path / TANK / "7.json").write_text("{")
    assert kept_spells(tmp_path, TANK, 0) == (new,)
    assert kept_spells(tmp_path, "77", 0) == ()
