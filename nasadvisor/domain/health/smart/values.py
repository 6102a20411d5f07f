"""Careful steps into a JSON document that somebody else wrote: whatever is not as expected is None or empty."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

LARGEST: Final = 2**63 - 1
"""No counter is larger: it would not fit the documents and databases that keep it."""

MAX_ITEMS: Final = 512
"""Entries looked at in any list; the longest that smartctl writes, a self-test log, holds far fewer."""

MAX_CHARS: Final = 120
_DIGITS: Final = 40


def mapping(value: object) -> Mapping[str, object]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """A list, its first entries only, or an empty one."""
    return value[:MAX_ITEMS] if isinstance(value, list) else []


def at(document: object, *path: str) -> object:
    """What stands at a path of keys, or None."""
    for key in path:
        document = mapping(document).get(key)
    return document


def whole(value: object, lowest: int = 0, highest: int = LARGEST) -> int | None:
    """A whole number within bounds, or None; true, 1.5 and "7" are none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if lowest <= value <= highest else None


def number(value: object) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int) and abs(value) > LARGEST:
        return None
    return float(value) if math.isfinite(value) else None


def decimal(value: object) -> float | None:
    """A number that smartctl writes as text ("12103.790"), or a number; None if it is neither or negative."""
    if isinstance(value, str) and len(value) <= _DIGITS:
        try:
            value = float(value)
        except ValueError:
            return None
    found = number(value)
    return found if found is not None and 0 <= found <= LARGEST else None


def text(value: object) -> str:
    """A text on one line, shortened and printable, or an empty one."""
    if not isinstance(value, str):
        return ""
    return "".join(letter for letter in " ".join(value[: 4 * MAX_CHARS].split()) if letter.isprintable())[:MAX_CHARS]


def flag(value: object) -> bool | None:
    """True or false, or None."""
    return value if isinstance(value, bool) else None


def objects(value: object) -> Iterator[Mapping[str, object]]:
    """The objects in a list."""
    return (mapping(item) for item in items(value) if isinstance(item, dict))
