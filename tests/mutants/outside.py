"""Mutants outside functions: a constant, a table, an order of rules.

mutmut chooses between the copies of a function at each call, but what stands outside functions is read once, when the
module is imported, and what is made of it may stand in any other module. So each of these mutants is a module of its
own, and the tests are run for it in a process of their own, which imports it in place of the one on disk (stand_in.py).
"""

import ast
import difflib
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import libcst as cst

from tests.mutants.operators import is_inside, mutations
from tests.mutants.results import Change, shortened

FOLDER: Final = "outside"
"""Beside the copy of the package: a module for each mutant."""

_KILLED: Final = {1, 2, 4, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGXCPU}
"""How pytest ends if a test fails, or the module cannot be imported, or takes more of a processor than it may."""


@dataclass(frozen=True)
class Mutant:
    """A module in which one thing outside its functions is different."""

    source: str
    change: Change


def outside_mutants(module: str, file: str, source: str) -> list[Mutant]:
    """Each of a file's, once, and none that is the same program as before."""
    tree, found = mutations(file, source)
    before = ast.unparse(ast.parse(source))
    seen, mutants = {before}, []
    for each in found:
        if is_inside(each):
            continue
        changed = tree.deep_replace(each.original_node, each.mutated_node)
        assert isinstance(changed, cst.Module)
        after = ast.unparse(ast.parse(changed.code))
        if after not in seen:
            seen.add(after)
            mutants.append(Mutant(changed.code, _change(module, before, after)))
    return mutants


def _change(module: str, before: str, after: str) -> Change:
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    old, new = (" ".join(line[2:].strip() for line in lines if line.startswith(sign)) for sign in ("- ", "+ "))
    return Change(module, old.partition(":")[0].partition(" ")[0], *shortened(old, new))


def survivors(
    mutants: Mapping[str, Sequence[Mutant]], folder: Path, run: Callable[[str, Path], int]
) -> Iterator[Change]:
    """Which of the mutants, given by the name of their module, no test tells from what stands there.

    `run` runs the tests with a file in place of a module, and returns how pytest ended.
    """
    folder.mkdir()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        runs = []
        for number, (name, mutant) in enumerate((of, each) for of in mutants for each in mutants[of]):
            file = folder / f"{number}.py"
            file.write_text(mutant.source, encoding="utf-8")
            runs.append((mutant, threads.submit(run, name, file)))
        for mutant, running in runs:
            if running.result() not in _KILLED:
                yield mutant.change
