"""A copy of a partition table before slices are added to it."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import NO_COMMANDS, Argv, Category, Forwards, Outcome
from nasadvisor.domain.change.actions.restore_table import RestoreTable
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, PartitionEntry


@dataclass(frozen=True)
class SaveTable(Forwards):
    """Keep a copy of the sectors of an existing GPT before slices are added to it; writes nothing on the disk.

    `places` are those of the partitions that are there and stay. `unrecognised_at` is as with a new table.
    """

    disk_key: str
    disk_path: str
    table_uuid: str
    places: tuple[PartitionEntry, ...]
    unrecognised_at: int | None = None
    action: Literal["save-table"] = "save-table"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        return Statement(self.action, _("Save the partition table of {disk}"), {"disk": self.disk_path})

    def forwards(self, inventory: Inventory) -> Inventory:
        return inventory

    def commands(self) -> tuple[Argv, ...]:
        return NO_COMMANDS

    def landed(self, inventory: Inventory) -> Outcome | None:
        """It leaves no trace on the host; doing it again is harmless."""
        del inventory
        return None

    def undo(self, outcome: Outcome) -> tuple[RestoreTable, ...]:
        del outcome
        return (RestoreTable(self.disk_key, self.disk_path, self.table_uuid, self.places),)

    def cleaning(self) -> tuple[()]:
        return ()
