"""`scripts/releases.py` on a made-up history: two branches, with the fixes picked from one to the other."""

import subprocess
from pathlib import Path

import pytest

from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.known_bugs import Bug
from nasadvisor.domain.storage.releases import spans
from scripts.releases import History, NoClone, main, spans_of

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """2.3.0 to 2.3.2 and 2.4.0 to 2.4.1; the branches part after 2.3.0."""
    steps = (
        ("commit", "Bring the bug"),
        ("tag", "zfs-2.2.0"),
        ("commit", "Bring another"),
        ("tag", "zfs-2.3.0"),
        ("tag", "zfs-2.3.99"),
        ("branch", "zfs-2.4-release"),
        ("tag", "zfs-2.4.0-rc1"),
        ("tag", "zfs-2.4.0"),
        ("commit", "Mend the bug (#18222)"),
        ("commit", "[2.4.1] Mend half of it"),
        ("tag", "zfs-2.4.1"),
        ("checkout", "main"),
        ("commit", "Say something of the fix\n\nMend the bug"),
        ("tag", "zfs-2.3.1"),
        ("commit", "Backport of Mend the bug."),
        ("tag", "zfs-2.3.2"),
    )
    git(tmp_path, "init", "--initial-branch=main")
    for what, name in steps:
        match what:
            case "commit":
                git(tmp_path, "commit", "--allow-empty", "-m", name)
            case "tag":
                git(tmp_path, "tag", name)
            case "branch":
                git(tmp_path, "checkout", "-b", name)
            case _:
                git(tmp_path, "checkout", name)
    return tmp_path


def git(folder: Path, *args: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(("git", "-C", str(folder), *who, *args), check=True, capture_output=True)


def bug(*fixed_by: str, begun_by: str = "") -> Bug:
    return Bug("x", Level.WARNING, (), (), "", "", fixed_by, begun_by)


def test_a_bug_ends_on_each_branch_in_the_first_release_that_has_its_fix_under_whatever_dress(clone: Path) -> None:
    assert spans_of(History(clone), bug("Mend the bug")) == spans("2.2.0 2.3.2", "2.4.0 2.4.1")


def test_a_bug_begins_with_the_first_release_that_has_what_began_it(clone: Path) -> None:
    history = History(clone)
    assert spans_of(history, bug("Mend the bug", begun_by="Bring another")) == spans("2.3.0 2.3.2", "2.4.0 2.4.1")
    assert spans_of(history, bug("Mend the bug", begun_by="Never heard of")) == ()


def test_all_fixes_are_needed_and_one_that_no_release_has_leaves_it_open(clone: Path) -> None:
    history = History(clone)
    assert spans_of(history, bug("Mend the bug", "Mend half of it")) == spans("2.2.0 2.4.1")
    assert spans_of(history, bug("Never heard of")) == spans("2.2.0")


def test_what_is_no_clone_is_said_and_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(tmp_path, "init")
    with pytest.raises(NoClone):
        History(tmp_path)
    assert main([str(tmp_path)]) == 2
    assert main([str(tmp_path / "missing")]) == 2
    assert main([]) == 2
    assert "git clone https://github.com/openzfs/zfs" in capsys.readouterr().err


def test_a_table_that_differs_from_the_history_is_no_success(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(clone)]) == 1
    assert "the table has 2.1.0 2.1.14, 2.2.0 2.2.2" in capsys.readouterr().out


def test_it_runs_by_itself() -> None:
    done = subprocess.run([ROOT / ".venv/bin/python", ROOT / "scripts/releases.py"], check=False, capture_output=True)
    assert done.returncode == 2
    assert b"CLONE" in done.stderr
