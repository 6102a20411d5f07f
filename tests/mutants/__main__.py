"""`make mutants`: change one thing at a time in the code that must never be wrong, and see whether a test fails.

`python -m tests.mutants [MODULE …]`. The package is copied into build/mutants/ for each module, the module mutated
there by mutmut and by operators of our own (operators.py), and the tests that concern it (modules.py) are run for one
mutant after the other (loop.py; outside.py for what stands outside functions), on as many cores as the process may use.
Prints a table. The exit code is 1 if a mutant survived that docs/reference/mutants.md does not explain, or if the page
explains one that did not survive.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from mutmut.mutation.file_mutation import combine_mutations_to_source
from mutmut.mutation.mutators import mutation_operators

from tests.mutants.modules import TESTS
from tests.mutants.normal_form import normal_form
from tests.mutants.operators import is_inside, mutations
from tests.mutants.outside import FOLDER, Mutant, outside_mutants, survivors
from tests.mutants.page import PAGE, listed_changes
from tests.mutants.results import MUTANTS, Change, Outcome, counted_changes, dotted, read_outcome
from tests.mutants.stand_in import FILE, MODULE

ROOT: Final = Path(__file__).parents[2]
BUILD: Final = ROOT / "build/mutants"
BESIDE: Final = ("tests", "plugins", "templates", "locale", "docs", "packaging", "manage.py")
"""What tests and code look for beside the package."""

PYTEST: Final = (sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist")
EXAMPLES: Final = ("-p", "tests.mutants.without_examples")
LOOP: Final = ("-p", "tests.mutants.loop")
STAND_IN: Final = ("-x", "-p", "tests.mutants.stand_in")
WORDLESS: Final = ("--tb=native", "--assert=plain")
"""That a test fails is all that is asked: to say why takes two thirds of a mutant's time."""

TEMPORARY: Final = ("-o", "tmp_path_retention_policy=failed")
"""Else the folder of each test of each mutant stays, and the next takes longer to make."""


def main(wanted: list[str]) -> int:
    """Run the named modules, or all."""
    if unknown := set(wanted) - set(TESTS):
        print(f"Not a module that is mutated: {', '.join(sorted(unknown))}. There are: {', '.join(TESTS)}")
        return 2
    modules = wanted or list(TESTS)
    listed = listed_changes(PAGE.read_text(encoding="utf-8"))
    outcomes = []
    for module in modules:
        print(f"{module} …", flush=True)
        outcomes.append(run(module))
    print_table(outcomes, listed)
    return 0 if print_differences(outcomes, listed) else 1


def run(module: str) -> Outcome:
    """Mutate one module. Raises CalledProcessError if its tests do not even pass without a mutant."""
    work = BUILD / module.replace("/", ".")
    outside = prepare(module, work)
    log = work / "log"
    code = run_tests(module, work, log, *LOOP)
    if code:
        print(f"pytest ended with {code}; the end of {log}:")
        print(log.read_text(encoding="utf-8", errors="replace")[-4000:])
        raise subprocess.CalledProcessError(code, "pytest")
    inside = read_outcome(module, work)

    def with_stand_in(name: str, file: Path) -> int:
        return run_tests(module, work, file.with_suffix(".log"), *STAND_IN, **{MODULE: name, FILE: str(file)})

    alive = tuple(survivors(outside, work / FOLDER, with_stand_in))
    return Outcome(module, inside.mutants + sum(map(len, outside.values())), inside.survivors + alive)


def run_tests(module: str, work: Path, log: Path, *options: str, **more: str) -> int:
    """Run the tests of a module, with this in their environment as well; returns how pytest ended."""
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "mutants", **more}
    command = (*PYTEST, *EXAMPLES, *WORDLESS, *TEMPORARY, *options, *TESTS[module])
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(command, cwd=work, env=environment, stdout=output, stderr=output, check=False)
    return done.returncode


def prepare(module: str, work: Path) -> dict[str, list[Mutant]]:
    """A copy of the package with the mutants of the module's functions in it, and what its tests need, under `work`.

    Returns the other mutants, by the names of the modules that they are of.
    """
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(ROOT / "nasadvisor", work / "nasadvisor")
    for name in BESIDE:
        (work / name).symlink_to(ROOT / name)
    target = work / "nasadvisor" / module
    files = sorted(target.rglob("*.py")) if target.is_dir() else [target.with_suffix(".py")]
    names, outside = {}, {}
    for file in files:
        source = normal_form(file.read_text(encoding="utf-8"))
        name = dotted(file.relative_to(work))
        outside[name] = outside_mutants(module, str(file), source)
        tree, found = mutations(str(file), source, mutation_operators)
        mutated = combine_mutations_to_source(tree, [each for each in found if is_inside(each)])
        file.write_text(mutated.code, encoding="utf-8")
        names[name] = list(counted_changes(module, work, name, list(mutated.mutant_names)))
    (work / MUTANTS).write_text(json.dumps(names), encoding="utf-8")
    shutil.copy(ROOT / "pyproject.toml", work)
    return outside


def print_table(outcomes: list[Outcome], listed: Counter[Change]) -> None:
    """Module, mutants, killed, survived, of these listed as equivalent, and the score without those."""
    print(f"\n{'module':36}{'mutants':>9}{'killed':>9}{'survived':>10}{'equivalent':>12}{'score':>9}")
    total = Outcome("all", sum(each.mutants for each in outcomes), sum((each.survivors for each in outcomes), ()))
    for each in (*outcomes, total) if len(outcomes) > 1 else outcomes:
        survived, explained = len(each.survivors), equivalent(each, listed)
        killed = each.mutants - survived
        share = 100 * killed / max(each.mutants - explained, 1)
        print(f"{each.module:36}{each.mutants:9}{killed:9}{survived:10}{explained:12}{share:8.1f}%")


def equivalent(outcome: Outcome, listed: Counter[Change]) -> int:
    """How many survivors the page explains."""
    return (Counter(outcome.survivors) & listed).total()


def print_differences(outcomes: list[Outcome], listed: Counter[Change]) -> bool:
    """Print what the page and the runs do not agree about; true if there is nothing."""
    found = Counter(change for outcome in outcomes for change in outcome.survivors)
    modules = {outcome.module for outcome in outcomes}
    stale = Counter({change: count for change, count in listed.items() if change.module in modules}) - found
    for title, changes in (
        ("Survived, and no reason is listed:", found - listed),
        ("Listed, and not a survivor:", stale),
    ):
        if changes:
            print(f"\n{title}")
        for change in sorted(changes.elements(), key=str):
            print(f"{change.module} {change}")
    return not (found - listed or stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
