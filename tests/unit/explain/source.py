"""Reads from one source file every code that it can say, with its sentences and what is said beyond them.

A refusal's explanation is the docstring of the function that makes it, a finding's the template that it carries.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.statements import Level

MARKS: Final = frozenset({"_", "gettext_noop"})
ARGUMENTS: Final = ("code", "template", "values", "level", "explanation")
"""What the positions of the arguments of Refused and Finding mean; the first has only two or three of them."""


@dataclass(frozen=True)
class Said:
    """One place that says a code; `maker` is the class that it makes: Refused, Finding, or a HostError."""

    code: str
    maker: str
    sentences: tuple[str, ...]
    more: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ()


def said_in(source: str) -> Iterator[Said]:
    """Everything that a module says, in the order of the lines."""
    yield from _Module(ast.parse(source)).said()


class _Module:
    """A module, with the texts of its constants by name."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.makers = {
            alias.name: ARGUMENTS
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("statements")
            for alias in node.names
            if alias.name in {"Refused", "Finding"}
        }
        self.constants = {name: value for node in tree.body for name, value in _assigned(node)}
        self.errors = {"HostError"}

    def said(self) -> Iterator[Said]:
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef):
                yield from self._error(node)
            yield from self._in_function(node)

    def _in_function(self, function: ast.stmt) -> Iterator[Said]:
        """What is made in a function, or at the level of the module."""
        made = [node for node in ast.walk(function) if isinstance(node, ast.Call) and self._maker(node)]
        why = _docstring(function) if [self._maker(call) for call in made] == ["Refused"] else ()
        begun = 0
        for call in sorted(made, key=lambda node: node.lineno):
            yield from self._call(call, _Names(function, begun, call.lineno, self.constants), why)
            begun = call.lineno

    def _maker(self, call: ast.Call) -> str:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return name if name in self.makers else ""

    def _call(self, call: ast.Call, names: "_Names", more: tuple[str, ...]) -> Iterator[Said]:
        given: dict[str, ast.expr] = dict(zip(ARGUMENTS, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        maker = self._maker(call)
        more = names.texts(given["explanation"]) if "explanation" in given else more
        levels = _levels(given.get("level")) if maker == "Finding" else ()
        for code, sentences, why in self._codes(given, names):
            yield Said(code, maker, sentences, (*why, *more), levels)

    def _codes(
        self, given: Mapping[str, ast.expr], names: "_Names"
    ) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """The codes that a call can have; one that is put together has those of the table in its module."""
        code = given["code"]
        match code:
            case ast.Constant(value=str(text)):
                yield text, names.texts(given["template"]), ()
            case ast.Name(id=name) if isinstance(self.constants.get(name), ast.Constant):
                yield ast.literal_eval(self.constants[name]), names.texts(given["template"]), ()
            case ast.JoinedStr(values=[ast.Constant(value=str(lead)), ast.FormattedValue()]):
                yield from self._family(lead)
            case ast.Attribute() | ast.Name():
                return  # said once more, or handed on: it is found where it is made
            case _:
                raise ValueError(f"the code {ast.unparse(code)} cannot be told from the source")

    def _family(self, lead: str) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """A code for each key of the one table of texts in the module that has keys."""
        for value in self.constants.values():
            if isinstance(value, ast.Dict):
                for key, text in zip(value.keys, value.values, strict=True):
                    texts = _marked(text)
                    if key is not None and texts:
                        yield lead + _ending(key), texts[:1], texts[1:]

    def _error(self, node: ast.ClassDef) -> Iterator[Said]:
        """An error's code is the name of its class; its sentences are what it hands to its base."""
        if not any(isinstance(base, ast.Name) and base.id in self.errors for base in node.bases):
            return
        self.errors.add(node.name)
        for method in (each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"):
            for call in (each for each in ast.walk(method) if isinstance(each, ast.Call)):
                if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__" and call.args:
                    names = _Names(method, 0, call.lineno, self.constants)
                    sentences = tuple(text for given in call.args for text in names.texts(given))
                    if not sentences:  # whoever raises it says them
                        sentences = tuple(text for made in self._raised(node.name) for text in _marked(made))
                    if sentences:
                        code = re.sub(r"(?<!^)(?=[A-Z])", "-", node.name).lower()
                        yield Said(code, "HostError", tuple(dict.fromkeys(sentences)))

    def _raised(self, name: str) -> Iterator[ast.Call]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield node


@dataclass(frozen=True)
class _Names:
    """What names stand for at one line of a function: what was assigned since `begun`, else the module's constants."""

    function: ast.AST
    begun: int
    line: int
    constants: Mapping[str, ast.expr]

    def texts(self, expression: ast.expr) -> tuple[str, ...]:
        """The marked texts that an expression can be."""
        found = list(_marked(expression))
        for node in ast.walk(expression):
            if isinstance(node, ast.Name) and node.id not in MARKS:
                for value in self._values(node.id):
                    found.extend(_marked(value))
        return tuple(dict.fromkeys(found))

    def _values(self, name: str) -> list[ast.expr]:
        nodes = [node for node in ast.walk(self.function) if isinstance(node, ast.Assign | ast.AnnAssign)]
        found = [(node.lineno, value) for node in nodes for assigned, value in _assigned(node) if assigned == name]
        before = [value for line, value in found if line <= self.line]
        near = [value for line, value in found if self.begun <= line <= self.line]
        return near or before or ([self.constants[name]] if name in self.constants else [])


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        yield node.target.id, node.value


def _marked(expression: ast.AST) -> tuple[str, ...]:
    calls = (node for node in ast.walk(expression) if isinstance(node, ast.Call))
    marks = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id in MARKS)
    return tuple(ast.literal_eval(mark.args[0]) for mark in marks)


def _ending(key: ast.expr) -> str:
    """A key of a table as it ends a code: its text, or the name of an enumeration's member as its value is written."""
    text = str(key.value) if isinstance(key, ast.Constant) else ast.unparse(key).rpartition(".")[2]
    return text.lower().replace("_", "-")


def _levels(expression: ast.expr | None) -> tuple[Level, ...]:
    if expression is None:
        return (Level.INFO,)
    names = {
        node.attr for node in ast.walk(expression) if isinstance(node, ast.Attribute) and node.attr in Level.__members__
    }
    return tuple(level for level in Level if level.name in names)


def _docstring(function: ast.stmt) -> tuple[str, ...]:
    """The docstring of a function that makes one refusal, its lines joined; paragraphs are kept apart."""
    text = (ast.get_docstring(function) or "") if isinstance(function, ast.FunctionDef) else ""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return tuple(part for part in paragraphs if part)
