"""What became of each mutant, as the runs of the tests have told (loop.py)."""

import ast
import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MUTANTS: Final = "mutants.json"
"""Beside the copy of the package: the names of the mutants, by module."""

RESULTS: Final = "results.jsonl"
"""Beside it: what became of each, one a line."""

KILLED: Final = "killed"
TIME: Final = "took far too long"
SURVIVED: Final = "survived"
NO_TESTS: Final = "no test reaches it"

LOGGING: Final = "log."
"""How a line begins that only tells the log something: what it tells and how is not held by tests."""

CONTEXT: Final = 50
"""How many unchanged characters are shown on either side of a change."""

_MUTANT: Final = re.compile(r"(?P<function>.+)__mutmut_(?P<number>\d+|orig)")


@dataclass(frozen=True)
class Change:
    """A mutant as it is written in docs/reference/mutants.md: in which function, which line, and what became of it."""

    module: str
    function: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"- `{self.function}`: `{self.before}` → `{self.after}`"


@dataclass(frozen=True)
class Outcome:
    """The mutants of one module."""

    module: str
    mutants: int
    survivors: tuple[Change, ...]


def read_outcome(module: str, work: Path) -> Outcome:
    """The result of a finished run in `work`."""
    ends = _ends(work)
    survivors: list[Change] = []
    mutants = 0
    for file, names in json.loads((work / MUTANTS).read_text(encoding="utf-8")).items():
        changes = counted_changes(module, work, file, names)
        mutants += len(changes)
        survivors += [change for name, change in changes.items() if ends.get((file, name)) not in {KILLED, TIME}]
    return Outcome(module, mutants, tuple(survivors))


def counted_changes(module: str, work: Path, file: str, names: list[str]) -> dict[str, Change]:
    """By the names of a file's mutants what each changed.

    None is among them that only tells the log something else, or that is the same function as one before it.
    """
    bodies = _functions(ast.parse(_source(work, file).read_text(encoding="utf-8")))
    changes = {name: _change(module, name, bodies) for name in _different(bodies, names)}
    return {name: change for name, change in changes.items() if not change.before.startswith(LOGGING)}


def _different(bodies: dict[str, list[str]], names: list[str]) -> Iterator[str]:
    seen: set[tuple[str, ...]] = set()
    for name in names:
        function = name.rpartition("__mutmut_")[0]
        seen.add((function, *bodies[f"{function}__mutmut_orig"]))
        if (function, *bodies[name]) not in seen:
            seen.add((function, *bodies[name]))
            yield name


def _ends(work: Path) -> dict[tuple[str, str], str]:
    """What became of each mutant, by its module and its name."""
    lines = (work / RESULTS).read_text(encoding="utf-8").splitlines()
    return {(each["module"], each["name"]): each["end"] for each in map(json.loads, lines)}


def dotted(file: Path) -> str:
    """The name of the module in a file, e.g. `nasadvisor.host` for nasadvisor/host/__init__.py."""
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def _source(work: Path, module: str) -> Path:
    place = work.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _functions(tree: ast.Module) -> dict[str, list[str]]:
    """The lines of each copy of a function, without its name."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _MUTANT.fullmatch(node.name):
            name, node.name = node.name, "f"
            found[name] = [line.strip() for line in ast.unparse(node).splitlines()]
    return found


def _change(module: str, name: str, bodies: dict[str, list[str]]) -> Change:
    match = _MUTANT.fullmatch(name)
    assert match, name
    function = match["function"]
    lines = list(difflib.ndiff(bodies[f"{function}__mutmut_orig"], bodies[name]))
    before = " ".join(line[2:] for line in lines if line.startswith("- "))
    after = " ".join(line[2:] for line in lines if line.startswith("+ "))
    if before.startswith(LOGGING):
        return Change(module, _readable(function), before, after)
    if before == after:
        moved = next(line[2:] for line in lines if line.startswith("- "))
        return Change(module, _readable(function), moved, f"{moved} (elsewhere)")
    return Change(module, _readable(function), *shortened(before, after))


def shortened(before: str, after: str) -> tuple[str, str]:
    """Both without most of what they have in common at either end."""
    start = _unshared_from(before, after)
    end = min(_unshared_from(before[::-1], after[::-1]), min(len(before), len(after)) - start)
    head, tail = max(start - CONTEXT, 0), max(end - CONTEXT, 0)
    short = [("…" if head else "") + text[head : len(text) - tail] + ("…" if tail else "") for text in (before, after)]
    return short[0], short[1]


def _unshared_from(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _readable(mangled: str) -> str:
    """`x_free` is a function, `xǁExtentǁend` a method."""
    return mangled.removeprefix("xǁ").replace("ǁ", ".") if mangled.startswith("xǁ") else mangled.removeprefix("x_")
