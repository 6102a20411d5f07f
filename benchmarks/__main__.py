"""`python -m benchmarks [NAME …]`: run the benchmarks here, and print budget, measured and peer side by side.

Each runs in a process of its own: what one leaves in memory or in a database costs the next one nothing, and where one
fails the others are still measured.
"""

import importlib
import pkgutil
import platform
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import benchmarks
from benchmarks.figure import Figure, Skipped

NOT_BENCHMARKS: Final = {"__main__", "clients", "console", "figure", "load", "stack"}
"""`load` is run by hand, for as many minutes as it is given."""

MARKS: Final = {True: "ok", False: "MISSED", None: ""}


def main(wanted: list[str]) -> int:
    """Run the one that is named here, several or all each in a process of its own; how many of them failed."""
    if len(wanted) == 1:
        run(wanted[0])
        return 0
    print(f"{datetime.now(UTC):%d %B %Y}, {machine()}", flush=True)
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    failed = [name for name in sorted(wanted or set(names) - NOT_BENCHMARKS) if _alone(name)]
    for name in failed:
        print(f"{name} FAILED")
    return len(failed)


def run(name: str) -> None:
    """Run one, and print its table."""
    print(f"\n{name}", flush=True)
    try:
        show(importlib.import_module(f"benchmarks.{name}").figures())
    except Skipped as reason:
        print(f"  skipped: {reason}")


def show(figures: Iterable[Figure]) -> None:
    """Print a table."""
    rows = [("", "budget", "measured", "peer", "")]
    rows += [(one.name, one.budget, one.measured, one.peer, MARKS[one.met]) for one in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def machine() -> str:
    """What these figures were measured on."""
    cpus = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    kernel = platform.release()
    return f"{len(cpus)} × {cpus[0].partition(': ')[2]}, kernel {kernel}, Python {platform.python_version()}"


def _alone(name: str) -> int:
    return subprocess.run([sys.executable, "-m", "benchmarks", name], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
