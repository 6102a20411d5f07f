"""Domain objects as JSON documents and back: the one codec for journals, plan files, tasks and the database.

Reading is strict: a missing field, a field nobody knows, or a value of another type is refused. What comes out is a
frozen dataclass or an exception, never a half-read object.
"""

import json
from collections.abc import Callable
from enum import StrEnum
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

import cattrs
from cattrs.strategies import configure_tagged_union

from nasadvisor.domain.actions import Action, UndoAction
from nasadvisor.domain.lifecycle import Record

T = TypeVar("T")
Json = dict[str, Any]


class DocumentError(ValueError):
    """A document that is not what it should be; the message says where and why."""


def to_document(thing: object) -> Json:
    """A dataclass as a dictionary of JSON types."""
    document: Json = _converter().unstructure(thing)
    return document


def from_document(kind: type[T], document: object) -> T:
    """Read a dictionary of JSON types as a dataclass.

    Raises:
        DocumentError: with every fault found in it.
    """
    try:
        return _converter().structure(document, kind)
    # cattrs raises AttributeError where something else stands in place of an object, RecursionError for deep nesting.
    except (cattrs.BaseValidationError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        faults = "; ".join(cattrs.transform_error(error)) if isinstance(error, Exception) else str(error)
        name = getattr(kind, "__name__", "record").lower()
        raise DocumentError(f"This is not a valid {name} document: {faults}") from error


def to_json(thing: object) -> str:
    """A dataclass as one line of JSON, keys in order."""
    return json.dumps(to_document(thing), sort_keys=True, ensure_ascii=False)


def from_json(kind: type[T], text: str) -> T:
    """Read one JSON text as a dataclass.

    Raises:
        DocumentError: if it is not JSON, or not the right JSON.
    """
    try:
        document = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise DocumentError(f"This is not JSON: {error}") from error
    return from_document(kind, document)


@cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    for primitive in (str, int, bool, float):
        converter.register_structure_hook(primitive, _exactly(primitive))
    converter.register_structure_hook(StrEnum, _member)  # else the hook for str would leave it a plain text
    converter.register_unstructure_hook(StrEnum, lambda member: member.value)
    for union, tag in ((Action, "action"), (UndoAction, "action"), (Record, "record")):
        configure_tagged_union(union, converter, tag_name=tag, tag_generator=_tag(tag))
    return converter


def _exactly(primitive: type) -> Callable[[Any, Any], Any]:
    """No coercion: "5" is not 5 and 1 is not true. A whole number may stand for a float."""

    def structure(value: Any, _: Any) -> Any:
        if type(value) is primitive or (primitive is float and type(value) is int):
            return value
        raise TypeError(f"expected {primitive.__name__}, found {type(value).__name__}")

    return structure


def _member(value: Any, kind: type[StrEnum]) -> StrEnum:
    if not isinstance(value, str):
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return kind(value)


def _tag(field: str) -> Callable[[type], str]:
    def tag_of(kind: type) -> str:
        default: str = kind.__dataclass_fields__[field].default  # type: ignore[attr-defined]
        return default

    return tag_of
