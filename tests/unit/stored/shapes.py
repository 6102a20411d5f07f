"""The shape of a stored form: every field and what may stand in it, however deep, as text that can be compared.

Names of classes and the order of fields are left out: a document shows neither.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def shape_of(of: object) -> str:
    """One line for each object that is part of a form; `#2` stands for the object of that number."""
    known: list[type] = []
    lines: list[str] = []
    top = _said(of, known)
    for number, kind in enumerate(known):  # grows meanwhile
        hints = get_type_hints(kind)
        parts = [f"{field.name}: {_said(hints[field.name], known)}" for field in sorted(fields(kind), key=_name)]
        lines.append(f"#{number} {{{', '.join(parts)}}}")
    return "\n".join([top, *lines]) + "\n"


def _said(kind: Any, known: list[type]) -> str:
    if is_dataclass(kind) and isinstance(kind, type):
        if kind not in known:
            known.append(kind)
        return f"#{known.index(kind)}"
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "|".join(map(repr, args))
    if origin is tuple:
        return f"[{_said(args[0], known)}]"
    if origin is Mapping:
        return f"{{{_said(args[1], known)}}}"
    if origin in (Union, UnionType):
        return " | ".join(_said(each, known) for each in args)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return "|".join(repr(member.value) for member in kind)
    return {str: "text", int: "whole", float: "number", bool: "yes-no", NoneType: "nothing"}[kind]


def _name(field: Any) -> str:
    return str(field.name)
