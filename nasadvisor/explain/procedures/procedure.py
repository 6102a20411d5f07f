"""A procedure: what to do, step by step, when something is wrong, and what is at stake in each step."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_BLANK: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class ProcedureStep:
    """One step; all texts are templates.

    `stake` is what can be lost, or that nothing can. `done` is what it looks like when it worked, `otherwise` what to
    do if it did not. `codes` are those that it is for; it is for all where none stand there.
    """

    do: str
    stake: str
    commands: tuple[str, ...] = ()
    done: str = ""
    otherwise: str = ""
    codes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Procedure:
    """The steps for some codes, in order; `name` is its address, `lead` in which state the data is."""

    name: str
    title: str
    lead: str
    codes: frozenset[str]
    steps: tuple[ProcedureStep, ...]

    def steps_for(self, code: str) -> tuple[ProcedureStep, ...]:
        """The steps for who met this code; all of them where none is known."""
        return tuple(step for step in self.steps if not code or not step.codes or code in step.codes)


def command_for(template: str, values: Mapping[str, str]) -> str:
    """A command with the values that are known, each one word for the shell; what is not known is a blank ("POOL")."""

    def value(found: re.Match[str]) -> str:
        words = values.get(found[1], "").split() if found[1] == "guids" else [values.get(found[1], "")]
        return shlex.join(filter(None, words)) or found[1].upper()

    return _BLANK.sub(value, template)


def filled(text: str, values: Mapping[str, str]) -> str:
    """A sentence with the commands in it, between backticks, completed in the same way."""
    parts = text.split("`")
    return "`".join(command_for(part, values) if place % 2 else part for place, part in enumerate(parts))
