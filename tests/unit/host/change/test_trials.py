"""Trials on a simulated host: taken back in time, once, and only what is applied; cut off at every point."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nasadvisor.domain.change.runs import Run, RunState, TrialEnded
from nasadvisor.domain.change.trial import LONGEST_S, Moment
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import DAY_S
from nasadvisor.host.change.gate import Permit
from nasadvisor.host.change.journal import Journal, JournalUnwritable, open_journal
from nasadvisor.host.change.lock import HostBusy, host_lock
from nasadvisor.host.change.runs import (
    NoTrialLength,
    RunHost,
    WrongMoment,
    apply_plan,
    finish_run,
    list_runs,
    show_run,
    undo_run,
)
from nasadvisor.host.change.trial_clock import Clocks as ReadClocks
from nasadvisor.host.change.trial_clock import wall_clock_alone
from nasadvisor.host.change.trials import TrialWatch, end_trial, keep_run, move_trial
from nasadvisor.host.errors import CommandFailed, MachineUnreadable
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.unit.host.change.conftest import Bench, Killed, killer, rechained, shape
from tests.unit.host.change.test_runs import RECORDS_OF_AN_APPLY, FailsAt
from tests.unit.machines import home_server, with_pool

START = datetime(2026, 8, 25, 20, tzinfo=UTC)
RECORDS_OF_THE_END = RECORDS_OF_AN_APPLY + 23
"""Trial-ended, continued, eight steps back with two records each, four tables as steps left them, ended."""


@dataclass
class Trials:
    """A bench with a clock that is set by hand, and a host that looks at it when told to."""

    bench: Bench
    now: datetime = START
    watch: TrialWatch = field(init=False)
    clocks: ReadClocks = wall_clock_alone

    def __post_init__(self) -> None:
        self.watch = TrialWatch(self.host)

    @property
    def host(self) -> RunHost:
        return replace(self.bench.host, clock=lambda: self.now, clocks=self.clocks)

    @property
    def state(self) -> RunState:
        return show_run(self.host, "run-1").state

    def apply(self, trial_s: int = DAY_S, observe: Callable[[Run], None] = lambda _: None) -> Run:
        return apply_plan(self.host, self.bench.plan(), "anna", observe, trial_s)

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)

    def tick(self, observe: Callable[[Run], None] = lambda _: None) -> None:
        for run_id, until in self.watch.moved().items():
            move_trial(self.host, run_id, until, observe)
        for run_id in self.watch.due():
            end_trial(self.host, run_id, observe)

    def restart(self) -> None:
        self.watch = TrialWatch(self.host)

    @property
    def endings(self) -> int:
        records = open_journal(self.host.journals, "run-1").read()
        return sum(isinstance(record, TrialEnded) for record in records)


@pytest.fixture
def trials(bench: Bench) -> Trials:
    return Trials(bench)


def test_it_is_taken_back_at_the_deadline_and_not_before(trials: Trials) -> None:
    before = shape(trials.bench.executor.inventory())
    trials.apply()
    trials.wait(hours=23.99)
    trials.tick()
    assert trials.state is RunState.APPLIED
    trials.wait(hours=0.01)
    trials.tick()
    run = show_run(trials.host, "run-1")
    assert run.state is RunState.UNDONE
    assert run.trial
    assert run.trial.ended_at
    assert shape(trials.bench.executor.inventory()) == before


def test_the_undo_at_the_deadline_is_recorded_as_asked_for_by_who_asked_for_the_trial(trials: Trials) -> None:
    trials.apply()
    trials.wait(days=2)
    trials.tick()
    text = open_journal(trials.host.journals, "run-1").path.read_text()
    assert text.count('"by": "anna"') == 2
    assert f'"trial_s": {DAY_S}' in text.splitlines()[0]


def test_a_host_that_was_off_at_the_deadline_takes_it_back_after_its_start(trials: Trials) -> None:
    trials.apply()
    trials.wait(days=30)
    trials.restart()
    trials.tick()
    assert trials.state is RunState.UNDONE


def test_what_was_kept_stays_for_good_and_a_second_keep_changes_nothing(trials: Trials) -> None:
    trials.apply()
    run = keep_run(trials.host, "run-1", "ben")
    assert run.trial
    assert run.trial.kept_by == "ben"
    assert keep_run(trials.host, "run-1", "carla") == run
    applied = trials.bench.executor.state
    trials.wait(days=365)
    trials.restart()
    trials.tick()
    assert trials.state is RunState.APPLIED
    assert trials.bench.executor.state == applied
    assert undo_run(trials.host, "run-1", "ben", trials.bench.watch).state is RunState.UNDONE


def test_a_keep_just_before_the_undo_wins(trials: Trials) -> None:
    trials.apply()
    trials.wait(days=2)
    [run_id] = trials.watch.due()
    keep_run(trials.host, run_id, "ben")
    assert end_trial(trials.host, run_id, trials.bench.watch).state is RunState.APPLIED
    assert trials.endings == 0


@pytest.mark.parametrize("trial_s", [0, DAY_S])
def test_there_is_nothing_to_keep_without_a_trial_or_after_an_undo(trials: Trials, trial_s: int) -> None:
    trials.apply(trial_s)
    if trial_s:
        undo_run(trials.host, "run-1", "anna", trials.bench.watch)
    records = show_run(trials.host, "run-1").seq
    with pytest.raises(WrongMoment, match="not on trial"):
        keep_run(trials.host, "run-1", "ben")
    assert show_run(trials.host, "run-1").seq == records


@pytest.mark.parametrize("trial_s", [1, 59, LONGEST_S + 1, -DAY_S])
def test_a_trial_that_is_too_short_or_too_long_is_refused_before_anything_is_done(trials: Trials, trial_s: int) -> None:
    before = trials.bench.executor.state
    with pytest.raises(NoTrialLength):
        trials.apply(trial_s)
    assert trials.bench.executor.state == before
    assert not list_runs(trials.host).runs


def test_undo_now_ends_it(trials: Trials) -> None:
    trials.apply()
    undo_run(trials.host, "run-1", "ben", trials.bench.watch)
    records = show_run(trials.host, "run-1").seq
    trials.wait(days=2)
    trials.tick()
    assert show_run(trials.host, "run-1").seq == records


def test_an_undo_that_is_refused_changes_nothing_is_said_and_is_not_tried_again(trials: Trials) -> None:
    trials.apply()
    applied = trials.bench.executor.state
    trials.bench.executor.state = with_pool(applied, checkpoint="1.2M")
    trials.wait(days=2)
    trials.tick()
    run = show_run(trials.host, "run-1")
    assert run.state is RunState.APPLIED
    assert "pool-checkpoint" in [refusal.code for refusal in run.refusals]
    trials.bench.executor.state = applied
    trials.restart()
    trials.wait(days=2)
    trials.tick()
    assert trials.bench.executor.state == applied
    assert trials.endings == 1
    assert keep_run(trials.host, "run-1", "ben").trial


class Blind(SimulatedExecutor):
    """A host that cannot be read."""

    def inventory(self) -> Inventory:
        raise MachineUnreadable("zpool", "no answer")


def test_a_host_that_cannot_read_itself_at_the_deadline_does_nothing_and_says_so(trials: Trials) -> None:
    trials.apply()
    seeing = trials.bench.executor
    trials.bench.executor = Blind(seeing.state)
    trials.wait(days=2)
    trials.tick()
    run = show_run(trials.host, "run-1")
    assert (run.state, [refusal.code for refusal in run.refusals]) == (RunState.APPLIED, ["host-unreadable"])
    trials.bench.executor = seeing
    trials.tick()
    assert trials.state is RunState.APPLIED


def test_while_somebody_changes_the_host_it_waits(trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nasadvisor.host.change.trials.LOCK_WAIT_S", 0.05)
    trials.apply()
    trials.wait(days=2)
    with host_lock(trials.host.locks, 0), pytest.raises(HostBusy):
        trials.tick()
    assert trials.endings == 0
    trials.tick()
    assert trials.state is RunState.UNDONE


@pytest.mark.parametrize("records", range(1, RECORDS_OF_AN_APPLY))
def test_a_run_killed_before_it_was_applied_is_never_taken_back_by_itself(trials: Trials, records: int) -> None:
    with pytest.raises(Killed):
        trials.apply(observe=killer(records))
    left = trials.bench.executor.state
    trials.restart()
    trials.wait(days=30)
    trials.tick()
    assert trials.state is RunState.INTERRUPTED
    assert trials.bench.executor.state == left


def test_after_an_interruption_its_time_begins_when_it_is_finished(trials: Trials) -> None:
    with pytest.raises(Killed):
        trials.apply(observe=killer(1))
    trials.wait(days=30)
    assert finish_run(trials.host, "run-1", "ben", trials.bench.watch).is_on_trial
    trials.wait(hours=23)
    trials.tick()
    assert trials.endings == 0
    trials.wait(hours=1)
    trials.tick()
    assert trials.state is RunState.UNDONE


@pytest.mark.parametrize("records", range(RECORDS_OF_AN_APPLY + 1, RECORDS_OF_THE_END))
def test_an_undo_at_the_deadline_killed_after_any_record_is_not_begun_again_by_itself(
    trials: Trials, records: int
) -> None:
    before = shape(trials.bench.executor.inventory())
    trials.apply()
    trials.wait(days=1)
    with pytest.raises(Killed):
        trials.tick(killer(records))
    left = trials.bench.executor.state
    trials.restart()
    trials.wait(days=30)
    trials.tick()
    assert trials.bench.executor.state == left
    run = show_run(trials.host, "run-1")
    assert run.state is (RunState.APPLIED if records == RECORDS_OF_AN_APPLY + 1 else RunState.INTERRUPTED)
    assert run.can_undo
    assert undo_run(trials.host, "run-1", "ben", trials.bench.watch).state is RunState.UNDONE
    assert shape(trials.bench.executor.inventory()) == before
    assert trials.endings == 1


class FailsBack(SimulatedExecutor):
    """Cannot take anything back."""

    def do(self, permit: Permit) -> tuple[()]:
        raise CommandFailed("zpool remove …", 1, "no", mutates=True)


def test_an_undo_that_fails_needs_attention_and_is_not_tried_again(trials: Trials) -> None:
    trials.apply()
    trials.bench.executor = FailsBack(trials.bench.executor.state)
    trials.wait(days=1)
    trials.tick()
    assert trials.state is RunState.ATTENTION
    trials.wait(days=1)
    trials.tick()
    assert trials.endings == 1


def test_a_run_that_failed_and_was_put_back_is_left_alone(trials: Trials) -> None:
    executor = FailsAt(trials.bench.executor.inventory())
    executor.countdown = 5
    trials.bench.executor = executor
    assert trials.apply().state is RunState.PUT_BACK
    trials.wait(days=30)
    trials.tick()
    assert trials.endings == 0


def test_a_journal_that_cannot_be_read_hides_no_trial(trials: Trials, caplog: pytest.LogCaptureFixture) -> None:
    trials.apply()
    other = trials.host.journals / "other"
    other.mkdir()
    (other / "journal.jsonl").write_bytes(rechained('{"version": 99}'))
    trials.watch.due()
    trials.wait(days=1)
    trials.tick()
    assert trials.state is RunState.UNDONE
    assert len([record for record in caplog.records if "newer release" in record.message]) == 1


def test_journals_that_did_not_change_are_not_read_again(trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    trials.apply()
    trials.watch.due()
    read: list[str] = []
    whole = Journal.read

    def reading(journal: Journal) -> object:
        read.append(journal.directory.name)
        return whole(journal)

    monkeypatch.setattr(Journal, "read", reading)
    trials.watch.due()
    assert read == []
    keep_run(trials.host, "run-1", "ben")
    read.clear()
    trials.wait(days=2)
    assert trials.watch.due() == ()
    assert read == ["run-1"]


def test_a_journal_that_is_gone_is_forgotten(trials: Trials) -> None:
    trials.apply()
    trials.wait(days=2)
    assert trials.watch.due() == ("run-1",)
    open_journal(trials.host.journals, "run-1").path.unlink()
    assert trials.watch.due() == ()


HAPPENINGS = st.lists(
    st.sampled_from(["hour", "day", "tick", "killed tick", "restart", "keep", "undo", "killed undo", "checkpoint"]),
    max_size=12,
)


@pytest.mark.slow
@given(st.integers(1, 72), HAPPENINGS, st.integers(1, 18))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_it_is_taken_back_by_itself_only_in_its_time_and_at_most_once(
    tmp_path_factory: pytest.TempPathFactory, hours: int, happenings: list[str], dies_after: int
) -> None:
    trials = Trials(Bench(tmp_path_factory.mktemp("host"), SimulatedExecutor(home_server())))
    trials.apply(hours * 3600)
    for what in happenings:
        before, state = show_run(trials.host, "run-1"), trials.bench.executor.state
        happen(trials, what, before.seq + dies_after)
        after = show_run(trials.host, "run-1")
        if "tick" in what and not was_due(before, trials.now):
            assert (after, trials.bench.executor.state) == (before, state)
        if what in ("hour", "day", "restart", "keep"):
            assert trials.bench.executor.state == state
        assert trials.endings <= 1
        assert before.state is not RunState.UNDONE or after.state is RunState.UNDONE
    assert_at_rest(trials)


def was_due(run: Run, now: datetime) -> bool:
    """The rule once more, in other words."""
    trial = run.trial
    assert trial
    is_over = now >= datetime.fromisoformat(trial.until)
    return run.state is RunState.APPLIED and is_over and not trial.kept_at and not trial.ended_at


def happen(trials: Trials, what: str, dies_at: int) -> None:
    match what:
        case "hour" | "day":
            trials.wait(**{f"{what}s": 1})
        case "tick":
            trials.tick()
        case "restart":
            trials.restart()
        case "checkpoint":
            pool = trials.bench.executor.state.pools[0]
            checkpoint = "" if pool.checkpoint else "1G"
            trials.bench.executor.state = with_pool(trials.bench.executor.state, checkpoint=checkpoint)
        case "killed tick":
            try_to(lambda: trials.tick(killer(dies_at)))
        case "keep":
            try_to(lambda: keep_run(trials.host, "run-1", "ben"))
        case "undo":
            try_to(lambda: undo_run(trials.host, "run-1", "ben", lambda _: None))
        case "killed undo":
            try_to(lambda: undo_run(trials.host, "run-1", "ben", killer(dies_at)))


def try_to(do: Callable[[], object]) -> None:
    with suppress(Killed, WrongMoment):
        do()


def assert_at_rest(trials: Trials) -> None:
    """Wherever it ended, a person can take it back to how the host was."""
    state = trials.bench.executor.state
    trials.bench.executor.state = with_pool(state, checkpoint="")
    if show_run(trials.host, "run-1").state is not RunState.UNDONE:
        assert undo_run(trials.host, "run-1", "ben", lambda _: None).state is RunState.UNDONE
    assert shape(trials.bench.executor.inventory()) == home_server().fingerprint


@dataclass
class Clocks:
    """The clocks of a machine that can be set and switched off; what passes is told to them."""

    trials: Trials
    boot: int = 0
    up_s: float = 1000.0
    is_synchronised: bool = False

    def __call__(self, clock: Callable[[], datetime]) -> Moment:
        return Moment(str(self.boot), self.up_s, clock(), self.is_synchronised)

    def run_for(self, **time: float) -> None:
        self.up_s += timedelta(**time).total_seconds()
        self.trials.wait(**time)

    def restart(self, **off: float) -> None:
        """The machine was off for so long, and its clock went on by its battery."""
        self.boot, self.up_s, self.is_synchronised = self.boot + 1, 0.0, False
        self.trials.wait(**off)
        self.trials.restart()


@pytest.fixture
def clocks(trials: Trials) -> Clocks:
    clocks = Clocks(trials)
    trials.clocks = clocks
    trials.restart()
    return clocks


def test_a_trial_begun_with_a_wrong_clock_is_not_taken_back_when_the_right_time_comes(
    trials: Trials, clocks: Clocks
) -> None:
    trials.now = datetime(2010, 1, 1, tzinfo=UTC)
    trials.apply()
    clocks.run_for(seconds=30)
    trials.now, clocks.is_synchronised = START, True
    trials.tick()
    run = show_run(trials.host, "run-1")
    assert run.is_on_trial
    assert run.trial
    assert datetime.fromisoformat(run.trial.until) == START + timedelta(days=1, seconds=-30)
    assert [finding.code for finding in run.findings] == ["trial-moved"]
    assert "2026-08-26 19:59 UTC" in str(run.findings[0])
    clocks.run_for(hours=23.99)
    trials.tick()
    assert trials.endings == 0
    clocks.run_for(hours=0.01)
    trials.tick()
    assert trials.state is RunState.UNDONE


def test_a_clock_that_goes_back_does_not_make_a_trial_longer(trials: Trials, clocks: Clocks) -> None:
    trials.apply()
    trials.now = datetime(2010, 1, 1, tzinfo=UTC)
    trials.tick()
    clocks.run_for(days=1)
    trials.tick()
    assert trials.state is RunState.UNDONE


def test_what_was_spent_is_known_after_the_worker_and_the_machine_start_again(trials: Trials, clocks: Clocks) -> None:
    trials.apply()
    clocks.run_for(hours=20)
    trials.tick()
    trials.restart()
    clocks.run_for(hours=1)
    trials.tick()
    clocks.restart(hours=1)
    clocks.run_for(hours=2)
    trials.tick()
    assert trials.endings == 0
    clocks.run_for(hours=1)
    trials.tick()
    assert trials.state is RunState.UNDONE


def test_time_off_counts_only_if_a_time_source_proves_it(trials: Trials, clocks: Clocks) -> None:
    clocks.is_synchronised = True
    trials.apply()
    clocks.restart(days=30)
    clocks.run_for(minutes=6)
    trials.tick()
    assert trials.endings == 0
    clocks.is_synchronised = True
    trials.tick()
    assert trials.state is RunState.UNDONE


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "flipped"])
def test_a_trial_whose_time_is_not_known_any_more_begins_again_and_says_so(
    trials: Trials, clocks: Clocks, damage: str
) -> None:
    trials.apply()
    kept = trials.host.journals / "run-1" / "trial.json"
    text = kept.read_text()
    damaged = {"empty": "", "cut": text[:-1], "flipped": text.replace('"spent_s": 0.0', '"spent_s": 9e9')}
    assert damaged.get(damage) != text
    kept.unlink() if damage == "gone" else kept.write_text(damaged[damage])
    clocks.run_for(hours=10)
    trials.restart()
    trials.tick()
    run = show_run(trials.host, "run-1")
    assert run.trial
    assert datetime.fromisoformat(run.trial.until) == trials.now + timedelta(days=1)


def test_looking_often_writes_seldom(trials: Trials, clocks: Clocks, monkeypatch: pytest.MonkeyPatch) -> None:
    trials.apply()
    written: list[str] = []
    monkeypatch.setattr("nasadvisor.host.change.trials.keep_clock", lambda *args: written.append(args[1]))
    for _ in range(4 * 60):
        clocks.run_for(seconds=15)
        trials.tick()
    assert len(written) == 4


def test_that_what_was_spent_cannot_be_kept_stops_neither_the_run_nor_the_trial(
    trials: Trials, clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, _clock: object) -> None:
        raise JournalUnwritable(path, OSError(28, "full"))

    monkeypatch.setattr("nasadvisor.host.change.trial_clock.write_checked", full)
    assert trials.apply().is_on_trial
    trials.tick()
    clocks.run_for(days=1)
    trials.tick()
    assert trials.state is RunState.UNDONE


def test_the_root_of_the_journals_need_not_exist(tmp_path: Path) -> None:
    host = Bench(tmp_path, SimulatedExecutor(home_server())).host
    assert TrialWatch(host).due() == ()
