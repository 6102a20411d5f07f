"""The mutation tests' own parts: the form that is mutated is the same program, and the list of survivors is read."""

import ast
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.modules import TESTS
from tests.mutants.normal_form import normal_form
from tests.mutants.page import PAGE, listed_changes
from tests.mutants.results import (
    KILLED,
    MUTANTS,
    RESULTS,
    SURVIVED,
    TIME,
    Change,
    counted_changes,
    dotted,
    read_outcome,
    shortened,
)

ROOT = Path(__file__).parents[2]

SOURCE = """
from contextlib import contextmanager
from functools import cache
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
@cache
def counted(numbers=iter(range(3))): return next(numbers)
@contextmanager
def opened():
    yield _("It is open.")
def fail(name):
    raise Problem("It is not open.", name, f"{name} is away")
"""


LATER_ONES = ("size", "grown", "counted", "opened")
"""Those of its functions that have a decorator which may be called in the line after them."""


def test_the_normal_form_does_the_same_without_decorators_and_sentences_in_functions() -> None:
    told: dict[str, object] = {}
    text = normal_form(SOURCE)
    exec(compile(text, "normal form", "exec"), told)  # the program is written above
    assert told["Disk"].of().size == 7  # type: ignore[attr-defined]
    assert told["Disk"].of().grown(1) == 13  # type: ignore[attr-defined]
    assert [told["counted"]() for _ in range(2)] == [0, 0]  # type: ignore[operator]
    with told["opened"]() as said:  # type: ignore[operator]
        assert said == "It is open."
    with pytest.raises(told["Problem"]) as error:  # type: ignore[call-overload]
        told["fail"]("sda")  # type: ignore[operator]
    assert error.value.args == ("It is not open.", "sda", "sda is away")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert [len(node.decorator_list) for node in functions if node.name in LATER_ONES] == [0] * 4
    assert not [node for node in functions if "is open" in ast.unparse(node) or "not open" in ast.unparse(node)]


def test_a_change_is_shown_with_a_little_of_what_is_around_it() -> None:
    before, after = (f"{'a' * 80}{sign}{'b' * 80}" for sign in ("<", "<="))
    assert shortened(before, after) == (f"…{'a' * 49}<{'b' * 50}…", f"…{'a' * 49}<={'b' * 50}…")
    assert shortened("return True", "return False") == ("return True", "return False")
    assert shortened("f(a, a)", "f(a)") == ("f(a, a)", "f(a)")


def test_of_lines_that_are_swapped_it_is_shown_which_has_moved(tmp_path: Path) -> None:
    bodies = {"orig": "    a()\n    b()\n", "1": "    b()\n    a()\n", "2": "    a()\n    b()\n"}
    functions = "".join(f"def x_f__mutmut_{name}():\n{body}" for name, body in bodies.items())
    (tmp_path / "b.py").write_text(functions)
    (change,) = counted_changes("b", tmp_path, "b", ["x_f__mutmut_1", "x_f__mutmut_2"]).values()
    assert {(change.before, change.after)} <= {(line, f"{line} (elsewhere)") for line in ("a()", "b()")}


def test_a_mutant_survives_unless_a_test_failed_or_took_far_too_long_and_the_log_does_not_count(tmp_path: Path) -> None:
    bodies = {"orig": "return 1", "1": "return 2", "2": "return 3", "3": "return 4", "4": "return 5"}
    functions = "".join(f"def x_f__mutmut_{name}():\n    {body}\n" for name, body in bodies.items())
    logging = "def x_g__mutmut_orig():\n    log.info(1)\ndef x_g__mutmut_1():\n    log.info(2)\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.py").write_text(functions + logging)
    names = ["x_f__mutmut_1", "x_f__mutmut_2", "x_f__mutmut_3", "x_f__mutmut_4", "x_g__mutmut_1"]
    (tmp_path / MUTANTS).write_text(json.dumps({dotted(Path("a/b.py")): names}))
    ends = zip(names, (KILLED, SURVIVED, TIME), strict=False)
    told = ({"module": "a.b", "name": name, "end": end, "by": ""} for name, end in ends)
    (tmp_path / RESULTS).write_text("".join(f"{json.dumps(each)}\n" for each in told))
    outcome = read_outcome("b", tmp_path)
    assert outcome.mutants == 4
    assert [change.after for change in outcome.survivors] == ["return 3", "return 5"]


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
