"""A partition table as the last finished step left it."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import NO_COMMANDS, Argv, Base, Category
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _


@dataclass(frozen=True)
class RewindTable(Base):
    """Write back what the last finished step left of a partition table, after a step on it was cut off."""

    disk_key: str
    disk_path: str
    action: Literal["rewind-table"] = "rewind-table"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        template = _("Restore the partition table of {disk} to its state before the interrupted step")
        return Statement(self.action, template, {"disk": self.disk_path})

    def commands(self) -> tuple[Argv, ...]:
        return NO_COMMANDS
