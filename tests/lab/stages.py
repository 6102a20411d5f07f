"""Running the long steps of a build: one line each for the person watching, everything else into a log."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .errors import LabError


def say(sentence: str) -> None:
    """Tell the person watching, at once and not on stdout, which belongs to results."""
    print(sentence, file=sys.stderr, flush=True)


@contextmanager
def stage(title: str) -> Iterator[None]:
    """Announce a step, and say how long it took."""
    say(f"{title} …")
    start = time.monotonic()
    yield
    say(f"  done in {time.monotonic() - start:.0f} s")


def run_logged(argv: Sequence[str], log: Path, env: Mapping[str, str] | None = None, stdin: str = "") -> None:
    """Run a program with its output in `log`; a failure names the program and the log."""
    with log.open("ab") as output:
        output.write(f"\n$ {' '.join(argv)}\n".encode())
        output.flush()
        try:
            code = subprocess.run(
                argv, input=stdin.encode(), stdout=output, stderr=subprocess.STDOUT, env=env, check=False
            ).returncode
        except FileNotFoundError:
            raise LabError(
                f"{argv[0]} is not installed. `python3 -m tests.lab packages` lists what the lab needs."
            ) from None
    if code != 0:
        raise LabError(f"{argv[0]} failed with exit code {code}. Its output is in {log}.")
