"""`nasadvisor switching`: begun, shown and stopped on the host itself."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from nasadvisor.domain.change.runs import RunState
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.domain.statements import Statement
from nasadvisor.host.change.runs import RunHost, list_runs
from nasadvisor.host.evidence.switch_carrier import SwitchCarrier
from nasadvisor.host.evidence.switching import SwitchHost
from nasadvisor.stored.documents import from_document
from tests.unit.cli.conftest import Shell
from tests.unit.domain.builders import tank_of
from tests.unit.machines import with_cache

START = ("switching", "tank", "--start", "--yes")


@pytest.fixture(autouse=True)
def _cached(shell: Shell) -> None:
    shell.executor.state = with_cache()


def record_of(shell: Shell) -> CacheSwitching:
    return from_document(CacheSwitching, shell.json("switching", "tank")["switching"])


def taken_out(shell: Shell) -> None:
    """As the worker does it, in the first period without the cache."""
    record = record_of(shell)
    away = next(each for each in record.plan.periods() if not each.in_service)
    late = timedelta(seconds=away.start - record.plan.start + 60)
    clock = shell.run_host.clock
    host: RunHost = replace(shell.run_host, clock=lambda: clock() + late)
    SwitchCarrier(SwitchHost(host), lambda _record: None, lambda _run: None).carry_on()
    assert tank_of(shell.executor.state).caches[0].state == "OFFLINE"


def test_it_is_begun_shown_and_stopped(shell: Shell) -> None:
    assert "was ever switched here" in shell.run("switching", "tank").output
    begun = shell.run(*START)
    assert begun.exit_code == 0, begun.output
    assert "switched at random until" in begun.output
    assert "0 of 72 periods were counted." in begun.output
    taken_out(shell)
    stopped = shell.run("switching", "tank", "--stop")
    assert stopped.exit_code == 0, stopped.output
    assert "stopped the test early" in stopped.output.replace("\n", " ")
    assert tank_of(shell.executor.state).caches[0].state == "ONLINE"
    assert [run.state for run in list_runs(shell.run_host).runs] == [RunState.UNDONE]


def test_lengths_are_parameters_and_what_tells_nothing_is_refused(shell: Shell) -> None:
    assert shell.run(*START, "--pairs", "3").exit_code == 3
    assert shell.run(*START, "--period", "2m", "--settle", "2m").exit_code == 3
    assert shell.run(*START, "--pairs", "8", "--period", "2m", "--settle", "1m").exit_code == 0
    plan = record_of(shell).plan
    assert (plan.pairs, plan.period_s, plan.settle_s) == (8, 120, 60)


def test_without_a_terminal_nobody_is_asked_and_nothing_begun(shell: Shell) -> None:
    assert shell.run("switching", "tank", "--start").exit_code == 2
    assert shell.run("switching", "tank", "--start", "--stop").exit_code == 2
    assert shell.run("switching", "tank", "--stop").exit_code == 3
    assert shell.json("switching", "tank") == {"switching": None, "sentence": ""}


def test_a_cache_that_could_not_be_put_back_needs_attention(shell: Shell) -> None:
    shell.run(*START)
    record = record_of(shell)
    why = Statement("why", "Its disk is gone.")
    SwitchHost(shell.run_host).records.change(record.id, lambda it: replace(it, problem=why))
    shown = shell.run("switching", "tank")
    assert shown.exit_code == 5
    assert "Its disk is gone." in " ".join(shown.output.split())
    assert json.loads(shell.run("switching", "tank", "--json").stdout)["switching"]["problem"]["code"] == "why"


def test_an_undo_on_the_command_line_ends_it_first(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "nasadvisor.cli.change.runs.end_before_undo", lambda _host, run_id, _observe: asked.append(run_id)
    )
    shell.run("undo", "run-1", "--yes")
    assert asked == ["run-1"]
