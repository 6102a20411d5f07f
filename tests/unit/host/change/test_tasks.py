"""The worker's tasks: what they accept, what they publish, and what happens when nobody listens."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from kombu.exceptions import OperationalError

from nasadvisor.domain.change.runs import Goal, Run, RunState, Started
from nasadvisor.domain.change.unreadable_runs import Unreadable, UnreadableRun
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress, Stage
from nasadvisor.domain.evidence.measuring.probing import ProbeResult
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.switched import CacheSwitching, SwitchOrder
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.fleet import questions as ask
from nasadvisor.domain.fleet.permissions import ALL, NONE, Verbs, may_not, why_not
from nasadvisor.domain.fleet.platforms import Notice, NoticeAnswer, PlatformReport
from nasadvisor.domain.fleet.schema_versions import SchemaVersions
from nasadvisor.domain.health.sweep import Answers, SelfTest, SweepReport
from nasadvisor.domain.statements import Level, Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.journal import RecordUnreadable, create_journal
from nasadvisor.host.change.lock import host_lock
from nasadvisor.host.change.runs import NobodyAsks, apply_plan, finish_run, list_runs, show_run, undo_run
from nasadvisor.host.change.trials import keep_run
from nasadvisor.host.config import config_from
from nasadvisor.host.console_link import celery_app
from nasadvisor.host.errors import CommandFailed, DiskUnknown, MachineUnreadable, ToolMissing
from nasadvisor.host.evidence.switching import NothingRead
from nasadvisor.host.health.sweep import HandOver, HealthServices
from nasadvisor.host.simulated.smart import simulated_health
from nasadvisor.host.tasks import HostTasks, read
from nasadvisor.host.timer import start_timer
from nasadvisor.stored.documents import DocumentError, from_document, to_document
from nasadvisor.stored.kinds import own_schema_versions
from tests.unit.host.change.conftest import Bench, rechained
from tests.unit.machines import TANK, with_cache, with_pool


class Sent(list[tuple[str, list[Any]]]):
    """What was told: the name of an answer with the host and the document, or that of a question that has none with the
    host, what it was about, and why.
    """

    def send_task(self, task: str, args: list[Any], queue: str, retry: bool) -> None:
        assert queue == "console"
        assert retry is False
        node, name, *rest = args
        self.append((name if task == ask.ANSWER_TASK else f"{name} error", [node, *rest]))


NOW = datetime(2026, 8, 25, tzinfo=UTC)
SWITCH = SwitchOrder("6f1ef6fe-3b8c-4c62-8c3e-7a1d7c0f9a11", TANK)


def refuse(order: MeasureOrder, observe: Callable[[MeasureProgress], None]) -> Measurement:
    del observe
    raise MachineUnreadable("fio", f"no {order.id}")


def untraced() -> WaitingPrograms:
    raise ToolMissing("bpftrace", "bpftrace", ("/usr/bin",))


def health(bench: Bench) -> HealthServices:
    return simulated_health(bench.executor.inventory(), NOW)


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def tasks(bench: Bench, sent: Sent, monkeypatch: pytest.MonkeyPatch) -> HostTasks:
    app = celery_app(config_from({"NASADVISOR_NODE": "nas"}))
    monkeypatch.setattr(app, "send_task", sent.send_task)
    return HostTasks(app, "nas", bench.executor.inventory, bench.host, Reading, refuse, health(bench), untraced)


def test_it_registers_exactly_its_verbs(tasks: HostTasks) -> None:
    tasks.register()
    own = {name for name in tasks.app.tasks if name.startswith("host.")}
    runs = ("apply", "undo", "finish", "keep", "report_run", "report_runs")
    looks = ("hear_forms", "read_inventory", "sample", "watch_waiting", "trace_curve", "stop_curve", "smart_sweep")
    commits = ("trace_commits", "stop_commits")
    switches = ("start_switching", "stop_switching", "report_switching")
    verbs = (*looks, *commits, "count_blocks", "measure", "start_self_test", "start_scrub", "notify", *runs, *switches)
    assert own == {f"host.{verb}" for verb in verbs}


def test_the_tasks_of_one_host_are_not_given_to_another(tasks: HostTasks, bench: Bench, tmp_path: Path) -> None:
    """Several hosts in one process, as in a simulation: each answers for itself."""
    tasks.register()
    other = celery_app(config_from({"NASADVISOR_RUN_DIR": str(tmp_path)}))
    assert [name for name in other.tasks if name.startswith("host.")] == []
    HostTasks(other, "nas", bench.executor.inventory, bench.host, Reading, refuse, health(bench), untraced).register()
    assert other.tasks["host.report_runs"].app is other


def test_what_a_message_brings_reaches_the_reader(tasks: HostTasks, bench: Bench) -> None:
    tasks.register()
    tasks.app.tasks["host.apply"].run(to_document(bench.plan()), 0, "anna")
    assert (show_run(bench.host, "run-1").by, show_run(bench.host, "run-1").state) == ("anna", RunState.APPLIED)


def test_it_takes_json_only_and_never_retries(tasks: HostTasks) -> None:
    assert tasks.app.conf.accept_content == ["json"]
    assert tasks.app.conf.task_acks_late is False


def test_a_redis_that_is_down_does_not_hold_up_a_run(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("kombu.utils.functional.sleep", waits.append)
    app = celery_app(config_from({"NASADVISOR_RUN_DIR": str(tmp_path)}))
    HostTasks(
        app, "nas", bench.executor.inventory, bench.host, Reading, refuse, health(bench), untraced
    ).read_inventory()
    assert sum(waits) == 0


def test_it_publishes_what_it_sees(tasks: HostTasks, sent: Sent) -> None:
    tasks.read_inventory()
    [(first_task, (first_node, report)), (task, (node, document))] = sent
    assert (task, node) == ("inventory", "nas")
    assert from_document(Inventory, document).host.node == "nas"
    assert (first_task, first_node) == ("platform-report", "nas")
    assert from_document(PlatformReport, report).node == "nas"


def test_a_host_that_is_only_watched_changes_nothing_for_any_console(
    tasks: HostTasks, bench: Bench, sent: Sent
) -> None:
    """Each verb of the console that changes something, at the host itself: nothing is begun, and the reason is told."""
    watched = replace(tasks, allowed=NONE)
    before = tasks.look()
    watched.answer(ask.APPLY, to_document(bench.plan()), 0, "eve")
    for question in (ask.UNDO, ask.FINISH, ask.KEEP):
        watched.answer(question, bench.plan().id, "eve")
    watched.answer(ask.START_SELF_TEST, before.disks[0].key, "short", "eve")
    watched.answer(ask.START_SCRUB, TANK, "eve")
    watched.answer(ask.START_SWITCHING, to_document(SWITCH), "eve")
    watched.answer(ask.STOP_SWITCHING, TANK, "eve")
    assert list_runs(tasks.runs, tasks.look).runs == ()
    assert tasks.look() == before
    said = [arguments[-1] for _, arguments in sent if isinstance(arguments[-1], dict) and "code" in arguments[-1]]
    assert [document["code"] for document in said] == ["watch-only"] * 8
    watched.read_inventory()
    assert sent[-1][0] == "inventory"


def test_a_host_that_is_only_watched_answers_whoever_looks(tasks: HostTasks, sent: Sent) -> None:
    replace(tasks, allowed=NONE).answer(ask.READ_INVENTORY)
    assert [task for task, _ in sent] == ["platform-report", "inventory"]


@pytest.mark.parametrize("group", Verbs)
def test_a_host_refuses_the_verbs_of_a_group_that_it_does_not_allow_and_says_so_beforehand(
    tasks: HostTasks, bench: Bench, sent: Sent, group: Verbs
) -> None:
    """Proves for each verb of a console beyond looking that it belongs to the group which stops it."""
    limited = replace(tasks, allowed=ALL - {group})
    run_id, disk = bench.plan().id, tasks.look().disks[0].key
    order = to_document(MeasureOrder("9f0a3f5e-9b5c-4f0e-8d4b-0d6d7a0c1b2a", "1", ""))
    asked: dict[Verbs, list[Callable[[], object]]] = {
        Verbs.CHANGE: [partial(limited.answer, question, run_id, "eve") for question in (ask.FINISH, ask.KEEP)],
        Verbs.UNDO: [lambda: limited.answer(ask.UNDO, run_id, "eve")],
        Verbs.MEASURE: [
            lambda: limited.answer(ask.MEASURE, order),
            lambda: limited.answer(ask.START_SELF_TEST, disk, "short", "eve"),
            lambda: limited.answer(ask.START_SCRUB, TANK, "eve"),
        ],
    }
    asked[Verbs.CHANGE].insert(0, lambda: limited.answer(ask.APPLY, to_document(bench.plan()), 0, "eve"))
    asked[Verbs.CHANGE].append(lambda: limited.answer(ask.START_SWITCHING, to_document(SWITCH), "eve"))
    for ask_for_it in asked[group]:
        ask_for_it()
    codes = [arguments[-1]["code"] for task, arguments in sent if task.endswith("error") or "self_test" in task]
    assert codes == [may_not(group).code] * len(asked[group])
    assert list_runs(tasks.runs, tasks.look).runs == ()
    limited.read_inventory()
    report = from_document(PlatformReport, sent[-2][1][1])
    assert [each for each in Verbs if why_not(report, each)] == [group]


def told(sent: Sent) -> list[CacheSwitching]:
    return [from_document(CacheSwitching, args[-1]) for task, args in sent if task == "cache-switching"]


def test_a_cache_that_is_switched_is_told_of_at_each_change_and_stopped_by_who_may_undo(
    tasks: HostTasks, bench: Bench, sent: Sent
) -> None:
    bench.executor.state = with_cache()
    tasks.answer(ask.START_SWITCHING, to_document(SWITCH), "anna")
    assert [each.is_under_way for each in told(sent)] == [True]
    may_undo = replace(tasks, allowed=frozenset({Verbs.UNDO}))
    may_undo.answer(ask.STOP_SWITCHING, TANK, "ben")
    assert told(sent)[-1].ended_at
    tasks.answer(ask.REPORT_RUNS)
    assert told(sent)[-1] == told(sent)[-2]
    tasks.answer(ask.REPORT_SWITCHING, "1")
    tasks.answer(ask.STOP_SWITCHING, TANK, "ben")
    assert sent[-1][0] == "stop_switching error"


def test_while_a_cache_is_switched_the_counters_of_the_host_are_read(tasks: HostTasks) -> None:
    made: list[NothingRead] = []

    def counters() -> NothingRead:
        made.append(NothingRead())
        return made[-1]

    counting = replace(tasks, counters=counters).switches.host
    assert [counting.counters(), counting.counters()] == made


def test_why_a_cache_is_not_switched_is_said(tasks: HostTasks, bench: Bench, sent: Sent) -> None:
    bench.executor.state = with_pool(with_cache(), caches=())
    tasks.answer(ask.START_SWITCHING, to_document(SWITCH), "anna")
    task, (node, guid, document) = sent[-1]
    assert (task, node, guid) == ("start_switching error", "nas", TANK)
    assert document["code"] == "no-cache-to-switch"


def test_a_cache_that_could_not_be_put_back_is_a_finding_of_the_host(
    tasks: HostTasks, bench: Bench, sent: Sent
) -> None:
    bench.executor.state = with_cache()
    tasks.answer(ask.START_SWITCHING, to_document(SWITCH), "anna")
    why = Statement("why", "Its disk is gone.")
    tasks.switches.host.records.change(SWITCH.id, lambda record: replace(record, problem=why))
    tasks.read_inventory()
    [report] = [args[-1] for task, args in sent if task == "platform-report"]
    [finding] = from_document(PlatformReport, report).findings
    assert (finding.code, finding.level) == ("switched-cache-out", Level.WARNING)
    assert "Its disk is gone." in str(finding)


def test_what_became_of_a_message_for_the_platform_is_said(tasks: HostTasks, sent: Sent) -> None:
    notice = to_document(Notice(Level.WARNING, "A log wears out", "…"))
    instead = Statement("by-mail", "The platform did not confirm it, so it went out as a mail.")

    def lose(_notice: Notice) -> None:
        raise MachineUnreadable("perl", "gone")

    taken: list[Notice] = []
    for notifier in (taken.append, lambda _notice: instead, lose):
        replace(tasks, notifier=notifier).answer(ask.NOTIFY, notice, "<1@nasadvisor>")
    assert taken == [Notice(Level.WARNING, "A log wears out", "…")]
    tasks.answer(ask.NOTIFY, notice, "<1@nasadvisor>")
    answers = [from_document(NoticeAnswer, args[1]) for name, args in sent[:2] if name == "notice-answer"]
    assert answers == [NoticeAnswer("<1@nasadvisor>"), NoticeAnswer("<1@nasadvisor>", instead)]
    (lost, (_, message_id, why)), (no_platform, (*_, why_not_here)) = sent[2:]
    assert (lost, no_platform, message_id) == ("notify error", "notify error", "<1@nasadvisor>")
    assert "gone" in str(from_document(Statement, why))
    assert "No platform on this host" in str(from_document(Statement, why_not_here))


@pytest.mark.parametrize("message_id", [None, 1, {"x": 1}])
def test_what_is_no_message_is_not_sent(tasks: HostTasks, sent: Sent, message_id: Any) -> None:
    notices: list[Notice] = []

    def keep(notice: Notice) -> None:
        notices.append(notice)

    replace(tasks, notifier=keep).answer(ask.NOTIFY, {"subject": "nothing else"}, "<1@nasadvisor>")
    replace(tasks, notifier=keep).answer(ask.NOTIFY, to_document(Notice(Level.INFO, "x", "y")), message_id)
    assert (notices, sent) == ([], [])


def test_it_publishes_why_it_sees_nothing(tasks: HostTasks, sent: Sent) -> None:
    def blind() -> Inventory:
        raise MachineUnreadable("udev", "gone")

    replace(tasks, look=blind).read_inventory()
    [(task, (*about, document))] = sent
    assert (task, about) == ("read_inventory error", ["nas", ""])
    assert "udev could not be read" in str(from_document(Statement, document))


def test_a_pool_that_goes_away_while_it_is_looked_at_is_no_failure(tasks: HostTasks, sent: Sent) -> None:
    looks = iter((CommandFailed("zpool get -j all side", 1, "no such pool available", mutates=False), tasks.look()))

    def look() -> Inventory:
        if isinstance(found := next(looks), CommandFailed):
            raise found
        return found

    replace(tasks, look=look).read_inventory()
    assert [task for task, _ in sent][-1] == "inventory"


def test_a_command_that_fails_twice_is_told_of(tasks: HostTasks, sent: Sent) -> None:
    def look() -> Inventory:
        raise CommandFailed("zpool get -j all side", 1, "permission denied", mutates=False)

    replace(tasks, look=look).read_inventory()
    assert [task for task, _ in sent] == ["read_inventory error"]


def test_every_record_of_a_run_is_published(bench: Bench, tasks: HostTasks, sent: Sent) -> None:
    tasks.answer(ask.APPLY, to_document(bench.plan()), 0, "anna")
    runs = [from_document(Run, args[1]) for task, args in sent if task == "run"]
    assert [run.seq for run in runs] == list(range(1, 25))
    assert sent[-1][0] == "inventory"  # the pages show at once what it led to
    assert runs[-1].state is RunState.APPLIED
    assert runs[-1].by == "anna"


def test_a_plan_with_foreign_fields_is_dropped(bench: Bench, tasks: HostTasks, sent: Sent) -> None:
    before = bench.executor.state
    tasks.answer(ask.APPLY, {**to_document(bench.plan()), "force": True}, 0, "eve")
    tasks.answer(ask.APPLY, {}, 0, "eve")
    assert bench.executor.state == before
    assert sent == []


def test_a_second_delivery_of_the_same_plan_does_nothing(bench: Bench, tasks: HostTasks, sent: Sent) -> None:
    document = to_document(bench.plan())
    tasks.answer(ask.APPLY, document, 0, "anna")
    after = bench.executor.state
    sent.clear()
    tasks.answer(ask.APPLY, document, 0, "anna")
    assert bench.executor.state == after
    assert [task for task, _ in sent] == [
        "apply error",
        "platform-report",
        "inventory",
    ]


def test_a_run_goes_on_while_nobody_listens(
    bench: Bench, tasks: HostTasks, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object, **__: object) -> None:
        raise OperationalError("no socket")

    plan = bench.plan()
    with monkeypatch.context() as patch:
        patch.setattr(tasks.app, "send_task", down)
        tasks.answer(ask.APPLY, to_document(plan), 0, "anna")
    assert sent == []
    tasks.answer(ask.REPORT_RUN, plan.id)
    [(task, (_, document))] = sent
    assert task == "run"
    assert from_document(Run, document).state is RunState.APPLIED


def test_a_sweep_publishes_its_answers_and_then_how_it_went(tasks: HostTasks, sent: Sent) -> None:
    tasks.answer(ask.SMART_SWEEP)
    assert [task for task, _ in sent] == ["answers", "sweep-report"]
    answers = from_document(Answers, sent[0][1][1])
    report = from_document(SweepReport, sent[1][1][1])
    assert tuple(answer.disk_key for answer in answers.answers) == report.disk_keys


def test_a_sweep_that_cannot_be_made_says_why(bench: Bench, tasks: HostTasks, sent: Sent) -> None:
    def no_tool(_: HandOver) -> SweepReport:
        raise ToolMissing("smartctl", "smartmontools", ("/usr/sbin",))

    replace(tasks, health=replace(health(bench), sweep=no_tool)).answer(ask.SMART_SWEEP)
    [(task, (*_, document))] = sent
    assert task == "smart_sweep error"
    assert "Install the package smartmontools" in str(from_document(Statement, document))


def test_a_self_test_that_was_not_begun_says_why(bench: Bench, tasks: HostTasks, sent: Sent) -> None:
    def unknown(key: str, _: SelfTest) -> None:
        raise DiskUnknown(key)

    broken = replace(tasks, health=replace(health(bench), start_test=unknown))
    broken.answer(ask.START_SELF_TEST, "0x1", "short", "anna")
    broken.answer(ask.START_SELF_TEST, "0x1", "everything", "eve")
    tasks.answer(ask.START_SELF_TEST, "0x1", "long", "anna")
    assert [name for name, _ in sent] == ["start_self_test error", "self-test-start"]
    assert "no disk 0x1" in str(from_document(Statement, sent[0][1][2]))


def test_a_journal_that_cannot_be_read_is_reported_beside_the_other_runs(
    bench: Bench, tasks: HostTasks, sent: Sent
) -> None:
    tasks.answer(ask.APPLY, to_document(bench.plan()), 0, "anna")
    for name, journal in (("newer", rechained('{"version": 99}')), ("damaged", b"")):
        other = bench.host.journals / name
        other.mkdir()
        (other / "journal.jsonl").write_bytes(journal)
    sent.clear()
    tasks.answer(ask.REPORT_RUNS)
    assert sorted(task for task, _ in sent) == ["run", *["unreadable-run"] * 2]
    told = [from_document(UnreadableRun, args[1]) for task, args in sent if task == "unreadable-run"]
    assert [(run.id, run.node, run.state) for run in told] == [
        ("damaged", "nas", Unreadable.DAMAGED),
        ("newer", "nas", Unreadable.NEWER),
    ]


def test_an_undo_of_a_damaged_run_tells_the_console_that_it_is_damaged(
    bench: Bench, tasks: HostTasks, sent: Sent
) -> None:
    tasks.answer(ask.APPLY, to_document(bench.plan()), 0, "anna")
    (bench.host.journals / "run-1" / "journal.jsonl").write_bytes(b"")
    sent.clear()
    tasks.answer(ask.UNDO, "run-1", "anna")
    tasks.answer(ask.REPORT_RUN, "run-1")
    told = [from_document(UnreadableRun, args[1]) for task, args in sent if task == "unreadable-run"]
    assert [run.state for run in told] == [Unreadable.DAMAGED] * 2


def test_it_publishes_samples_and_nothing_where_there_are_none(tasks: HostTasks, sent: Sent) -> None:
    tasks.answer(ask.SAMPLE)
    assert sent == []
    reading = Reading((Sample("1", "tank", 10, 10.0),))
    replace(tasks, sample=lambda: reading).answer(ask.SAMPLE)
    [(task, (node, document))] = sent
    assert (task, node) == ("reading", "nas")
    assert from_document(Reading, document) == reading


def test_a_pool_that_cannot_be_sampled_only_leaves_a_gap_and_is_told_once(
    tasks: HostTasks, sent: Sent, caplog: pytest.LogCaptureFixture
) -> None:
    def blind() -> Reading:
        raise MachineUnreadable("zpool", "gone")

    blinded = replace(tasks, sample=blind)
    blinded.answer(ask.SAMPLE)
    blinded.answer(ask.SAMPLE)
    assert sent == []
    assert len([record for record in caplog.records if "sample" in record.message]) == 1


def test_it_publishes_what_was_measured_or_why_not(tasks: HostTasks, sent: Sent) -> None:
    order = MeasureOrder("0a1b2c3d", "1")
    found = Measurement(order, ProbeResult("0a1b2c3d", "1", "tank", "", False, ()))
    tasks.answer(ask.MEASURE, {"not": "an order"})
    assert sent == []
    tasks.answer(ask.MEASURE, to_document(order))
    replace(tasks, measure=lambda *_: found).answer(ask.MEASURE, to_document(order))
    (failed, (_, order_id, sentence)), (stored, (_, document)) = sent
    assert (failed, order_id) == ("measure error", order.id)
    assert "fio" in str(from_document(Statement, sentence))
    assert stored == "measurement"
    assert from_document(Measurement, document) == found


def test_it_publishes_which_programs_wait_or_why_it_cannot_tell(tasks: HostTasks, sent: Sent) -> None:
    found = WaitingPrograms("2026-08-25T20:00:00+00:00", 20, ())
    tasks.answer(ask.WATCH_WAITING)
    replace(tasks, watch_waiting=lambda: found).answer(ask.WATCH_WAITING)
    (failed, (*_, sentence)), (stored, (_, document)) = sent
    assert failed == "watch_waiting error"
    assert "Install the package bpftrace" in str(from_document(Statement, sentence))
    assert stored == "waiting-programs"
    assert from_document(WaitingPrograms, document) == found


def test_one_trace_at_a_time(tasks: HostTasks, sent: Sent) -> None:
    def impatient() -> WaitingPrograms:
        tasking.answer(ask.WATCH_WAITING)
        return WaitingPrograms("2026-08-25T20:00:00+00:00", 20, ())

    tasking = replace(tasks, watch_waiting=impatient)
    tasking.answer(ask.WATCH_WAITING)
    assert [task for task, _ in sent] == ["waiting-programs"]


def later(tasks: HostTasks, days: float) -> HostTasks:
    """The same tasks on a host whose clock is ahead."""
    now = datetime.now(UTC) + timedelta(days=days)
    return replace(tasks, runs=replace(tasks.runs, clock=lambda: now))


def test_a_trial_ends_by_the_hosts_own_clock_and_is_published(bench: Bench, tasks: HostTasks, sent: Sent) -> None:
    before = bench.executor.state
    tasks.answer(ask.APPLY, to_document(bench.plan()), 86400, "anna")
    sent.clear()
    tasks.end_trials()
    assert sent == []
    later(tasks, 365).end_trials()
    runs = [from_document(Run, args[1]) for task, args in sent if task == "run"]
    assert runs[-1].state is RunState.UNDONE
    assert sent[-1][0] == "inventory"
    assert bench.executor.state.disks == before.disks


def test_a_trial_ends_also_while_nobody_listens(
    bench: Bench, tasks: HostTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object, **__: object) -> None:
        raise OperationalError("no socket")

    plan = bench.plan()
    monkeypatch.setattr(tasks.app, "send_task", down)
    tasks.answer(ask.APPLY, to_document(plan), 86400, "anna")
    later(tasks, 365).end_trials()
    assert show_run(bench.host, plan.id).state is RunState.UNDONE


def test_an_undo_ends_what_switches_the_cache_first(
    tasks: HostTasks, bench: Bench, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand and at the end of a trial; the record was ended before anything else was done."""
    asked: list[str] = []
    monkeypatch.setattr(
        "nasadvisor.host.evidence.evidence_tasks.end_before_undo", lambda _host, run_id, _observe: asked.append(run_id)
    )
    tasks.answer(ask.APPLY, to_document(bench.plan()), 86400, "anna")
    later(tasks, 365).end_trials()
    tasks.answer(ask.UNDO, bench.plan().id, "anna")
    assert asked == ["run-1", "run-1"]


def test_a_trial_waits_while_somebody_changes_the_host(
    bench: Bench, tasks: HostTasks, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nasadvisor.host.change.trials.LOCK_WAIT_S", 0.05)
    tasks.answer(ask.APPLY, to_document(bench.plan()), 86400, "anna")
    sent.clear()
    with host_lock(bench.host.locks, 0):
        later(tasks, 365).end_trials()
    assert sent == []
    later(tasks, 365).end_trials()
    assert sent


def test_what_is_kept_is_published_and_what_is_not_on_trial_says_why(
    bench: Bench, tasks: HostTasks, sent: Sent
) -> None:
    plan = bench.plan()
    tasks.answer(ask.APPLY, to_document(plan), 86400, "anna")
    sent.clear()
    tasks.answer(ask.KEEP, plan.id, "ben")
    tasks.answer(ask.KEEP, "nope", "ben")
    [(stored, (_, document)), (failed, (_, run_id, _))] = sent
    assert stored == "run"
    kept = from_document(Run, document)
    assert kept.trial
    assert kept.trial.kept_by == "ben"
    assert (failed, run_id) == ("keep error", "nope")
    later(tasks, 365).end_trials()
    assert show_run(bench.host, plan.id).state is RunState.APPLIED


@pytest.mark.parametrize("trial_s", ["86400", 1.5, True, None])
def test_a_trial_whose_length_is_not_a_number_is_dropped(
    bench: Bench, tasks: HostTasks, sent: Sent, trial_s: Any
) -> None:
    before = bench.executor.state
    tasks.answer(ask.APPLY, to_document(bench.plan()), trial_s, "eve")
    assert bench.executor.state == before
    assert sent == []


def test_the_timer_works_after_a_while_and_ends_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nasadvisor.host.timer.EVERY_S", 0.01)
    worked, stopping = Event(), Event()
    began = monotonic()
    ended: list[bool] = []
    thread = start_timer(worked.set, stopping, 0.2, lambda: ended.append(stopping.is_set()))
    assert worked.wait(30)
    assert monotonic() - began >= 0.2
    stopping.set()
    thread.join(30)
    assert not thread.is_alive()
    assert not thread.daemon
    assert ended == [True], "what is left to do at the end is done once, and then"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_that_nobody_foresaw_does_not_end_the_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nasadvisor.host.timer.EVERY_S", 0.01)
    calls, stopping = list[int](), Event()

    def work() -> None:
        calls.append(len(calls))
        if len(calls) == 1:
            raise KeyError("unforeseen")
        stopping.set()

    start_timer(work, stopping, 0).join(30)
    assert calls == [0, 1]


def test_it_publishes_how_far_a_measurement_is(tasks: HostTasks, sent: Sent) -> None:
    order = MeasureOrder("0a1b2c3d", "1")
    found = Measurement(order, ProbeResult("0a1b2c3d", "1", "tank", "", False, ()))
    progress = MeasureProgress(order.id, Stage.PROBE, 2, 5, "2026-08-25T20:00:00+00:00", 40, 55)

    def measure(_: MeasureOrder, observe: Callable[[MeasureProgress], None]) -> Measurement:
        observe(progress)
        return found

    replace(tasks, measure=measure).answer(ask.MEASURE, to_document(order))
    assert [task for task, _ in sent] == ["measure-progress", "measurement"]
    assert from_document(MeasureProgress, sent[0][1][1]) == progress


def test_it_tells_the_console_which_forms_it_speaks(tasks: HostTasks, sent: Sent) -> None:
    tasks.tell_forms()
    [(task, (node, document))] = sent
    told = from_document(SchemaVersions, document)
    assert (task, node, told.node) == ("schema-versions", "nas", "nas")
    assert told.forms["record"] >= 1


def test_it_says_of_an_older_console_that_it_is_older(tasks: HostTasks, caplog: pytest.LogCaptureFixture) -> None:
    ours = own_schema_versions()
    tasks.answer(ask.HEAR_FORMS, to_document(ours))
    tasks.answer(ask.HEAR_FORMS, to_document(replace(ours, forms={**ours.forms, "run": ours.forms["run"] + 1})))
    assert caplog.messages == []
    tasks.answer(ask.HEAR_FORMS, to_document(replace(ours, release="0.0.1", forms={**ours.forms, "run": 0})))
    assert "older release of NAS Advisor (0.0.1) than this host" in caplog.text
    tasks.answer(ask.HEAR_FORMS, {"forms": 5})
    assert "refused hear_forms" in caplog.text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(("short", "anna", "\ud800")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def right_arguments(bench: Bench) -> dict[str, list[Any]]:
    """Of every task, arguments that it takes."""
    run = ["no-such-run", "anna"]
    return {
        "apply": [to_document(bench.plan()), 86400, "anna"],
        "measure": [to_document(MeasureOrder("0a1b2c3d", "1"))],
        "notify": [to_document(Notice(Level.WARNING, "A log wears out", "…")), "<1@nas>"],
        "start_self_test": ["0x1", "short", "anna"],
        "start_scrub": ["1", "anna"],
        "report_run": run[:1],
        "trace_curve": ["1", 60],
        "trace_commits": ["1", 60],
        "count_blocks": ["1", 60],
        "start_switching": [to_document(SWITCH), "anna"],
        "stop_switching": ["1", "anna"],
        "report_switching": ["1"],
        "stop_curve": [],
        "stop_commits": [],
        "hear_forms": [to_document(own_schema_versions())],
        **dict.fromkeys(("undo", "finish", "keep"), run),
        **{verb: [] for verb in ("read_inventory", "sample", "watch_waiting", "smart_sweep", "report_runs")},
    }


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_message_brings_nothing_is_applied_and_no_journal_begun(
    bench: Bench, tasks: HostTasks, data: st.DataObject
) -> None:
    if "host.apply" not in tasks.app.tasks:
        tasks.register()
    right = right_arguments(bench)
    assert {f"host.{verb}" for verb in right} == {name for name in tasks.app.tasks if name.startswith("host.")}
    verb = data.draw(st.sampled_from(sorted(right)))
    arguments, named = [*right[verb]], dict[str, Any]()
    match data.draw(st.sampled_from(("other", "more", "fewer", "named") if arguments else ("more", "named"))):
        case "other":
            place = data.draw(st.integers(0, len(arguments) - 1))
            arguments[place] = data.draw(JSON.filter(lambda value: value != right[verb][place]))
            # A name or a number of another kind is one: an order with it is in order.
            assume(not (verb == "apply" and place > 0 and reads_as(place, arguments[place])))
        case "more":
            arguments.append(data.draw(JSON))
        case "fewer":
            del arguments[data.draw(st.integers(0, len(arguments) - 1)) :]
        case _:
            named = {data.draw(st.text(max_size=8) | st.sampled_from(("by", "self", "trial_s"))): data.draw(JSON)}
    before = bench.executor.state
    tasks.app.tasks[f"host.{verb}"].run(*arguments, **named)
    assert bench.executor.state == before
    assert not bench.host.journals.exists() or list(bench.host.journals.iterdir()) == []


def reads_as(place: int, value: object) -> bool:
    try:
        read((ask.TRIAL_LENGTH, ask.ASKER)[place - 1], value)
    except DocumentError:
        return False
    return True


FOREIGN: tuple[Any, ...] = ({"x": 1}, 5, None, "", b"anna", ["anna"], "a\nb", "\ud800", "x" * 257, "a\0")


@pytest.mark.parametrize("by", FOREIGN)
def test_who_asks_must_be_a_name_that_a_journal_can_keep(bench: Bench, by: Any) -> None:
    """Asked of the services themselves, so that it holds for the command line as well."""
    before = bench.executor.state
    with pytest.raises(NobodyAsks):
        apply_plan(bench.host, bench.plan(), by, lambda _: None)
    assert (bench.executor.state, bench.host.journals.exists()) == (before, False)
    run = apply_plan(bench.host, bench.plan(), "anna", lambda _: None, 86400)
    journal = (bench.host.journals / run.id / "journal.jsonl").read_bytes()
    services: tuple[Callable[[], Run], ...] = (
        lambda: undo_run(bench.host, run.id, by, lambda _: None),
        lambda: finish_run(bench.host, run.id, by, lambda _: None),
        lambda: keep_run(bench.host, run.id, by),
    )
    for service in services:
        with pytest.raises(NobodyAsks):
            service()
    assert (bench.host.journals / run.id / "journal.jsonl").read_bytes() == journal


def test_a_record_that_nobody_could_read_again_is_not_written(bench: Bench, tmp_path: Path) -> None:
    journal = create_journal(tmp_path, "run-1")
    started = Started("2026-08-25T20:00:00+00:00", Goal.APPLY, bench.plan(), {"x": 1})  # type: ignore[arg-type]
    with pytest.raises(RecordUnreadable, match="expected str, found dict"):
        journal.append(started)
    assert not journal.path.exists()
