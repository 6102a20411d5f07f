"""What hosts and browsers say, without characters that a database, a page or a log cannot take.

Lone surrogates cannot be encoded, NUL cannot be stored by PostgreSQL, and other control characters move the cursor of
whoever reads a log. Nothing that a host tells is refused for them: a disk may have a strange name, and is still to be
watched. No browser of a person sends NUL, so a request with one is refused before anything looks at it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from celery import Task
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

from nasadvisor.stored.documents import DocumentError

_HARMFUL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_FIRST_YEAR: Final = 1970  # of a clock without a battery
_LAST_YEAR: Final = 2199  # far from where zones and seconds since 1970 overflow
_NUL: Final = "\x00"
_SHOWN_AS: Final = "\N{REPLACEMENT CHARACTER}"


def sanitised(document: Any) -> Any:
    """The same JSON with each harmful character replaced by U+FFFD."""
    if isinstance(document, str):
        return _HARMFUL.sub(_SHOWN_AS, document)
    if isinstance(document, list | tuple):
        return [sanitised(each) for each in document]
    if isinstance(document, dict):
        return {sanitised(key): sanitised(value) for key, value in document.items()}
    return document


class SanitisedRequests:
    """Middleware: refuses requests that name something which no database can hold."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        for name in [name for name, value in request.COOKIES.items() if _NUL in value]:
            del request.COOKIES[name]  # the page that says so looks at them too
        if any(_NUL in said for said in _said_by(request)):
            raise BadRequest
        return self.get_response(request)


def _said_by(request: HttpRequest) -> Iterator[str]:
    yield request.path
    for fields in (request.GET, request.POST):
        for name, values in fields.lists():
            yield name
            yield from map(str, values)


def require_times(document: Any) -> None:
    """See that whatever is called a time is one: pages, the heat map and tables reckon with it.

    The words of a statement (`values`) are for people, whatever they are called.

    Raises:
        DocumentError: something is not.
    """
    if isinstance(document, dict):
        for name, value in document.items():
            if isinstance(value, str) and (name in ("at", "until") or str(name).endswith("_at")):
                _require_time(name, value)
            elif name != "values":
                require_times(value)
    elif isinstance(document, list | tuple):
        for each in document:
            require_times(each)


def _require_time(name: str, said: str) -> None:
    if not said:
        return  # it has not come yet
    try:
        at = datetime.fromisoformat(said)
    except ValueError as error:
        raise DocumentError(f"{name} is no time: {said:.40}") from error
    if at.tzinfo is None or not _FIRST_YEAR <= at.year <= _LAST_YEAR:
        raise DocumentError(f"{name} is no time of this world with its zone: {said:.40}")


def accepted(said: Any) -> Any:
    """What a host says, made harmless.

    Raises:
        DocumentError: a time in it is none, or it is nested too deeply.
    """
    try:
        require_times(said)
        return sanitised(said)
    except RecursionError:
        raise DocumentError("It is nested too deeply.") from None


class SanitisedTask(Task[..., Any]):
    """A task whose arguments are harmless."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it.

        Raises:
            DocumentError: they are not what a host says; the task was not begun.
        """
        clean_args, clean_kwargs = accepted([args, kwargs])
        return super().__call__(*clean_args, **clean_kwargs)


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
