"""Settings from environment variables, typed. Empty counts as not set."""

import os
from pathlib import Path

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})


def text(name: str, default: str = "") -> str:
    """A text."""
    return os.environ.get(name, "") or default


def flag(name: str, *, default: bool) -> bool:
    """Yes or no.

    Raises:
        ValueError: if it is neither.
    """
    value = text(name).lower()
    if not value:
        return default
    if value not in YES | NO:
        raise ValueError(f"{name} is {value!r}. Set it to yes or no.")
    return value in YES


def count(name: str, default: int, most: int) -> int:
    """How many of something, at least one.

    Raises:
        ValueError: if it is no whole number, or too small or large a one.
    """
    value = text(name, str(default))
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= most):
        raise ValueError(f"{name} is {value!r}. Set it to a whole number from 1 to {most}.")
    return int(value)


def choice(name: str, options: tuple[str, ...]) -> str:
    """One of some words, the first where nothing is set.

    Raises:
        ValueError: if it is none of them.
    """
    value = text(name, options[0]).lower()
    if value not in options:
        raise ValueError(f"{name} is {value!r}. Set it to one of: {', '.join(options)}.")
    return value


def words(name: str, default: str = "") -> list[str]:
    """Words separated by commas."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def folder(name: str, default: str) -> Path:
    """A directory."""
    return Path(text(name, default))


def text_in_file(path: Path) -> str:
    """What a small file holds, without the line end; "" where there is no such file."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
