"""Statements in the language that is on, and those that are stored as documents."""

import re
from collections.abc import Callable
from typing import Final

from django.utils.formats import get_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from nasadvisor.domain.statements import Statement, gettext_noop
from nasadvisor.stored.documents import DocumentError, Json, from_document

_NO_LONGER_READABLE = gettext_noop("A reason was given, but it can no longer be read. {problem}")

_FIGURE: Final = re.compile(
    r"(?<![\w.])(\d+)\.(\d+)(?=(?:\s?–\s?\d+(?:\.\d+)?)?(?:/s|\s(?:%|ms|s|min|h|d|[KMGTPE]iB|[kMGT]?B))(?!\w))"
)
"""A number with a decimal point and a unit behind it, or behind the range that it begins: no version, no address."""


_ABOUT_DISK: Final = "The disk {disk} "

_BEFORE_UNIT: Final = re.compile(r"(?<=\d) (?=(?:%|°C|ns|µs|ms|s|min|h|d|[KMGTPE]iB|[kMGT]?B)(?:/s)?(?![\w/]))")
"""The space between a number and its unit."""


def said(statement: Statement) -> str:
    """The sentence in the language that is on, its figures too."""
    return statement.said(gettext, localized)


def said_below(statement: Statement) -> str:
    """The sentence below a heading that names its disk: "The disk …", without the name once more."""
    if not statement.template.startswith(_ABOUT_DISK):
        return said(statement)
    return statement.said(lambda template: gettext(template).replace(" {disk}", "", 1), localized)


def localized(text: str) -> str:
    """Figures with a unit ("9.3 %", "1.82 TiB") with the decimal separator of the language that is on."""
    return _FIGURE.sub(rf"\1{get_format('DECIMAL_SEPARATOR')}\2", text)


def marked(text: str, words: Callable[[str], str] = str, code: Callable[[str], str] = str) -> SafeString:
    """A text as HTML: what stands between backticks as code. `words` and `code` say how each part is shown."""
    parts = text.split("`")
    shown = (
        format_html("<code>{}</code>", _with_whole_options(code(part))) if place % 2 else words(unbroken(part))
        for place, part in enumerate(parts)
    )
    return format_html_join("", "{}", ((part,) for part in shown))


def unbroken(text: str) -> str:
    """A text whose figures stay in one line with their units."""
    return _BEFORE_UNIT.sub("\u00a0", text)


def _with_whole_options(command: str) -> str:
    """A command in which no line ends within the dashes of an option; one that is HTML already stays as it is."""
    if isinstance(command, SafeString) or " -" not in command:
        return command
    words = (
        format_html('<span class="text-nowrap">{}</span>', word) if word.startswith("-") else word
        for word in command.split(" ")
    )
    return format_html_join(" ", "{}", ((word,) for word in words))


def read_statement(document: Json | None) -> Statement | None:
    """A stored statement; if an update of NAS Advisor can no longer read it, one that says so."""
    try:
        return from_document(Statement, document) if document else None
    except DocumentError as error:
        return Statement("unreadable", _NO_LONGER_READABLE, {"problem": str(error)})
