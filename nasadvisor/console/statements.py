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

_NO_LONGER_READABLE = gettext_noop("A reason was given, but it cannot be read any more. {problem}")

_FIGURE: Final = re.compile(
    r"(?<![\w.])(\d+)\.(\d+)(?=(?:\s?–\s?\d+(?:\.\d+)?)?(?:/s|\s(?:%|ms|s|min|h|d|[KMGTPE]iB|[kMGT]?B))(?!\w))"
)
"""A number with a decimal point and a unit behind it, or behind the range that it begins: no version, no address."""


def said(statement: Statement) -> str:
    """The sentence in the language that is on, its figures too."""
    return statement.said(gettext, localized)


def localized(text: str) -> str:
    """Figures with a unit ("9.3 %", "1.82 TiB") with the decimal separator of the language that is on."""
    return _FIGURE.sub(rf"\1{get_format('DECIMAL_SEPARATOR')}\2", text)


def marked(text: str, words: Callable[[str], str] = str, code: Callable[[str], str] = str) -> SafeString:
    """A text as HTML: what stands between backticks as code. `words` and `code` say how each part is shown."""
    parts = text.split("`")
    shown = (
        format_html("<code>{}</code>", code(part)) if place % 2 else words(part) for place, part in enumerate(parts)
    )
    return format_html_join("", "{}", ((part,) for part in shown))


def read_statement(document: Json | None) -> Statement | None:
    """A stored statement; if an update of NAS Advisor can no longer read it, one that says so."""
    try:
        return from_document(Statement, document) if document else None
    except DocumentError as error:
        return Statement("unreadable", _NO_LONGER_READABLE, {"problem": str(error)})
