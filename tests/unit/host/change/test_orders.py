"""What a message asks for is done under the id and in the name that it gives, and what stops it is said of that run."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.domain.change.unreadable_runs import UnreadableRun
from nasadvisor.domain.evidence.curve import CacheCurve, Traced
from nasadvisor.domain.evidence.log_blocks import CommitTrace
from nasadvisor.domain.evidence.metadata_blocks import BlockCount
from nasadvisor.domain.fleet import questions as ask
from nasadvisor.domain.fleet.permissions import NONE, Verbs, may_not
from nasadvisor.domain.fleet.platforms import Platform, PlatformReport, Veto
from nasadvisor.domain.health.scrub import ScrubStart
from nasadvisor.domain.health.sweep import Answers, SelfTest, SelfTestStart
from nasadvisor.domain.statements import Finding, Refused, Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host import tasks as module
from nasadvisor.host.broker import CONSOLE_CLOCK
from nasadvisor.host.change.lock import HostBusy
from nasadvisor.host.change.runs import RunHost, RunList, apply_plan, show_run
from nasadvisor.host.change.trials import TrialWatch
from nasadvisor.host.errors import DiskUnknown, MachineUnreadable
from nasadvisor.host.evidence.curve import PoolNotThere
from nasadvisor.host.evidence.metadata import CountUnderWay
from nasadvisor.host.evidence.trace_job import TraceJob
from nasadvisor.host.health.scrub import ScrubRefused
from nasadvisor.host.health.sweep import HandOver
from nasadvisor.host.simulated.evidence import simulated_commits
from nasadvisor.host.tasks import HostTasks
from nasadvisor.stored.documents import from_document, to_document
from tests.unit.domain.evidence.counts import COUNT
from tests.unit.host.change.conftest import Bench, killer
from tests.unit.host.change.conftest import Killed as Ended
from tests.unit.host.change.test_tasks import SWITCH, Sent, sent, tasks
from tests.unit.machines import TANK, with_cache

__all__ = ["sent", "tasks"]

Given = list[tuple[Any, ...]]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> Given:
    """Services that only note what they were asked for, and tell of a run that was applied."""
    run = apply_plan(bench.host, bench.plan(), "anna", bench.watch, 86400)
    calls: Given = []

    def noting(name: str) -> Callable[..., Run]:
        def service(runs: object, *arguments: object) -> Run:
            assert isinstance(runs, RunHost)
            calls.append((name, *(each for each in arguments if not callable(each))))
            for observe in filter(callable, arguments):
                observe(run)
            return run

        return service

    for name in ("apply_plan", "undo_run", "finish_run", "keep_run", "show_run", "end_trial", "move_trial"):
        monkeypatch.setattr(module, name, noting(name))
    return calls


def runs_in(sent: Sent) -> list[str]:
    return [from_document(Run, args[1]).id for task, args in sent if task == "run"]


class TestRuns:
    def test_a_plan_is_applied_in_the_name_of_who_asked_and_for_as_long_as_asked(
        self, bench: Bench, tasks: HostTasks, given: Given
    ) -> None:
        plan = show_run(bench.host, "run-1").plan
        tasks.answer(ask.APPLY, to_document(plan), 86400, "ben")
        tasks.answer(ask.APPLY, to_document(plan), 0, "eva")
        assert given == [("apply_plan", plan, "ben", 86400), ("apply_plan", plan, "eva", 0)]

    @pytest.mark.parametrize("verb", ["undo", "finish"])
    def test_a_run_is_taken_back_or_finished_and_the_host_read_again(
        self, tasks: HostTasks, sent: Sent, given: Given, verb: str
    ) -> None:
        tasks.answer(ask.BY_VERB[verb], "run-1", "ben")
        assert given == [(f"{verb}_run", "run-1", "ben")]
        assert [task for task, _ in sent] == ["run", "platform-report", "inventory"]

    def test_a_run_is_kept_and_shown_without_reading_the_host(self, tasks: HostTasks, sent: Sent, given: Given) -> None:
        tasks.answer(ask.KEEP, "run-1", "ben")
        tasks.answer(ask.REPORT_RUN, "run-1")
        assert given == [("keep_run", "run-1", "ben"), ("show_run", "run-1")]
        assert runs_in(sent) == ["run-1"] * 2

    def test_every_run_is_reported_with_what_the_host_shows_of_those_that_cannot_be_read(
        self, bench: Bench, tasks: HostTasks, sent: Sent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = apply_plan(bench.host, bench.plan(), "anna", bench.watch)
        asked: list[object] = []

        def both(runs: object, look: object) -> RunList:
            asked.extend((runs, look))
            return RunList((run, replace(run, seq=run.seq + 1)), ())

        monkeypatch.setattr(module, "list_runs", both)
        tasks.answer(ask.REPORT_RUNS)
        assert asked == [tasks.runs, tasks.look]
        assert runs_in(sent) == ["run-1"] * 2

    def test_an_undo_of_a_damaged_run_tells_what_the_host_shows_of_it(
        self, bench: Bench, tasks: HostTasks, sent: Sent
    ) -> None:
        apply_plan(bench.host, bench.plan(), "anna", bench.watch)
        journal = bench.host.journals / "run-1" / "journal.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join([lines[0], *lines[2:]]))
        tasks.answer(ask.UNDO, "run-1", "anna")
        blind = replace(tasks, look=unreadable)
        blind.answer(ask.UNDO, "run-1", "anna")
        seen, unseen = (from_document(UnreadableRun, args[1]) for task, args in sent if task == "unreadable-run")
        assert seen.id == unseen.id == "run-1"
        assert "The host still shows these traces of it: partition 1 on" in str(seen.said)
        assert "The host still shows" not in str(unseen.said)

    @pytest.mark.parametrize("verb", ["undo", "finish", "keep"])
    def test_what_stops_an_order_is_said_of_its_run(self, tasks: HostTasks, sent: Sent, verb: str) -> None:
        tasks.answer(ask.BY_VERB[verb], "nope", "ben")
        task, (node, run_id, why) = sent[0]
        assert (task, node, run_id) == (f"{verb} error", "nas", "nope")
        assert "This host has no run nope" in str(from_document(Statement, why))

    def test_what_stops_a_plan_is_said_of_its_run(
        self, bench: Bench, tasks: HostTasks, sent: Sent, given: Given
    ) -> None:
        replace(tasks, allowed=frozenset()).answer(ask.APPLY, to_document(show_run(bench.host, "run-1").plan), 0, "ben")
        assert sent[0][0] == "apply error"
        assert sent[0][1][:2] == ["nas", "run-1"]
        assert given == []

    def test_a_run_of_which_nothing_is_known_yet_is_not_told_of_and_one_that_cannot_be_shown_is(
        self, tasks: HostTasks, sent: Sent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tasks.answer(ask.REPORT_RUN, "nope")
        assert sent == []
        monkeypatch.setattr(module, "show_run", busy)
        tasks.answer(ask.REPORT_RUN, "run-1")
        [(task, (_, run_id, why))] = sent
        assert (task, run_id) == ("report_run error", "run-1")
        assert "/run/lock is held" in str(from_document(Statement, why))

    def test_what_stops_a_question_about_nothing_is_not_told(
        self, tasks: HostTasks, sent: Sent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The console asks it again by itself, and has nothing beside which it could show the error."""
        monkeypatch.setattr(module, "list_runs", busy)
        tasks.answer(ask.REPORT_RUNS)
        assert sent == []
        assert "/run/lock is held" in caplog.text

    def test_a_run_that_was_cut_off_is_finished_for_who_asks(self, bench: Bench, tasks: HostTasks) -> None:
        with pytest.raises(Ended):
            apply_plan(bench.host, bench.plan(), "anna", killer(5))
        tasks.answer(ask.FINISH, "run-1", "ben")
        assert show_run(bench.host, "run-1").state is RunState.APPLIED


class TestTrials:
    def test_a_trial_that_ends_at_another_time_is_told_with_that_time(
        self, tasks: HostTasks, sent: Sent, given: Given, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(TrialWatch, "moved", lambda _: {"run-1": "2026-09-01T00:00:00+00:00"})
        monkeypatch.setattr(TrialWatch, "due", lambda _: ())
        tasks.end_trials()
        assert given == [("move_trial", "run-1", "2026-09-01T00:00:00+00:00")]
        assert runs_in(sent) == ["run-1"]

    def test_a_trial_whose_new_end_cannot_be_written_down_now_keeps_no_other_from_ending(
        self, tasks: HostTasks, sent: Sent, given: Given, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(TrialWatch, "moved", lambda _: {"run-1": "2026-09-01T00:00:00+00:00"})
        monkeypatch.setattr(TrialWatch, "due", lambda _: ("run-2",))
        monkeypatch.setattr(module, "move_trial", busy)
        tasks.end_trials()
        assert given == [("end_trial", "run-2")]
        assert [task for task, _ in sent][-1] == "inventory"

    def test_a_trial_that_waits_or_cannot_be_ended_keeps_no_other_from_ending(
        self, tasks: HostTasks, sent: Sent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tried: list[str] = []

        def end(_runs: object, run_id: str, _observe: object) -> None:
            tried.append(run_id)
            if run_id == "waits":
                raise HostBusy(Path("/run/lock"))
            if run_id == "fails":
                raise MachineUnreadable("udev", "gone")

        monkeypatch.setattr(TrialWatch, "moved", lambda _: {})
        monkeypatch.setattr(TrialWatch, "due", lambda _: ("waits", "fails", "ends"))
        monkeypatch.setattr(module, "end_trial", end)
        tasks.end_trials()
        assert tried == ["waits", "fails", "ends"]
        [(run_id, why)] = [args[1:] for task, args in sent if task == "undo error"]
        assert run_id == "fails"
        assert "udev could not be read" in str(from_document(Statement, why))
        assert [task for task, _ in sent].count("inventory") == 2


class TestLooking:
    def test_what_the_platform_says_goes_by_the_inventory_that_was_just_read(
        self, tasks: HostTasks, sent: Sent
    ) -> None:
        asked: list[Inventory] = []

        def platform(inventory: Inventory) -> PlatformReport:
            asked.append(inventory)
            return PlatformReport("nas", inventory.read_at, (Platform("pve", "9"),))

        replace(tasks, platform=platform).read_inventory()
        assert from_document(PlatformReport, sent[0][1][1]).platforms == (Platform("pve", "9"),)
        assert [to_document(each) for each in asked] == [sent[1][1][1]]

    def test_what_the_host_itself_says_stands_behind_what_its_platform_says(
        self, bench: Bench, tasks: HostTasks, sent: Sent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """First caches that are out, then its clock."""
        monkeypatch.setattr(CONSOLE_CLOCK, "ahead", timedelta(minutes=3))
        bench.executor.state = with_cache()
        tasks.answer(ask.START_SWITCHING, to_document(SWITCH), "anna")
        tasks.switches.host.records.change(SWITCH.id, lambda record: replace(record, problem=Statement("why", "Gone.")))

        def platform(inventory: Inventory) -> PlatformReport:
            vetoes, findings = (Veto(Refused("busy", "A backup runs.")),), (Finding("old", "It is old.", {}),)
            return PlatformReport("nas", inventory.read_at, vetoes=vetoes, findings=findings)

        replace(tasks, platform=platform, allowed=NONE).read_inventory()
        [report] = [from_document(PlatformReport, args[1]) for task, args in sent if task == "platform-report"]
        assert [veto.reason.code for veto in report.vetoes] == ["busy", *(may_not(group).code for group in Verbs)]
        assert [each.code for each in report.findings] == ["old", "switched-cache-out", "clock-ahead"]
        assert report.findings[-1].subject == "nas"

    def test_a_sample_is_not_taken_while_one_is_being_taken_and_is_again_afterwards(self, tasks: HostTasks) -> None:
        taken: list[int] = []

        def again() -> Any:
            taken.append(len(taken))
            if len(taken) < 9:
                sampling.answer(ask.SAMPLE)
            raise MachineUnreadable("zpool", "gone")

        sampling = replace(tasks, sample=again)
        sampling.answer(ask.SAMPLE)
        assert taken == [0]
        sampling.answer(ask.SAMPLE)
        assert taken == [0, 1]

    def test_programs_that_wait_are_watched_again_after_a_watch_that_failed(self, tasks: HostTasks, sent: Sent) -> None:
        tasks.answer(ask.WATCH_WAITING)
        tasks.answer(ask.WATCH_WAITING)
        assert [task for task, _ in sent] == ["watch_waiting error"] * 2

    def test_another_fault_of_sampling_is_told_as_well(
        self, tasks: HostTasks, caplog: pytest.LogCaptureFixture
    ) -> None:
        faults = iter(("zpool", "zpool", "proc", "zpool"))

        def blind() -> Any:
            raise MachineUnreadable(next(faults), "gone")

        blinded = replace(tasks, sample=blind)
        for _ in range(4):
            blinded.answer(ask.SAMPLE)
        told = [record.getMessage() for record in caplog.records]
        assert [next(word for word in ("zpool", "proc") if word in line) for line in told] == ["zpool", "proc", "zpool"]

    def test_reads_are_followed_as_asked_and_each_part_is_told_until_they_are_to_be_no_more(
        self, tasks: HostTasks, sent: Sent
    ) -> None:
        asked: list[tuple[str, int]] = []
        begun, stopped = Event(), Event()
        curve = CacheCurve(Traced(TANK, "tank", "2026-08-25T20:00:00+00:00", 60, 60, False), *(0,) * 10, (), ())

        def trace(
            guid: str, seconds: int, told: Callable[[CacheCurve], None], is_stopped: Callable[[], bool]
        ) -> CacheCurve:
            asked.append((guid, seconds))
            begun.set()
            assert stopped.wait(30)
            assert is_stopped()
            told(curve)
            return replace(curve, missed=1)

        following = replace(tasks, curve=TraceJob(trace))
        following.answer(ask.TRACE_CURVE, TANK, 3600)
        assert begun.wait(30)
        following.answer(ask.TRACE_CURVE, TANK, 7200)
        following.answer(ask.STOP_CURVE)
        stopped.set()
        following.curve.wait(30)
        assert asked == [(TANK, 3600)]
        refused, *told = sent
        assert refused[0] == "trace_curve error"
        assert [task for task, _ in told] == ["cache-curve"] * 2
        assert [from_document(CacheCurve, args[1]).missed for _, args in told] == [0, 1]

    def test_commits_are_followed_as_asked_and_told(self, tasks: HostTasks, sent: Sent) -> None:
        trace = simulated_commits(TANK, "tank", "2026-08-25T20:00:00+00:00", 60)
        following = replace(tasks, commits=TraceJob(lambda *_: trace))
        following.answer(ask.TRACE_COMMITS, TANK, 60)
        following.commits.wait(30)
        [(task, (node, told))] = sent
        assert (task, node) == ("commit-trace", "nas")
        assert from_document(CommitTrace, told) == trace

    def test_why_commits_cannot_be_followed_is_said_of_their_pool(self, tasks: HostTasks, sent: Sent) -> None:
        tasks.answer(ask.TRACE_COMMITS, TANK, 60)
        tasks.commits.wait(30)
        [(task, (_node, guid, why))] = sent
        assert (task, guid) == ("trace_commits error", TANK)
        assert from_document(Statement, why) == PoolNotThere(TANK).statement

    def test_why_reads_cannot_be_followed_is_said_of_their_pool(self, tasks: HostTasks, sent: Sent) -> None:
        tasks.answer(ask.TRACE_CURVE, TANK, 3600)
        tasks.curve.wait(30)
        [(task, (node, guid, why))] = sent
        assert (task, node, guid) == ("trace_curve error", "nas", TANK)
        assert from_document(Statement, why) == PoolNotThere(TANK).statement

    @pytest.mark.parametrize("asked", [("../x", 3600), (TANK, 59), (TANK, 86401), (TANK, "60"), (TANK,)])
    def test_what_is_no_pool_or_no_time_is_not_followed(
        self, tasks: HostTasks, sent: Sent, asked: tuple[Any, ...]
    ) -> None:
        tasks.answer(ask.TRACE_CURVE, *asked)
        tasks.curve.wait(30)
        assert sent == []

    def test_blocks_are_counted_as_asked_one_pool_at_a_time(self, tasks: HostTasks, sent: Sent) -> None:
        asked: list[tuple[str, int]] = []
        begun, ended = Event(), Event()

        def count(guid: str, limit_s: int) -> BlockCount:
            asked.append((guid, limit_s))
            begun.set()
            assert ended.wait(30)
            return COUNT

        counting = replace(tasks, count=count)
        counting.answer(ask.COUNT_BLOCKS, TANK, 3600)
        assert begun.wait(30)
        counting.answer(ask.COUNT_BLOCKS, TANK, 7200)
        ended.set()
        counting.evidence._counting.wait(30)
        assert asked == [(TANK, 3600)]
        (refused, (_, _, why)), (told, (_, document)) = sent
        assert (refused, told) == ("count_blocks error", "block-count")
        assert from_document(Statement, why) == CountUnderWay().statement
        assert from_document(BlockCount, document) == COUNT

    def test_why_blocks_are_not_counted_is_said_of_their_pool(self, tasks: HostTasks, sent: Sent) -> None:
        tasks.answer(ask.COUNT_BLOCKS, TANK, 3600)
        tasks.evidence._counting.wait(30)
        [(task, (node, guid, _))] = sent
        assert (task, node, guid) == ("count_blocks error", "nas", TANK)

    @pytest.mark.parametrize("asked", [("../x", 3600), (TANK, 59), (TANK, 28801), (TANK, "60"), (TANK,)])
    def test_what_is_no_pool_or_no_time_is_not_counted(
        self, tasks: HostTasks, sent: Sent, asked: tuple[Any, ...]
    ) -> None:
        tasks.answer(ask.COUNT_BLOCKS, *asked)
        tasks.evidence._counting.wait(30)
        assert sent == []

    def test_the_answers_of_a_sweep_carry_the_name_of_the_node(self, tasks: HostTasks, sent: Sent) -> None:
        tasks.answer(ask.SMART_SWEEP)
        assert from_document(Answers, sent[0][1][1]).node == "nas"

    def test_a_sweep_that_another_one_is_at_already_is_not_told_of(self, tasks: HostTasks, sent: Sent) -> None:
        def running(_: HandOver) -> None:
            return None

        replace(tasks, health=replace(tasks.health, sweep=running)).answer(ask.SMART_SWEEP)
        assert sent == []

    def test_a_self_test_is_begun_on_the_disk_and_of_the_kind_that_was_asked_for(
        self, tasks: HostTasks, sent: Sent
    ) -> None:
        begun: list[tuple[str, SelfTest]] = []

        def begin(key: str, test: SelfTest) -> None:
            begun.append((key, test))
            if key == "0x2":
                raise DiskUnknown(key)

        mine = replace(tasks, health=replace(tasks.health, start_test=begin))
        mine.answer(ask.START_SELF_TEST, "0x1", "long", "anna")
        mine.answer(ask.START_SELF_TEST, "0x2", "short", "anna")
        assert begun == [("0x1", SelfTest.LONG), ("0x2", SelfTest.SHORT)]
        (told, (node, document)), (failed, (_, key, _)) = sent
        assert (told, node, from_document(SelfTestStart, document)) == (
            "self-test-start",
            "nas",
            SelfTestStart("nas", "0x1"),
        )
        assert (failed, key) == ("start_self_test error", "0x2")

    def test_a_scrub_that_was_started_is_told_with_the_host_as_it_is_then(self, tasks: HostTasks, sent: Sent) -> None:
        begun: list[str] = []
        mine = replace(tasks, health=replace(tasks.health, start_scrub=begun.append))
        mine.answer(ask.START_SCRUB, TANK, "anna")
        assert begun == [TANK]
        assert [name for name, _ in sent] == ["scrub-start", "platform-report", "inventory"]
        assert from_document(ScrubStart, sent[0][1][1]) == ScrubStart("nas", TANK)

    def test_a_scrub_that_was_refused_says_why_about_its_pool(self, tasks: HostTasks, sent: Sent) -> None:
        def refused(_guid: str) -> None:
            raise ScrubRefused("tank", "currently resilvering")

        replace(tasks, health=replace(tasks.health, start_scrub=refused)).answer(ask.START_SCRUB, TANK, "anna")
        [(failed, (_, guid, _statement))] = sent
        assert (failed, guid) == ("start_scrub error", TANK)


def busy(*_: object) -> None:
    raise HostBusy(Path("/run/lock"))


def unreadable() -> Inventory:
    raise MachineUnreadable("udev", "gone")
