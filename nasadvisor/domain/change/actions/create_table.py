"""An empty partition table on a blank disk."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Category, Forwards, Outcome
from nasadvisor.domain.change.actions.inventory_queries import with_disk
from nasadvisor.domain.change.actions.restore_table import RestoreTable
from nasadvisor.domain.change.actions.rewind_table import RewindTable
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, TableKind


@dataclass(frozen=True)
class CreateTable(Forwards):
    """Write an empty GPT on a blank disk.

    `unrecognised_at` is where data begin on it that no tool recognises and that are given up with the plan; None where
    there are none.
    """

    disk_key: str
    disk_path: str
    table_uuid: str
    usable_start_bytes: int
    usable_end_bytes: int
    unrecognised_at: int | None = None
    action: Literal["create-table"] = "create-table"

    category = Category.ADDITION

    def describe(self) -> Statement:
        return Statement(self.action, _("Write an empty GPT on {disk}"), {"disk": self.disk_path})

    def forwards(self, inventory: Inventory) -> Inventory:
        return with_disk(
            inventory,
            self.disk_key,
            table=TableKind.GPT,
            table_uuid=self.table_uuid,
            usable_start_bytes=self.usable_start_bytes,
            usable_end_bytes=self.usable_end_bytes,
        )

    def commands(self) -> tuple[Argv, ...]:
        return (("sgdisk", "--clear", f"--disk-guid={self.table_uuid}", self.disk_path),)

    def landed(self, inventory: Inventory) -> Outcome | None:
        disk = inventory.disk(self.disk_key)
        made = disk and disk.table is TableKind.GPT and disk.table_uuid == self.table_uuid
        return Outcome() if made else None

    def undo(self, outcome: Outcome) -> tuple[RestoreTable, ...]:
        del outcome
        return (RestoreTable(self.disk_key, self.disk_path, self.table_uuid, ()),)

    def cleaning(self) -> tuple[RewindTable, ...]:
        return (RewindTable(self.disk_key, self.disk_path),)
