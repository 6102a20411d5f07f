"""The state directory of a run fails at each system call in turn, once or from then on: what happened is told, and
nothing is lost that a finish or an undo needs. `tests/devices/test_faults.py` does the same to the disks.
"""

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from nasadvisor.domain.change.runs import Run, RunState, StepState
from nasadvisor.host.change.journal import (
    DISK_FULL,
    Journal,
    JournalsUnreadable,
    JournalUnwritable,
    RunStopped,
    RunUnknown,
    create_journal,
    open_journal,
    run_ids,
)
from nasadvisor.host.change.runs import apply_plan, finish_run, list_runs, show_run, undo_run
from nasadvisor.host.change.trials import keep_run
from nasadvisor.host.errors import HostError
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.faults import Faults, faulty
from tests.unit.host.change.conftest import Bench, Killed, killer, shape
from tests.unit.host.change.eventful import LOG
from tests.unit.host.change.test_journal_files import LAST, START
from tests.unit.machines import home_server

SCENES = ["apply", "finish", "undo"]
ERRORS = [errno.EIO, errno.ENOSPC, errno.EROFS]


@dataclass
class Scene:
    """A run up to the stretch that fails, and that stretch."""

    bench: Bench
    begin: Callable[[], Run]


def scene(kind: str, root: Path) -> Scene:
    bench = Bench(root, SimulatedExecutor(home_server()))
    host, plan = bench.host, bench.plan(LOG)
    if kind == "apply":
        return Scene(bench, lambda: apply_plan(host, plan, "root", bench.watch, trial_s=3600))
    if kind == "finish":
        with pytest.raises(Killed):
            apply_plan(host, plan, "root", killer(4))
        return Scene(bench, lambda: finish_run(host, plan.id, "root", bench.watch))
    apply_plan(host, plan, "root", bench.watch)
    return Scene(bench, lambda: undo_run(host, plan.id, "root", bench.watch))


def calls_of(kind: str, root: Path) -> int:
    counting = Faults()
    made = scene(kind, root)
    with faulty(counting):
        made.begin()
    return len(counting.seen)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("kind", SCENES)
def test_whatever_fails_beside_the_disks_a_run_can_be_ended(
    tmp_path: Path, kind: str, error: int, lasting: bool
) -> None:
    points = calls_of(kind, tmp_path / "whole")
    assert points > 50
    before = shape(home_server())
    for point in range(1, points + 1):
        made, faults = scene(kind, tmp_path / str(point)), Faults(point, error, lasting)
        host = made.bench.host
        where = ""
        with faulty(faults):
            try:
                made.begin()
            except HostError as told:
                where = f"point {point}, {faults.failing}: {told}"
        try:
            run = show_run(host, "run-1")
        except RunUnknown:
            assert kind == "apply", where
            assert shape(made.bench.executor.inventory()) == before, where
            continue
        assert not run.is_active, where
        if run.can_undo:
            run = undo_run(host, "run-1", "root", made.bench.watch)
        assert run.state in (RunState.UNDONE, RunState.PUT_BACK, RunState.REFUSED), where
        assert shape(made.bench.executor.inventory()) == before, where


def full(*only: str) -> Faults:
    """From the first of these calls on the disk is full."""
    return Faults(1, errno.ENOSPC, lasting=True, only=only)


def test_a_run_that_cannot_keep_its_journal_any_more_stops_and_says_how_it_is_taken_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, append = bench.plan(LOG), Journal.append

    def append_until_full(journal: Journal, record: object) -> None:
        if journal.path.exists() and len(journal.path.read_bytes().splitlines()) >= 4:
            raise JournalUnwritable(journal.path, OSError(errno.EDQUOT, "over quota"))
        append(journal, record)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "append", append_until_full)
        with pytest.raises(RunStopped) as caught:
            apply_plan(bench.host, plan, "root", bench.watch)
    assert caught.value.statement.values["run"] == "run-1"
    assert caught.value.statement.values["reason"] == DISK_FULL
    assert show_run(bench.host, "run-1").state is RunState.INTERRUPTED
    assert undo_run(bench.host, "run-1", "root", bench.watch).state is RunState.UNDONE


def test_a_step_whose_intent_was_not_written_down_did_nothing_and_has_nothing_taken_back(bench: Bench) -> None:
    """Nor is it said that the partition table of an SSD is not the old one, which nobody has touched."""
    with faulty(Faults(2, errno.EIO, only=("pwrite",))):
        run = apply_plan(bench.host, bench.plan(LOG), "root", bench.watch)
    assert (run.state, run.refusals) == (RunState.PUT_BACK, ())
    assert run.steps[0].state is StepState.FAILED
    assert run.steps[0].note
    assert run.steps[0].note.code == "journal-unwritable", "the run goes on to its end, and needs no undo"
    assert run.undo_steps == ()
    assert {finding.code for finding in run.findings} == {"ssds-as-before"}


def test_a_keep_that_cannot_be_written_down_does_not_say_that_a_run_stopped(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(LOG), "root", bench.watch, trial_s=3600)
    with faulty(full("pwrite")), pytest.raises(JournalUnwritable) as caught:
        keep_run(bench.host, "run-1", "anna")
    assert not isinstance(caught.value, RunStopped)
    assert show_run(bench.host, "run-1").is_on_trial


@pytest.mark.parametrize("failing", ["fsync", "pwrite", "ftruncate"])
def test_a_record_that_did_not_get_to_the_disk_is_not_in_the_journal(tmp_path: Path, failing: str) -> None:
    """A second fsync(2) would succeed, though the kernel has forgotten what it could not write."""
    journal = create_journal(tmp_path, "run-1")
    journal.append(START)
    before = journal.path.read_bytes()
    with faulty(Faults(1, errno.EIO, only=(failing,))), pytest.raises(JournalUnwritable):
        journal.append(LAST)
    assert journal.path.read_bytes() == before
    journal.append(LAST)
    assert journal.read() == (START, LAST)


def test_a_journal_that_cannot_be_looked_at_is_not_written_anew(tmp_path: Path) -> None:
    journal = create_journal(tmp_path, "run-1")
    journal.append(START)
    with faulty(Faults(1, errno.EIO, only=("lstat",))):
        journal.append(LAST)
    assert journal.read() == (START, LAST)
    with faulty(Faults(1, errno.EIO, only=("lstat",))):
        assert open_journal(tmp_path, "run-1").read() == (START, LAST)


def test_a_plan_whose_journal_could_not_be_made_can_be_tried_again(tmp_path: Path) -> None:
    for failing in ("fsync", "posix_fallocate"):
        with faulty(Faults(1, errno.EIO, only=(failing,))), pytest.raises(JournalUnwritable):
            create_journal(tmp_path, "run-1")
        assert not (tmp_path / "run-1").exists(), failing
    create_journal(tmp_path, "run-1").append(START)


def test_runs_of_a_directory_that_cannot_be_read_are_not_called_none(bench: Bench, tmp_path: Path) -> None:
    assert run_ids(tmp_path / "nothing") == ()
    (tmp_path / "runs").mkdir()
    with faulty(Faults(1, errno.EIO, only=("listdir",))), pytest.raises(JournalsUnreadable):
        list_runs(bench.host)
