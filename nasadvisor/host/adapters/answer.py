"""Reading a tool's JSON answer, every value checked and what is wrong said with its place; and counts in text."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from nasadvisor.host.errors import OutputUnreadable

NOT_UNDERSTOOD: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What taking a document apart raises where it is another than was expected: also one nested too deeply, or a number
that is none."""

_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
"""No path and no name on a machine has them, and no call of the system takes them."""


@dataclass(frozen=True)
class Answer:
    """A JSON object in the answer of `source`; `where` is its place in it. Keys that nobody asks for do not matter."""

    source: str
    where: str
    fields: dict[str, Any]

    @staticmethod
    def of(source: str, text: str) -> "Answer":
        """The whole answer.

        Raises:
            OutputUnreadable: it is not one JSON object.
        """
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise OutputUnreadable(source, f"it is not JSON ({error})") from error
        return Answer(source, "", _object(source, "it", document))

    def child(self, key: str) -> "Answer":
        """The object under a key; an empty one where there is none."""
        where = f"{self.where}/{key}"
        return Answer(self.source, where, _object(self.source, where, self.fields.get(key, {})))

    def need(self, key: str) -> "Answer":
        """The object under a key that is in every answer.

        Raises:
            OutputUnreadable: it is missing. To read on would be to take what was not told for what is not there.
        """
        if key not in self.fields:
            raise OutputUnreadable(self.source, f"{self.where}/{key} is missing")
        return self.child(key)

    def children(self, key: str) -> Iterator[tuple[str, "Answer"]]:
        """The objects under a key, by name and in order."""
        child = self.child(key)
        return ((name, child.child(name)) for name in child.fields)

    def text(self, key: str, default: str | None = None) -> str:
        """A string or whole number, as a string.

        Raises:
            OutputUnreadable: it is something else, or it is missing and there is no default.
        """
        value = self.fields.get(key, default)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise OutputUnreadable(self.source, f"{self.where}/{key} is {_shown(value)} instead of text")
        text = str(value)
        if _NO_TEXT.search(text):
            raise OutputUnreadable(self.source, f"{self.where}/{key} holds a character that no name can have")
        return text

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number, which OpenZFS writes as a string unless asked otherwise; "-" and "" mean 0.

        Raises:
            OutputUnreadable: it is something else, or it is missing and there is no default.
        """
        text = self.text(key, None if default is None else str(default))
        if text in ("-", ""):
            return 0
        try:
            return int(text)
        except ValueError:
            raise OutputUnreadable(self.source, f"{self.where}/{key} is {text!r} instead of a number") from None


def _object(source: str, where: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise OutputUnreadable(source, f"{where} is {_shown(value)} instead of an object")
    return value


def _shown(value: object) -> str:
    return "missing" if value is None else repr(value)[:60]


LARGEST: Final = 2**63 - 1
"""No document or database holds a larger one. Where a counter of 64 bits shows one, it ran below zero."""

_DIGITS: Final = len(str(LARGEST))


def count_in(text: str) -> int | None:
    """The count that a text is; None where it is none, or too large. `int` alone takes other scripts' digits too."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        return None
    value = int(text)
    return value if value <= LARGEST else None
