"""What all actions have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final, Literal, Self

from nasadvisor.domain.change.actions.pieces import Slice
from nasadvisor.domain.statements import Finding, Statement
from nasadvisor.domain.storage.inventory import Inventory, Pool

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


@dataclass(frozen=True)
class Outcome:
    """What a step really did: the guids of the top-level vdevs that OpenZFS made, in the order of the plan.

    For `AttachLog` it is the guid of the new side alone. Other actions have none.
    """

    vdev_guids: tuple[str, ...] = ()
    kind: Literal["outcome"] = "outcome"


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


class Backwards(Base):
    """What a step of an undo says of itself."""

    @abstractmethod
    def gone(self, inventory: Inventory) -> bool:
        """Whether the host shows that it has nothing left to do."""

    def left_with(self, inventory: Inventory) -> Iterator[Finding]:
        """What to tell of the host once the undo has succeeded."""
        del inventory
        yield from ()

    def away_from(self, inventory: Inventory) -> str:
        """The path of the disk that it would write on, if that is not on the host; else ""."""
        del inventory
        return ""


class Forwards(Base):
    """What a step of a plan says of itself."""

    @property
    def pieces(self) -> tuple[Slice, ...]:
        """The slices that it makes or uses."""
        return ()

    @abstractmethod
    def forwards(self, inventory: Inventory) -> Inventory:
        """What the inventory looks like afterwards."""

    @abstractmethod
    def landed(self, inventory: Inventory) -> Outcome | None:
        """What the step did, if the host shows that it happened completely; else None.

        Used to verify a step right after it ran, and to classify one of which, after a crash, only the intent is known.
        """

    def left(self, inventory: Inventory) -> Outcome | None:
        """What is left of what the step made where parts of it are gone since."""
        del inventory
        return None

    def if_lost(self, disk_key: str, inventory: Inventory) -> Iterator[Finding]:
        """What it means if this disk dies once the step is done, word for word what OpenZFS does.

        The sources are named at each sentence; `zil.c` and `vdev.c` are those of OpenZFS 2.2 to 2.4.
        """
        del disk_key, inventory
        yield from ()

    def never_undone(self) -> Iterator[Finding]:
        """What stays different after an undo of it."""
        yield from ()

    @abstractmethod
    def cleaning(self) -> tuple[Base, ...]:
        """What to clean before it runs again, after it began but did not get through."""

    @abstractmethod
    def undo(self, outcome: Outcome) -> tuple[Backwards, ...]:
        """What takes it back, given what it really did."""

    def planned_outcome(self) -> Outcome:
        """A stand-in for the guids that are known only after the step, for the preview."""
        return Outcome()

    def at_pool(self, pool: Pool | None) -> Self:
        """The same action on its pool as that is called now, where that is known.

        Pools are renamed, and get another guid by `zpool reguid`. Actions that know no pool stay as they are.
        """
        del pool
        return self
