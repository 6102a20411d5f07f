"""`make weak`, with stand-ins for what asks the registries."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.scripts.test_first_minutes import stand_in

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The script and the lock files, where what it starts notes down what it was asked."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".venv/bin").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/weak.sh", tmp_path / "scripts")
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    for program in (tmp_path / ".venv/bin/pip-audit", tmp_path / "npm"):
        stand_in(program, f'echo "{program.name} $*" >> "{tmp_path}/asked"', f'! grep -qF -- "$*" "{tmp_path}/weak"')
    (tmp_path / "weak").touch()
    return tmp_path


def look(project: Path) -> int:
    environment = {"PATH": f"{project}:{os.environ['PATH']}"}
    return subprocess.run([project / "scripts/weak.sh"], env=environment, check=False, capture_output=True).returncode


def asked(project: Path) -> list[str]:
    return (project / "asked").read_text().splitlines()


def test_every_lock_file_is_asked_about_and_nothing_that_is_left_out_passes(project: Path) -> None:
    assert look(project) == 0
    locks = sorted(path.name for path in (ROOT / "requirements").iterdir())
    assert [line.rpartition("/")[2] for line in asked(project)[:-1]] == locks
    assert all("--strict --require-hashes" in line for line in asked(project)[:-1])
    assert asked(project)[-1] == "npm audit --package-lock-only"


@pytest.mark.parametrize("weak", ["requirements/dev.txt", "audit --package-lock-only"])
def test_what_is_weak_or_could_not_be_asked_is_a_failure_and_the_rest_is_asked_all_the_same(
    project: Path, weak: str
) -> None:
    command = "--strict --require-hashes --disable-pip --progress-spinner off --requirement "
    (project / "weak").write_text(weak if "audit" in weak else command + weak)
    assert look(project) == 1
    assert len(asked(project)) == len(list((ROOT / "requirements").iterdir())) + 1


def test_no_test_asks_a_registry() -> None:
    """They must pass where there is none; what they would say changes by itself."""
    assert "weak" not in (ROOT / "scripts/test.sh").read_text()
    (target,) = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("test:")]
    assert target.partition("##")[0].split() == ["test:", "lint", "test-tools", "lab-image"]
