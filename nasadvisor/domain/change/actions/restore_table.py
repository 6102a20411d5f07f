"""A partition table as it was before the run."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import NO_COMMANDS, Argv, Backwards, Category
from nasadvisor.domain.change.actions.inventory_queries import is_there
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, PartitionEntry


@dataclass(frozen=True)
class RestoreTable(Backwards):
    """Write back the sectors that held the partition table before the run, if nothing else changed since.

    `table_uuid` is that of the table during the run; `places` are those of the partitions that were there before.
    """

    disk_key: str
    disk_path: str
    table_uuid: str
    places: tuple[PartitionEntry, ...]
    action: Literal["restore-table"] = "restore-table"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        template = _("Restore the original partition table sectors of {disk}")
        return Statement(self.action, template, {"disk": self.disk_path})

    def commands(self) -> tuple[Argv, ...]:
        return NO_COMMANDS

    def gone(self, inventory: Inventory) -> bool:
        """A table's sectors the inventory does not show."""
        del inventory
        return False

    def away_from(self, inventory: Inventory) -> str:
        return "" if is_there(self.disk_key, inventory) else self.disk_path
