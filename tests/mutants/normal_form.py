"""Source code in the one form that is mutated.

mutmut leaves out what it cannot copy: functions with a decorator, and whatever stands outside functions. So a
decorated function becomes a plain one that is decorated in the next line, and is mutated like any other. Sentences for
people go the other way: they are lifted out of their functions, because tests are not there to hold their wording. One
statement a line makes a mutant the same wherever the formatter breaks the line.
"""

import ast
from typing import Final

LATER: Final = frozenset({"property", "contextmanager", "reads", "cache"})
"""Decorators that may as well be called in the line after the function."""


class _Sentences(ast.NodeTransformer):
    """Replaces each `_("…")`, and each sentence that is raised, by a name, and keeps what the name stands for."""

    def __init__(self) -> None:
        self.assignments: list[ast.stmt] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return self._lifted(node) if isinstance(node.func, ast.Name) and node.func.id == "_" else node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.exc, ast.Call):
            node.exc.args = [self._lifted(each) if _is_sentence(each) else each for each in node.exc.args]
        return node

    def _lifted(self, text: ast.expr) -> ast.expr:
        name = f"SENTENCE_{len(self.assignments) + 1}"
        self.assignments.append(ast.Assign([ast.Name(name, ast.Store())], text))
        return ast.Name(name, ast.Load())


def _is_sentence(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value


class _Decorators(ast.NodeTransformer):
    """Turns `@property def x` into `def x` and `x = property(x)`; the same where a decorator is made by a call."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | list[ast.stmt]:
        if len(node.decorator_list) != 1:
            return node
        decorator = node.decorator_list[0]
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not (isinstance(named, ast.Name) and named.id in LATER):
            return node
        node.decorator_list = []
        decorated = ast.Call(decorator, [ast.Name(node.name, ast.Load())], [])
        return [node, ast.Assign([ast.Name(node.name, ast.Store())], decorated)]


def normal_form(source: str) -> str:
    """The same program, in the form that is mutated."""
    tree = ast.parse(source)
    sentences = _Sentences()
    for position, statement in enumerate(tree.body):
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            tree.body[position] = sentences.visit(statement)
    first = next((number for number, each in enumerate(tree.body) if _is_definition(each)), len(tree.body))
    tree.body[first:first] = sentences.assignments
    return ast.unparse(ast.fix_missing_locations(_Decorators().visit(tree))) + "\n"


def _is_definition(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef | ast.ClassDef)
