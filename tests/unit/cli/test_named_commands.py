"""The commands of ours that sentences name are there, and lead on where they are named."""

import errno
import json
import re
from pathlib import Path

import click
import pytest
from click.testing import Result

from nasadvisor.cli import main
from nasadvisor.cli.main import COMMANDS
from nasadvisor.domain.change.runs import Record
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.host.change.journal import Journal, JournalUnwritable
from tests.unit.cli.conftest import Shell
from tests.unit.cli.evidence.test_advise import Recorded
from tests.unit.cli.evidence.test_commits import FOUND, Tracer
from tests.unit.cli.evidence.test_curve import Tracer as Follower
from tests.unit.cli.evidence.test_probe import measure_host
from tests.unit.domain.evidence.pools import facts, sync_writers
from tests.unit.explain.named_commands import named_commands
from tests.unit.machines import home_server, with_cache

MIRROR = ("--pool", "tank", "--log", "N1", "N2", "--log-size", "4G")
OURS = {each.command.removeprefix("sudo ") for each in named_commands()} - {"nasadvisor %(version)s"}


def words(command: str) -> list[str]:
    """What a shell makes of a command, each value one word."""
    return re.sub(r"\{\{? ?[^}]+\}?\}", "x", command.replace("{where.port}", "8844")).split()


@pytest.mark.parametrize("command", sorted(each for each in OURS if each.startswith("nasadvisor ")))
def test_each_is_a_command_with_options_that_it_takes(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").touch()
    _program, name, *arguments = words(command)
    with click.Context(main) as context:
        found = main.get_command(context, name)
        assert found, command
        if arguments:
            found.make_context(name, arguments, parent=context)


def named(result: Result, start: str) -> list[str]:
    """The arguments of the command that an answer names."""
    said = " ".join(result.output.split())
    found = re.search(rf"nasadvisor ({start}(?: (?:DISK\b|[-/a-z0-9][-/_.a-z0-9]*))*)", said)
    assert found, said
    return found[1].rstrip(".").split()


def follow(shell: Shell, result: Result, start: str, *more: str) -> Result:
    """Run what an answer names, with what the reader puts in or is asked for."""
    done = shell.run(*(word.replace("DISK", "N1") for word in named(result, start)), *more)
    assert done.exit_code == 0, done.output
    return done


def test_the_examples_of_the_help_run_as_they_stand(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(_seconds: float) -> None:
        if "--watch" in arguments:
            raise KeyboardInterrupt

    monkeypatch.chdir(shell.root)
    monkeypatch.setattr(shell, "wait", wait)
    shell.sampler = lambda: Recorded(sync_writers(seconds=5), facts())
    shell.watch_waiting = lambda: WaitingPrograms("2026-08-25T20:16:00+00:00", 20, ())
    run = ""
    for command in COMMANDS:
        if command.name == "wear":  # of an SSD that a pool uses
            shell.run("apply", shell.plan_file(MIRROR), "--yes")
        for example in () if command.name in ("join", "support") else command.examples:
            serials = iter(("N1", "N2"))
            words = (next(serials) if word == "SERIAL" else word for word in example.replace("RUN", run).split()[1:])
            arguments = [*words, *(["--yes"] if command.name in ("apply", "undo") else [])]
            if "--trial" in arguments:
                shell.run("undo", run, "--yes")
                shell.run("plan", *MIRROR, "--output", "plan.json")
            result = shell.run(*arguments)
            attention = 5 if command.name == "health" else 0
            assert result.exit_code == attention, (example, result.output)
            if command.name in ("apply", "wear"):
                run = json.loads(Path("plan.json").read_text(encoding="utf-8"))["ids"]["plan_id"]
    shell.run("undo", run, "--yes")
    assert shell.inventory.fingerprint == home_server().fingerprint


def test_from_a_plan_to_its_undo_each_answer_names_the_next_command(shell: Shell) -> None:
    before = shell.inventory.fingerprint
    planned = shell.run("plan", *MIRROR, "--output", shell.root / "plan.json")
    applied = follow(shell, planned, "apply", "--yes")
    unknown = shell.run("show", "run-2")
    (run,) = [line.split()[0] for line in follow(shell, unknown, "runs").stdout.splitlines() if "applied" in line]
    follow(shell, shell.run("show", run), "undo", "--yes")
    assert shell.inventory.fingerprint == before
    assert follow(shell, shell.run("keep", run), "show").stdout.count("undone") >= 1
    assert named(applied, "undo") == ["undo", run]


def test_a_trial_names_how_to_keep_it_and_that_how_to_take_it_back(shell: Shell) -> None:
    before = shell.inventory.fingerprint
    plan = shell.plan_file(MIRROR)
    shell.run("apply", plan, "--yes", "--trial", "24h")
    run = json.loads(plan.read_text())["ids"]["plan_id"]
    kept = follow(shell, shell.run("show", run), "keep")
    follow(shell, kept, "undo", "--yes")
    assert shell.inventory.fingerprint == before


@pytest.mark.parametrize("way", ["finish", "undo"])
def test_a_run_that_stopped_names_both_ways_to_its_end(shell: Shell, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    append = Journal.append

    def fill_up(journal: Journal, record: Record) -> None:
        if record.record == "done":
            raise JournalUnwritable(journal.path, OSError(errno.ENOSPC, "No space left on device"))
        append(journal, record)

    plan = shell.plan_file(MIRROR)
    with monkeypatch.context() as patched:
        patched.setattr(Journal, "append", fill_up)
        stopped = shell.run("apply", plan, "--yes")
    assert stopped.exit_code == 5
    run = json.loads(plan.read_text())["ids"]["plan_id"]
    follow(shell, shell.run("status"), "show")
    follow(shell, shell.run("show", run) if way == "finish" else stopped, way, "--yes")


def test_what_was_followed_and_what_was_not_measured_names_how_to_measure(shell: Shell) -> None:
    shell.measure_host = measure_host(shell, sync_writers(1, 60))
    shell.commits, shell.curve = Tracer(FOUND), Follower
    more = ("--yes", "--seconds", "2")
    follow(shell, shell.run("report", "tank"), "probe", *more)
    follow(shell, shell.run("commits", "tank"), "probe", *more)


def test_what_is_not_known_names_where_it_is_listed(shell: Shell) -> None:
    assert "N1" in follow(shell, shell.run("plan", "--pool", "tank", "--cache", "N9"), "inventory").stdout
    assert "too-small" in follow(shell, shell.run("explain", "zzzzzzzz"), "explain").stdout


def test_switching_names_how_it_begins_and_ends(shell: Shell) -> None:
    shell.executor.state = with_cache()
    begun = follow(shell, shell.run("switching", "tank"), "switching", "--yes")
    assert "until" in begun.output
    again = shell.run("switching", "tank", "--start", "--yes")
    follow(shell, again, "switching tank --stop")
