"""`nasadvisor apply`, `undo`, `finish`, `runs` and `show`."""

import errno
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from nasadvisor.cli.change.runs import said_of_trial
from nasadvisor.domain.change.actions import AddCache, AddLog
from nasadvisor.domain.change.runs import Record, Run, RunState, Trial
from nasadvisor.domain.storage.inventory import fingerprint_of
from nasadvisor.host.change.chain import chained_line
from nasadvisor.host.change.gate import Permit, Ran
from nasadvisor.host.change.journal import Journal, JournalUnwritable
from nasadvisor.host.errors import CommandFailed
from nasadvisor.stored.documents import from_document
from tests.unit.cli.conftest import Shell
from tests.unit.machines import NVME1, with_disk, with_pool

AT: Final = "2026-08-25T20:15:00+00:00"
MIRROR_AND_CACHES = (
    *("--pool", "tank", "--log", "N1", "N2", "--log-size", "4G"),
    *("--cache", "N1", "N2", "--cache-size", "100G"),
)


@pytest.fixture
def plan_file(shell: Shell) -> Path:
    return shell.plan_file(MIRROR_AND_CACHES)


def applied(shell: Shell, plan_file: Path) -> str:
    answer = shell.json("apply", plan_file, "--yes")
    assert answer["state"] == "applied"
    return str(answer["run"])


def test_apply_prints_the_run_which_is_the_plan_and_changes_the_pool(shell: Shell, plan_file: Path) -> None:
    run = applied(shell, plan_file)
    assert run == json.loads(plan_file.read_text())["ids"]["plan_id"]
    tank = shell.inventory.pools[0]
    assert [top.kind for top in tank.logs] == ["mirror"]
    assert len(tank.caches) == 2


def test_apply_tells_each_step_on_standard_error_and_how_to_go_back(shell: Shell, plan_file: Path) -> None:
    result = shell.run("apply", plan_file, "--yes")
    assert result.exit_code == 0
    assert result.stderr.startswith(f"Run {json.loads(plan_file.read_text())['ids']['plan_id']}")
    assert "1/8  Write an empty GPT on" in result.stderr
    assert "8/8  Add 2 cache slices to pool tank" in result.stderr
    assert result.stderr.count("done") == 8
    assert "nasadvisor undo" in result.stdout


def test_the_console_is_told_when_a_run_begins_and_when_it_ends(shell: Shell, plan_file: Path) -> None:
    run = applied(shell, plan_file)
    assert shell.reported == [run, run]
    shell.run("undo", run, "--yes")
    assert shell.reported == [run] * 4


def test_undo_takes_everything_back(shell: Shell, plan_file: Path) -> None:
    before = fingerprint_of(shell.inventory.disks, shell.inventory.pools)
    run = applied(shell, plan_file)
    result = shell.run("undo", run, "--yes")
    assert result.exit_code == 0
    assert "Undone." in result.stdout
    assert "Taking it back:" in result.stderr
    assert fingerprint_of(shell.inventory.disks, shell.inventory.pools) == before


def test_a_plan_runs_once(shell: Shell, plan_file: Path) -> None:
    applied(shell, plan_file)
    again = shell.run("apply", plan_file, "--yes")
    assert again.exit_code == 3
    assert "has already been applied" in again.stderr


def test_without_a_terminal_and_without_yes_it_does_not_apply(shell: Shell, plan_file: Path) -> None:
    before = shell.inventory
    result = shell.run("apply", plan_file, stdin="y\n")
    assert result.exit_code == 2
    assert "To confirm, add --yes." in result.stderr
    assert shell.inventory == before


class TestErasing:
    """Data that no tool recognises are erased only by who says so; --yes says nothing of them."""

    @pytest.fixture
    def erasing(self, shell: Shell) -> Path:
        shell.executor.state = with_disk(shell.inventory, NVME1, unrecognised_at=4096)
        return shell.plan_file(MIRROR_AND_CACHES)

    def test_yes_alone_is_refused_and_the_place_told(self, shell: Shell, erasing: Path) -> None:
        before = shell.inventory
        result = shell.run("apply", erasing, "--yes")
        assert result.exit_code == 3
        assert "first at byte 4096" in result.stderr
        assert "--erase-unrecognised" in result.stderr
        assert shell.inventory == before

    def test_with_its_own_option_it_is_applied(self, shell: Shell, erasing: Path) -> None:
        assert shell.run("apply", erasing, "--yes", "--erase-unrecognised").exit_code == 0

    def test_nobody_to_ask_is_told_so(self, shell: Shell, erasing: Path) -> None:
        assert shell.run("apply", erasing, stdin="y\n").exit_code == 2

    @pytest.mark.parametrize(("answers", "code"), [("n\n", 3), ("y\nn\n", 3), ("y\ny\n", 0)])
    def test_at_a_terminal_it_is_asked_first(
        self, shell: Shell, erasing: Path, monkeypatch: pytest.MonkeyPatch, answers: str, code: int
    ) -> None:
        monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
        result = shell.run("apply", erasing, stdin=answers)
        assert result.exit_code == code
        assert result.stderr.index("first at byte 4096") < result.stderr.index("Erase them?")

    def test_the_plan_calls_it_a_danger(self, shell: Shell, erasing: Path) -> None:
        made = shell.json("plan", *MIRROR_AND_CACHES)
        assert ("unrecognised-data", "critical") in [(each["code"], each["level"]) for each in made["warnings"]]


def test_a_plan_that_the_host_no_longer_fits_is_refused_with_its_reason(shell: Shell, plan_file: Path) -> None:
    shell.executor.state = with_pool(shell.inventory, state="DEGRADED")
    before = shell.inventory
    result = shell.run("apply", plan_file, "--yes", "--json")
    assert result.exit_code == 3
    answer = json.loads(result.stdout)
    assert answer["state"] == "refused"
    assert "is DEGRADED, not ONLINE" in answer["reasons"][0]
    assert shell.inventory == before


def test_a_failed_step_is_put_back_and_ends_with_exit_code_4(
    shell: Shell, plan_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shell.inventory.fingerprint
    do = shell.executor.do

    def fail_on_the_pool(permit: Permit) -> Ran:
        if isinstance(permit.step, AddLog | AddCache):
            raise CommandFailed("zpool add", 1, "cannot add to 'tank': I/O error", mutates=True)
        return do(permit)

    monkeypatch.setattr(shell.executor, "do", fail_on_the_pool)
    result = shell.run("apply", plan_file, "--yes")
    assert result.exit_code == 4
    assert "I/O error" in " ".join(result.stdout.split())
    assert "were reverted" in result.stdout
    assert shell.inventory.fingerprint == before


def test_a_journal_that_fails_in_the_middle_needs_attention(
    shell: Shell, plan_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = Journal.append

    def fill_up(journal: Journal, record: Record) -> None:
        if record.record == "done":
            raise JournalUnwritable(journal.path, OSError(errno.ENOSPC, "No space left on device"))
        append(journal, record)

    monkeypatch.setattr(Journal, "append", fill_up)
    result = shell.run("apply", plan_file, "--yes")
    assert result.exit_code == 5
    assert "the disk is full" in result.stderr
    monkeypatch.undo()
    run = json.loads(plan_file.read_text())["ids"]["plan_id"]
    assert "interrupted" in shell.run("runs").stdout
    assert f"nasadvisor finish {run}" in shell.run("show", run).stdout
    assert shell.run("finish", run, "--yes").exit_code == 0


def test_a_journal_that_cannot_be_begun_means_nothing_was_changed(
    shell: Shell, plan_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(journal: Journal, _: Record) -> None:
        raise JournalUnwritable(journal.path, OSError(errno.EROFS, "Read-only file system"))

    before = shell.inventory
    monkeypatch.setattr(Journal, "append", refuse)
    result = shell.run("apply", plan_file, "--yes")
    assert result.exit_code == 3
    assert "Read-only file system" in result.stderr
    assert shell.inventory == before


def test_an_undo_that_a_rule_forbids_is_refused_and_nothing_changes(shell: Shell, plan_file: Path) -> None:
    run = applied(shell, plan_file)
    shell.executor.state = with_pool(shell.inventory, checkpoint="1.2M")
    before = shell.inventory
    result = shell.run("undo", run, "--yes")
    assert result.exit_code == 3
    assert "checkpoint" in result.stdout
    assert shell.inventory == before


def test_a_finished_run_cannot_be_finished(shell: Shell, plan_file: Path) -> None:
    result = shell.run("finish", applied(shell, plan_file), "--yes")
    assert result.exit_code == 3
    assert "cannot be finished" in result.stderr


@pytest.mark.parametrize("command", ["undo", "finish", "show"])
def test_an_unknown_run_is_refused_in_a_sentence(shell: Shell, command: str) -> None:
    options = () if command == "show" else ("--yes",)
    result = shell.run(command, "nonesuch", *options)
    assert result.exit_code == 3
    assert "This host has no run nonesuch" in result.stderr


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is not a plan. This is not JSON"),
        ("{}", "is not a plan."),
        ("[1, 2]", "is not a plan."),
        ('{"request": {"evil": 1}}', "is not a plan."),
    ],
)
def test_a_file_that_is_no_plan_is_a_usage_error(shell: Shell, content: str, sentence: str) -> None:
    path = shell.root / "plan.json"
    path.write_text(content)
    result = shell.run("apply", path, "--yes")
    assert result.exit_code == 2, result.output
    assert sentence in result.stderr


def test_binary_rubbish_is_no_plan_either(shell: Shell) -> None:
    path = shell.root / "plan.json"
    path.write_bytes(b"\xff\xfe\x00")
    assert shell.run("apply", path, "--yes").exit_code == 2


def test_a_plan_file_that_is_not_there_is_a_usage_error(shell: Shell) -> None:
    result = shell.run("apply", shell.root / "none.json", "--yes")
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr


def test_a_plan_can_come_from_standard_input(shell: Shell, plan_file: Path) -> None:
    assert shell.run("apply", "-", "--yes", stdin=plan_file.read_text()).exit_code == 0


def test_a_plan_with_another_command_smuggled_in_is_refused(shell: Shell, plan_file: Path) -> None:
    document = json.loads(plan_file.read_text())
    for action in document["actions"]:
        if action["action"] == "add-log":
            action["ashift"] = 9
    plan_file.write_text(json.dumps(document))
    before = shell.inventory
    assert shell.run("apply", plan_file, "--yes").exit_code == 3
    assert shell.inventory == before


def test_a_swapped_disk_is_refused(shell: Shell, plan_file: Path) -> None:
    shell.executor.state = with_disk(shell.inventory, NVME1, table_uuid="another")
    assert shell.run("apply", plan_file, "--yes").exit_code == 3


def test_runs_lists_what_was_done(shell: Shell, plan_file: Path) -> None:
    assert "No changes on this host yet" in shell.run("runs").stdout
    assert shell.json("runs") == []
    run = applied(shell, plan_file)
    assert run in shell.run("runs").stdout
    assert [each["id"] for each in shell.json("runs")] == [run]


def test_show_tells_steps_commands_and_the_way_back(shell: Shell, plan_file: Path) -> None:
    run = applied(shell, plan_file)
    text = shell.run("show", run).stdout
    assert "$ zpool add -o ashift=12 tank log mirror" in text
    assert f"nasadvisor undo {run}" in text
    assert shell.json("show", run)["state"] == "applied"


def test_only_root_may_do_anything(shell: Shell, plan_file: Path) -> None:
    shell.is_root = False
    for args in (("inventory",), ("pools",), ("runs",), ("apply", plan_file, "--yes"), ("undo", "x", "--yes")):
        result = shell.run(*args)
        assert result.exit_code == 3
        assert "sudo" in result.stderr


def test_runs_lists_those_it_cannot_read_beside_the_others_and_says_so(shell: Shell, plan_file: Path) -> None:
    shell.run("apply", plan_file, "--yes")
    other = shell.root / "runs" / "other"
    other.mkdir()
    (other / "journal.jsonl").write_bytes(chained_line(b"", '{"version": 99}'))
    result = shell.run("runs")
    assert result.exit_code == 5
    assert "applied" in result.stdout
    assert re.search("^other .* newer", result.stdout, re.MULTILINE)
    assert "newer release of NAS Advisor" in result.stderr
    states = [run["state"] for run in json.loads(shell.run("runs", "--json").stdout)]
    assert states == ["applied", "newer"]


def test_a_run_with_a_damaged_journal_is_neither_shown_undone_nor_finished_and_says_what_can_be_done(
    shell: Shell, plan_file: Path
) -> None:
    run = applied(shell, plan_file)
    journal = shell.root / "runs" / run / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))
    before = shell.inventory
    listed = shell.run("runs")
    assert listed.exit_code == 5
    assert re.search(f"^{run} .* tank .* damaged .*command line", listed.stdout, re.MULTILINE)
    for command in (("show", run), ("undo", run, "--yes"), ("finish", run, "--yes")):
        result = shell.run(*command)
        assert result.exit_code == 3
        assert "neither finished nor undone, and nothing was changed now" in result.stderr
        assert "it was for pool tank, with slices of the PARTUUIDs" in result.stderr
        assert "`zpool remove`" in result.stderr
    assert shell.inventory == before


def test_a_trial_says_until_when_and_how_to_keep_it(shell: Shell, plan_file: Path) -> None:
    result = shell.run("apply", plan_file, "--yes", "--trial", "24h")
    assert result.exit_code == 0
    assert "On trial until" in result.stdout
    [run] = shell.json("runs")
    assert run["trial"]["seconds"] == 86400
    assert "on trial until" in shell.run("runs").stdout
    assert f"nasadvisor keep {run['id']}" in " ".join(shell.run("show", run["id"]).stdout.split())


def test_keep_ends_the_trial_and_tells_the_console(shell: Shell, plan_file: Path) -> None:
    answer = shell.json("apply", plan_file, "--yes", "--trial", "3d")
    assert answer["trial_until"]
    kept = shell.run("keep", answer["run"])
    assert kept.exit_code == 0
    assert "Kept. It stays until you undo it" in kept.stdout
    assert shell.reported[-1] == answer["run"]
    assert "Kept after its trial by" in shell.run("show", answer["run"]).stdout
    assert "on trial" not in shell.run("runs").stdout
    assert shell.json("keep", answer["run"])["trial_until"] == ""


@pytest.mark.parametrize(
    ("state", "trial", "said"),
    [
        (
            RunState.APPLIED,
            Trial(60, AT, kept_by="anna", kept_at=AT),
            "Kept after its trial by anna at 2026-08-25 20:15",
        ),
        (RunState.APPLIED, Trial(60, AT), "On trial until 2026-08-25 20:15 UTC"),
        (RunState.APPLIED, Trial(60, AT, ended_at=AT), "but it could not be taken back and nothing was changed"),
        (RunState.UNDONE, Trial(60, AT, ended_at=AT), "and it was reverted automatically"),
        (RunState.INTERRUPTED, Trial(60), "Its trial begins when it is finished"),
        (RunState.REFUSED, Trial(60), ""),
        (RunState.APPLIED, None, ""),
    ],
)
def test_what_became_of_a_trial_is_said_as_it_is(
    shell: Shell, plan_file: Path, state: RunState, trial: Trial | None, said: str
) -> None:
    run = from_document(Run, shell.json("show", applied(shell, plan_file)))
    told = said_of_trial(replace(run, state=state, trial=trial))
    assert said in told
    assert bool(told) == bool(said)


def test_there_is_nothing_to_keep_without_a_trial(shell: Shell, plan_file: Path) -> None:
    result = shell.run("keep", applied(shell, plan_file))
    assert result.exit_code == 3
    assert "not on trial" in result.stderr


@pytest.mark.parametrize("length", ["0h", "24", "1y", "91d"])
def test_a_trial_of_no_sensible_length_is_a_usage_error(shell: Shell, plan_file: Path, length: str) -> None:
    before = shell.inventory
    result = shell.run("apply", plan_file, "--yes", "--trial", length)
    assert result.exit_code == 2
    assert "for example 90m, 24h" in result.stderr
    assert shell.inventory == before
