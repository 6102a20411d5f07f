"""Where runs happen: who may ask for what and when, under which locks, and what is told of it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import Continued, Goal, Run, RunState, Started
from nasadvisor.domain.change.trial import LONGEST_S, SHORTEST_S, Moment, begin_clock
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB
from nasadvisor.host.change import runs as runs_module
from nasadvisor.host.change.journal import RESERVE_NAME, JournalUnwritable, RunUnknown
from nasadvisor.host.change.lock import HostBusy, host_lock, is_held
from nasadvisor.host.change.logbook import Observer
from nasadvisor.host.change.runs import (
    NobodyAsks,
    NothingToTry,
    NoTrialLength,
    RunHost,
    WrongMoment,
    apply_plan,
    finish_run,
    list_runs,
    nobody_watches,
    open_book,
    seen,
    show_run,
    undo_run,
)
from nasadvisor.host.change.trial_clock import read_clock
from tests.unit.host.change.conftest import Bench, Killed, killer
from tests.unit.host.change.eventful import GONE, LOG, Host, cut_to, host_of, records, vetoes
from tests.unit.machines import NVME2, TANK, home_server, with_dead_log, with_pool

CACHE = PlanRequest(TANK, cache_disks=(NVME2,), cache_size_bytes=4 * GIB)
FORBIDDEN_NAMES: tuple[object, ...] = ("", "a\nb", "x" * 257, None, 7, b"root")


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return Bench(tmp_path, Host(home_server()))


def applied(bench: Bench) -> Run:
    return apply_plan(bench.host, bench.plan(LOG), "root", bench.watch)


def interrupted(bench: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(bench.host, bench.plan(LOG), "root", killer(4))


def begun(bench: Bench) -> Started:
    first = records(bench)[0]
    assert isinstance(first, Started)
    return first


# Who asks, and for how long


@pytest.mark.parametrize("by", FORBIDDEN_NAMES)
def test_a_name_that_no_journal_can_keep_begins_nothing(made: Bench, by: str) -> None:
    with pytest.raises(NobodyAsks):
        apply_plan(made.host, made.plan(LOG), by, made.watch)
    assert list_runs(made.host).runs == ()
    interrupted(made)
    before = records(made)
    for act in (finish_run, undo_run):
        with pytest.raises(NobodyAsks):
            act(made.host, "run-1", by, made.watch)
    assert records(made) == before


def test_who_asked_and_for_how_long_stands_in_the_first_record(made: Bench) -> None:
    plan = made.plan(LOG)
    apply_plan(made.host, plan, "x" * 256, made.watch, 3600)
    assert begun(made) == Started(begun(made).at, Goal.APPLY, plan, "x" * 256, 3600)
    assert begun(made).at.startswith("2026-08-25T20:00:")


def test_a_run_is_for_good_unless_somebody_says_for_how_long(made: Bench) -> None:
    assert applied(made).trial is None
    assert begun(made).trial_s == 0


def test_a_run_is_one_of_the_host_on_which_it_was_applied(made: Bench) -> None:
    assert {run.node for run in (applied(made), *made.seen)} == {made.host.node}


def test_nothing_is_applied_to_a_pool_that_cannot_be_read_by_then(made: Bench) -> None:
    plan, host = made.plan(LOG), host_of(made)
    host.state = with_pool(host.state, problem="odd")
    run = apply_plan(made.host, plan, "root", made.watch)
    assert run.state is RunState.REFUSED
    assert [refused.code for refused in run.refusals] == ["host-unreadable"]


@pytest.mark.parametrize("act", [finish_run, undo_run])
def test_nothing_is_finished_or_undone_on_a_pool_that_cannot_be_read_by_then(
    made: Bench, act: Callable[[RunHost, str, str, Observer], Run]
) -> None:
    """Else a log that only is not shown would count as gone, and its slice be given away."""
    interrupted(made)
    host_of(made).state = with_pool(host_of(made).state, problem="odd")
    host_of(made).did.clear()
    run = act(made.host, "run-1", "root", made.watch)
    assert (run.state, [refused.code for refused in run.refusals]) == (RunState.INTERRUPTED, ["host-unreadable"])
    assert host_of(made).did == []


def test_what_no_undo_takes_back_cannot_be_tried(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Host(with_dead_log()))
    plan = bench.plan(PlanRequest(TANK, dead_log="61"))
    with pytest.raises(NothingToTry) as caught:
        apply_plan(bench.host, plan, "root", bench.watch, SHORTEST_S)
    assert caught.value.statement.code == "nothing-to-try"
    with pytest.raises(NoTrialLength):
        apply_plan(bench.host, plan, "root", bench.watch, SHORTEST_S - 1)
    assert list_runs(bench.host).runs == ()
    assert apply_plan(bench.host, plan, "root", bench.watch).state is RunState.APPLIED


@pytest.mark.parametrize("trial_s", [SHORTEST_S - 1, LONGEST_S + 1, -SHORTEST_S, 1, True, 3600.0, "3600", None])
def test_a_trial_that_cannot_be_begins_nothing(made: Bench, trial_s: int) -> None:
    with pytest.raises(NoTrialLength) as caught:
        apply_plan(made.host, made.plan(LOG), "root", made.watch, trial_s)
    assert caught.value.statement.values == {"days": "90"}
    assert list_runs(made.host).runs == ()


@pytest.mark.parametrize("trial_s", [SHORTEST_S, LONGEST_S])
def test_the_shortest_and_the_longest_trial_can_be(made: Bench, trial_s: int) -> None:
    run = apply_plan(made.host, made.plan(LOG), "root", made.watch, trial_s)
    assert run.trial
    assert run.trial.seconds == trial_s


NOON = Moment("boot-1", 5.0, datetime(2026, 8, 25, 12, tzinfo=UTC), is_synchronised=True)


def with_clocks(bench: Bench, asked: list[Callable[[], datetime]]) -> RunHost:
    host = bench.host

    def clocks(clock: Callable[[], datetime]) -> Moment:
        asked.append(clock)
        return NOON

    return replace(host, clocks=clocks)


def test_the_clock_of_a_trial_begins_when_the_run_is_applied(made: Bench) -> None:
    asked: list[Callable[[], datetime]] = []
    host = with_clocks(made, asked)
    apply_plan(host, made.plan(LOG), "root", made.watch, 3600)
    assert read_clock(host.journals, "run-1") == begin_clock(NOON)
    assert asked == [host.clock]


def test_the_clock_of_a_trial_begins_when_the_run_is_finished(made: Bench) -> None:
    host = with_clocks(made, [])
    with pytest.raises(Killed):
        apply_plan(host, made.plan(LOG), "root", killer(4), 3600)
    assert read_clock(host.journals, "run-1") is None
    finish_run(host, "run-1", "root", made.watch)
    assert read_clock(host.journals, "run-1") == begin_clock(NOON)


# At the right moment


def test_a_run_that_is_not_interrupted_is_not_finished(made: Bench) -> None:
    applied(made)
    before = records(made)
    with pytest.raises(WrongMoment) as caught:
        finish_run(made.host, "run-1", "root", made.watch)
    assert caught.value.statement.values == {"run": "run-1", "state": "applied"}
    assert "cannot be finished" in str(caught.value)
    assert records(made) == before


def test_a_run_that_is_undone_is_not_undone_again(made: Bench) -> None:
    applied(made)
    undo_run(made.host, "run-1", "root", made.watch)
    before = records(made)
    with pytest.raises(WrongMoment) as caught:
        undo_run(made.host, "run-1", "root", made.watch)
    assert caught.value.statement.values == {"run": "run-1", "state": "undone"}
    assert "cannot be undone" in str(caught.value)
    assert records(made) == before


def test_of_a_device_that_failed_and_was_taken_out_there_is_nothing_to_undo(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Host(with_dead_log()))
    apply_plan(bench.host, bench.plan(PlanRequest(TANK, dead_log="61")), "root", bench.watch)
    before = records(bench)
    with pytest.raises(WrongMoment) as caught:
        undo_run(bench.host, "run-1", "root", bench.watch)
    assert caught.value.statement.values == {"run": "run-1", "state": "applied"}
    assert "there is nothing to undo" in str(caught.value)
    assert records(bench) == before


def test_who_finishes_a_run_is_written_down(made: Bench) -> None:
    interrupted(made)
    assert finish_run(made.host, "run-1", "anna", made.watch).state is RunState.APPLIED
    [again] = [record for record in records(made) if isinstance(record, Continued)]
    assert (again.goal, again.by, again.undo) == (Goal.FINISH, "anna", ())


def test_a_plan_whose_first_record_cannot_be_written_can_be_tried_again(
    made: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(5, "broken")

    monkeypatch.setattr("os.pwrite", fail)
    with pytest.raises(JournalUnwritable):
        applied(made)
    assert list(made.host.journals.iterdir()) == []


def test_the_platform_of_the_host_is_asked_for_each_stretch(made: Bench) -> None:
    forbidden = no.NoPool("platform")
    interrupted(made)
    host = replace(made.host, vetoes=vetoes(forbidden, Goal.FINISH, []))
    assert finish_run(host, "run-1", "root", made.watch).refusals == (forbidden,)
    host = replace(made.host, vetoes=vetoes(forbidden, Goal.UNDO, []))
    assert undo_run(host, "run-1", "root", made.watch).refusals == (forbidden,)
    host = replace(made.host, vetoes=vetoes(forbidden, Goal.APPLY, []))
    assert apply_plan(host, made.plan(CACHE, "run-2"), "root", made.watch).refusals == (forbidden,)


# Under the locks


def test_all_locks_are_held_and_handed_to_who_acts(made: Bench, tmp_path: Path) -> None:
    handed: list[tuple[int, ...]] = []
    locks = (tmp_path / "ours", tmp_path / "the platforms")

    def executor(descriptors: tuple[int, ...]) -> Host:
        handed.append(descriptors)
        assert all(map(is_held, locks))
        return host_of(made)

    host = replace(made.host, locks=locks, executor=executor)
    with pytest.raises(Killed):
        apply_plan(host, made.plan(LOG), "root", killer(4))
    finish_run(host, "run-1", "root", made.watch)
    undo_run(host, "run-1", "root", made.watch)
    assert [len(descriptors) for descriptors in handed] == [2, 2, 2]
    assert not any(map(is_held, locks))


@pytest.mark.parametrize("act", [finish_run, undo_run])
def test_nobody_else_acts_meanwhile(
    made: Bench, monkeypatch: pytest.MonkeyPatch, act: Callable[[RunHost, str, str, Observer], Run]
) -> None:
    interrupted(made)
    waits: list[float] = []
    monkeypatch.setattr(runs_module, "LOCK_WAIT_S", 0.0)
    before = records(made)
    with host_lock(made.host.locks, 0), pytest.raises(HostBusy):
        act(made.host, "run-1", "root", made.watch)
    assert (records(made), waits) == (before, [])


def test_space_for_its_records_is_kept_while_a_run_goes_on(made: Bench) -> None:
    reserve = made.host.journals / "run-1" / RESERVE_NAME
    kept: list[bool] = []

    def look(run: Run) -> None:
        kept.append(reserve.exists())

    interrupted(made)
    reserve.unlink()
    finish_run(made.host, "run-1", "root", look)
    assert not reserve.exists()
    undo_run(made.host, "run-1", "root", look)
    assert set(kept) == {True}
    assert not reserve.exists()


# What is told


def test_the_hosts_own_watcher_is_told_first_with_the_goal_and_the_name(made: Bench) -> None:
    told: list[tuple[str, int]] = []
    asked: list[tuple[Goal, str]] = []

    def watcher(goal: Goal, by: str) -> Observer:
        asked.append((goal, by))
        return lambda run: told.append(("watcher", run.seq))

    host = replace(made.host, watcher=watcher)
    with pytest.raises(Killed):
        apply_plan(host, made.plan(LOG), "anna", killer(4))
    finish_run(host, "run-1", "berta", lambda run: told.append(("observer", run.seq)))
    undo_run(host, "run-1", "clara", made.watch)
    assert asked == [(Goal.APPLY, "anna"), (Goal.FINISH, "berta"), (Goal.UNDO, "clara")]
    assert told[:6] == [
        *(("watcher", seq) for seq in (1, 2, 3, 4)),
        ("watcher", 5),
        ("observer", 5),
    ]


def test_a_host_without_a_watcher_tells_nobody(made: Bench) -> None:
    nobody_watches(Goal.APPLY, "root")(applied(made))


def test_a_run_at_which_nobody_is_is_interrupted_and_one_at_work_is_not(made: Bench) -> None:
    interrupted(made)
    assert show_run(made.host, "run-1").state is RunState.INTERRUPTED
    with host_lock(made.host.locks, 0):
        assert show_run(made.host, "run-1").state is RunState.APPLYING
    assert show_run(made.host, "run-1").node == "nas"


def test_a_logbook_is_opened_with_all_that_stands_in_it(made: Bench) -> None:
    interrupted(made)
    told: list[Run] = []
    with host_lock(made.host.locks, 0):
        book, run = open_book(made.host, "run-1", told.append)
    assert (run.state, book.run.state) == (RunState.INTERRUPTED, RunState.APPLYING)
    assert run.node == "nas"
    assert (tuple(book.records), book.node, book.observe) == (records(made), "nas", told.append)
    assert book.now().startswith("2026-08-25T20:00:")
    assert book.journal.directory == made.host.journals / "run-1"


def test_a_run_that_is_not_there_is_not_opened(made: Bench) -> None:
    for act in (finish_run, undo_run):
        with pytest.raises(RunUnknown):
            act(made.host, "gone", "root", made.watch)


def clock_at(start: datetime) -> Callable[[], datetime]:
    return lambda: start


def three(bench: Bench) -> None:
    """Three runs, of which the second began last."""
    for run_id, hour in (("run-1", 10), ("run-2", 12), ("run-3", 11)):
        start = datetime(2026, 8, 25, hour, tzinfo=UTC)
        host = replace(bench.host, clock=clock_at(start))
        apply_plan(host, bench.plan(LOG, run_id), "root", bench.watch)
        undo_run(host, run_id, "root", bench.watch)


def test_runs_are_listed_with_the_newest_first(made: Bench) -> None:
    three(made)
    (made.host.journals / "empty").mkdir()
    found = list_runs(made.host)
    assert [run.id for run in found.runs] == ["run-2", "run-3", "run-1"]
    assert found.unreadable == ()


def test_a_run_that_goes_while_they_are_listed_is_passed_over(made: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    three(made)
    monkeypatch.setattr(runs_module, "run_ids", lambda root: ("run-1", "run-0", "run-3"))
    assert [run.id for run in list_runs(made.host).runs] == ["run-3", "run-1"]


def test_the_host_is_only_looked_at_for_runs_that_cannot_be_read(made: Bench) -> None:
    looks: list[Inventory] = []

    def look() -> Inventory:
        looks.append(home_server())
        return looks[-1]

    applied(made)
    list_runs(made.host, look)
    assert looks == []
    (made.host.journals / "run-0").mkdir()
    (made.host.journals / "run-0" / "journal.jsonl").write_bytes(b"")
    path = made.host.journals / "run-1" / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"done"', b'"gone"', 1))
    found = list_runs(made.host, look)
    assert [(run.id, run.node) for run in found.unreadable] == [("run-0", "nas"), ("run-1", "nas")]
    assert found.unreadable[1].left
    assert found.unreadable[1].left.code == "run-left-nothing"
    assert len(looks) == 1
    assert [run.left for run in list_runs(made.host).unreadable] == [None, None]


def test_a_host_that_cannot_be_read_is_seen_as_none() -> None:
    def blind() -> Inventory:
        raise GONE

    assert seen(blind) is None
    assert seen(home_server) == home_server()


def test_a_journal_that_lost_records_is_gone_on_with(made: Bench) -> None:
    applied(made)
    cut_to(made, 1)
    assert show_run(made.host, "run-1").state is RunState.INTERRUPTED
    assert finish_run(made.host, "run-1", "root", made.watch).state is RunState.APPLIED
    undo_run(made.host, "run-1", "root", made.watch)
    again = apply_plan(made.host, made.plan(CACHE, "run-2"), "root", made.watch)
    assert again.state is RunState.APPLIED
