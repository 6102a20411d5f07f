"""What all actions have in common."""

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar, Final

from nasadvisor.domain.statements import Statement

Argv = tuple[str, ...]
"""A command; the first word is the tool."""

NO_COMMANDS: Final[tuple[Argv, ...]] = ()
"""Of an action that the host does by itself."""

PLANNED_GUID = "planned"
"""Stands for the guid of a vdev that OpenZFS has yet to create."""


class Category(StrEnum):
    """Django's marks: what an action does to the topology."""

    ADDITION = "+"
    REMOVAL = "-"
    ALTERATION = "~"


class Base(ABC):
    """What each action says of itself.

    The preview prints its commands and the host runs them: there is no second rendering. Rules kept in them: never `-f`
    or `--allow-*`, always `log` or `cache`, always `-o ashift=`, always persistent paths, guids for removal.
    """

    category: ClassVar[Category]

    @abstractmethod
    def describe(self) -> Statement:
        """The action as a sentence."""

    @abstractmethod
    def commands(self) -> tuple[Argv, ...]:
        """What runs for it, in order."""
