"""Cells of tables for spreadsheets: what hosts and disks call themselves is no formula there."""

from collections.abc import Iterable
from typing import Final

_BEGINS_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # OWASP, "CSV injection"


def cells(row: Iterable[object]) -> list[str]:
    """A row as text: ISO 8601 for times, "" for unknown."""
    return [cell(value) for value in row]


def cell(value: object) -> str:
    """One cell; numbers stay numbers, whatever their sign."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    text = value.isoformat(timespec="seconds") if hasattr(value, "isoformat") else str(value)
    return f"'{text}" if text.lstrip(" ").startswith(_BEGINS_FORMULA) else text
