"""`make run` where there is no OpenZFS, with a stand-in for what makes the guest."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import URLError

import pytest

from tests.lab.progress import FIRST_GUESS, Known, about

ROOT = Path(__file__).parents[2]
PATIENCE_S = 180
"""Beside guests and other tests; alone it takes some ten seconds."""


def until(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.2)


def stand_in(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(("#!/bin/bash", "set -eu", *lines, "")))
    path.chmod(0o755)
    return path


class Progress:
    """`tests.lab.progress` around a stand-in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state, self.known, self.log = folder, folder / "state", folder / "known", folder / "log"

    def start(self, *lines: str) -> "subprocess.Popen[str]":
        command = stand_in(self.folder / "build", *lines)
        files = ("--state", self.state, "--known", self.known, "--log", self.log)
        argv = [sys.executable, "-m", "tests.lab.progress", *map(str, files), "--", str(command)]
        return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    def said(self, *lines: str) -> str:
        with self.start(*lines) as build:
            return build.communicate(timeout=PATIENCE_S)[0]

    def shown(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.state.read_text())
        return found


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(tmp_path)


class TestProgress:
    def test_each_stage_is_said_with_what_is_left_from_the_last_time(self, progress: Progress) -> None:
        progress.known.write_text('{"Booting": 100, "Installing": 200}')
        said = progress.said("echo noise", 'echo "Booting …"', 'echo "  done in 1 s"', 'echo "Installing …"')
        assert said.splitlines() == [
            "Real OpenZFS: Booting (about 5 minutes left)",
            "Real OpenZFS: Installing (about 3 minutes left)",
        ]

    def test_what_a_stage_took_is_kept_and_a_new_one_has_its_place(self, progress: Progress) -> None:
        progress.known.write_text('{"Booting": 100, "Installing": 200}')
        progress.said(
            'echo "Booting …"', 'echo "Making …"', 'echo "Installing …"', 'echo "NAS Advisor runs at http://a"'
        )
        kept = json.loads(progress.known.read_text())
        assert list(kept) == ["Booting", "Making", "Installing"]
        assert max(kept.values()) < 100

    def test_the_pages_are_told_the_address_and_the_terminal_how_to_begin(self, progress: Progress) -> None:
        said = progress.said('echo "NAS Advisor runs at http://127.0.0.1:1"', "echo the link")
        assert progress.shown()["address"] == "http://127.0.0.1:1"
        assert said.splitlines() == ["NAS Advisor runs at http://127.0.0.1:1", "the link"]

    def test_a_failure_is_said_with_the_last_words_and_the_log(self, progress: Progress) -> None:
        said = progress.said('echo "Booting …"', "echo no disk left >&2", "exit 3")
        assert "could not be made" in str(progress.shown()["problem"])
        assert "no disk left" in said
        assert str(progress.log) in said

    def test_a_signal_ends_whatever_the_build_has_begun(self, progress: Progress) -> None:
        with progress.start('echo "Booting …"', f"sleep 1000 & echo $! > {progress.folder}/pid", "wait") as build:
            pid = progress.folder / "pid"
            until(pid.exists, "it does not begin")
            until(pid.read_text, "it does not begin")
            build.send_signal(signal.SIGTERM)
            build.wait(timeout=PATIENCE_S)
        until(lambda: not is_alive(int(pid.read_text())), "it goes on")

    def test_what_was_kept_and_cannot_be_read_is_the_first_guess_again(self, tmp_path: Path) -> None:
        (tmp_path / "known").write_text("[]")
        assert Known(tmp_path / "known").seconds == FIRST_GUESS

    def test_of_a_stage_that_was_never_measured_nothing_is_promised(self, tmp_path: Path) -> None:
        assert Known(tmp_path / "known").left_s("Something", 0) is None

    @pytest.mark.parametrize(
        ("seconds", "text"),
        [(0, "less than a minute"), (59, "less than a minute"), (80, "about a minute"), (200, "about 3 minutes")],
    )
    def test_time_is_said_as_a_person_would(self, seconds: float, text: str) -> None:
        assert about(seconds) == text


class Run:
    """`scripts/run.sh` with a stand-in for the guest; what it says goes into a file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said_file = folder, folder / "said"
        self.go_on = folder / "go-on"
        guest = stand_in(
            folder / "guest",
            'echo "Booting the stand-in …"',
            f"until [ -e {self.go_on} ]; do sleep 0.1; done",
            'echo "NAS Advisor runs at http://127.0.0.1:9"',
            'echo "the link of the real one"',
        )
        environment = {
            **os.environ,
            "GUEST": str(guest),
            "MAKE": "true",
            "XDG_CACHE_HOME": str(folder),
            "SHOWN": str(folder / "shown"),
        }
        with self.said_file.open("w") as said:
            self.process = subprocess.Popen(
                [ROOT / "scripts/run.sh"],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return self.said_file.read_text()

    @property
    def address(self) -> str:
        return next(line.strip() for line in self.said.splitlines() if line.strip().startswith("http"))

    def page(self, path: str = "/login/") -> str:
        try:
            with urllib.request.urlopen(self.address + path, timeout=30) as answer:
                return str(answer.read().decode())
        except (URLError, StopIteration, ConnectionError):
            return ""

    def processes(self) -> list[int]:
        """All whose environment names this folder."""
        mark = f"XDG_CACHE_HOME={self.folder}\0".encode()
        return [int(each.parent.name) for each in Path("/proc").glob("[0-9]*/environ") if mark in read(each)]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def is_alive(pid: int) -> bool:
    state = read(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
    return bool(state) and state[0] != b"Z"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    if Path("/dev/zfs").exists():
        pytest.skip("this host has OpenZFS: there the product itself would be installed")
    one = Run(tmp_path)
    yield one
    one.process.send_signal(signal.SIGINT)
    one.process.wait(timeout=PATIENCE_S)


def test_the_first_address_shows_a_simulated_machine_and_then_leads_to_the_real_one(run: Run) -> None:
    until(run.page, "no page")
    first = run.page()
    assert "<strong>Simulated.</strong>" in first
    assert "Booting the stand-in" in first
    assert "<strong>Simulated.</strong>" in run.page("/preview/")
    run.go_on.touch()
    until(lambda: 'href="http://127.0.0.1:9"' in run.page(), "the page does not lead to the real one")
    until(lambda: "the link of the real one" in run.said, "nobody says how to begin")


def test_ctrl_c_ends_the_pages_and_the_build(run: Run) -> None:
    until(run.page, "no page")
    assert len(run.processes()) > 5
    run.process.send_signal(signal.SIGINT)
    run.process.wait(timeout=PATIENCE_S)
    assert run.process.returncode == 130
    until(lambda: not run.processes(), f"left: {run.processes()}")
