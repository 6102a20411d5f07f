"""The mutation tests' own parts: the form that is mutated is the same program, and the list of survivors is read."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.modules import TESTS
from tests.mutants.normal_form import normal_form
from tests.mutants.page import PAGE, listed_changes
from tests.mutants.results import Change, _shortened

ROOT = Path(__file__).parents[2]

SOURCE = """
from contextlib import contextmanager
from nasadvisor.domain.statements import gettext_noop as _
class Problem(Exception): pass
def reads(*more): return lambda task: lambda self, given: task(self, given, *more)
class Disk:
    @property
    def size(self): return 7
    @staticmethod
    def of(): return Disk()
    @reads(5)
    def grown(self, *by): return self.size + sum(by)
@contextmanager
def opened():
    yield _("It is open.")
def fail(name):
    raise Problem("It is not open.", name, f"{name} is away")
"""


def test_the_normal_form_does_the_same_without_decorators_and_sentences_in_functions() -> None:
    told: dict[str, object] = {}
    text = normal_form(SOURCE)
    exec(compile(text, "normal form", "exec"), told)  # the program is written above
    assert told["Disk"].of().size == 7  # type: ignore[attr-defined]
    assert told["Disk"].of().grown(1) == 13  # type: ignore[attr-defined]
    with told["opened"]() as said:  # type: ignore[operator]
        assert said == "It is open."
    with pytest.raises(told["Problem"]) as error:  # type: ignore[call-overload]
        told["fail"]("sda")  # type: ignore[operator]
    assert error.value.args == ("It is not open.", "sda", "sda is away")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert [len(node.decorator_list) for node in functions if node.name in ("size", "grown", "opened")] == [0] * 3
    assert not [node for node in functions if "is open" in ast.unparse(node) or "not open" in ast.unparse(node)]


def test_a_change_is_shown_with_a_little_of_what_is_around_it() -> None:
    before, after = (f"{'a' * 80}{sign}{'b' * 80}" for sign in ("<", "<="))
    assert _shortened(before, after) == (f"…{'a' * 49}<{'b' * 50}…", f"…{'a' * 49}<={'b' * 50}…")
    assert _shortened("return True", "return False") == ("return True", "return False")
    assert _shortened("f(a, a)", "f(a)") == ("f(a, a)", "f(a)")


def test_the_page_lists_changes_of_modules_that_are_mutated() -> None:
    listed = listed_changes(PAGE.read_text(encoding="utf-8"))
    assert {change.module for change in listed} <= set(TESTS)


def test_a_line_of_the_page_needs_a_module_and_a_reason() -> None:
    line = "- `f`: `a < b` → `a <= b`: they are never equal."
    assert listed_changes(f"### domain/x\n\n{line}\n{line}\n") == Counter(
        {Change("domain/x", "f", "a < b", "a <= b"): 2}
    )
    for text in (line, "### domain/x\n- `f`: `a < b` → `a <= b`"):
        with pytest.raises(ValueError, match="no mutant with a reason"):
            listed_changes(text)


@pytest.mark.parametrize("module", TESTS)
def test_every_module_and_every_test_that_is_named_exists(module: str) -> None:
    path = ROOT / "nasadvisor" / module
    assert path.is_dir() or path.with_suffix(".py").is_file()
    assert all((ROOT / test).exists() for test in TESTS[module])
