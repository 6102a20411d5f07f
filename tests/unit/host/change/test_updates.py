"""Runs over updates of NAS Advisor: what an earlier release began, a later one shows, ends and takes back."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from nasadvisor.domain.change.runs import RunState
from nasadvisor.host.change.chain import payload_of
from nasadvisor.host.change.journal import FILE_NAME, JournalOfNewerRelease
from nasadvisor.host.change.runs import apply_plan, finish_run, list_runs, show_run, undo_run
from nasadvisor.host.change.trials import TrialWatch, end_trial
from nasadvisor.stored import kinds
from nasadvisor.stored.kinds import kind_of
from nasadvisor.stored.upgrades import Document
from tests.unit.host.change.conftest import Bench, Killed, killer, rechained, shape


def renamed(document: Document) -> Document:
    """What a pretended next release does to records: a step is called by its `number` until then."""
    return {"step" if name == "number" else name: value for name, value in document.items()}


def as_before(path: Path) -> None:
    """Rewrite a journal as the release before the pretended one wrote it."""
    lines = []
    for line in path.read_bytes().splitlines():
        document = json.loads(payload_of(line))
        lines.append(json.dumps({"number" if name == "step" else name: value for name, value in document.items()}))
    path.write_bytes(rechained("\n".join(lines)))


@pytest.fixture
def update(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes this release the pretended next one, whose records have the number after today's."""

    def now() -> None:
        records = [kind for kind in kinds.all_kinds() if kind.name == "record"]
        monkeypatch.setattr(kinds, "_registry", dict(kinds._registry))
        for kind in records:
            kinds.register(replace(kind, upgrades=(*kind.upgrades, renamed)))

    return now


def test_a_run_that_was_applied_before_an_update_is_undone_after_it(bench: Bench, update: Callable[[], None]) -> None:
    before = shape(bench.executor.inventory())
    applied = apply_plan(bench.host, bench.plan(), "anna", bench.watch)
    path = bench.host.journals / "run-1" / FILE_NAME
    as_before(path)
    kept = path.read_bytes()
    update()
    assert show_run(bench.host, "run-1") == applied
    undone = undo_run(bench.host, "run-1", "anna", bench.watch)
    assert undone.state is RunState.UNDONE
    assert shape(bench.executor.inventory()) == before
    assert show_run(bench.host, "run-1") == undone
    assert path.read_bytes().startswith(kept), "a journal is gone on with, never rewritten"
    versions = [json.loads(payload_of(line))["version"] for line in path.read_bytes().splitlines()]
    assert sorted(set(versions)) == [versions[0], versions[0] + 1]


@pytest.mark.parametrize("records", [2, 7, 15])
@pytest.mark.parametrize("act", [undo_run, finish_run])
def test_a_run_that_was_interrupted_by_an_update_is_ended_both_ways_after_it(
    bench: Bench, update: Callable[[], None], act: Callable[..., object], records: int
) -> None:
    with pytest.raises(Killed):
        apply_plan(bench.host, bench.plan(), "anna", killer(records))
    as_before(bench.host.journals / "run-1" / FILE_NAME)
    update()
    act(bench.host, "run-1", "anna", bench.watch)
    assert show_run(bench.host, "run-1").state in (RunState.UNDONE, RunState.APPLIED)


def test_a_trial_that_was_begun_before_an_update_ends_by_itself_after_it(
    bench: Bench, update: Callable[[], None]
) -> None:
    before = shape(bench.executor.inventory())
    apply_plan(bench.host, bench.plan(), "anna", bench.watch, 3600)
    as_before(bench.host.journals / "run-1" / FILE_NAME)
    update()
    clock = bench.host.clock
    later = replace(bench.host, clock=lambda: clock() + timedelta(days=1))
    assert TrialWatch(later).due() == ("run-1",)
    end_trial(later, "run-1", bench.watch)
    assert show_run(bench.host, "run-1").state is RunState.UNDONE
    assert shape(bench.executor.inventory()) == before


def test_after_going_back_a_run_is_listed_as_one_of_a_newer_release_and_nothing_is_done(
    bench: Bench, update: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    update()
    apply_plan(bench.host, bench.plan(), "anna", bench.watch)
    monkeypatch.undo()
    before = bench.executor.inventory()
    [run] = list_runs(bench.host).unreadable
    assert run.state == "newer"
    for act in (undo_run, finish_run):
        with pytest.raises(JournalOfNewerRelease, match="Update NAS Advisor on this host"):
            act(bench.host, "run-1", "anna", bench.watch)
    assert bench.executor.inventory() == before


def test_the_pretended_update_is_one(update: Callable[[], None]) -> None:
    record = next(kind for kind in kinds.all_kinds() if kind.name == "record")
    update()
    after = kind_of(record.of)
    assert after
    assert after.number == record.number + 1
