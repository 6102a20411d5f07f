"""A partition table as it was before the run."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import NO_COMMANDS, Argv, Base, Category
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Place


@dataclass(frozen=True)
class RestoreTable(Base):
    """Write back the sectors that held the partition table before the run, if nothing else changed since.

    `table_uuid` is that of the table during the run; `places` are those of the partitions that were there before.
    """

    disk_key: str
    disk_path: str
    table_uuid: str
    places: tuple[Place, ...]
    action: Literal["restore-table"] = "restore-table"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        template = _("Restore the partition table sectors of {disk} as they were")
        return Statement(self.action, template, {"disk": self.disk_path})

    def commands(self) -> tuple[Argv, ...]:
        return NO_COMMANDS
