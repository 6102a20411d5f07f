"""A run as the platform's list of tasks shows it."""

import os
from dataclasses import replace

import pytest

from nasadvisor.domain.change.runs import Goal
from nasadvisor.host.change.runs import RunHost, apply_plan, undo_run
from nasadvisor.host.fleet.platforms import KEPT, TaskLog
from plugins.contract.host import Task
from tests.unit.host.change.conftest import Bench, Killed, killer


def watched(bench: Bench, tasks: list[Task], folder: str = "tasks") -> RunHost:
    return replace(bench.host, watcher=lambda goal, by: TaskLog(bench.root / folder, goal, by, tasks.append))


def test_a_run_is_announced_once_and_told_step_by_step(bench: Bench) -> None:
    tasks: list[Task] = []
    apply_plan(watched(bench, tasks), bench.plan(), "anna@pve", bench.watch)
    (task,) = tasks
    assert (task.run_id, task.goal, task.pool, task.by, task.pid) == (
        "run-1",
        Goal.APPLY,
        "tank",
        "anna@pve",
        os.getpid(),
    )
    lines = task.log.read_text().splitlines()
    assert "run-1 on pool tank" in lines[0]
    assert lines[-1] == "END OK"
    assert len(lines) == len(set(lines)) == 2 + 2 * 8


def test_an_undo_is_a_task_of_its_own(bench: Bench) -> None:
    tasks: list[Task] = []
    apply_plan(watched(bench, tasks), bench.plan(), "root", bench.watch)
    undo_run(watched(bench, tasks), "run-1", "root", bench.watch)
    assert [task.goal for task in tasks] == [Goal.APPLY, Goal.UNDO]
    assert tasks[1].log.read_text().endswith("END OK\n")


def test_a_run_that_is_refused_ends_with_the_reason_on_one_line(bench: Bench) -> None:
    tasks: list[Task] = []
    outdated = replace(bench.plan(), fingerprint="other")
    apply_plan(watched(bench, tasks), outdated, "root", bench.watch)
    last = tasks[0].log.read_text().splitlines()[-1]
    assert last.startswith("END ERROR Pool tank")


def test_a_run_that_is_killed_has_no_end(bench: Bench) -> None:
    tasks: list[Task] = []
    with pytest.raises(Killed):
        apply_plan(watched(bench, tasks), bench.plan(), "root", killer(after_records=4))
    assert "END" not in tasks[0].log.read_text()


def test_a_log_that_cannot_be_written_does_not_stop_a_run(bench: Bench) -> None:
    (bench.root / "file").write_text("")
    tasks: list[Task] = []
    run = apply_plan(watched(bench, tasks, "file"), bench.plan(), "root", bench.watch)
    assert run.state == "applied"
    assert tasks == []


def test_old_logs_go(bench: Bench) -> None:
    folder = bench.root / "tasks"
    folder.mkdir()
    for number in range(KEPT + 10):
        (folder / f"old-{number}.log").write_text("")
    apply_plan(watched(bench, []), bench.plan(), "root", bench.watch)
    assert len(list(folder.iterdir())) == KEPT + 1
