"""What `make mutants` makes of constants, members, orders and levels, beside what mutmut makes."""

import ast
import importlib
import sys
from pathlib import Path

import libcst as cst
import pytest

from tests.mutants.operators import is_inside, mutations, others
from tests.mutants.outside import outside_mutants, survivors
from tests.mutants.stand_in import StandIn


def made_of(source: str) -> set[str]:
    """Each mutant of a module, as the lines that are new in it, or whole if none is; all of them are programs."""
    tree, found = mutations("made_up.py", source)
    before = ast.unparse(ast.parse(source))
    made = set()
    for each in found:
        changed = cst.ensure_type(tree.deep_replace(each.original_node, each.mutated_node), cst.Module)
        compile(changed.code, "made up", "exec")
        after = ast.unparse(ast.parse(changed.code))
        assert after != before, "a mutant is another program"
        made.add("; ".join(line.strip() for line in after.splitlines() if line not in before.splitlines()) or after)
    return made


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, [-1, 1]), (1, [0, 2]), (2, [1, 3, 4]), (9, [8, 10, 4, 18]), (0.5, [-0.5, 1.5, 0.25, 1.0])],
)
def test_a_number_becomes_smaller_and_larger_by_one_and_by_half(number: float, expected: list[float]) -> None:
    assert others(number) == expected


def test_numbers_of_constants_and_numbers_compared_with_are_changed_and_no_others() -> None:
    assert made_of("FAR: Final = 6 * MIB\n") == {f"FAR: Final = {n} * MIB" for n in (5, 7, 3, 12)}
    assert made_of("class A:\n    days: int = 1\n") == {"days: int = 0", "days: int = 2"}
    assert made_of("def f(x):\n    return 5 + x if x[3] >= 90 else f(7)\n") == {
        f"return 5 + x if x[3] >= {n} else f(7)" for n in (89, 91, 45, 180)
    }
    assert made_of("size = 6\n") == set()


def test_a_member_is_left_out_of_sets_tuples_and_lists_of_literals_and_constants() -> None:
    assert made_of('A = frozenset({"x", Kind.Y, *MORE})\n') == {
        "A = frozenset({Kind.Y, *MORE})",
        "A = frozenset({'x', *MORE})",
        "A = frozenset({'x', Kind.Y})",
    }
    assert made_of('A = {"x"}\n') == {"A = set()"}
    assert made_of('def f(x):\n    return x in ("a", "b")\n') == {"return x in ('b',)", "return x in ('a',)"}
    assert made_of("A = [1]\n") == {"A = []"}
    assert made_of('A = {f("x")}\n') == set()


def test_neighbours_are_swapped_where_there_is_an_order() -> None:
    assert made_of("RULES = (one, two, three)\n") == {"RULES = (two, one, three)", "RULES = (one, three, two)"}
    assert made_of("RULES = [one(), two()]\n") == {"RULES = [two(), one()]"}
    for unordered in ("x in (a, b)", "frozenset((a, b))", "{a, b}"):
        assert made_of(f"y = {unordered}\n") == set()
    assert made_of("try:\n    f()\nexcept (A.a, B.b):\n    pass\n") == set()
    assert made_of("one, two = f()\n") == made_of("def f(x: dict[str, int]):\n    pass\n") == set()


def test_branches_are_swapped_unless_they_do_the_same() -> None:
    chain = "if a:\n    f()\nelif b:\n    {}\nelse:\n    g()\n"
    assert made_of(chain.format("h()")) == {"if b:; elif a:"}
    assert made_of(chain.format("f()")) == set()
    cases = "match x:\n    case 1:\n        f()\n    case 2:\n        {}\n    case _:\n        h()\n"
    assert len(made_of(cases.format("g()"))) == 1
    assert made_of(cases.format("f()")) == set()


def test_ways_out_of_a_function_are_swapped_unless_they_lead_to_the_same_place() -> None:
    function = "def f():\n    if a:\n        return 1\n    if b:\n        {}\n    if c:\n        g()\n    return 3\n"
    assert len(made_of(function.format("return 2"))) == 1
    assert len(made_of(function.format("raise A"))) == 1
    assert made_of(function.format("return 1")) == set()
    assert made_of(function.format("g()")) == set()


def test_what_is_yielded_is_swapped_with_what_is_yielded_next() -> None:
    function = "def f():\n    yield a\n    if x:\n        yield b\n"
    function += "    for y in z:\n        yield from y\n    {}\n    yield c\n"
    assert len(made_of(function.format("g()"))) == 2
    assert len(made_of(function.format("yield d"))) == 4


@pytest.mark.parametrize(
    ("level", "expected"),
    [("INFO", {"WARNING"}), ("WARNING", {"INFO", "CRITICAL"}), ("CRITICAL", {"WARNING"}), ("OTHER", set())],
)
def test_a_level_is_lowered_and_raised_by_one(level: str, expected: set[str]) -> None:
    assert made_of(f"def f():\n    return Level.{level}\n") == {f"return Level.{other}" for other in expected}
    assert made_of(f"x = Colour.{level}\n") == set()


SOURCE = """
FIRST: Final = 1
ORDER: Final = ("a", "a", "b")
def f(x):
    return x > 5
"""


def test_outside_functions_each_mutant_is_a_module_of_its_own_and_none_is_the_same_as_another() -> None:
    _, found = mutations("made_up.py", SOURCE)
    assert len([each for each in found if is_inside(each)]) == 4
    mutants = outside_mutants("domain/made_up", "made_up.py", SOURCE)
    assert [(each.change.function, each.change.after) for each in mutants] == [
        ("FIRST", "FIRST: Final = 0"),
        ("FIRST", "FIRST: Final = 2"),
        ("ORDER", "ORDER: Final = ('a', 'b')"),
        ("ORDER", "ORDER: Final = ('a', 'a')"),
        ("ORDER", "ORDER: Final = ('a', 'b', 'a')"),
    ]
    for each in mutants:
        compile(each.source, "made up", "exec")
        assert "return x > 5" in each.source


@pytest.mark.parametrize(("code", "alive"), [(0, True), (1, False), (2, False), (4, False), (5, True), (-9, True)])
def test_a_mutant_outside_functions_survives_unless_the_tests_fail_or_cannot_be_read(
    tmp_path: Path, code: int, alive: bool
) -> None:
    def run(name: str, file: Path) -> int:
        assert name == "made.up"
        return code if "FIRST: Final = 2" in file.read_text() else 1

    mutants = {"made.up": outside_mutants("made/up", "up.py", "FIRST: Final = 1\n")}
    found = survivors(mutants, tmp_path / "outside", run)
    assert [change.after for change in found] == ["FIRST: Final = 2"] * alive


def test_a_module_or_a_package_is_imported_from_the_file_that_stands_in_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "made_up/inside"
    inside.mkdir(parents=True)
    for file, text in (("../__init__", "A = 1"), ("__init__", "A = 1"), ("module", "A = 1\nfrom . import A as B")):
        (inside / f"{file}.py").write_text(text)
    (tmp_path / "mutant.py").write_text("A = 2")
    monkeypatch.syspath_prepend(tmp_path)
    stand_in = StandIn("made_up.inside", tmp_path / "mutant.py")
    monkeypatch.setattr(sys, "meta_path", [stand_in, *sys.meta_path])
    module = importlib.import_module("made_up.inside.module")
    assert (module.A, module.B) == (1, 2)
    stand_in = StandIn("made_up", tmp_path / "mutant.py")
    assert stand_in.find_spec("made_up.inside", [str(tmp_path / "made_up")]) is None
    for name in [name for name in sys.modules if name.startswith("made_up")]:
        del sys.modules[name]
