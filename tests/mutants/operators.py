"""The changes that mutmut does not make: of constants, of members, of orders and of levels.

They are made in functions, beside those of mutmut, and outside functions, where mutmut makes none (outside.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final, TypeVar

import libcst as cst
from libcst import matchers as m
from libcst.metadata import MetadataWrapper
from mutmut.mutation.file_mutation import Mutation, MutationVisitor
from mutmut.mutation.mutators import OPERATORS_TYPE
from mutmut.mutation.pragma_handling import get_ignored_lines

T = TypeVar("T")

LEVELS: Final = ("INFO", "WARNING", "CRITICAL")
"""The names of domain.statements.Level, from the lowest to the highest."""

SETS: Final = ("frozenset", "set")
"""What makes a set of its argument."""


def mutations(file: str, source: str, also: OPERATORS_TYPE = ()) -> tuple[cst.Module, list[Mutation]]:
    """The module as it is read, and each change of it that these operators make, and those in `also`."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    operators = (*also, *_operators(set(_unordered(wrapper.module))))
    visitor = MutationVisitor(operators, get_ignored_lines(file, source, wrapper))
    return wrapper.visit(visitor), visitor.mutations


def is_inside(mutation: Mutation) -> bool:
    """Whether the change is in a function, of which mutmut keeps a copy for each."""
    return isinstance(mutation.contained_by_top_level_function, cst.FunctionDef)


def _operators(unordered: set[cst.CSTNode]) -> OPERATORS_TYPE:
    return (
        (cst.Comparison, compared_numbers),
        (cst.AnnAssign, constants),
        (cst.Set, fewer_members),
        (cst.Tuple, fewer_members),
        (cst.List, fewer_members),
        (cst.Tuple, partial(swapped_members, unordered)),
        (cst.List, partial(swapped_members, unordered)),
        (cst.If, swapped_branches),
        (cst.Match, swapped_cases),
        (cst.IndentedBlock, swapped_statements),
        (cst.Attribute, other_levels),
    )


def _unordered(module: cst.Module) -> Iterator[cst.CSTNode]:
    """Tuples and lists of which only the members count."""
    for target in m.findall(module, m.ComparisonTarget(m.In() | m.NotIn())):
        yield cst.ensure_type(target, cst.ComparisonTarget).comparator
    for handler in m.findall(module, m.ExceptHandler(type=m.Tuple())):
        yield from (child for child in handler.children if isinstance(child, cst.Tuple))
    for call in m.findall(module, m.Call(m.OneOf(*(m.Name(name) for name in SETS)))):
        yield from (argument.value for argument in cst.ensure_type(call, cst.Call).args)


def compared_numbers(node: cst.Comparison) -> Iterator[cst.CSTNode]:
    """A literal that something is compared with, made smaller and larger."""
    yield from _with_other_numbers(node, [node.left, *(target.comparator for target in node.comparisons)])


def constants(node: cst.AnnAssign) -> Iterator[cst.CSTNode]:
    """Each number of a constant (`NAME: Final = …`), made smaller and larger."""
    if node.value:
        yield from _with_other_numbers(node, m.findall(node.value, m.Integer() | m.Float()))


def _with_other_numbers(node: cst.CSTNode, numbers: Iterable[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    for number in numbers:
        if isinstance(number, cst.Integer | cst.Float):
            for other in others(number.evaluated_value):
                yield _replaced(node, number, cst.parse_expression(repr(other)))


def _replaced(node: cst.CSTNode, old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
    changed = node.deep_replace(old, new)
    assert isinstance(changed, cst.CSTNode)
    return changed


def others(number: float) -> list[float]:
    """One less, one more, half of it, twice as much: what of these is another number."""
    half = number // 2 if isinstance(number, int) else number / 2
    return [other for other in dict.fromkeys((number - 1, number + 1, half, number * 2)) if other != number]


def fewer_members(node: cst.Set | cst.Tuple | cst.List) -> Iterator[cst.BaseExpression]:
    """A set, tuple or list of literals and names of constants without one of them."""
    if not _is_display(node) or not all(map(_is_constant, node.elements)):
        return
    for left_out in range(len(node.elements)):
        rest = [each for place, each in enumerate(node.elements) if place != left_out]
        yield _of(node, rest) if rest or not isinstance(node, cst.Set) else cst.parse_expression("set()")


def _is_display(node: cst.Set | cst.Tuple | cst.List) -> bool:
    """Not what a value is taken apart into, nor the two parts of a type: the normal form writes those bare."""
    return not isinstance(node, cst.Tuple) or bool(node.lpar)


def _is_constant(element: cst.BaseElement) -> bool:
    """A literal, a member of an enumeration, or a constant."""
    value = element.value
    if isinstance(value, cst.Attribute):
        return value.attr.value.isupper()
    return isinstance(value, cst.BaseString | cst.BaseNumber) or (isinstance(value, cst.Name) and value.value.isupper())


def _of(node: cst.Set | cst.Tuple | cst.List, elements: Sequence[cst.BaseElement]) -> cst.BaseExpression:
    return node.with_changes(elements=[each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in elements])


def swapped_members(unordered: set[cst.CSTNode], node: cst.Tuple | cst.List) -> Iterator[cst.BaseExpression]:
    """Two neighbours of a tuple or list in the other order, where there is an order."""
    if _is_display(node) and node not in unordered:
        for elements in _swapped(node.elements):
            yield _of(node, elements)


def _swapped(members: Sequence[T]) -> Iterator[list[T]]:
    for place, (one, other) in enumerate(pairwise(members)):
        yield [*members[:place], other, one, *members[place + 2 :]]


def swapped_branches(node: cst.If) -> Iterator[cst.If]:
    """`if` and `elif` in the other order, unless both do the same."""
    other = node.orelse
    if isinstance(other, cst.If) and not node.body.deep_equals(other.body):
        below = other.with_changes(test=node.test, body=node.body)
        yield node.with_changes(test=other.test, body=other.body, orelse=below)


def swapped_cases(node: cst.Match) -> Iterator[cst.Match]:
    """Two neighbours of the cases in the other order, unless both do the same. What catches all has to be the last."""
    for (one, other), cases in zip(pairwise(node.cases), _swapped(node.cases), strict=True):
        if not (_catches_all(other) or one.body.deep_equals(other.body)):
            yield node.with_changes(cases=cases)


def _catches_all(case: cst.MatchCase) -> bool:
    return case.guard is None and isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None


def swapped_statements(node: cst.IndentedBlock) -> Iterator[cst.IndentedBlock]:
    """Two neighbours in the other order where both yield, or both are an `if` that ends the function."""
    for (one, other), body in zip(pairwise(node.body), _swapped(node.body), strict=True):
        if (_yields(one) and _yields(other)) or (_is_way_out(one) and _is_way_out(other) and not _same(one, other)):
            yield node.with_changes(body=body)


def _yields(statement: cst.CSTNode) -> bool:
    """A `yield`, or an `if` or `for` that does nothing else."""
    if isinstance(statement, cst.If):
        return _all_yield(statement.body) and (statement.orelse is None or _yields(statement.orelse))
    if isinstance(statement, cst.For | cst.Else):
        return _all_yield(statement.body)
    return m.matches(statement, m.SimpleStatementLine([m.Expr(m.Yield())]))


def _all_yield(body: cst.BaseSuite) -> bool:
    return all(map(_yields, body.body))


def _is_way_out(statement: cst.CSTNode) -> bool:
    if not (isinstance(statement, cst.If) and statement.orelse is None):
        return False
    return m.matches(statement.body.body[-1], m.SimpleStatementLine([m.Return() | m.Raise()]))


def _same(one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two ways out lead to the same place."""
    return cst.ensure_type(one, cst.If).body.deep_equals(cst.ensure_type(other, cst.If).body)


def other_levels(node: cst.Attribute) -> Iterator[cst.Attribute]:
    """A level lowered by one, and raised by one."""
    if m.matches(node.value, m.Name("Level")) and node.attr.value in LEVELS:
        place = LEVELS.index(node.attr.value)
        for name in (*LEVELS[:place][-1:], *LEVELS[place + 1 :][:1]):
            yield node.with_changes(attr=cst.Name(name))
