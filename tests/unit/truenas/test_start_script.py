"""packaging/truenas/start, run by a real shell with stand-ins for what it calls: what stops it is kept and sent."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

START = Path(__file__).parents[3] / "packaging/truenas/start"
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture(autouse=True)
def no_commands() -> None:
    """It is a shell script: it can only be tested by running it."""


@dataclass(frozen=True)
class Dataset:
    """A dataset with the bundle, and the calls that the script made."""

    root: Path

    @property
    def failed(self) -> str:
        """What is kept of the last failure."""
        file = self.root / "host/start-failed"
        return file.read_text() if file.exists() else ""

    @property
    def calls(self) -> list[str]:
        """Programs that were called, with their arguments."""
        file = self.root / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def stand_in(self, name: str, body: str) -> None:
        """A program of the system that only notes that it was called, and then does what `body` says."""
        tool = self.root / "bin" / name
        tool.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.root}/calls"\n{body}\n')
        tool.chmod(0o755)

    def start(self) -> subprocess.CompletedProcess[str]:
        """Run it as TrueNAS does at boot."""
        environment = {"PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        script = str(self.root / "program/start")
        return subprocess.run([script], env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    if not Path("/usr/bin/python3").exists():
        pytest.skip("there is no /usr/bin/python3 here")
    found = Dataset(tmp_path)
    for folder in ("bin", "program/app", f"program/{system_python()}"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "program/run.py").touch()
    shutil.copy(START, tmp_path / "program/start")
    for name, body in (
        ("id", "echo 0"),
        ("systemctl", "exit 3"),
        ("systemd-run", ""),
        ("midclt", ""),
        ("find", ""),
        ("install", 'for last in "$@"; do :; done; mkdir -p "$last"'),
    ):
        found.stand_in(name, body)
    return found


def system_python() -> str:
    """The directory of packages for what /usr/bin/python3 is here."""
    return Path("/usr/bin/python3").resolve().name


def test_it_starts_the_service_and_forgets_the_last_failure(dataset: Dataset) -> None:
    (dataset.root / "host").mkdir()
    (dataset.root / "host/start-failed").write_text("something")
    assert dataset.start().returncode == 0
    assert any(call.startswith("systemd-run --quiet --collect --unit=nasadvisor-host") for call in dataset.calls)
    assert dataset.failed == ""
    assert not any(call.startswith("midclt") for call in dataset.calls)


def test_a_service_that_runs_already_is_left_alone(dataset: Dataset) -> None:
    dataset.stand_in("systemctl", "exit 0")
    assert dataset.start().returncode == 0
    assert not any(call.startswith("systemd-run") for call in dataset.calls)


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        (system_python(), "There are no packages for the Python of this TrueNAS"),
        ("run.py", "run.py is missing, so nothing was started"),
        ("app", "app is missing, so nothing was started"),
    ],
)
def test_what_is_missing_is_kept_and_sent_and_nothing_is_started(dataset: Dataset, lost: str, said: str) -> None:
    """TrueNAS shows nobody what an init script prints."""
    place = dataset.root / "program" / lost
    place.rmdir() if place.is_dir() else place.unlink()
    result = dataset.start()
    assert result.returncode == 1
    assert said in result.stderr
    assert said in dataset.failed
    assert not any(call.startswith("systemd-run") for call in dataset.calls)
    message = json.loads(next(call for call in dataset.calls if call.startswith("midclt")).partition("mail.send ")[2])
    assert message["subject"] == "NAS Advisor was not started"
    assert said in message["text"]


def test_a_program_that_others_can_change_is_not_started_whatever_it_is_called(dataset: Dataset) -> None:
    dataset.stand_in("find", """[ "$2" = -maxdepth ] || printf '%s\\n' '/mnt/tank/na"s\\\\x/run.py'""")
    assert dataset.start().returncode == 1
    assert "can be changed by others than root" in dataset.failed
    message = json.loads(next(call for call in dataset.calls if call.startswith("midclt")).partition("mail.send ")[2])
    assert "nasx/run.py can be changed" in message["text"]


def test_nothing_is_written_or_started_in_a_dataset_that_others_can_change(dataset: Dataset) -> None:
    """A link in the place of host/ would lead root elsewhere."""
    dataset.stand_in("find", 'echo "$1"')
    (dataset.root / "elsewhere").mkdir()
    (dataset.root / "host").symlink_to(dataset.root / "elsewhere")
    result = dataset.start()
    assert result.returncode == 1
    assert f"chown root:root {dataset.root}; chmod go-w {dataset.root}" in result.stderr
    assert not any(call.startswith(("systemd-run", "install")) for call in dataset.calls)
    assert not list((dataset.root / "elsewhere").iterdir())
    assert any(call.startswith("midclt") for call in dataset.calls)


def test_a_service_that_systemd_does_not_start_is_said(dataset: Dataset) -> None:
    dataset.stand_in("systemd-run", "exit 1")
    assert dataset.start().returncode == 1
    assert "systemd did not start the host part" in dataset.failed


def test_a_mail_that_cannot_be_sent_does_not_hide_the_failure(dataset: Dataset) -> None:
    dataset.stand_in("midclt", "exit 1")
    dataset.stand_in("systemd-run", "exit 1")
    assert dataset.start().returncode == 1
    assert "systemd did not start" in dataset.failed


def test_only_root_starts_it(dataset: Dataset) -> None:
    dataset.stand_in("id", "echo 1000")
    assert dataset.start().returncode == 1
    assert dataset.calls == ["id -u"]
