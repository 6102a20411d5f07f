"""Coded sentences: every refusal, warning and finding the product can utter.

A statement is a stable code, a template and the values for it. The template is kept apart from the values so that
the console can translate it; `str(statement)` is the English sentence.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """How much a statement matters."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


def gettext_noop(template: str) -> str:
    """Mark a template for translation; the name is the one that Django's makemessages looks for."""
    return template


@dataclass(frozen=True)
class Statement:
    """A template in str.format syntax and its values."""

    code: str
    template: str
    values: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format_map(self.values)


class NextStep(StrEnum):
    """Where somebody goes about a finding."""

    LOOK_AT_POOL = "look-at-pool"
    LOOK_AT_DISK = "look-at-disk"
    ADD_LOG_OR_CACHE = "add-log-or-cache"
    MIRROR_LOG = "mirror-log"


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

    @property
    def why(self) -> str:
        """The explanation in English."""
        return self.explanation.format_map(self.values)


@dataclass(frozen=True)
class Allowed:
    """The answer of a check that has nothing against an action."""


@dataclass(frozen=True)
class Refused(Statement):
    """The answer of a check that forbids an action: what, why, what instead."""


Answer = Allowed | Refused
