"""Running the long steps of a build: one line each for the person watching, everything else into a log."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from .errors import LabError

Made = TypeVar("Made")


class _Thread(threading.local):
    beside_others = False


_thread = _Thread()


def say(sentence: str) -> None:
    """Tell the person watching, at once and not on stdout, which belongs to results."""
    print(sentence, file=sys.stderr, flush=True)


@contextmanager
def stage(title: str) -> Iterator[None]:
    """Announce a step, and say how long it took; one beside others is only named when it is done."""
    if not _thread.beside_others:
        say(f"{title} …")
    start = time.monotonic()
    yield
    seconds = f"{time.monotonic() - start:.0f} s"
    say(f"  {title}: done in {seconds}" if _thread.beside_others else f"  done in {seconds}")


def side_by_side(title: str, *steps: Callable[[], Made]) -> list[Made]:
    """Steps of which none needs another, at once, as one stage; what each returned, in their order.

    Raises:
        LabError: of the first step in this order that failed; the others have come to their end.
    """

    def one(step: Callable[[], Made]) -> Made:
        _thread.beside_others = True
        return step()

    with stage(title), ThreadPoolExecutor(len(steps)) as threads:
        running = [threads.submit(one, step) for step in steps]
        wait(running)
        return [each.result() for each in running]


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
