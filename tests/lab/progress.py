"""How far a long build is: `python3 -m tests.lab.progress --state FILE --known FILE --log FILE -- COMMAND`.

Runs the command, follows the stages that it names (`stages.stage`: a line each that ends with "…"), and says which one
it is at and what is left, from how long each took the last time. The person at the terminal sees one line, the pages of
`make run` read the same from the state file. Everything else that the command says goes into the log.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

STAGE = re.compile(r"(?P<title>\S.*?) …")
READY = re.compile(r"NAS Advisor runs at (?P<address>http\S+)")
TAIL = 5
PATIENCE_S = 60.0
"""How long the command may take to end orderly; what unpacks a system mounts things that it must unmount."""

FIRST_GUESS: dict[str, float] = {
    "Making Debian, OpenZFS and the package side by side (three minutes on two cores)": 196,
    "Copying the base system": 5,
    "Installing NAS Advisor in the image": 8,
    "Preparing the boot": 7,
    "Making the boot disk": 6,
    "Booting dev (default)": 33,
    "Making the pool": 17,
    "Waiting for the pages": 30,
}
"""Seconds, as measured on two quiet cores without KVM; from the second time on there are this machine's own."""


@dataclass(frozen=True)
class State:
    """What the pages read. `ends_at` is seconds since 1970, 0 where nothing can be said yet."""

    stage: str = ""
    ends_at: float = 0.0
    address: str = ""
    problem: str = ""

    def write(self, path: Path) -> None:
        """Replace the file at once: nobody reads half of it."""
        new = path.with_name(f"{path.name}.new")
        new.write_text(json.dumps(asdict(self)), encoding="utf-8")
        new.replace(path)


@dataclass
class Known:
    """How long each stage took the last time, in their order."""

    path: Path
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            read = json.loads(self.path.read_text(encoding="utf-8"))
            self.seconds = {str(title): float(seconds) for title, seconds in read.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            self.seconds = dict(FIRST_GUESS)

    def left_s(self, stage: str, spent_s: float) -> float | None:
        """Seconds until the last stage ends; None where this one was never measured.

        One that takes longer than the last time is taken to be about done.
        """
        if stage not in self.seconds:
            return None
        titles = list(self.seconds)
        later = titles[titles.index(stage) + 1 :]
        return max(0.0, self.seconds[stage] - spent_s) + sum(self.seconds[title] for title in later)

    def note(self, stage: str, seconds: float, after: str) -> None:
        """Keep what a stage took; a new one has its place behind the one before it."""
        if stage not in self.seconds:
            titles = list(self.seconds)
            titles.insert(titles.index(after) + 1 if after in titles else 0, stage)
            self.seconds = {title: self.seconds.get(title, 0.0) for title in titles}
        self.seconds[stage] = round(seconds, 1)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.seconds, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


class Follower:
    """Takes the lines of a build, and says how far it is."""

    def __init__(self, known: Known, state: Path, terminal: IO[str]) -> None:
        self.known, self.state, self.terminal = known, state, terminal
        self.stage, self.before, self.began = "", "", time.monotonic()
        self.address = ""
        self.lock = threading.Lock()

    def take(self, line: str) -> None:
        """One line of the build, without its end."""
        with self.lock:
            found, ready = STAGE.fullmatch(line), READY.match(line)
            if found and not self.address:
                self._end_stage()
                self.stage, self.began = found["title"], time.monotonic()
                self._say_stage()
            elif ready:
                self._end_stage()
                self.address = ready["address"]
                State(address=self.address).write(self.state)
                self._print(line)
            elif self.address:  # how to begin
                self._print(line)

    def tick(self) -> None:
        """A second has passed."""
        with self.lock:
            if self.stage and self.terminal.isatty():
                self.terminal.write(f"\r\033[K{self._progress()}")
                self.terminal.flush()

    def fail(self, problem: str) -> None:
        """The build ended without the product running."""
        with self.lock:
            State(stage=self.stage, problem=problem).write(self.state)
            self.stage = ""
            self._print(problem)

    def _end_stage(self) -> None:
        if self.stage:
            self.known.note(self.stage, time.monotonic() - self.began, self.before)
        self.stage, self.before = "", self.stage

    def _say_stage(self) -> None:
        left = self.known.left_s(self.stage, 0)
        State(stage=self.stage, ends_at=0.0 if left is None else time.time() + left).write(self.state)
        if not self.terminal.isatty():
            self._print(self._progress())

    def _progress(self) -> str:
        left = self.known.left_s(self.stage, time.monotonic() - self.began)
        return f"Real OpenZFS: {self.stage}" + ("" if left is None else f" ({about(left)} left)")

    def _print(self, line: str) -> None:
        start = "\r\033[K" if self.terminal.isatty() else ""
        self.terminal.write(f"{start}{line}\n")
        self.terminal.flush()


def about(seconds: float) -> str:
    """How long, as a person says it."""
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    return "about a minute" if minutes == 1 else f"about {minutes} minutes"


def run(argv: Sequence[str], follower: Follower, log: Path) -> int:
    """Run the command to its end in a session of its own; a signal to us ends that."""
    log.parent.mkdir(parents=True, exist_ok=True)
    ended = threading.Event()
    with (
        log.open("w", encoding="utf-8") as kept,
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as build,
    ):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: _end(build))
        ticking = threading.Thread(target=_tick, args=(follower, ended), daemon=True)
        ticking.start()
        assert build.stdout is not None
        for line in build.stdout:
            kept.write(line)
            kept.flush()
            follower.take(line.rstrip())
        code = build.wait()
        ended.set()
    if code != 0:
        last = log.read_text(encoding="utf-8").strip().splitlines()[-TAIL:]
        follower.fail("\n".join((f"The machine with real OpenZFS could not be made; {log} says more.", *last)))
    return code


def _tick(follower: Follower, ended: threading.Event) -> None:
    while not ended.wait(1):
        follower.tick()


def _end(build: "subprocess.Popen[str]") -> None:
    """Ask the whole session to end, and insist after a while."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.killpg(build.pid, signal.SIGTERM)
    threading.Thread(target=_insist, args=(build.pid,), daemon=True).start()


def _insist(session: int) -> None:
    time.sleep(PATIENCE_S)
    os.killpg(session, signal.SIGKILL)


def main(argv: list[str]) -> int:
    """Ends with the code of the command."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.lab.progress", description=__doc__)
    for name, text in (
        ("state", "where the pages read how far it is"),
        ("known", "how long each stage took the last time"),
        ("log", "everything that the command says"),
    ):
        parser.add_argument(f"--{name}", type=Path, required=True, metavar="FILE", help=text)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args(argv)
    State(stage="Beginning").write(arguments.state)
    return run(arguments.command, Follower(Known(arguments.known), arguments.state, sys.stdout), arguments.log)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
