"""Domain objects as JSON documents and back: the one codec for journals, plan files, tasks and the database.

Reading is strict: a missing field (even one with a default), a field nobody knows, or a value of another type is
refused. What comes out is a frozen dataclass or an exception, never a half-read object. What is stored or sent as a
whole says in `version` which form of its kind it has (`nasadvisor.stored.kinds`): an earlier one is made into today's
first, a later one is told from one that is damaged.
"""

import base64
import binascii
import json
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Final, TypeVar, get_args, get_origin

import cattrs
from cattrs.cols import homogenous_tuple_structure_factory, mapping_structure_factory
from cattrs.gen import make_dict_structure_fn

from nasadvisor.domain.change.actions import Action, UndoAction
from nasadvisor.domain.change.runs import Record
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.kinds import FIRST, Kind, kind_of

T = TypeVar("T")
Json = dict[str, Any]

Hook = Callable[[Any, Any], Any]

MAX_PACKED_BYTES: Final = 16 * 2**20
"""No tool's answer is larger; what unpacks to more is an attack or a mistake."""

_NUMBER: Final = "version"
_MAX_FAULTS: Final = 10
_MAX_FAULT_CHARS: Final = 200
_INT_BITS: Final = 64
_UNIONS: Final = ((Action, "action"), (UndoAction, "action"), (Record, "record"))
"""Where a document is one of several kinds, and which field tells the kind."""


class DocumentError(ValueError):
    """A document that is not what it should be; the message says where and why."""


class NewerForm(DocumentError):  # noqa: N818 - named for what it is
    """A document of a later release of NAS Advisor."""


def to_document(thing: object) -> Json:
    """A dataclass as a dictionary of JSON types; what is stored as a whole gets the number of its form."""
    document: Json = _converter().unstructure(thing)
    kind = kind_of(type(thing))
    return {**document, _NUMBER: kind.number} if kind else document


def from_document(kind: type[T], document: object) -> T:
    """Read a dictionary of JSON types as a dataclass, in whichever form up to today's it is.

    Raises:
        NewerForm: it was written by a later release.
        DocumentError: with the faults found in it.
    """
    name = getattr(kind, "__name__", "record").lower()
    stored = kind_of(kind)
    if stored:
        if not isinstance(document, dict):
            raise DocumentError(f"This is not a valid {name} document: expected dict, found {type(document).__name__}")
        number = _number(stored, name, document)  # and what follows is in today's form, without it
        body = {key: value for key, value in document.items() if key != _NUMBER}
        try:
            for upgrade in stored.upgrades[number - FIRST :]:
                body = upgrade(body)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            fault = str(error)[:_MAX_FAULT_CHARS]
            raise DocumentError(f"This is not a valid {name} document of form {number}: {fault}") from error
        document = body
    try:
        return _converter().structure(document, kind)
    except (cattrs.BaseValidationError, TypeError, ValueError) as error:
        raise DocumentError(f"This is not a valid {name} document: {_faults(error)}") from error
    except RecursionError:
        raise DocumentError(f"This is not a valid {name} document: it is nested too deeply") from None


def document_or_none(kind: type[T], document: object) -> T | None:
    """What was stored, for pages: None where nothing was, or where this release cannot read it."""
    try:
        return from_document(kind, document) if document else None
    except DocumentError:
        return None


def to_json(thing: object) -> str:
    """A dataclass as one line of JSON, keys in order; in ASCII, so that it can be written whatever a disk is called."""
    return json.dumps(to_document(thing), sort_keys=True)


def from_json(kind: type[T], text: str) -> T:
    """Read one JSON text as a dataclass.

    Raises:
        DocumentError: if it is not JSON, or not the right JSON.
    """
    try:
        document = json.loads(text)
    except RecursionError:
        raise DocumentError("This is not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise DocumentError(f"This is not JSON: {error}") from error
    return from_document(kind, document)


def pack(text: str) -> str:
    """A long text made short enough to travel in a document."""
    return base64.b85encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode("ascii")


def unpack(packed: str) -> str:
    """The text that was packed; "" stands for itself.

    Raises:
        DocumentError: it is damaged or too long.
    """
    if not packed:
        return ""
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(base64.b85decode(packed), MAX_PACKED_BYTES)
        if not stream.eof:
            raise DocumentError("A packed text is cut off or too long.")
        return data.decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError, zlib.error) as error:
        raise DocumentError(f"A packed text is damaged: {error}") from error


def _number(kind: Kind, name: str, document: Json) -> int:
    if _NUMBER not in document:
        raise DocumentError(f"This is not a valid {name} document: missing: {_NUMBER}")
    number = document[_NUMBER]
    if type(number) is not int or number < FIRST:
        raise DocumentError(f"This is not a valid {name} document: its version is not a whole number from {FIRST} on")
    if number > kind.number:
        raise NewerForm(
            f"This is not a valid {name} document here: it was written by a newer release of NAS Advisor, which has "
            f"another form for it. Update NAS Advisor here to read it."
        )
    return number


@cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter()
    converter.register_structure_hook_factory(is_dataclass, _object_reader)
    _register_container(converter, tuple, list, homogenous_tuple_structure_factory)
    _register_container(converter, Mapping, dict, mapping_structure_factory)
    for primitive in (str, int, bool, float):
        converter.register_structure_hook(primitive, _primitive)
    converter.register_structure_hook(
        StrEnum, lambda value, kind: kind(value if isinstance(value, kind) else _primitive(value, str))
    )
    converter.register_unstructure_hook(StrEnum, lambda member: member.value)
    converter.register_structure_hook(
        str | Statement,  # the value of a statement: text, or a statement of its own
        lambda value, _: converter.structure(value, Statement) if type(value) is dict else _primitive(value, str),
    )
    for union, tag in _UNIONS:
        converter.register_structure_hook(union, _union_reader(converter, union, tag))
    return converter


def _primitive(value: Any, kind: type) -> Any:
    """No coercion: "5" is not 5 and 1 is not true. A whole number may stand for a float."""
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    if type(value) is int and value.bit_length() >= _INT_BITS:
        raise ValueError("the number is too large")
    if type(value) is float and not math.isfinite(value):
        raise ValueError("the number is not finite")
    return value


def _object_reader(kind: Any, converter: cattrs.Converter) -> Hook:
    """A dataclass stands as an object with exactly its fields."""
    names = {field.name for field in fields(kind)}
    read = make_dict_structure_fn(kind, converter)

    def structure(value: Any, _: Any) -> Any:
        _expect(dict, value)
        missing, unknown = names - value.keys(), value.keys() - names
        if missing:
            raise ValueError(f"missing: {', '.join(sorted(missing))}")
        if unknown:
            raise ValueError(f"unknown: {', '.join(sorted(map(str, unknown)))}")
        return read(value, kind)

    return structure


def _register_container(
    converter: cattrs.Converter, origin: object, stands_as: type, factory: Callable[[Any, cattrs.Converter], Hook]
) -> None:
    """Lists and mappings stand as what JSON has for them."""

    def reader(kind: Any, converter: cattrs.Converter) -> Hook:
        read = factory(kind, converter)

        def structure(value: Any, _: Any) -> Any:
            _expect(stands_as, value)
            return read(value, kind)

        return structure

    converter.register_structure_hook_factory(lambda kind: get_origin(kind) is origin, reader)


def _union_reader(converter: cattrs.Converter, union: UnionType, tag: str) -> Hook:
    kinds = {kind.__dataclass_fields__[tag].default: kind for kind in get_args(union)}

    def structure(value: Any, _: Any) -> Any:
        _expect(dict, value)
        name = _primitive(value.get(tag), str)
        if name not in kinds:
            raise ValueError(f"no {tag} is called {name!r}")
        return converter.structure(value, kinds[name])

    return structure


def _expect(kind: type, value: object) -> None:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")


def _faults(error: Exception) -> str:
    """The first faults, each with its place in the document."""
    try:
        found = cattrs.transform_error(error, format_exception=lambda fault, _: str(fault)[:_MAX_FAULT_CHARS])
    except RecursionError:
        return "it is nested too deeply"
    shown = [fault[: 2 * _MAX_FAULT_CHARS] for fault in found[:_MAX_FAULTS]]
    return "; ".join(shown) + (f"; and {len(found) - len(shown)} more" if len(found) > len(shown) else "")
