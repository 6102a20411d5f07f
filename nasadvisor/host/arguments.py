"""What a message may bring to a question: every argument is read as what it must be before anything is done.

A message can hold any JSON. What is no argument of the question, in number, kind or form, is refused as a whole.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from nasadvisor.domain.fleet.questions import Argument, Order, Question, Seconds, Text
from nasadvisor.stored.documents import DocumentError, from_document


def read_arguments(question: Question, arguments: tuple[object, ...], named: Mapping[str, object]) -> list[Any]:
    """The arguments of a question, each as what it must be.

    Raises:
        DocumentError: there are more or less of them, some have names, or one is something else.
    """
    wanted = question.arguments
    if named or len(arguments) != len(wanted):
        raise DocumentError(f"it has {len(wanted)} arguments, not {len(arguments)} and {len(named)} by name")
    return [read(argument, value) for argument, value in zip(wanted, arguments, strict=True)]


def read(argument: Argument, value: object) -> Any:
    """One argument.

    Raises:
        DocumentError: it is something else.
    """
    match argument:
        case Text(what, pattern):
            if type(value) is str and re.fullmatch(pattern, value):
                return value
            raise DocumentError(f"{value!r:.80} is no {what}")
        case Seconds(what, least, most):
            if type(value) is int and least <= value <= most:
                return value
            raise DocumentError(f"{value!r:.80} is no {what}")
        case Order(form, id_text):
            order: Any = from_document(form, value)
            read(id_text, order.id)
            return order
        case _ if issubclass(argument, StrEnum):
            if type(value) is str and value in list(argument):
                return argument(value)
            raise DocumentError(f"there is no {argument.__name__} {value!r:.80}")
        case _:
            return from_document(argument, value)
