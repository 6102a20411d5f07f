"""Counts as the kernel and OpenZFS print them."""

from typing import Final

LARGEST: Final = 2**63 - 1
"""No document or database holds a larger one. Where a counter of 64 bits shows one, it ran below zero."""

_DIGITS: Final = len(str(LARGEST))


def count_in(text: str) -> int | None:
    """The count that a text is; None where it is none, or too large. `int` alone takes other scripts' digits too."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        return None
    value = int(text)
    return value if value <= LARGEST else None
