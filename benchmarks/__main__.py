"""`python -m benchmarks [NAME …]`: run the benchmarks here, and print budget, measured and peer side by side."""

import importlib
import pkgutil
import sys
from collections.abc import Iterable

import benchmarks
from benchmarks.figure import Figure, Skipped

NOT_BENCHMARKS = {"__main__", "clients", "console", "figure", "load", "stack"}
MARKS = {True: "ok", False: "MISSED", None: ""}


def main(wanted: list[str]) -> None:
    """Run the named benchmarks, or all."""
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    for name in sorted(wanted or set(names) - NOT_BENCHMARKS):
        print(f"\n{name}")
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


if __name__ == "__main__":
    main(sys.argv[1:])
