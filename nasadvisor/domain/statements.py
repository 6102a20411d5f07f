"""Coded sentences: every refusal, warning, finding, step and error the product can utter.

A statement is a stable code, a template and the values for it. The template is kept apart from the values so that
the console can translate it; `str(statement)` is the English sentence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from string import Formatter
from typing import Final


class Level(StrEnum):
    """How much a statement matters."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


RANK: Final = {Level.INFO: 0, Level.WARNING: 1, Level.CRITICAL: 2}
"""How levels compare."""


def gettext_noop(template: str) -> str:
    """Mark a template for translation; the name is the one that Django's makemessages looks for."""
    return template


def in_english(text: str) -> str:
    """The translation into the language that templates and figures are written in."""
    return text


def _fit(template: str, values: "Mapping[str, str | Statement]") -> None:
    """Whether a template has plain fields only, each with its value.

    Raises:
        ValueError: it does not.
    """
    fault = f"the template {template!r:.200} does not fit its values"
    try:
        fields = [(name, spec, conversion) for _, name, spec, conversion in Formatter().parse(template)]
    except ValueError as error:
        raise ValueError(fault) from error
    for name, spec, conversion in fields:
        if name is not None and (spec or conversion or not name.isidentifier() or name not in values):
            raise ValueError(fault)


@dataclass(frozen=True)
class Statement:
    """A template with `{name}` for each value and nothing else of str.format; a value may be a statement itself.

    Statements also come from hosts that somebody else may hold: a width or a conversion in a template could fill the
    memory or fail on the page that shows it.

    Raises:
        ValueError: the template does not fit the values.
    """

    code: str
    template: str
    values: "Mapping[str, str | Statement]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        _fit(self.template, self.values)

    def __str__(self) -> str:
        return self.said(in_english)

    def said(self, translate: Callable[[str], str], written: Callable[[str], str] = in_english) -> str:
        """The sentence in the language that `translate` turns templates into, with values as `written` writes them."""
        values = {
            name: value.said(translate, written) if isinstance(value, Statement) else written(value)
            for name, value in self.values.items()
        }
        return translate(self.template).format_map(values)

    @property
    def plain(self) -> "Statement":
        """The same sentence without being a refusal or finding: what a record says of its step."""
        return Statement(self.code, self.template, self.values)


class NextStep(StrEnum):
    """Where somebody goes about a finding."""

    LOOK_AT_POOL = "look-at-pool"
    LOOK_AT_DISK = "look-at-disk"
    ADD_LOG_OR_CACHE = "add-log-or-cache"
    MIRROR_LOG = "mirror-log"
    REPLACE_LOG_SIDE = "replace-log-side"
    REPLACE_DEAD_LOG = "replace-dead-log"


@dataclass(frozen=True)
class Finding(Statement):
    """A statement about the state of a host or a plan, with its level.

    `explanation` is a template for the same values: what it means and why it matters. `subject` tells two findings of
    one code apart (a pool's or vdev's guid, a disk's key) and `measure` how bad it is, in whatever unit: only growth
    counts. `step` leads on; `place` is the guid of the pool or the key of the disk that it is about.
    """

    level: Level = Level.INFO
    explanation: str = ""
    subject: str = ""
    measure: int = 0
    step: NextStep | None = None
    place: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _fit(self.explanation, self.values)

    @property
    def why(self) -> str:
        """The explanation in English."""
        return str(Statement(self.code, self.explanation, self.values))


@dataclass(frozen=True)
class Allowed:
    """The answer of a check that has nothing against an action."""


@dataclass(frozen=True)
class Refused(Statement):
    """The answer of a check that forbids an action: what, why, what instead."""


Answer = Allowed | Refused
