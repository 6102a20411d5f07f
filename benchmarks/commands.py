"""How long the command line takes to begin, as whole processes, beside programs that administrators type."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median
from typing import Final

from benchmarks.figure import Figure

HELP_S: Final = 0.15
ROUNDS: Final = 21
PEERS: Final = (("lsblk", "--help"), ("smartctl", "--help"), (sys.executable, "-I", "-c", "pass"))


def figures() -> Iterator[Figure]:
    """Help as a whole, and what a command loads before it does anything."""
    peers = ", ".join(f"{_seconds(argv):.3f} s {_name(argv)}" for argv in PEERS if shutil.which(argv[0]))
    took = _seconds(_ours("--help"))
    yield Figure("nasadvisor --help", f"<= {HELP_S:g} s", f"{took:.3f} s", peers, took <= HELP_S)
    yield Figure("nasadvisor inventory --help", "", f"{_seconds(_ours('inventory', '--help')):.3f} s", peers)


def _ours(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "nasadvisor.cli", *words)


def _name(argv: tuple[str, ...]) -> str:
    return "an empty Python" if argv[0] == sys.executable else " ".join(argv)


def _seconds(argv: tuple[str, ...]) -> float:
    """Of a whole process, the median; the first one, which fills the page cache, does not count."""
    took = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        took.append(time.perf_counter() - began)
    return median(took[1:])
