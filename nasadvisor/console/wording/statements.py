"""Statements in the language that is on, those that are stored as documents, and where a finding leads."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.formats import get_format
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from nasadvisor.domain.figures import duration
from nasadvisor.domain.statements import Finding, NextStep, Statement, gettext_noop
from nasadvisor.stored.documents import DocumentError, Json, from_document

_NO_LONGER_READABLE = gettext_noop("The stored reason can no longer be read. {problem}")

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


def time_text(seconds: float) -> str:
    """A length of time in the unit that fits, in the language that is on."""
    return unbroken(localized(duration(seconds)))


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


_WORDS: Final[dict[NextStep, str | Promise]] = {
    NextStep.LOOK_AT_POOL: _("View pool"),
    NextStep.LOOK_AT_DISK: _("View disk"),
    NextStep.ADD_LOG_OR_CACHE: _("Add log or cache"),
    NextStep.MIRROR_LOG: _("Add a second side to the log"),
    NextStep.REPLACE_LOG_SIDE: _("Replace this side of the log"),
    NextStep.REPLACE_DEAD_LOG: _("Replace the failed log"),
}

_OPERATORS_ONLY: Final = frozenset(
    {NextStep.ADD_LOG_OR_CACHE, NextStep.MIRROR_LOG, NextStep.REPLACE_LOG_SIDE, NextStep.REPLACE_DEAD_LOG}
)


@dataclass(frozen=True)
class Lead:
    """A link and what it says."""

    url: str
    words: str | Promise


def lead_from(finding: Finding, may_change: bool) -> Lead | None:
    """The next step, None where there is none. Who may change nothing is led to a page to look at."""
    if finding.step is None or not finding.place:
        return None
    is_closed = finding.step in _OPERATORS_ONLY and not may_change
    step = NextStep.LOOK_AT_POOL if is_closed else finding.step
    return Lead(_url(step, finding.place), _WORDS[step])


def _url(step: NextStep, place: str) -> str:
    match step:
        case NextStep.LOOK_AT_DISK:
            return reverse("disk", args=[place])
        case NextStep.ADD_LOG_OR_CACHE:
            return reverse("wizard-start", args=[place])
        case NextStep.MIRROR_LOG:
            return f"{reverse('wizard-start', args=[place])}?goal=mirror"
        case NextStep.REPLACE_LOG_SIDE:
            return f"{reverse('wizard-start', args=[place])}?goal=replace"
        case NextStep.REPLACE_DEAD_LOG:
            return f"{reverse('wizard-start', args=[place])}?goal=instead"
        case NextStep.LOOK_AT_POOL:
            return reverse("pool", args=[place])
